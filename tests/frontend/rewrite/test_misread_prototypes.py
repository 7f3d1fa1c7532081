"""``V v(a[i], b * c);`` is a variable: what the grammar takes for a function without a body."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck import frontend
from coalescecheck.launch import Dim3

HEAD = """
struct V { float x, y; __device__ V(float a, float b) : x(a), y(b) {} };
template <class T> struct C { T re, im; __device__ C(T a, T b) : re(a), im(b) {} };
"""


def loads(folder: Path, statement: str) -> list[str]:
    path = folder / "kernel.cu"
    path.write_text(
        f"{HEAD}__global__ void k(float *o, const float *p, const float *q, int i)\n"
        f"{{ float s = 0; {statement} o[threadIdx.x] = s; }}\n",
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path, block=(32,), grid=(1,)).kernels
    assert kernel.status == "analysed"
    return [a.access.index for a in kernel.accesses if a.access.op == "load"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("V v(p[i], q[i]); s = v.x;", ["p[i]", "q[i]"]),
        ("const V v(p[threadIdx.x], q[i]); s = v.y;", ["p[threadIdx.x]", "q[i]"]),
        ("C<float> c(p[i], q[2 * i]); s = c.im;", ["p[i]", "q[2 * i]"]),
        ("switch (i) { case 1: V v(p[i], q[0]); s = v.x; }", ["p[i]", "q[0]"]),
        ("for (V v(p[i], q[0]); v.x > s; v.x -= 1) s = v.y;", ["p[i]", "q[0]"]),
        ("float v(p[i]); s = v;", ["p[i]"]),
        ("int n(i * i), m(i & i); s = p[n + m];", ["p[n + m]"]),
    ],
)
def test_the_arguments_are_read(tmp_path: Path, statement: str, expected: list[str]) -> None:
    assert loads(tmp_path, statement) == expected


def test_products_keep_both_factors(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "__global__ void k(float *o, int n) { int w(n * n); o[w * threadIdx.x] = 1; }\n"
        "void run(float *o) { k<<<1, 32>>>(o, 3); }\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.accesses[0].lane_stride_bytes == 36


def test_launch_dimensions_of_products(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "__global__ void k(float *o) { o[threadIdx.x] = 1; }\n"
        "void run(float *o) { const int a = 8, b = 12; int sizes[2] = {2, 3};\n"
        "    dim3 block(a * b), grid(a & b, a); k<<<grid, block>>>(o); }\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert (kernel.launch.block, kernel.launch.grid) == (Dim3(96), Dim3(8, 8))


def test_prototypes_of_functions_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "struct T { int n; };\n"
        "__global__ void k(float *o)\n"
        "{ T other(T *a, T &b); float f(float *), g(int[3]); o[0] = 1; }\n"
    )
    (kernel,) = frontend.load(str(path)).kernels
    assert kernel.text is not None
    assert "other" not in kernel.text
    assert kernel.diagnostics == ()


def test_what_cannot_be_told_apart_is_said_to_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        f"{HEAD}__global__ void k(float *o, float c) {{ V v(N * c, c); o[0] = v.x; }}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "partial"
    assert kernel.reason == "`v(N * c, c)` is not understood: what it accesses is not seen"
