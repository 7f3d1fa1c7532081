"""Every memory access is recorded: its pieces (docs/memory_model.md), place, text and kind."""

from __future__ import annotations

import pytest
from written_kernels import VECTORS, kernel_c

from coalescecheck.ir.kernel import Access, Kernel, Op
from coalescecheck.lower import lower

TYPES = (
    VECTORS
    + """
typedef unsigned short __half;
typedef struct half2 { _Alignas(4) __half x; __half y; } half2;
typedef struct vec3 { float x, y, z; } vec3;
typedef struct four { float a, b, c, d; } four;
typedef struct mixed { char c; double d; float f; } mixed;
typedef struct wide { _Alignas(16) float v[8]; } wide;
typedef struct bytes { char a, b, c; } bytes;
typedef struct eight { _Alignas(8) float x, y; int z; } eight;
typedef struct nested { vec3 position; vec3 speed; int kind; } nested;
"""
)


def lowered(
    body: str, params: str = "float *out, const float *in, int n", extra: str = ""
) -> Kernel:
    return lower(kernel_c(f"{TYPES}{extra}[[cuda::global]] void k({params}) {{ {body} }}"))


def summary(access: Access) -> str:
    pieces = " ".join(f"{piece.offset}:{piece.width}" for piece in access.pieces)
    kind = "" if access.kind == "plain" else f" {access.kind}"
    return f"{access.op}{kind} {access.index} [{pieces}]"


PIECES = {
    "a float is one word": ("float", "0:4"),
    "a char is one byte": ("unsigned char", "0:1"),
    "a half is two bytes": ("__half", "0:2"),
    "a double is 64 bits": ("double", "0:8"),
    "a float2 is 64 bits": ("float2", "0:8"),
    "a float3 is three words": ("float3", "0:4 4:4 8:4"),
    "a float4 is 128 bits": ("float4", "0:16"),
    "a double4 is two times 128 bits": ("double4", "0:16 16:16"),
    "a uchar4 is one word": ("uchar4", "0:4"),
    "a uchar3 is three bytes": ("uchar3", "0:1 1:1 2:1"),
    "a half2 is one word": ("half2", "0:4"),
    "a struct of floats is one word per member": ("four", "0:4 4:4 8:4 12:4"),
    "a struct with a double is cut into 64 bits": ("mixed", "0:8 8:8 16:8"),
    "a struct of 32 aligned bytes is two times 128 bits": ("wide", "0:16 16:16"),
    "a struct of chars is bytes": ("bytes", "0:1 1:1 2:1"),
    "a struct aligned to 8 is cut into 64 bits": ("eight", "0:8 8:8"),
    "nested structs are cut by the outer alignment": (
        "nested",
        "0:4 4:4 8:4 12:4 16:4 20:4 24:4",
    ),
    "a pointer is 64 bits": ("float *", "0:8"),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_whole_object_is_cut_into_instructions(name: str) -> None:
    ctype, pieces = PIECES[name]
    kernel = lowered("b[n] = a[n + 1];", f"{ctype} *a, {ctype} *b, int n")
    assert [summary(access) for access in kernel.accesses] == [
        f"load a[n + 1] [{pieces}]",
        f"store b[n] [{pieces}]",
    ]


RECORDS = {
    "compound assignment is a load and a store": (
        "out[n] += 1;",
        ["load out[n] [0:4]", "store out[n] [0:4]"],
    ),
    "increment in memory is a load and a store": (
        "out[n]++;",
        ["load out[n] [0:4]", "store out[n] [0:4]"],
    ),
    "the right side is read before the left": (
        "out[(int)in[0]] = in[1];",
        ["load in[1] [0:4]", "load in[0] [0:4]", "store out[(int) in[0]] [0:4]"],
    ),
    "a member is its own bytes": (
        "out[0] = ((nested *)in)[n].speed.y;",
        ["load ((nested *) in)[n].speed.y [0:4]", "store out[0] [0:4]"],
    ),
    "a wider pointer over a narrower array is a vector access": (
        "out[0] = (*(float4 *)&in[4 * n]).x; ((float2 *)out)[n] = ((const float2 *)in)[n];",
        [
            "load (*((float4 *) (&in[4 * n]))).x [0:4]",
            "store out[0] [0:4]",
            "load vector ((const float2 *) in)[n] [0:8]",
            "store vector ((float2 *) out)[n] [0:8]",
        ],
    ),
    "a vector access through a kept pointer": (
        "const float4 *q = (const float4 *)in; q += n; float4 v = q[1]; out[0] = v.x;",
        ["load vector q[1] [0:16]", "store out[0] [0:4]"],
    ),
    "a struct over words of its own alignment is plain": (
        "*(vec3 *)(out + n) = *(const vec3 *)in;",
        ["load *((const vec3 *) in) [0:4 4:4 8:4]", "store *((vec3 *) (out + n)) [0:4 4:4 8:4]"],
    ),
    "both sides of a choice are accesses": (
        "out[0] = n > 2 ? in[1] : in[2];",
        ["load in[1] [0:4]", "load in[2] [0:4]", "store out[0] [0:4]"],
    ),
    "operands of sizeof are not accesses": ("out[0] = sizeof(in[n]);", ["store out[0] [0:4]"]),
    "a discarded value is still read": (
        "in[3]; (void)in[4];",
        ["load in[3] [0:4]", "load in[4] [0:4]"],
    ),
    "an address is not an access": (
        "const float *p = &in[n]; float *q = out + 3; out[0] = p[1] + (q == out);",
        ["load p[1] [0:4]", "store out[0] [0:4]"],
    ),
    "code that this instance never runs has no accesses": (
        "enum { PAD = 0 }; if (PAD) out[0] = in[0]; for (; PAD;) out[1] = 2; out[2] = 3;",
        ["store out[2] [0:4]"],
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_accesses_in_order_of_execution(name: str) -> None:
    body, expected = RECORDS[name]
    assert [summary(access) for access in lowered(body).accesses] == expected


def test_an_access_knows_its_place_type_and_volatility() -> None:
    kernel = lowered("\n  volatile float *v = out;\n  v[n] = in[2];")
    load, store = kernel.accesses
    line = kernel_c(TYPES).text.count("\n")
    assert (load.span.line, load.span.column, load.element) == (line + 2, 10, "float")
    assert (store.op, store.volatile, load.volatile) == (Op.STORE, True, False)
    assert store.span.column == 3


def test_each_inlined_copy_is_an_access_with_its_call_sites() -> None:
    text = """static float get(const float *p, int i) { return p[i]; }
static float both(const float *p, int i) { return get(p, i) + get(p, i + 1); }
[[cuda::global]] void k(float *out, const float *in) { out[0] = both(in, 5); }
"""
    accesses = lower(kernel_c(text)).accesses
    assert [access.id for access in accesses] == [0, 1, 2]
    assert [access.index for access in accesses] == ["p[i]", "p[i]", "out[0]"]
    sites = [[(s.line, s.column) for s in access.called_from] for access in accesses]
    assert sites == [[(3, 65), (2, 51)], [(3, 65), (2, 63)], []]


ATOMICS = """
extern float atomicAdd__float(float *, float);
extern int atomicCAS__int(int *, int, int);
extern unsigned atomicInc__unsigned(unsigned *, unsigned);
"""


def test_atomics_are_reductions_when_nobody_uses_the_old_value() -> None:
    kernel = lowered(
        "atomicAdd__float(&out[n], 2.f); float v = atomicAdd__float(out + 1, 1.f);"
        " atomicCAS__int((int *)out, 1, v); (void)atomicInc__unsigned((unsigned *)&out[2], 7);",
        extra=ATOMICS,
    )
    found = [(a.atomic_op, a.kind, a.index) for a in kernel.accesses]
    assert found == [
        ("add", "red", "out[n]"),
        ("add", "plain", "*(out + 1)"),
        ("cas", "red", "*((int *) out)"),
        ("inc", "red", "*((unsigned *) (&out[2]))"),
    ]


def test_an_atomic_in_a_wrapper_whose_result_is_dropped_is_a_reduction() -> None:
    wrapper = "static float add(float *p, float v) { return atomicAdd__float(p, v); }"
    kernel = lowered("add(out, 1); out[3] = add(out + 1, 2);", extra=ATOMICS + wrapper)
    assert [a.kind for a in kernel.accesses] == ["red", "plain", "plain"]


def test_an_asynchronous_copy_is_a_load_and_a_store_of_its_size() -> None:
    kernel = lowered(
        "[[cuda::shared]] float s[64]; __pipeline_memcpy_async(&s[4 * n], &in[4 * n], 16);",
        extra="extern void __pipeline_memcpy_async(void *, const void *, unsigned long);",
    )
    assert [summary(access) for access in kernel.accesses] == [
        "load async in[4 * n] [0:16]",
        "store async s[4 * n] [0:16]",
    ]


def test_ldmatrix_reads_a_row_of_16_bytes_and_leaves_its_registers_unknown() -> None:
    kernel = lowered(
        "[[cuda::shared]] _Alignas(16) unsigned short s[256]; unsigned r[4];"
        " unsigned a = (unsigned)__cvta_generic_to_shared(&s[8 * n]);"
        " __asm_ldmatrix_x4(a, &r[0], &r[1], &r[2], &r[3]); out[0] = r[2];",
        extra="extern unsigned long __cvta_generic_to_shared(const void *);"
        "extern void __asm_ldmatrix_x4(unsigned, unsigned *, unsigned *, unsigned *, unsigned *);",
    )
    assert [summary(access) for access in kernel.accesses] == [
        "load ldmatrix *a [0:16]",
        "store out[0] [0:4]",
    ]


def test_texture_fetches_are_reported_without_an_address() -> None:
    kernel = lowered(
        "out[0] = tex1Dfetch__float4(3, n).y;",
        extra="extern float4 tex1Dfetch__float4(unsigned long long, int);",
    )
    assert [(a.kind, a.element) for a in kernel.accesses] == [
        ("texture", "float4"),
        ("plain", "float"),
    ]


def test_accesses_of_an_unknown_type_are_marked() -> None:
    kernel = lowered(
        "b[n] = a[n]; out[0] = in[1];",
        "T *b, const T *a, float *out, const float *in, int n",
        extra="[[cuda::unknown_type]] typedef float T;",
    )
    assert [a.unknown_width for a in kernel.accesses] == ["T", "T", "", ""]
    assert kernel.unknown_types == {"T": "T"}
    assert any(p.name == "sizeof(T)" for p in kernel.params)
