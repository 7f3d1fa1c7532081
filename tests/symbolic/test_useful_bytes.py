"""The share of the moved bytes that lanes ask for: distinct bytes over 32 per sector."""

from __future__ import annotations

import pytest
from summaries import result


@pytest.mark.parametrize(
    ("index", "distinct", "sectors"),
    [
        ("threadIdx.x", 32 * 4, 4),
        ("threadIdx.x * 2", 32 * 4, 8),
        ("threadIdx.x + 1", 32 * 4, 5),
        ("0", 4, 1),
        ("threadIdx.x / 2", 16 * 4, 2),
        ("threadIdx.x / 8 * 8", 4 * 4, 4),
        ("threadIdx.x % 8", 32, 1),
        ("threadIdx.x % 2 * 8", 2 * 4, 2),
    ],
)
def test_what_several_lanes_ask_for_counts_once(index: str, distinct: int, sectors: int) -> None:
    found = result(f"o[{index}] = 1;", "o", block=(32,))
    assert found.efficiency == pytest.approx(distinct / (32 * sectors))


def test_the_mean_over_warps_is_that_of_their_bytes() -> None:
    # warp 0 stores 32 floats to 4 sectors, warp 1 one float to 1
    found = result("o[threadIdx.x < 32 ? threadIdx.x : 32] = 1;", "o", block=(64,))
    assert found.efficiency == pytest.approx((128 + 4) / (5 * 32))
