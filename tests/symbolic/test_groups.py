"""Lanes that an unknown factor moves together: how many sectors they touch at most."""

from __future__ import annotations

import pytest
from summaries import Shape, result


@pytest.mark.parametrize(
    ("block", "index", "most"),
    [
        # two groups of 16 floats, 64 bytes from any multiple of 4: 3 sectors each
        ((2, 64), "threadIdx.x * n * m + threadIdx.y", 6),
        # two groups of 16 floats 8 bytes apart, 124 bytes: 5 sectors each
        ((16, 16), "threadIdx.y * n * m + 2 * threadIdx.x", 10),
        # two groups of 4 floats, 16 bytes: 2 sectors each
        ((16, 16), "threadIdx.y * n + m * threadIdx.y + threadIdx.x / 4", 4),
        # every lane alone
        ((16, 16), "threadIdx.x * n * m + threadIdx.y * n", 32),
        # four groups (x % 2, y) of 8 floats 2 apart, 60 bytes: 3 sectors each
        ((16, 16), "threadIdx.x % 2 * n + threadIdx.y * m + threadIdx.x", 12),
        # a group alone: 32 floats from any multiple of 4
        ((32, 4), "threadIdx.y * n * m + threadIdx.x", 5),
    ],
)
def test_groups_lie_anywhere_apart(block: Shape, index: str, most: int) -> None:
    found = result(f"o[{index}] = 1;", "o", block=block)
    assert found.sectors is not None
    assert found.sectors.max == most
