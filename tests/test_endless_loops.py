"""A loop that nothing ends is said to be one, and does not hang the analysis."""

from __future__ import annotations

from pathlib import Path

import coalescecheck
from coalescecheck.analysis import AccessResult

KERNELS = """
__global__ void forever(float *a)
{
    for (;;)
        a[threadIdx.x] += 1;
    a[2 * threadIdx.x] = 0;
}
__global__ void returns(float *a, int n)
{
    while (true) {
        if (a[threadIdx.x] > n) return;
        a[threadIdx.x] += 1;
    }
}
__global__ void spins(float *a, volatile int *flag)
{
    while (*flag) {
    }
    a[threadIdx.x] = 1;
}
void run(float *a, volatile int *f) {
    forever<<<1, 32>>>(a); returns<<<1, 32>>>(a, 3); spins<<<1, 32>>>(a, f); }
"""


def test_only_loops_without_any_way_out_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNELS)
    kernels = {k.name: k for k in coalescecheck.analyze(path).kernels}
    said = {name: [(d.span.line, d.message) for d in k.diagnostics] for name, k in kernels.items()}
    assert said == {
        "forever": [(4, "this loop never ends: what follows it is not reached")],
        "returns": [],
        "spins": [],
    }
    unreached = next(a for a in kernels["forever"].accesses if "2" in a.access.index)
    assert unreached.requests == 0
    assert {k.status for k in kernels.values()} == {"analysed"}


INSIDE = """
__global__ void first(float *a, int n)
{
    for (int i = 0; i < n; i++) {
        a[i * 32 + threadIdx.x] = 1;
        for (unsigned j = n; j >= 0; j--)
            ;
        a[i] = 2;
    }
    a[5] = 3;
}
void run(float *a, int n) { first<<<1, 32>>>(a, n); }
"""


def test_a_loop_that_comes_to_an_endless_one_runs_once(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(INSIDE)
    (kernel,) = coalescecheck.analyze(path).kernels
    seen = [
        (a.access.index, a.totals and (a.totals.requests.min, a.totals.requests.max))
        for a in kernel.accesses
    ]
    assert seen == [("a[i * 32 + threadIdx.x]", (0, 1)), ("a[i]", (0, 0)), ("a[5]", (0, 1))]
    assert kernel.accesses[2].guards == ("n < 1",)


STAYING = """
__device__ int value(bool stays, int n)
{
    if (stays)
        while (true) { }
    if (n)
        return 1;
    for (int i = 0; i < n; i++)
        if (i == 5)
            return 7;
    return 1;
}
__global__ void eight(float *a, int n)
{
    value(threadIdx.x >= 8, n);
    a[threadIdx.x] = 1;
}
void run(float *a, int n) { eight<<<1, 32>>>(a, n); }
"""


def test_lanes_that_stay_in_an_endless_loop_do_not_come_out_of_the_function(tmp_path: Path) -> None:
    """Lanes 0 to 7 are one sector; that all 32 arrive, with 4 sectors, must not be said."""
    store = _store(tmp_path, STAYING)
    assert store.sectors is not None
    assert store.sectors.min <= 1
    assert store.certainty != "exact" or store.sectors.max == 1


LEAVING = """
__device__ int steps(float x, int most)
{
    int i = most;
    do {
        if (x > 4.0f)
            return i - 1;
        x = x * x;
        i -= 2;
        if (i <= 0)
            return i;
    } while (1);
}
__global__ void escape(float *a, int most)
{
    int count = steps(threadIdx.x * 0.1f, most);
    a[threadIdx.x] = count;
}
void run(float *a, int n) { escape<<<1, 32>>>(a, n); }
"""


def test_lanes_that_return_from_an_endless_loop_all_come_out(tmp_path: Path) -> None:
    store = _store(tmp_path, LEAVING)
    assert store.sectors is not None
    assert (store.certainty, store.sectors.min, store.sectors.max) == ("exact", 4, 4)


def _store(tmp_path: Path, text: str) -> AccessResult:
    """The one access of the one kernel in ``text``."""
    path = tmp_path / "k.cu"
    path.write_text(text)
    (kernel,) = coalescecheck.analyze(path).kernels
    (store,) = kernel.accesses
    return store
