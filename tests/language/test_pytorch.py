"""Functions of PyTorch's headers, which are rarely beside an extension's code."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

OWN = "template <class T> __device__ void gpuAtomicAdd(T *p, T v) { p[0] = v; }\n"


@pytest.mark.parametrize(
    ("before", "op"), [("#include <ATen/cuda/Atomic.cuh>\n", "atomic"), (OWN, "store")]
)
def test_atomics(before: str, op: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        f"{before}template <class T> __global__ void k(T *p) {{ gpuAtomicAdd(p + 2 * threadIdx.x,"
        " static_cast<T>(1)); }\nvoid run(double *p) { k<<<1, 32>>>(p); }\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    (access,) = kernel.accesses
    assert access.sectors is not None
    assert (kernel.status, access.access.op.value, access.sectors.max) == ("analysed", op, 16)
