"""Launches by cudaLaunchKernelEx: block, grid and arguments as anyone reading the code expects
them; ``?`` is what the members of the configuration do not tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import kernels_in, shape

KERNEL = "template <int N> __global__ void k(float *p, int n) { p[threadIdx.x * N + n] = 0; }\n"

CASES = {
    "members, through a kernel in a variable": (
        "template <int N> void h(float *p, int n) { cudaLaunchConfig_t config;\n"
        "dim3 threads(32, 4); config.gridDim = 7; config.blockDim = threads;\n"
        "cudaLaunchAttribute a[1]; config.attrs = a; config.numAttrs = 1; config.stream = 0;\n"
        "auto kernel = k<N>; cudaLaunchKernelEx(&config, kernel, p, 5); }\n"
        "void run(float *p, int n) { h<2>(p, n); }",
        ["2: 32x4 of 7 n=5"],
    ),
    "changed between two launches": (
        "void h(float *p, int n) { cudaLaunchConfig_t c = {}; c.gridDim = 2; c.blockDim = 64;\n"
        "cudaLaunchKernelEx(&c, k<1>, p, 1); c.blockDim = 128;\n"
        "cudaLaunchKernelEx(&c, k<2>, p, 2); c.gridDim.x = n; c.blockDim.y = n;\n"
        "cudaLaunchKernelEx(&c, k<3>, p, 3); }",
        ["1: 64x1 of 2 n=1", "2: 128x1 of 2 n=2", "3: ? of ? n=3"],
    ),
    "listed, in a loop": (
        "void h(float *p) { cudaLaunchConfig_t c = {dim3(2), dim3(64), 0, 0};\n"
        "cudaLaunchConfig_t d{.gridDim = 3, .blockDim = {16, 2}};\n"
        "for (int i = 0; i < 3; i++) { cudaLaunchKernelEx(&c, &k<1>, p, 1);\n"
        "cudaLaunchKernelEx(&d, k<2>, p, 2); } }",
        ["1: 64x1 of 2 n=1", "2: 16x2 of 3 n=2"],
    ),
    "set in a branch, by a function, or elsewhere": (
        "void fill(cudaLaunchConfig_t *c);\n"
        "void h(float *p, int n, cudaLaunchConfig_t given) { cudaLaunchConfig_t c = {0};\n"
        "c.blockDim = 64; c.gridDim = 4; if (n) c.blockDim = 32;\n"
        "cudaLaunchKernelEx(&c, k<1>, p, 1); fill(&c);\n"
        "cudaLaunchKernelEx(&c, k<2>, p, 2); cudaLaunchKernelEx(&given, k<3>, p, 3); }",
        ["1: ? of 4 n=1", "2: ? of ? n=2", "3: ? of ? n=3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_configurations(case: str, tmp_path: Path) -> None:
    host, expected = CASES[case]
    found = [
        f"{kernel.template['N']}: {shape(kernel.launch)} n={kernel.params['n']}"
        for kernel in kernels_in(tmp_path, KERNEL + host)
    ]
    assert found == expected
