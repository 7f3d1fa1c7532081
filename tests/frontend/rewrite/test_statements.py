"""Statements and declarations, text in and text out."""

from __future__ import annotations

import pytest
import rewriting

CASES = {
    "declarators are split, one line each": (
        "int b = 1, *p = &b, t[3];",
        ["int b = 1;", "int *p = &b;", "int t[3];"],
    ),
    "an int constant becomes an enumerator": (
        "const int N = 4 * 2; float t[N];",
        ["enum { N = 8 };", "float t[8];"],
    ),
    "a constant of another type is its literal": (
        "constexpr unsigned N = 8; int x = i / N;",
        ["int x = i / 8u;"],
    ),
    "direct initialisation": ("int x(i * (i - 1)); int y{3};", ["int x = i * (i - 1);",
                                                              "int y = 3;"]),
    "a vexing parse": ("int x(i);", ["int x = i;"]),
    "a vexing parse with an element": ("float x(a[i]);", ["float x = a[i];"]),
    "auto takes the type of its value": (
        "auto x = a[i]; auto *p = a; const auto y = i + 1u;",
        ["float x = a[i];", "float *p = a;", "unsigned int y = i + 1u;"],
    ),
    "a reference is a pointer": (
        "float &x = a[i]; x += 2;",
        ["float *x = &a[i];", "*x += 2;"],
    ),
    "a const reference to a value is a copy": (
        "const float &x = a[i] + 1; a[0] = x;",
        ["float x = a[i] + 1;", "a[0] = x;"],
    ),
    "a pointer to an array is no expression": (
        "__shared__ float t[4][8]; float (*p)[8] = t; p[1][i] = 0;",
        ["[[cuda::shared]] float t[4][8];", "float (*p)[8] = t;", "p[1][i] = 0;"],
    ),
    "a reference to an array": (
        "float t[8]; float (&r)[8] = t; r[i] = 0;",
        ["float t[8];", "float (*r)[8] = &t;", "(*r)[i] = 0;"],
    ),
    "shared arrays keep their alignment": (
        "__shared__ __align__(16) float s[64]; __shared__ alignas(8) int q[2];",
        ["[[cuda::shared]] _Alignas(16) float s[64];", "[[cuda::shared]] _Alignas(8) int q[2];"],
    ),
    "dynamic shared memory": (
        "extern __shared__ float s[]; s[i] = a[i];",
        ["[[cuda::shared]] extern float s[];", "s[i] = a[i];"],
    ),
    "dynamic shared memory seen as two types": (
        "{ extern __shared__ float s[]; s[i] = 0; } { extern __shared__ int s[]; s[i] = 0; }",
        ["{", "[[cuda::shared]] extern float s[];", "s[i] = 0;", "}",
         "{", "[[cuda::shared]] extern float s[];", "int *s__1 = (int *)s;", "s__1[i] = 0;", "}"],
    ),
    "a table takes its size from its list": (
        "static const float t[] = {1, 2, 3}; a[i] = t[i];",
        ["static const float t[3] = {1, 2, 3};", "a[i] = t[i];"],
    ),
    "loops get braces": (
        "for (int k = 0; k < 4; k++) a[k] = 0;",
        ["for (int k = 0; k < 4; k++) {", "a[k] = 0;", "}"],
    ),
    "a loop with two counters": (
        "for (int k = 0, j = i; k < j; k++, --j) a[k] = a[j];",
        ["for (int k = 0, j = i; k < j; k++, --j) {", "a[k] = a[j];", "}"],
    ),
    "a loop over a pointer": (
        "for (auto p = a; p != a + i; ++p) *p = 0;",
        ["for (float *p = a; p != a + i; ++p) {", "*p = 0;", "}"],
    ),
    "a range loop over an array": (
        "int t[4]; for (int &e : t) e = i;",
        ["int t[4];", "for (int turn__1 = 0; turn__1 < 4; turn__1++) {",
         "int *e = &t[turn__1];", "*e = i;", "}"],
    ),
    "unroll pragmas": (
        "#pragma unroll 4\nfor (;;) break;\n#pragma unroll\nwhile (i) i--;",
        ["[[unroll(4)]] for (; ; ) {", "break;", "}", "[[unroll]] while (i) {", "i--;", "}"],
    ),
    "unroll pragmas of nested loops without braces": (
        "for (;;) [[unroll]] for (;;) a[i]++; if (i) i++; else [[unroll(4)]] for (;;) i--;",
        ["for (; ; ) {", "[[unroll]] for (; ; ) {", "a[i]++;", "}", "}",
         "if (i) {", "i++;", "} else {", "[[unroll(4)]] for (; ; ) {", "i--;", "}", "}"],
    ),
    "an unroll factor that is a sum": (
        "#pragma unroll 2 + 2\nfor (;;) break;", ["[[unroll]] for (; ; ) {", "break;", "}"],
    ),
    "a declaration as a condition": (
        "if (int k = i & 3) a[k] = 0;",
        ["{", "int k = i & 3;", "if (k) {", "a[k] = 0;", "}", "}"],
    ),
    "a declaration as a loop condition is made anew each turn": (
        "while (int k = i--) a[k] = 0;",
        ["while (true) {", "int k = i--;", "if (!k) {", "break;", "}", "a[k] = 0;", "}"],
    ),
    "switch, goto and do": (
        "switch (i) { case 1: a[0] = 1; break; default: goto out; } do i--; while (i); out: ;",
        ["switch (i) {", "case 1: ;", "a[0] = 1;", "break;", "default: ;", "goto out;", "}",
         "do {", "i--;", "} while (i);", "out: ;", ";"],
    ),
    "GNU's ranges of cases": (
        "enum { A = 2, B = 4 }; switch (i) { case 0 ... A - 1: a[0] = 1; case B...B + 1: break;"
        " case ':' ... ';': a[1] = 1; break; default: a[2] = 1; }",
        ["switch (i) {", "case 0 ... 1: ;", "a[0] = 1;", "case 4 ... 5: ;", "break;",
         "case 58 ... 59: ;", "a[1] = 1;", "break;", "default: ;", "a[2] = 1;", "}"],
    ),
    "a constant branch of if constexpr is the only one": (
        "if constexpr (sizeof(int) == 4) a[i] = 1; else a[i] = 2;",
        ["{", "a[i] = 1;", "}"],
    ),
    "a structured binding of a vector": (
        "auto [x, y] = ((float2 *)a)[i]; a[0] = x + y;",
        ["float2 bound__1 = ((float2 *)a)[i];", "a[0] = bound__1.x + bound__1.y;"],
    ),
    "a local struct": (
        "struct P { int x; float y; } p = {1, 2}; a[p.x] = p.y;",
        ["P p = (P){1, 2};", "a[p.x] = p.y;"],
    ),
    "local type names": (
        "typedef float4 V; using W = V *; W p = (W)a; p[i].x = 0;",
        ["float4 *p = (float4 *)a;", "p[i].x = 0;"],
    ),
    "output is dropped, what it reads is not": (
        'printf("%f", a[i]); printf("hello"); assert(i < 3);',
        ["(void)a[i];"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_statement(source: str, expected: list[str]) -> None:
    kernel = rewriting.rewritten(f"__global__ void k(float *a, int i) {{\n{source}\n}}")
    assert rewriting.body(kernel) == expected
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
    assert kernel.diagnostics == ()


PARAMETERS = {
    "restrict and const": (
        "float *__restrict__ a, const float *__restrict b",
        "float *restrict a, const float *restrict b",
    ),
    "arrays are pointers": ("float a[], int b[][4]", "float *a, int (*b)[4]"),
    "a pointer to an array": ("float (*a)[33], int **b", "float (*a)[33], int **b"),
    "fixed-width names": (
        "uint8_t a, int64_t b, size_t c, uint *d",
        "unsigned char a, long b, unsigned long c, unsigned int *d",
    ),
    "words in any order": (
        "long long unsigned int a, unsigned char const *b, const short c",
        "unsigned long long a, const unsigned char *b, const short c",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), PARAMETERS.values(), ids=PARAMETERS)
def test_parameters(source: str, expected: str) -> None:
    kernel = rewriting.rewritten(f"__global__ void k({source}) {{ }}")
    assert kernel.text is not None
    assert f"[[cuda::global]] void k({expected}) {{" in kernel.text
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
