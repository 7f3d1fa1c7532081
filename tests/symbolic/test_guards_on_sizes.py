"""Accesses under conditions on sizes, and in loops that lanes leave one by one.

Every number is worked out in the comment beside it; a sector is 8 floats, a block one warp.
"""

from __future__ import annotations

import pytest
from summaries import count, result, results

TX = "int tx = threadIdx.x;"


def test_lanes_that_an_inner_loop_has_sent_home_are_gone() -> None:
    # lanes 14 .. 31 leave in the first round: 14 lanes 8 floats apart in the other three
    body = f"{TX} for (int i = 0; i < 4; i++) {{ if (i > 0) o[tx * 8] = 1; "
    body += "for (int j = 0; j < 8; j++) if (tx + j > 20) return; }"
    found = result(body, "o", grid=(1,))
    assert (found.certainty, found.requests) == ("exact", 3)
    assert (count(found).min, count(found).max) == (14, 14)


@pytest.mark.parametrize("guard", ["tx == n - 1", "tx % n == 0", "tx == n || tx == m"])
def test_what_no_whole_warp_meets_is_no_assumption(guard: str) -> None:
    # one lane, or every n-th: anything from 1 sector to all 4
    found = result(f"{TX} if ({guard}) o[tx] = 1;", "o", grid=(1,))
    assert found.certainty == "bounded"
    assert (count(found).min, count(found).max) == (1, 4)
    assert not found.assumptions


def test_a_tail_guard_is_still_an_assumption() -> None:
    found = result(f"{TX} if (tx < n) o[tx] = 1;", "o", grid=(1,))
    assert found.certainty == "exact-symbolic"
    assert found.assumptions == ("whole warps: threadIdx.x < n",)


@pytest.mark.parametrize(
    ("most", "certainty"), [(7, "bounded"), (31, "bounded"), (32, "exact-symbolic")]
)
def test_a_size_below_a_warp_is_met_by_no_whole_warp(most: int, certainty: str) -> None:
    # in an unknown grid: block 0 has 7 lanes, one sector, and the other blocks have none
    body = f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < {most}) o[i] = 1;"
    found = result(body, "o", block=(64,))
    assert found.certainty == certainty
    assert bool(found.assumptions) == (certainty == "exact-symbolic")
    assert count(found).min <= -(-most // 8) <= count(found).max


@pytest.mark.parametrize(("most", "certainty"), [(3, "bounded"), (8, "exact-symbolic")])
def test_a_narrow_block_meets_a_small_size(most: int, certainty: str) -> None:
    # rows of 4 floats 8 apart: a warp whose lanes all run takes 8 sectors
    body = f"int x = blockIdx.x * 4 + threadIdx.x; if (x < {most}) o[x + 8 * threadIdx.y] = 1;"
    found = result(body, "o", block=(4, 16))
    assert found.certainty == certainty
    if certainty == "exact-symbolic":
        assert (count(found).min, count(found).max) == (8, 8)


@pytest.mark.parametrize(
    ("guard", "least", "greatest"),
    [
        ("n == 3", 12, 12),  # 94 floats from a sector's start
        ("3 == n && m > 0", 12, 12),
        ("n > 0 && n < 3", 4, 8),  # strides 1 and 2
        ("n >= 0 && n < 2", 1, 4),  # strides 0 and 1
    ],
)
def test_a_guard_says_what_a_stride_is(guard: str, least: int, greatest: int) -> None:
    found = result(f"{TX} if ({guard}) o[tx * n] = 1;", "o", grid=(1,))
    assert (count(found).min, count(found).max) == (least, greatest)
    assert found.certainty == "exact-symbolic"
    assert not found.assumptions


@pytest.mark.parametrize("cast", ["unsigned char", "signed char", "short", "unsigned short"])
def test_a_narrow_cast_may_cut_a_parameter(cast: str) -> None:
    # n = 65536 is 0 in each: all lanes on one sector
    found = result(f"{TX} o[tx * ({cast})n] = 1;", "o", grid=(1,))
    assert count(found).min == 1
    assert count(found).max == 32
    assert not found.assumptions


@pytest.mark.parametrize("index", ["(tx + n) / 2", "tx * n % 32"])
def test_lanes_that_cannot_share_a_quotient_are_not_taken_to(index: str) -> None:
    # (tx + n) / 2 takes 16 or 17 neighbouring values: 2 or 3 sectors; tx * n % 32 at most 4
    found = result(f"{TX} o[{index}] = 1;", "o", grid=(1,))
    assert count(found).min <= 2
    assert count(found).max >= 4
    assert not any("share" in text for text in found.assumptions)


def test_a_warp_in_which_an_equality_holds_is_left_out_by_name() -> None:
    # n = 0: the first two warps of a block 80 wide are one element off, with 5 sectors
    body = f"{TX} o[tx + (tx / 64 == n ? 1 : 0)] = 1;"
    found = result(body, "o", block=(80, 2), grid=(1,))
    assert found.assumptions == ("warps without n == threadIdx.x / 64",)


def test_only_lanes_that_run_together_say_how_a_pitch_is_aligned() -> None:
    parameters = "char *c, int n"
    # every second lane: a pitch of 2 bytes puts 16 floats side by side, in 2 sectors
    body = f"{TX} if (tx % 2 == 0) *(float *)(c + tx * n) = 1;"
    (found,) = results(body, grid=(1,), parameters=parameters, assume=["n >= 2", "n <= 2"])
    assert (count(found).min, count(found).max) == (2, 2)
    # lanes n + 2 bytes apart: n = 34 is a step of 36 bytes, and no float crosses a sector
    body = f"{TX} *(float *)(c + tx * (n + 2)) = 1;"
    (found,) = results(body, grid=(1,), parameters=parameters)
    assert count(found).min <= 32


@pytest.mark.parametrize(
    "guard",
    [
        "(tx >= 4) & (tx < n)",
        "((tx >= 4) & (tx < n)) != 0",
        "!((tx < 4) | (tx >= n))",
        "((tx < 4) | (tx >= n)) == 0",
        "(tx >= 4) & ((tx < n) ^ 0)",
        "((tx < 4) ^ 1) & (tx < n)",
    ],
)
def test_bits_of_conditions_are_conditions(guard: str) -> None:
    plain = result(f"{TX} if (tx >= 4 && tx < n) o[tx] = 1;", "o", grid=(1,))
    found = result(f"{TX} if ({guard}) o[tx] = 1;", "o", grid=(1,))
    assert found.assumptions == plain.assumptions
    assert found.sectors == plain.sectors
    assert set(found.guards) == set(plain.guards)


@pytest.mark.parametrize(("tx", "sectors"), [("(tx < 8) ^ (tx < 16)", 1), ("(tx < 8) ^ 1", 3)])
def test_conditions_that_differ(tx: str, sectors: int) -> None:
    # lanes 8 .. 15 are one sector of 8 floats; lanes 8 .. 31 are three
    found = result(f"{TX} if ({tx}) o[tx] = 1;", "o", grid=(1,))
    assert (found.certainty, count(found).min, count(found).max) == ("exact", sectors, sectors)


@pytest.mark.parametrize(
    "index",
    [
        "(first > 0 ? first : 0)",
        "(first >= 0 ? first : 0)",
        "(0 < first ? first : 0)",
        "(first < 0 ? 0 : first)",
        "(first <= last ? first : last)",
        "(last < first ? last : first)",
    ],
)
def test_the_greater_of_two_that_are_never_the_other_way_round(index: str) -> None:
    # first = 32 * blockIdx.x >= 0 and last = first + 7 are known to be in this order
    start = f"{TX} int first = blockIdx.x * 32, last = first + 7;"
    found = result(f"{start} o[{index} + tx] = 1;", "o")
    plain = result(f"{start} o[first + tx] = 1;", "o")
    assert found.address == plain.address
    assert (count(found).min, count(found).max) == (4, 4)


def test_the_first_thread_of_a_block_of_unknown_shape() -> None:
    # one lane of the block, on one sector
    rank = "int r = threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x;"
    for guard in ("r == 0", "!r", "0 == r"):
        found = result(f"{rank} if ({guard}) o[blockIdx.x] = 1;", "o", block=None)
        assert found.certainty == "exact-symbolic"
        assert (count(found).min, count(found).max) == (1, 1)
        assert set(found.guards) == {"threadIdx.x == 0", "threadIdx.y == 0", "threadIdx.z == 0"}


@pytest.mark.parametrize("guard", ["a[tx] > 0", "tx * 3 % n == 1"])
def test_one_place_costs_the_same_for_any_lanes(guard: str) -> None:
    found = result(f"{TX} if ({guard}) o[blockIdx.x] = 1;", "o")
    assert (found.certainty, found.reason, found.requests) == ("exact-symbolic", "", None)
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max, found.sectors.mean) == (1, 1, 1)
    assert found.active_lanes is None
    spread = result(f"{TX} if ({guard}) o[tx] = 1;", "o")
    assert (count(spread).min, count(spread).max) == (1, 4)
    assert spread.certainty in ("bounded", "data-dependent")
