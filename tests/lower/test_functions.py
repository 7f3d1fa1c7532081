"""Calls: CUDA's built-in functions, inlining, and functions nobody knows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from written_kernels import VECTORS, kernel_c

from coalescecheck.ir.dump import dump_body
from coalescecheck.ir.kernel import Assign, Kernel, Load, Scope, walk
from coalescecheck.lower import lower

PROTOTYPES = """
typedef unsigned short __half;
typedef struct half2 { _Alignas(4) __half x; __half y; } half2;
extern void __syncthreads(void); extern void __syncwarp(unsigned); extern void __threadfence(void);
extern int __syncthreads_count(int); extern unsigned __activemask(void);
extern int min__int(int, int); extern unsigned max__unsigned(unsigned, unsigned);
extern float min__float(float, float); extern int abs__int(int); extern float abs__float(float);
extern float __shfl_down_sync__float(unsigned, float, unsigned, int);
extern int __shfl_xor__int(int, int); extern int __shfl_sync__int(unsigned, int, int);
extern unsigned __ballot_sync(unsigned, int); extern int __any_sync(unsigned, int);
extern int __popc(unsigned); extern int __clz(int); extern int __ffs(int);
extern int __mul24(int, int);
extern unsigned __umulhi(unsigned, unsigned); extern float sqrtf(float); extern float __expf(float);
extern double pow(double, double); extern int __float2int_rn(float);
extern void sincosf(float, float *, float *);
extern long clock64(void); extern unsigned __reduce_add_sync(unsigned, unsigned);
extern half2 __hadd2(half2, half2); extern __half __float2half(float); extern void __trap(void);
extern unsigned long __cvta_generic_to_shared(const void *);
extern void *__builtin_assume_aligned(const void *, unsigned long);
extern int mystery(int); extern void fill(int *, const int *, int); extern int opaque__1();
"""


def lowered(body: str, extra: str = "") -> Kernel:
    text = f"{VECTORS}{PROTOTYPES}{extra}"
    return lower(kernel_c(f"{text}\n[[cuda::global]] void k(float *out, int n) {{ {body} }}"))


def statements(kernel: Kernel) -> list[str]:
    """The kernel's statements without the pointer parameter's own."""
    (scope,) = kernel.body
    assert isinstance(scope, Scope)
    return dump_body(scope.body[1:]).splitlines()


BUILTINS = {
    "a barrier": ("__syncthreads();", ["barrier block"]),
    "a warp barrier": ("__syncwarp(0xffffffff);", ["barrier warp"]),
    "a barrier of some lanes": ("__syncwarp(0xffu << n);", ["barrier warp of 255u << u32(n)"]),
    "fences do nothing": ("__threadfence();", []),
    "a counting barrier is a barrier and a reduction": (
        "int c = __syncthreads_count(n > 3);",
        ["barrier block", "$t: i32 = warp block_count(n > 3)", "c: i32 = $t"],
    ),
    "min of ints": ("int a = min__int(n, 3);", ["a: i32 = min(n, 3)"]),
    "max converts to unsigned": (
        "unsigned a = max__unsigned(n, 3u);",
        ["a: u32 = max(u32(n), 3u)"],
    ),
    "min of floats": ("float a = min__float(n, 3);", ["a: f32 = fmin(f32(n), 3.0f)"]),
    "abs of int and float": (
        "int a = abs__int(n); float b = abs__float(a);",
        ["a: i32 = abs(n)", "b: f32 = fabs(f32(a))"],
    ),
    "a shuffle down": (
        "float a = __shfl_down_sync__float(~0u, 1.f, 16, 32);",
        ["$t: f32 = warp shfl_down(1.0f, 16, 32)", "a: f32 = $t"],
    ),
    "shuffles without width have 32": (
        "int a = __shfl_xor__int(n, 1); int b = __shfl_sync__int(~0u, a, 0);",
        [
            "$t: i32 = warp shfl_xor(n, 1, 32)",
            "a: i32 = $t",
            "$t.1: i32 = warp shfl(a, 0, 32)",
            "b: i32 = $t.1",
        ],
    ),
    "votes": (
        "unsigned b = __ballot_sync(~0u, n); int a = __any_sync(~0u, n > 1);",
        [
            "$t: u32 = warp ballot(n != 0, 4294967295u)",
            "b: u32 = $t",
            "$t.1: i32 = warp any(n > 1, 4294967295u)",
            "a: i32 = $t.1",
        ],
    ),
    "a warp reduction": (
        "unsigned r = __reduce_add_sync(~0u, n);",
        ["$t: u32 = warp reduce_add(u32(n), 4294967295u)", "r: u32 = $t"],
    ),
    "integer intrinsics": (
        "int a = __popc(n); a = __clz(n); a = __mul24(a, n); unsigned h = __umulhi(a, 5);",
        [
            "a: i32 = popc(u32(n))",
            "a: i32 = clz(u32(n))",
            "a: i32 = mul24(a, n)",
            "h: u32 = umulhi(u32(a), 5u)",
        ],
    ),
    "intrinsics of constants are folded": (
        "int a = __popc(255) + __clz(1) * 100 + __ffs(8) * 10000;",
        ["a: i32 = 43108"],
    ),
    "floating-point functions keep their names": (
        "float a = sqrtf(n); a = __expf(a); double d = pow(a, 2);",
        ["a: f32 = sqrtf(f32(n))", "a: f32 = __expf(a)", "d: f64 = pow(f64(a), 2.0)"],
    ),
    "rounding conversions": ("int a = __float2int_rn(n);", ["a: i32 = i32(rint(f32(n)))"]),
    "results through pointers": (
        "float s, c; sincosf(n, &s, &c);",
        ["s: f32 = ?s", "c: f32 = ?c", "s: f32 = sin(f32(n))", "c: f32 = cos(f32(n))"],
    ),
    "16-bit arithmetic has unknown parts": (
        "half2 a = {0, 0}; a = __hadd2(a, a);",
        [
            "a.x: f16 = f16(0.0)",
            "a.y: f16 = f16(0.0)",
            "a.x: f16 = ?__hadd2.x",
            "a.y: f16 = ?__hadd2.y",
        ],
    ),
    "a shared address stays an address": (
        "[[cuda::shared]] float s[8]; unsigned a = __cvta_generic_to_shared(&s[n]);",
        ["a: u32 = u32(u64(&s + (i64(n) * 4l)))"],
    ),
    "an assumption about alignment is the pointer": (
        "float *p = __builtin_assume_aligned(out, 16);",
        ["p: ptr = out"],
    ),
    "the clock differs between lanes": ("long t = clock64();", ["t: i64 = ?clock64"]),
    "a trap ends the kernel": (
        "if (n < 0) __trap(); n = 1;",
        ["if n < 0:", "  leave kernel", "n: i32 = 1"],
    ),
}


@pytest.mark.parametrize("name", BUILTINS)
def test_built_in_functions(name: str) -> None:
    body, expected = BUILTINS[name]
    kernel = lowered(body)
    assert statements(kernel) == expected
    assert not kernel.diagnostics


INLINED = {
    "arguments are converted and copied": (
        "static int f(char c) { c += 1; return c; }",
        "n = f(n);",
        ["c: i8 = i8(n)", "c: i8 = i8(i32(c) + 1)", "f.result: i32 = i32(c)", "n: i32 = f.result"],
    ),
    "a reference argument is the variable itself": (
        "static void f(int *x) { *x += 2; }",
        "int a = n; f(&a); out[a] = 1;",
        [
            "a: i32 = n",
            "a: i32 = a + 2",
            "store #0.0 out + (i64(a) * 4l) = 1.0f",
        ],
    ),
    "early returns become branches": (
        "static int f(int x) { if (x < 0) return 0; if (x > 9) { x -= 9; return x; } return 1; }",
        "n = f(n);",
        [
            "x: i32 = n",
            "if x < 0:",
            "  f.result: i32 = 0",
            "else:",
            "  if x > 9:",
            "    x: i32 = x - 9",
            "    f.result: i32 = x",
            "  else:",
            "    f.result: i32 = 1",
            "n: i32 = f.result",
        ],
    ),
    "a return from a loop leaves a scope": (
        "static int f(int x) { for (;;) { if (x) return x; x++; } }",
        "n = f(n);",
        [
            "x: i32 = n",
            "scope f:",
            "  loop loop while true:",
            "    if x != 0:",
            "      f.result: i32 = x",
            "      leave f",
            "    x: i32 = x + 1",
            "n: i32 = f.result",
        ],
    ),
    "a barrier after an early return stays where it is": (
        "static void f(int x) { if (x) return; __syncthreads(); }",
        "f(n);",
        ["x: i32 = n", "scope f:", "  if x != 0:", "    leave f", "  barrier block"],
    ),
}


@pytest.mark.parametrize("name", INLINED)
def test_functions_are_inlined(name: str) -> None:
    functions, body, expected = INLINED[name]
    assert statements(lowered(body, functions)) == expected


# --- what is not known ------------------------------------------------------------------------


def test_an_unknown_function_gives_an_unknown_value_and_says_so() -> None:
    kernel = lowered("int a = mystery(out[3]); out[a] = 1;")
    assert statements(kernel)[1] == "a: i32 = ?mystery"
    assert [access.index for access in kernel.accesses] == ["out[3]", "out[a]"]
    (said,) = kernel.diagnostics
    assert said.severity == "warning"
    assert "`mystery()` is not known" in said.message


def test_an_opaque_expression_is_told_by_the_front_end_only() -> None:
    kernel = lowered("int a = opaque__1(out[n]); out[a] = 1;")
    assert not kernel.diagnostics
    assert [access.index for access in kernel.accesses] == ["out[n]", "out[a]"]


def test_what_an_unknown_function_may_write_is_unknown_afterwards() -> None:
    kernel = lowered("int a = 1, b = 2; fill(&a, &b, n); out[a] = b;")
    assert statements(kernel)[2:] == [
        "a: i32 = ?a",
        "store #0.0 out + (i64(a) * 4l) = f32(b)",
    ]


def test_memory_an_unknown_function_may_write_is_read_as_unknown() -> None:
    kernel = lowered("int v[4], w[4]; v[n] = 1; w[n] = 2; fill(v, w, n); out[0] = v[n] + w[n];")
    body = list(walk(kernel.body))
    after = {
        kernel.accesses[stmt.access].index: isinstance(following, Assign)
        for stmt, following in pairwise(body)
        if isinstance(stmt, Load)
    }
    assert after == {"v[n]": True, "w[n]": False}


def test_recursion_is_bounded_and_reported() -> None:
    kernel = lowered(
        "n = fact(n);", "static int fact(int x) { if (x < 2) return 1; return x * fact(x - 1); }"
    )
    (said,) = kernel.diagnostics
    assert "`fact()` is recursive" in said.message


def test_double_recursion_ends() -> None:
    kernel = lowered(
        "n = fib(n);",
        "static int fib(int x) { if (x < 2) return x; return fib(x - 1) + fib(x - 2); }",
    )
    assert any("recursive" in said.message for said in kernel.diagnostics)


def test_an_undeclared_name_costs_one_value() -> None:
    kernel = lowered("out[n] = 1; out[missing] = 2;")
    assert [access.index for access in kernel.accesses] == ["out[n]", "out[missing]"]
    assert ["`missing` is not known" in said.message for said in kernel.diagnostics] == [True]
