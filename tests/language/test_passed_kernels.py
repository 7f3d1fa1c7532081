"""Kernels that reach their launch through variables and parameters: each with the template
arguments, block and grid of the call that passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import kernels_in, shape

CODE = """
typedef void (*kernel_t)(float *);
template <int N> __global__ void k(float *p) { p[threadIdx.x * N] = 0; }
"""

CASES = {
    "a pointer, by helpers that are instances of templates": (
        "template <int W> void launch(kernel_t kernel, float *p, int grid) {\n"
        "dim3 block(32, W); kernel<<<grid, block>>>(p); }\n"
        "template <int K> void run(float *p) { constexpr int rows = K + 3;\n"
        "kernel_t f = k<K>; launch<K * 2>(f, p, rows); }\n"
        "void all(float *p) { run<1>(p); run<2>(p); }",
        ["1: 32x2 of 4", "2: 32x4 of 5"],
    ),
    "anything that can be launched": (
        "template <typename F> void launch(F f, dim3 grid, dim3 block, float *p) {\n"
        "f<<<grid, block>>>(p); }\n"
        "void all(float *p, int n) { launch(k<1>, 2, dim3(64), p); launch(&k<2>, n, 128, p); }",
        ["1: 64x1 of 2", "2: 128x1 of ?"],
    ),
    "passed on, with all other arguments": (
        "template <typename... A> void inner(kernel_t f, int t, A... a) { f<<<1, t>>>(a...); }\n"
        "void outer(kernel_t g, int t, float *p) { inner(g, t * 2, p); }\n"
        "void all(float *p) { outer(k<3>, 32, p); }",
        ["3: 64x1 of 1"],
    ),
    "chosen by conditions": (
        "void launch(kernel_t f, float *p) { f<<<1, 32>>>(p); }\n"
        "void all(float *p, int n) { auto a = n ? k<1> : n > 2 ? &k<2> : k<3>;\n"
        "a<<<1, 64>>>(p); kernel_t b; if (n > 5) { b = k<4>; } else { b = k<5>; }\n"
        "launch(b, p); }",
        ["1: 64x1 of 1", "2: 64x1 of 1", "3: 64x1 of 1", "4: 32x1 of 1", "5: 32x1 of 1"],
    ),
    "in parentheses, as a macro passes it": (
        "#define LAUNCH(kernel, t) kernel<<<1, t>>>\n"
        "void all(float *p, int n) { LAUNCH((k<1>), 32)(p); ((k<2>))<<<1, 64>>>(p);\n"
        "auto f = &k<3>; (*f)<<<1, 96>>>(p); (n ? k<4> : (k<5>))<<<1, 128>>>(p); }",
        ["1: 32x1 of 1", "2: 64x1 of 1", "3: 96x1 of 1", "4: 128x1 of 1", "5: 128x1 of 1"],
    ),
    "nobody tells": (
        "kernel_t pick(int); void launch(kernel_t f, float *p) { f<<<1, 32>>>(p); }\n"
        "void change(kernel_t f, float *p) { f = pick(2); f<<<1, 32>>>(p); }\n"
        "void all(float *p) { auto f = pick(1); launch(f, p); change(k<4>, p); }\n"
        "template __global__ void k<7>(float *);",
        ["7: ? of ?"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_launches(case: str, tmp_path: Path) -> None:
    host, expected = CASES[case]
    found = [
        f"{kernel.template['N']}: {shape(kernel.launch)}"
        for kernel in kernels_in(tmp_path, CODE + host)
    ]
    assert sorted(found) == sorted(expected)
