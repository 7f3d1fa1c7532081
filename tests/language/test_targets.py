"""Code that libraries choose by <nv/target>: what a device pass for the architecture keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

CODE = """
#include <nv/target>
__device__ __host__ int f(int i) { NV_IF_TARGET(NV_IS_DEVICE, (return 2 * i;), (return 9 * i;)); }
__device__ __host__ int g(int i) { NV_IF_ELSE_TARGET(NV_IS_HOST, (return i;), (return 3 * i;)) }
__device__ int h(int i)
{
    int r = 0;
    NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (r = 4 * i;), NV_PROVIDES_SM_75, (r = 5 * i; r = r;),
                       NV_ANY_TARGET, (r = i;))
    NV_IF_TARGET(NV_IS_EXACTLY_SM_86, (r += i;))
    return r;
}
__global__ void k(float *o)
{
    int i = threadIdx.x;
    o[f(i)] = 1;
    o[g(i)] = 1;
    o[h(i)] = 1;
    NV_IF_TARGET(NV_IS_DEVICE, (o[7 * i] = 2;));
    NV_IF_TARGET(NV_IS_HOST, (o[8 * i] = 2;));
}
void run(float *o) { k<<<1, 32>>>(o); }
"""


@pytest.mark.parametrize(
    ("arch", "steps"),
    [
        ("sm_70", [2, 3, 1, 7]),
        ("sm_80", [2, 3, 5, 7]),
        ("sm_86", [2, 3, 6, 7]),
        ("sm_90", [2, 3, 4, 7]),
    ],
)
def test_the_code_of_the_architecture(arch: str, steps: list[int], tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CODE)
    report = coalescecheck.analyze(path, arch=arch)
    (kernel,) = report.kernels
    assert [access.lane_stride_bytes for access in kernel.accesses] == [4 * s for s in steps]
    assert [d for file in report.files for d in file.diagnostics] == []
