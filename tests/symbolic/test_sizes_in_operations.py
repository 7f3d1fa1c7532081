"""A size that stands beside an operation on itself: ``n * (n < 8)`` is no multiple of a large n."""

from __future__ import annotations

import math
import re

import pytest
from summaries import count, result

CASES = (
    "n * (n < 8) + t",
    "n * (n / 4) + t",
    "n * (n % 8 == 3) + t",
    "n * (n == 3) * 2 + t * 2",
    "n * n + t",
    "n * (t / 8) + t % 8 + (n < 1000)",
    "n * (t / 8) + t % 8 + n / 1000",
    "n * (t / 8) + t % 8 + n * (n < 1000)",
    "n / 32 * 32 + t * n",
    "n * (n < 3) + t * n",
)
SIZES = [*range(1100), 4000, 4001, 4002, 4003, 4004, 4008, 1 << 20]


def _sectors(index: str, n: int) -> int:
    """By brute force: floats, 32 lanes, an array that begins at a sector."""
    python = index.replace("/", "//")
    return len({eval(python, {"n": n, "t": t}) * 4 // 32 for t in range(32)})


@pytest.mark.parametrize("index", CASES)
def test_the_count_holds_for_every_size(index: str) -> None:
    text = index.replace("t", "(int)threadIdx.x")
    found = result(f"o[{text}] = 1;", "o", grid=(1,))
    least = max(
        [0, *(int(n) for n in re.findall(r"^n >= (\d+)$", "\n".join(found.assumptions), re.M))]
    )
    settled = re.search(r"; (\d+) and exact if n % (\d+) == 0", found.reason)
    for n in (n for n in SIZES if n >= least):
        sectors = _sectors(index, n)
        assert count(found).min <= sectors <= count(found).max, n
        if settled and n % int(settled[2]) == 0:
            assert sectors == int(settled[1]), n


@pytest.mark.parametrize("block", [(32, 4), (64, 2), (16, 4), (8, 4, 2)])
@pytest.mark.parametrize("row", ["y * n // 4", "(y + 2) * n % 7", "y * (n // 3) // 5"])
def test_rows_that_a_warp_shares_move_it_as_a_whole(row: str, block: tuple[int, ...]) -> None:
    threads = "int x = (int)threadIdx.x, y = (int)threadIdx.y;"
    body = f"{threads} o[{row.replace('//', '/')} + x] = 1;"
    found = count(result(body, "o", block=block, grid=(1,)))
    for n in range(100):
        for warp in range(math.prod(block) // 32):
            threads_of = [divmod(t, block[0]) for t in range(32 * warp, 32 * warp + 32)]
            places = {eval(row, {"n": n, "y": y % block[1]}) * 4 + x * 4 for y, x in threads_of}
            assert found.min <= len({place // 32 for place in places}) <= found.max, n
    if block[0] % 32 == 0:
        assert (found.min, found.max) == (4, 5)
