"""What cooperative groups give from other lanes is a value like any loaded one."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

KERNEL = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out, const int *in)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::tiled_partition<8>(warp);
    auto active = cg::coalesced_threads();
    int i = threadIdx.x;
    out[%s] = i;
}
void run(int *o, const int *i) { k<<<1, 32>>>(o, i); }
"""


@pytest.mark.parametrize(
    ("index", "least", "greatest"),
    [  # 128 bytes from an unknown word on are 4 or 5 sectors; unknown words are in 1 to 32
        ("i + cg::reduce(warp, in[i], cg::greater<int>())", 4, 5),
        ("cg::reduce(part, in[i], cg::plus<int>())", 1, 32),
        ("cg::exclusive_scan(warp, in[i], cg::plus<int>())", 1, 32),
        ("part.ballot(in[i]) ", 1, 32),
        ("active.shfl(in[i], 0) + active.thread_rank()", 1, 32),
    ],
)
def test_values_of_a_group(tmp_path: Path, index: str, least: int, greatest: int) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL % index)
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.diagnostics == ()
    store = next(a for a in kernel.accesses if a.array == "out")
    assert store.sectors is not None
    assert (store.sectors.min, store.sectors.max) == (least, greatest)


def test_the_reader_is_told_what_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace lib { __device__ int f(int); }\n"
        "__global__ void k(int *o) { o[lib::f(threadIdx.x)] = 1; }"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert "taken from `lib::f()`, which is not followed" in kernel.accesses[0].reason


def test_of_libcudacxx_everything_is_known() -> None:
    report = coalescecheck.analyze(Path(__file__).parent / "cu" / "libcudacxx.cu")
    assert [d.message for k in report.kernels for d in k.diagnostics] == []
    assert [race for k in report.kernels for race in k.races] == []
    # what a library's code accesses is shown where the user calls it
    lines = {a.access.span.line for k in report.kernels for a in k.accesses}
    assert max(lines) < 70


BARRIER = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ void wait(cg::thread_group group) { group.sync(); }
__global__ void k(int *out, const int *in)
{
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    s[threadIdx.x] = in[threadIdx.x];
    %s;
    out[threadIdx.x] = s[%s];
}
void run(int *o, const int *i) { k<<<1, 64>>>(o, i); }
"""
NEAR, HALF, FAR = "threadIdx.x ^ 1", "threadIdx.x ^ 16", "threadIdx.x ^ 32"


@pytest.mark.parametrize(
    ("barrier", "ordered", "racing"),
    [  # a group's barrier is one of its members: CUDA C++ Programming Guide, "Synchronization"
        ("block.sync()", (NEAR, HALF, FAR), ()),
        ("cg::this_cluster().sync()", (NEAR, HALF, FAR), ()),
        ("cg::this_grid().sync()", (NEAR, HALF, FAR), ()),
        ("wait(block)", (NEAR, HALF, FAR), ()),
        ("cg::tiled_partition<32>(block).sync()", (NEAR, HALF), (FAR,)),
        ("cg::coalesced_threads().sync()", (NEAR, HALF), (FAR,)),
        ("__syncwarp()", (NEAR, HALF), (FAR,)),
        ("cg::tiled_partition<16>(block).sync()", (NEAR,), (HALF, FAR)),
        ("cg::sync(cg::tiled_partition<2>(block))", (NEAR,), (HALF, FAR)),
        ("cg::tiled_partition<1>(block).sync()", (), (NEAR, HALF)),
        ("__syncwarp(threadIdx.x % 32 < 8 ? 0xffu : 0xffffff00u)", (NEAR,), (HALF,)),
        ("if (threadIdx.x % 32 < 16) cg::coalesced_threads().sync()", (), (NEAR, HALF)),
        ("if (threadIdx.x % 32 < 16) __syncwarp(0xffff)", (), (NEAR, HALF)),
    ],
)
def test_a_barrier_orders_those_who_wait_in_it(
    tmp_path: Path, barrier: str, ordered: tuple[str, ...], racing: tuple[str, ...]
) -> None:
    for place in (*ordered, *racing):
        path = tmp_path / "k.cu"
        path.write_text(BARRIER % (barrier, place))
        (kernel,) = coalescecheck.analyze(path).kernels
        assert bool(kernel.races) == (place in racing), place
