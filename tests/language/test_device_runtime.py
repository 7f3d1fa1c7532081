"""Kernels that launch kernels and allocate: what is theirs is counted, nothing is hidden.

(No kernel of ``cu``: nvcc wants such code compiled separately.)
"""

from __future__ import annotations

from pathlib import Path

from expectations import expectations, said_of

import coalescecheck

SOURCE = """\
struct Line { float *points; int n; };
__global__ void child(float *p, int n) { p[threadIdx.x] = n; }
__global__ void parent(Line *lines, float *p, int n)
{
    int i = threadIdx.x;
    cudaMalloc((void **)&lines[i].points, n * sizeof(float));  // expect: lines store unknown
    float *own;
    cudaMalloc(&own, n);
    child<<<1, 32>>>(lines[i].points, n);  // expect: lines load sectors=16
    cudaMemcpyAsync(own, p, 4, cudaMemcpyDeviceToDevice, 0);
    cudaFree(own);
    p[2 * i] = 1;   // expect: p store sectors=8
    p[lines[i].n] = 2;  // expect: lines load sectors=16; p store data-dependent
}
void run(Line *l, float *p) { parent<<<1, 32>>>(l, p, 4); }
"""


def test_what_other_grids_access_is_not_the_launching_kernels(tmp_path: Path) -> None:
    path = tmp_path / "parent.cu"
    path.write_text(SOURCE)
    report = coalescecheck.analyze(path, kernels=["parent"])
    (kernel,) = report.kernels
    assert (kernel.status, report.disagrees) == ("analysed", False)
    found = {(a.access.span.line, said_of(a)) for a in kernel.accesses}
    assert found == {(n, e.said) for n, es in expectations(SOURCE).items() for e in es}
