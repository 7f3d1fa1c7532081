"""Loops over the iterators of an object access what the elements are."""

from __future__ import annotations

from pathlib import Path

import coalescecheck

SOURCE = """\
struct Step { int i, by; __device__ int operator*() const { return i; }
  __device__ Step &operator++() { i += by; return *this; }
  __device__ bool operator!=(Step o) const { return i < o.i; } };
struct Range { int a, b, by; __device__ Step begin() const { return {a, by}; }
  __device__ Step end() const { return {b, by}; } };
__device__ Range grid_stride(int n)
{ return {int(blockIdx.x * blockDim.x + threadIdx.x), n, int(gridDim.x * blockDim.x)}; }
template <class T> struct Span { T *p; int n; __device__ T *begin() const { return p; }
  __device__ T *end() const { return p + n; } };
__global__ void k(float *o, const float *a, int n)
{
  for (int i : grid_stride(n)) o[i] = a[2 * i];
  Span<float> mine{o + threadIdx.x * 8, 3};
  for (float &x : mine) x = 2;
}
"""


def test_each_turn_is_a_request(tmp_path: Path) -> None:
    """128 elements for 64 threads: two turns of two warps; three elements of 32-byte rows."""
    path = tmp_path / "ranges.cu"
    path.write_text(SOURCE)
    (kernel,) = coalescecheck.analyze(path, block="32", grid="2", params={"n": 128}).kernels
    assert (kernel.status, kernel.reason) == ("analysed", "")
    found = {
        (a.access.span.line, a.access.op.value): (a.certainty, a.requests, a.sectors.mean)
        for a in kernel.accesses
        if a.sectors is not None
    }
    assert found == {
        (12, "load"): ("exact", 4, 8),
        (12, "store"): ("exact", 4, 4),
        (14, "store"): ("exact", 6, 32),
    }
