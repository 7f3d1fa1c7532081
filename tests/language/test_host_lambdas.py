"""Kernels that are given lambdas of host code: what these access is counted, and what they have
captured is a parameter.

32 floats side by side are 4 sectors from a sector's start, 5 from amid one; at a stride of s floats
ceil((31 s + 1) / 8), at most 32.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult

SOURCE = """
struct View {{
    float *p; int s;
    __device__ float &operator()(int i, int j) const {{ return p[i * s + j]; }}
}};
template <class F> __global__ void each(int n, F f)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}}
template <class F, class G> __global__ void both(F f, G g) {{ f(threadIdx.x, g(threadIdx.x)); }}
template <typename F> void run_each(int n, const F &f) {{ each<<<1, 32>>>(n, f); }}
namespace app {{
const int W = 2;
void go(float *d, int m)
{{
    {body}
}}
}}
"""

LAMBDAS = {
    "where it is launched": ("each<<<1, 32>>>(32, [=] __device__(int i) { d[i] = 1; });", (4, 4)),
    "with a space": ("each<<<1, 32>>>(32, [=] __device__ (int i) { d[i] = 1; });", (4, 4)),
    "for both sides": (
        "each<<<1, 32>>>(32, [d] __host__ __device__(int i) { d[i] = 1; });", (4, 4)),
    "a variable": (
        "auto f = [=] __device__(int i) { d[i + 1] = 1; }; each<<<1, 32>>>(32, f);", (5, 5)),
    "through helpers": ("run_each(32, [=] __device__(int i) { d[i * 3] = 1; });", (12, 12)),
    "a known variable": (
        "int s = 2; each<<<1, 32>>>(32, [=] __device__(int i) { d[i * s] = 1; });", (8, 8)),
    "a constant": (
        "const int s = 2; each<<<1, 32>>>(32, [=] __device__(int i) { d[i * s] = 1; });", (8, 8)),
    "a constant of a namespace": (
        "each<<<1, 32>>>(32, [=] __device__(int i) { d[i * W] = 1; });", (8, 8)),
    "a capture of its own": (
        "int s = 1; each<<<1, 32>>>(32, [d, k = s + 1] __device__(int i) { d[i * k] = 1; });",
        (8, 8)),
    "a generic one": ("each<<<1, 32>>>(32, [=] __device__(auto i) { d[i] = 1; });", (4, 4)),
    "a guard of its own": (
        "each<<<1, 32>>>(32, [=] __device__(int i) { if (i < 9) d[i] = 1; });", (2, 2)),
    "two": (
        "both<<<1, 32>>>([=] __device__(int i, int j) { d[i + j] = 1; },\n"
        "[] __device__(int i) { return i; });", (8, 8)),
    "a moved pointer": (
        "float *q = d + 1; each<<<1, 32>>>(32, [q] __device__(int i) { q[i] = 1; });", (4, 5)),
    "a moved pointer in an object": (
        "View v{d + 1, 8}; each<<<1, 32>>>(32, [=] __device__(int i) { v(0, i) = 1; });", (4, 5)),
    "within another lambda": (
        "auto f = [=](int k) { each<<<1, 32>>>(32, [=] __device__(int i) { d[i + k * 8] = 1; }); };"
        "\nf(m);", (4, 4)),
}  # fmt: skip


def stored(folder: Path, body: str, **given: Any) -> AccessResult:
    """The one store of a kernel that was given a lambda, which the simulation agrees with."""
    path = folder / "k.cu"
    path.write_text(SOURCE.format(body=body))
    report = coalescecheck.analyze(path, **given)
    (kernel,) = (k for k in report.kernels if k.accesses)
    (found,) = kernel.accesses
    assert found.verified.simulation == "agrees" or found.certainty == "bounded"
    return found


@pytest.mark.parametrize(("body", "counts"), LAMBDAS.values(), ids=LAMBDAS)
def test_what_the_lambda_accesses_is_counted(
    tmp_path: Path, body: str, counts: tuple[int, int]
) -> None:
    found = stored(tmp_path, body)
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == counts


def test_what_is_captured_is_a_parameter(tmp_path: Path) -> None:
    body = "each<<<1, 32>>>(32, [=] __device__(int i) { d[i * m] = 1; });"
    found = stored(tmp_path, body)
    assert found.assumptions == ("f.m >= 8",)
    found = stored(tmp_path, body, params={"f.m": 2})
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (8, 8)


def test_a_variable_that_changes_later_is_not_known(tmp_path: Path) -> None:
    body = "int s = 2; each<<<1, 32>>>(32, [=] __device__(int i) { d[i * s] = 1; }); s = 4;"
    assert stored(tmp_path, body).assumptions == ("f.s >= 8",)


def test_the_access_is_where_the_lambda_is(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    body = "\neach<<<1, 32>>>(32, [=] __device__(int i) { d[i] = 1; });"
    path.write_text(SOURCE.format(body=body))
    (kernel,) = (k for k in coalescecheck.analyze(path).kernels if k.accesses)
    line = path.read_text().splitlines().index(body.strip()) + 1
    assert kernel.accesses[0].access.span.line == line
    assert kernel.template == {"F": f"lambda:{line}"}


def test_an_array_in_a_lambda_is_told(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    body = "float c[2] = {}; each<<<1, 32>>>(32, [=] __device__(int i) { d[i] = c[i % 2]; });"
    path.write_text(SOURCE.format(body=body))
    report = coalescecheck.analyze(path)
    (kernel,) = (k for k in report.kernels if k.template.get("F", "").startswith("lambda:"))
    assert kernel.status == "partial"
    assert "holds an array" in kernel.reason
