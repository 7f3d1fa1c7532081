"""Expressions: types, conversions, operators, builtins, text in and text out."""

from __future__ import annotations

import pytest
import rewriting

STRUCTS = """
struct alignas(16) V { float x, y, z; float dot(const V &o) const { return x * o.x; } };
struct P { int n; float *d; int &at(int i); };
enum Mode { FAST, SLOW = 4, SLOWER };
enum class Kind : int { ONE = 1, TWO };
namespace ns { constexpr int K = 7; __device__ float table[16]; }
constexpr int TILE = 16; const int HALF = TILE / 2;
__constant__ float coef[TILE]; __device__ int counter;
"""

CASES = {
    "casts": (
        "a[0] = static_cast<float>(i) + float(i) + (float)i + unsigned(i);",
        "a[0] = (float)i + (float)i + (float)i + (unsigned int)i;",
    ),
    "a wide load": (
        "float4 w = reinterpret_cast<const float4 *>(&a[i])[0];",
        "float4 w = ((const float4 *)&a[i])[0];",
    ),
    "a dereferenced cast": ("*(float4 *)&a[i * 4] = *(float4 *)b;",
                            "*(float4 *)&a[i * 4] = *(float4 *)b;"),
    "the address of an element, read at once": ("a[0] = *&b[i];", "a[0] = b[i];"),
    "constants keep their value": (
        "a[i] = TILE + HALF + ns::K + SLOWER + (int)Kind::TWO;", "a[i] = 38;",
    ),
    "sizes are numbers": (
        "a[i] = sizeof(float4) / sizeof(a[0]) + sizeof(V) + alignof(V) + sizeof(a);",
        "a[i] = 44ul;",  # 16/4 + 16 + 16 + 8
    ),
    "literals": (
        "a[0] = 1'000 + 0x1F + 2.5f + 1e3f + 'a'; l[0] = 0xFFFFFFFFFull + 3l;",
        "a[0] = 1031 + 2.5f + 1e3f + 'a';\nl[0] = 68719476738ul;",
    ),
    "precedence without the user's parentheses": (
        "a[i] = (i + 1) * (i - (2 - i)) / ((i)) % (3 << (i & 1));",
        "a[i] = (i + 1) * (i - (2 - i)) / i % (3 << (i & 1));",
    ),
    "a cast to an array type is a parenthesis": (
        "a[i] = (1.f - i) * (b[i * 2]) + i * (b[i]);", "a[i] = (1.f - i) * b[i * 2] + i * b[i];",
    ),
    "a product in parentheses is no cast": ("l[0] = (i * (n)) - 1;", "l[0] = i * n - 1;"),
    "a value in parentheses is no cast": ("l[0] = (i) - 1 + (n) * 2;", "l[0] = i - 1 + n * 2;"),
    "a comparison is no template": (
        "if (i < n && !i && b[i] >= n) a[i] = 0;", "if (i < n && !i && b[i] >= n) {",
    ),
    "a cast of an element is no call": ("a[0] = (float)(b)[i];", "a[0] = (float)b[i];"),
    "negative literals": ("l[i] = (i & (-32)) + -1;", "l[i] = (i & -32) + -1;"),
    "comma, ternary, updates": (
        "a[i++] = i ? b[--i] : (i, b[0]);", "a[i++] = i ? b[--i] : (i, b[0]);",
    ),
    "chained assignment": ("a[0] = a[1] = b[i];", "a[0] = a[1] = b[i];"),
    "built-in variables": (
        "l[0] = threadIdx.x + blockIdx.y * blockDim.x + gridDim.z + warpSize;",
        "l[0] = threadIdx.x + blockIdx.y * blockDim.x + gridDim.z + 32;",
    ),
    "vector construction": (
        "q[i] = make_float4(1, 2, i, b[i]);", "q[i] = (float4){1, 2, i, b[i]};",
    ),
    "cached loads and stores": (
        "a[i] = __ldg(&b[i]) + __ldcg(b + i); __stcs(a + i, b[0]);",
        "a[i] = b[i] + *(b + i);\n*(a + i) = b[0];",
    ),
    "atomics are told apart by type": (
        "atomicAdd(&a[i], 1); atomicAdd(&counter, n); atomicCAS(&l[0], 1, 2);",
        "atomicAdd__float(&a[i], 1);\natomicAdd__int(&counter, n);\natomicCAS__long(&l[0], 1, 2);",
    ),
    "min and max by type": (
        "a[0] = min(i, n) + max(3u, i) + fmaxf(b[0], 1) + max(b[0], 1.f) + std::min(l[0], l[1]);",
        "a[0] = min__int(i, n) + max__unsigned_int(3u, i) + fmaxf(b[0], 1) + fmaxf(b[0], 1.f)"
        " + min__long(l[0], l[1]);",
    ),
    "math by type": (
        "a[0] = sqrt(b[0]) + sqrt(2.0) + exp(i) + abs(b[i]) + abs(i) + pow(b[0], 2);",
        "a[0] = sqrtf(b[0]) + sqrt(2.0) + exp(i) + fabsf(b[i]) + abs__int(i) + pow(b[0], 2);",
    ),
    "shuffles say their width": (
        "a[i] = __shfl_down_sync(0xffffffff, b[i], 2) + __shfl_xor_sync(~0u, i, 1, 16);",
        "a[i] = __shfl_down_sync__float(0xffffffff, b[i], 2, 32)"
        " + __shfl_xor_sync__int(4294967295u, i, 1, 16);",
    ),
    "members of structs by pointer and value": (
        "V v = vs[i]; v.x += vs->y + (*vs).z + vs[1].x; vs[i] = v;",
        "V v = vs[i];\nv.x += vs->y + vs->z + vs[1].x;\nvs[i] = v;",
    ),
    "global and constant arrays": (
        "a[i] = coef[i & 15] + ns::table[i] + counter;",
        "a[i] = coef[i & 15] + ns__table[i] + counter;",
    ),
    "16-bit floats": (
        "__half h = __float2half(b[0]); half2 g = __floats2half2_rn(1, 2); a[0] = __half2float(h);",
        "__half h = __float2half(b[0]);\n__half2 g = __floats2half2_rn(1, 2);\n"
        "a[0] = __half2float(h);",
    ),
    "textures": ("a[i] = tex1Dfetch<float>(t, i);", "a[i] = tex1Dfetch__float(t, i);"),
    "statement expressions": (
        "a[i] = ({ int _a = i; _a < n ? _a : n; });", None,
    ),
    "limits": ("l[0] = std::numeric_limits<int>::max();", "l[0] = 2147483647;"),
}  # fmt: skip
PARAMETERS = (
    "float *a, const float *b, long *l, float4 *q, V *vs, cudaTextureObject_t t, int i, int n"
)


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_expression(source: str, expected: str | None) -> None:
    text = f"{STRUCTS}__global__ void k({PARAMETERS}) {{\n{source}\n}}"
    kernel = rewriting.rewritten(text)
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
    if expected is not None:
        assert rewriting.body(kernel)[: expected.count("\n") + 1] == expected.split("\n")
    assert kernel.diagnostics == ()


GROUPS = """
namespace cg = cooperative_groups;
__global__ void k(float *a) {
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<16> t = cg::tiled_partition<16>(b);
    auto w = cg::tiled_partition<32>(b);
    b.sync(); w.sync();
    a[b.thread_rank()] = w.shfl_down(a[t.thread_rank()], 2) + t.size() + w.meta_group_rank();
}
"""
RANK = "threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * (blockDim.x * blockDim.y)"


def test_cooperative_groups_are_arithmetic() -> None:
    kernel = rewriting.rewritten(GROUPS)
    assert rewriting.body(kernel) == [
        "__syncthreads();",
        "__syncwarp(0xffffffffu);",
        f"a[{RANK}] = __shfl_down_sync__float(0xffffffffu, a[({RANK}) % 16u], 2, 32) + 16u"
        f" + ({RANK}) / 32u;",
    ]
    assert rewriting.gcc_errors(kernel) == ""
    assert kernel.diagnostics == ()


ASM = {
    "cp.async": (
        'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(s), "l"(p));',
        "__asm_cp_async(s, p, 16);",
    ),
    "ldmatrix": (
        'asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"'
        ' : "=r"(r[0]), "=r"(r[1]) : "r"(s));',
        "__asm_ldmatrix_x2(s, &r[0], &r[1]);",
    ),
    "a load": ('asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(p));', "x = *(float *)p;"),
    "a vector store": (
        'asm volatile("st.global.v2.f32 [%0], {%1, %2};" :: "l"(p), "f"(x), "f"(x));',
        "*(float2 *)p = (float2){x, x};",
    ),
    "a barrier": ('asm volatile("bar.sync 0;" ::: "memory");', "__syncthreads();"),
    "the lane": ('asm("mov.u32 %0, %laneid;" : "=r"(r[0]));', f"r[0] = ({RANK}) % 32u;"),
    "anything else": (
        'asm("prmt.b32 %0, %1, %2, 3;" : "=r"(r[0]) : "r"(r[1]), "r"(s));',
        "r[0] = asm__prmt_b32(r[1], s);",
    ),
}


@pytest.mark.parametrize(("source", "expected"), ASM.values(), ids=ASM)
def test_inline_assembly(source: str, expected: str) -> None:
    text = f"__global__ void k(float *p, unsigned s) {{ unsigned r[4]; float x; {source} }}"
    kernel = rewriting.rewritten(text)
    assert rewriting.body(kernel)[2:] == [expected]
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
