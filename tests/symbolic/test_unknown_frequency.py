"""A mean over requests is given only where it is known how often each of them happens."""

from __future__ import annotations

import pytest
from summaries import Shape, count, result, results

CROOKED = "o[threadIdx.x + threadIdx.x / 64] = 1;"  # warps 0, 1: 4 sectors; 2..7: 5 sectors


@pytest.mark.parametrize(
    ("body", "block"),
    [
        pytest.param(CROOKED, None, id="the number of warps"),
        pytest.param("if (threadIdx.x < 48) o[threadIdx.x] = 1;", None, id="warps of one guard"),
        pytest.param("if (threadIdx.x / 32 == n) " + CROOKED, (256,), id="the warp that runs"),
        pytest.param(
            "for (int i = threadIdx.x / 32; i < n; i++) " + CROOKED, (256,), id="a loop's end"
        ),
    ],
)
def test_no_mean_where_the_frequencies_are_not_known(body: str, block: Shape | None) -> None:
    found = result(body, "o", block=block)
    assert count(found).min < count(found).max
    assert count(found).mean is None
    assert found.efficiency is None


def test_a_known_block_gives_the_mean_for_every_grid() -> None:
    found = result(CROOKED, "o", block=(256,))
    assert count(found).mean == pytest.approx((2 * 4 + 6 * 5) / 8)


def test_one_count_for_all_requests_needs_no_frequencies() -> None:
    assert count(result("o[threadIdx.x * 2] = 1;", "o", block=None)).mean == 8


def test_what_each_block_loads_is_its_own() -> None:
    """Warp w of a block uses floats s + 2w and s + 2w + 1, for w = 0 .. 3: two sectors where
    s + 2w is 7 modulo 8, so 5 in a block of odd s and 4 in one of even s.  With one value for
    both blocks, ``s = idx[b] + b`` would make it 9; each block has its own, so 8 to 10."""
    body = "o[idx[blockIdx.x] + blockIdx.x + threadIdx.x / 16] = 1;"
    (found,) = (r for r in results(body, block=(128,), grid=(2,)) if r.array == "o")
    assert found.totals is not None
    assert found.totals.units.min <= 8
    assert found.totals.units.max is not None
    assert found.totals.units.max >= 10
    assert (found.totals.requests.min, found.totals.requests.max) == (8, 8)
