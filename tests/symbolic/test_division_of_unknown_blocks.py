"""Quotients and remainders of ``blockIdx.x * blockDim.x + threadIdx.x``, the block not known.

A warp starts at a multiple of 32, which no lane carries into.  The wanted counts are of every warp
of many blocks, lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from summaries import result

Ints = NDArray[np.int64]
I = "int i = blockIdx.x * blockDim.x + threadIdx.x; "  # noqa: E741  what kernels call it


def counted(index: Callable[[Ints], Ints], space: str) -> set[int]:
    """Sectors, or wavefronts of floats, of warps that start at the multiples of 32."""
    starts = 32 * np.arange(3 * 32 * 7)[:, None]  # all residues of the divisors below
    places = index(starts + np.arange(32))
    if space == "global":
        return {len(set(lanes)) for lanes in (places * 4 // 32).tolist()}
    rows = [{bank: {w for w in lanes if w % 32 == bank} for bank in range(32)}
            for lanes in places.tolist()]  # fmt: skip
    return {max(map(len, banks.values())) for banks in rows}


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("i / 16", lambda i: i // 16),
        ("i % 64 / 2", lambda i: i % 64 // 2),
        ("i % 96", lambda i: i % 96),
        ("i / 4 % 64", lambda i: i // 4 % 64),
        ("(2 * i + 1) % 128", lambda i: (2 * i + 1) % 128),
        ("3 * i % 96", lambda i: 3 * i % 96),
        ("i / 64 * 2 + i % 2", lambda i: i // 64 * 2 + i % 2),
        ("(i >> 3) % 672 * 8 + (i & 7)", lambda i: (i >> 3) % 672 * 8 + (i & 7)),
        ("i % 224 / 32", lambda i: i % 224 // 32),
    ],
)
def test_the_count_is_one_number(text: str, index: Callable[[Ints], Ints], space: str) -> None:
    where = "o" if space == "global" else "s"
    body = f"[[cuda::shared]] float s[8192]; {I} {where}[{text}] = 1;"
    found = result(body, where, block=None)
    count = found.sectors if space == "global" else found.wavefronts
    assert count is not None
    (wanted,) = counted(index, space)
    assert (count.min, count.max, found.certainty) == (wanted, wanted, "exact-symbolic")


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("(i + 5) / 8", lambda i: (i + 5) // 8),
        ("3 * i / 32", lambda i: 3 * i // 32),
        ("(i + 16) % 64", lambda i: (i + 16) % 64),
        ("i / 28 + i % 28", lambda i: i // 28 + i % 28),
        ("(i + 1) % 32 * 2 + i / 32", lambda i: (i + 1) % 32 * 2 + i // 32),
    ],
)
def test_what_carries_is_within_the_bounds(text: str, index: Callable[[Ints], Ints]) -> None:
    found = result(f"{I} o[{text}] = 1;", "o", block=None)
    assert found.sectors is not None
    assert counted(index, "global") <= set(range(found.sectors.min, found.sectors.max + 1))
