"""PyTorch's accessors: without its headers, indices and strides are followed all the same.

32 floats side by side are 4 sectors, at a stride of 2 floats 8, of 3 floats 12.  (No kernel of
``cu``: nvcc has none of PyTorch's headers.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import coalescecheck
from coalescecheck.analysis import KernelAnalysis

SOURCE = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void k(torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> in,
                  at::PackedTensorAccessor64<scalar_t, 1> v,
                  const torch::PackedTensorAccessor<scalar_t, 2, torch::RestrictPtrTraits, int> out)
{
    int c = threadIdx.x, n = blockIdx.x;
    if (c >= in.size(2)) return;
    BODY
}
torch::Tensor run(torch::Tensor x, torch::Tensor v, torch::Tensor y)
{
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "run", [&] {
        k<scalar_t><<<4, 32>>>(
            x.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
            v.packed_accessor64<scalar_t, 1>(),
            y.packed_accessor<scalar_t, 2, torch::RestrictPtrTraits, int>());
    });
    return y;
}
"""


def kernel(folder: Path, body: str, source: str = SOURCE, **given: Any) -> KernelAnalysis:
    """The instance for ``float``."""
    path = folder / "k.cu"
    path.write_text(source.replace("BODY", body))
    kernels = coalescecheck.analyze(path, **given).kernels
    return next(k for k in kernels if k.template.get("scalar_t", "float") == "float")


@pytest.mark.parametrize(
    ("body", "strides", "sectors"),
    [
        ("out[n][c] = 1;", {"out.strides_[1]": 1, "out.strides_[0]": 64}, 4),
        ("out[n][c] = 1;", {"out.strides_[1]": 2, "out.strides_[0]": 64}, 8),
        ("in[n][c][1] = 1;", {"in.strides_[0]": 96, "in.strides_[1]": 3, "in.strides_[2]": 32}, 12),
        ("auto row = in[n]; row[1][c] = 1;",
         {"in.strides_[0]": 64, "in.strides_[1]": 32, "in.strides_[2]": 1}, 4),
        ("v[c] = 1;", {"v.strides_[0]": 2}, 8),
        ("v.data()[c] = v.stride(0);", {}, 4),
    ],
)  # fmt: skip
def test_an_element_is_where_its_strides_lead(
    tmp_path: Path, body: str, strides: dict[str, int], sectors: int
) -> None:
    found = kernel(tmp_path, body, params=strides | {"in.sizes_[2]": 32})
    (store,) = (a for a in found.accesses if a.access.op == "store")
    assert found.status == "analysed"
    assert store.sectors is not None
    assert (store.sectors.min, store.sectors.max, store.certainty) == (sectors, sectors, "exact")
    assert store.verified.simulation == "agrees"


def test_what_is_not_given_is_a_parameter(tmp_path: Path) -> None:
    found = kernel(tmp_path, "out[n][c] = 1;")
    (store,) = (a for a in found.accesses if a.access.op == "store")
    assert store.certainty == "exact-symbolic"
    assert store.names["out_strides__1"] == "out.strides_[1]"
    assert store.assumptions == (
        "out.strides_[1] >= 8",
        "whole warps: threadIdx.x < in.sizes_[2]",
    )
    read = {a.access.index for a in found.accesses if a.space == "constant"}
    assert read <= {"operator[]"}


def test_a_definition_of_the_file_is_meant(tmp_path: Path) -> None:
    source = """
    namespace at { template <class T, int N> struct PackedTensorAccessor {
        T *p; __device__ T &operator()(int i) const { return p[3 * i]; } }; }
    __global__ void k(at::PackedTensorAccessor<float, 2> a) { a(threadIdx.x) = 1; }
    void run(at::PackedTensorAccessor<float, 2> a) { k<<<1, 32>>>(a); }
    """
    (store,) = kernel(tmp_path, "", source).accesses
    assert store.sectors is not None
    assert (store.sectors.min, store.sectors.max) == (12, 12)
