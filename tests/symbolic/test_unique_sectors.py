"""Unique sectors of blocks and launches against plain loops over all threads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from summaries import KERNEL, PRELUDE, _SameText, result, results

from coalescecheck.analysis import UniqueSectors
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.launch import Dim3, Launch
from coalescecheck.lower import lower
from coalescecheck.source import Span
from coalescecheck.symbolic import summarize

Thread = tuple[int, int, int, int]  # threadIdx.x, threadIdx.y, blockIdx.x, blockIdx.y
FIRST = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
PLACE = "int x = threadIdx.x, y = threadIdx.y, bx = blockIdx.x, by = blockIdx.y; "

# body, block, grid, byte addresses of a float access of `a` by one thread
CASES: dict[str, tuple[str, tuple[int, int], tuple[int, int], Callable[..., list[int]]]] = {
    "coalesced": (
        FIRST + "o[i] = a[i];", (64, 1), (5, 1), lambda x, y, bx, by: [4 * (64 * bx + x)]),
    "off by one": (
        FIRST + "o[i] = a[i + 1];", (64, 1), (5, 1), lambda x, y, bx, by: [4 * (64 * bx + x + 1)]),
    "one sector per lane, shared by eight iterations": (
        FIRST + "for (int k = 0; k < 8; k++) o[i] += a[i * 8 + k];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * ((64 * bx + x) * 8 + k) for k in range(8)]),
    "one sector per lane and no use of the rest": (
        FIRST + "o[i] = a[i * 8];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * (64 * bx + x) * 8]),
    "the same for all": (
        FIRST + "o[i] = a[3];", (64, 1), (5, 1), lambda x, y, bx, by: [12]),
    "columns of a tile": (
        PLACE + "o[x] = a[(bx * 16 + x) * 96 + by * 16 + y];", (16, 16), (6, 6),
        lambda x, y, bx, by: [4 * ((bx * 16 + x) * 96 + by * 16 + y)]),
    "a tail": (
        FIRST + "if (i < 200) o[i] = a[i];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * (64 * bx + x)] if 64 * bx + x < 200 else []),
    "one block only": (
        FIRST + "if (blockIdx.x == 0) o[i] = a[7];", (64, 1), (5, 1),
        lambda x, y, bx, by: [28] if bx == 0 else []),
    "even threads": (
        FIRST + "if (threadIdx.x % 16 == 0) o[i] = a[i];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * (64 * bx + x)] if x % 16 == 0 else []),
    "a triangle of iterations": (
        FIRST + "for (int k = 0; k < 5; k++) if (k < blockIdx.x) o[i] += a[100 * k];",
        (64, 1), (5, 1), lambda x, y, bx, by: [400 * k for k in range(bx)]),
    "a quotient of the block": (
        FIRST + "o[i] = a[(i / 96) * 40 + blockIdx.x % 2];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * ((64 * bx + x) // 96 * 40 + bx % 2)]),
    "backwards": (
        FIRST + "o[i] = a[319 - i];", (64, 1), (5, 1),
        lambda x, y, bx, by: [4 * (319 - 64 * bx - x)]),
}  # fmt: skip


def expected(block: tuple[int, int], grid: tuple[int, int], addresses: Callable[..., list[int]]):
    def sectors(bx: int, by: int) -> set[int]:
        threads = [(x, y) for y in range(block[1]) for x in range(block[0])]
        return {a // 32 for x, y in threads for a in addresses(x, y, bx, by)}

    gx, gy = grid
    sampled = {(0, 0), (gx // 2, gy // 2), (gx - 1, gy - 1)}
    per_block = [len(sectors(*at)) for at in sampled]
    launch = set().union(*(sectors(bx, by) for by in range(gy) for bx in range(gx)))
    return UniqueSectors(sum(per_block) / len(per_block), len(launch))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_unique_sectors_are_those_of_all_threads(case) -> None:  # type: ignore[no-untyped-def]
    body, block, grid, addresses = case
    found = result(body, "a", block=block, grid=grid)
    assert found.unique_sectors == expected(block, grid, addresses)


def test_a_float4_touches_its_own_sectors() -> None:
    body = FIRST + "float4 v = ((const float4 *)a)[i]; o[i] = v.x + v.y + v.z + v.w;"
    assert result(body, "a", block=(64,), grid=(4,)).unique_sectors == UniqueSectors(32.0, 128)


def test_large_launches_are_sums_of_their_parts() -> None:
    """1024 x 1024 floats, read and written in tiles of 32 x 32."""
    body = PLACE + "o[(bx * 32 + x) * 1024 + by * 32 + y] = a[(by * 32 + y) * 1024 + bx * 32 + x];"
    for found in results(body, block=(32, 32), grid=(32, 32)):
        assert found.unique_sectors == UniqueSectors(128.0, 1024 * 1024 // 8)


UNKNOWN = {
    "an index that is loaded": (FIRST + "o[i] = a[idx[i]];", (4,)),
    "a parameter": (FIRST + "o[i] = a[i * n];", (4,)),
    "a tail of unknown size": (FIRST + "if (i < n) o[i] = a[i];", (4,)),
    "no grid": (FIRST + "o[i] = a[i];", None),
}


@pytest.mark.parametrize(("body", "grid"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_has_no_unique_sectors(body: str, grid: tuple[int, ...] | None) -> None:
    assert result(body, "a", block=(64,), grid=grid).unique_sectors is None


# --- arrays -----------------------------------------------------------------------------------


def traffic(body: str) -> dict[str, tuple[int | None, UniqueSectors | None]]:
    parameters = "float *o, const float *a, const int *idx, int n, int m"
    text = PRELUDE + KERNEL.format(parameters=parameters, body=body)
    kernel = lower(KernelC("k", Span("kernel.cu", 1, 1), {}, "k", text, _SameText()))
    summary = summarize(kernel, Launch(Dim3(64), Dim3(4), "cli"), {})
    return {t.name: (t.requested.exact, t.unique) for t in summary.array_traffic}


def test_neighbours_share_the_sectors_of_an_array() -> None:
    found = traffic(FIRST + "o[i] = a[i] + a[i + 8];")
    # two times 8 warps of 4 sectors; 8 sectors of a block and the one behind it
    assert found["a"] == (64, UniqueSectors(9.0, 33))
    assert found["o"] == (32, UniqueSectors(8.0, 32))


def test_a_load_and_a_store_of_one_place_share_its_sectors() -> None:
    assert traffic(FIRST + "o[i] += 1;")["o"] == (64, UniqueSectors(8.0, 32))


def test_one_gather_hides_what_its_array_needs() -> None:
    assert traffic(FIRST + "o[i] = a[idx[i]] + a[i];")["a"] == (None, None)


def test_a_sum_that_holds_only_under_an_assumption_is_not_the_array_s() -> None:
    # 256 sectors from a step of 8 floats on, 8 of them at a step of 0
    assert traffic(FIRST + "o[i] = a[i * n];")["a"] == (None, None)


def test_an_address_beyond_64_bits_is_taken_modulo_them() -> None:
    """2**65 bytes further is the same place: 32 neighbouring floats are 4 sectors."""
    (found,) = (r for r in results("o[threadIdx.x - (1ull << 63)] = 1;", grid=(1,)))
    assert found.unique_sectors is not None
    assert found.unique_sectors.launch == 4
