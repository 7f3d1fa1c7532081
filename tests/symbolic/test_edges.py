"""Unknown positions: phases of an unknown block index, edges of a stencil, ends of rows.

The expected least and greatest counts come from walking all lanes in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult

KERNELS = """
__global__ void phase(float *o, const float *a, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    o[i % 100 * 50 + i / 100] = a[i / 100 * 128 + i % 100];
}
__global__ void stencil(float *o, const float *a, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int west = i == 0 ? i : i - 1;
    int east = i == n - 1 ? i : i + 1;
    o[i] = a[west] + a[east];
}
__global__ void rows(float *o, const float *a, int w, int pitch)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    o[i / w * pitch + i % w] = 1;
}
void run(float *o, float *a, int n, int w, int p)
{
    phase<<<n, 256>>>(o, a, n);
    stencil<<<n, 64>>>(o, a, n);
    rows<<<n, 256>>>(o, a, w, p);
}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], AccessResult]:
    path = tmp_path_factory.mktemp("edges") / "k.cu"
    path.write_text(KERNELS)
    report = coalescecheck.analyze(path)
    assert not report.disagrees
    return {
        (k.name, str(a.access.op), a.access.index): a for k in report.kernels for a in k.accesses
    }


def sectors(place: Callable[[int], int], first: int) -> int:
    """Sectors of the warp whose first lane has index ``first``; ``place`` is in floats."""
    return len({4 * place(first + lane) // 32 for lane in range(32)})


def span(place: Callable[[int], int]) -> tuple[int, int]:
    """Least and greatest count over the warps of 200 blocks of 256 threads."""
    counts = {sectors(place, 32 * warp) for warp in range(200 * 8)}
    return min(counts), max(counts)


def test_a_division_by_a_constant_is_tried_at_every_phase(
    results: dict[tuple[str, str, str], AccessResult],
) -> None:
    load = results["phase", "load", "a[i / 100 * 128 + i % 100]"]
    store = results["phase", "store", "o[i % 100 * 50 + i / 100]"]
    for access, place in (
        (load, lambda i: i // 100 * 128 + i % 100),
        (store, lambda i: i % 100 * 50 + i // 100),
    ):
        assert access.sectors is not None
        assert (access.sectors.min, access.sectors.max) == span(place)
        assert access.certainty == "exact-symbolic"
        assert not access.assumptions


def test_the_edge_of_a_stencil_is_an_assumption(
    results: dict[tuple[str, str, str], AccessResult],
) -> None:
    for index, offset in (("a[west]", -1), ("a[east]", 1)):
        access = results["stencil", "load", index]
        assert access.sectors is not None
        inner = {sectors(lambda i, by=offset: i + by, 32 * warp) for warp in range(1, 50)}
        assert {access.sectors.min, access.sectors.max} == inner
        (assumption,) = access.assumptions
        assert assumption.startswith("warps without ")


def test_an_unknown_row_length_is_counted_inside_a_row(
    results: dict[tuple[str, str, str], AccessResult],
) -> None:
    access = results["rows", "store", "o[i / w * pitch + i % w]"]
    assert access.sectors is not None
    # inside a row lanes are neighbours; the row begins anywhere
    assert (access.sectors.min, access.sectors.max) == (4, 5)
    assert any("share" in text for text in access.assumptions)


def test_the_edge_in_an_unknown_block_is_told_in_its_number(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *o, int n) {\n"
        "  int i = blockIdx.x * 96 + threadIdx.x; o[i / n + i % 128] = 1; }\n"
    )
    (kernel,) = coalescecheck.analyze(path, block=96).kernels
    (assumption,) = kernel.accesses[0].assumptions
    assert assumption == (
        "warps whose lanes share (384*(blockIdx.x / 4) + 96*(blockIdx.x % 4) + threadIdx.x) / n"
    )


@pytest.mark.parametrize(
    ("index", "counts"),
    [
        ("i / n * threadIdx.x", (1, 32)),  # in row 0 all lanes are at 0, in row 8 each by itself
        ("i / n * 5 + i", (4, 5)),
    ],
)
def test_a_row_may_be_any(tmp_path: Path, index: str, counts: tuple[int, int]) -> None:
    path = tmp_path / "k.cu"
    text = (
        "__global__ void k(float *o, int n) { int i = blockIdx.x * 64 + threadIdx.x; o[%s] = 1; }"
    )
    path.write_text(text % index)
    (kernel,) = coalescecheck.analyze(path, block=64).kernels
    (access,) = kernel.accesses
    assert access.sectors is not None
    assert (access.sectors.min, access.sectors.max) == counts
    assert not any("row" in text for text in (*access.assumptions, access.sectors.formula or ""))
