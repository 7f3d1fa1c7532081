"""Local memory: the words of a slot are interleaved by lane, so one lane alone is one sector."""

from __future__ import annotations

from pathlib import Path

import coalescecheck

KERNEL = """
__global__ void k(float *o, const int *at, const int *flag)
{
    float mine[64];
    int i = threadIdx.x;
    for (int j = 0; j < 64; ++j) mine[j] = 0;
    if (flag[i]) mine[at[0]] = 1;
    o[i] = mine[at[i]];
}
void run(float *o, const int *a, const int *f) { k<<<1, 32>>>(o, a, f); }
"""


def test_lanes_that_data_switches_off_need_no_sector(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    (kernel,) = coalescecheck.analyze(path).kernels
    store = next(a for a in kernel.accesses if a.access.index == "mine[at[0]]")
    assert store.space == "local"
    assert store.sectors is not None
    # one index for all lanes: four sectors if all run, one if a single lane does
    assert (store.sectors.min, store.sectors.max) == (1, 4)
    assert store.certainty == "data-dependent"
    load = next(a for a in kernel.accesses if a.access.index == "mine[at[i]]")
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max) == (1, 32)
    # the array is in memory for its constant indices too
    assert [a.access.index for a in kernel.accesses if a.space == "local"] == [
        "mine[j]",
        "mine[at[0]]",
        "mine[at[i]]",
    ]
    assert kernel.accesses
    assert all(a.verified.simulation != "disagrees" for a in kernel.accesses)
