"""What lanes get from each other, where it is made of thread indices and all of them are there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from summaries import Shape, count, result, warps

from property.hardware_in_python import sectors
from property.kernel_texts import PRELUDE

FUNCTIONS = "".join(line for line in PRELUDE.splitlines(True) if "_sync" in line)
FUNCTIONS += "extern unsigned __activemask(void); extern int __popc(unsigned);"
X, Y = "(int)threadIdx.x", "(int)threadIdx.y"
Value = Callable[[int, int], int]
VALUES: list[tuple[str, Value]] = [
    (X, lambda x, y: x),
    (f"({X} * 9 + {Y})", lambda x, y: 9 * x + y),
    (f"({X} / 3 * 8)", lambda x, y: x // 3 * 8),
    (f"({X} % 5 * 8 ^ {Y})", lambda x, y: x % 5 * 8 ^ y),
    (f"({X} < 20 ? {X} * 2 : 7)", lambda x, y: x * 2 if x < 20 else 7),
]
# the source of a lane of 32 in segments of w: CUDA C++ Programming Guide, "Warp Shuffle Functions"
Source = Callable[[int, int, int], int]
SHUFFLES: list[tuple[str, str, Source]] = [
    ("", "3", lambda i, w, x: i - i % w + 3 % w),
    ("", f"{X} + 1", lambda i, w, x: i - i % w + (i + 1) % w),
    ("", f"{X} / 2 - 1", lambda i, w, x: i - i % w + (x // 2 - 1) % w),
    ("_down", "2", lambda i, w, x: i + 2 if i % w + 2 < w else i),
    ("_up", "3", lambda i, w, x: i - 3 if i % w >= 3 else i),
    ("_xor", "1", lambda i, w, x: i ^ 1),
    ("_xor", "3", lambda i, w, x: i ^ 3),
]


@pytest.mark.parametrize(
    ("kind", "lane", "source"), SHUFFLES, ids=[f"{k}{n}" for k, n, _ in SHUFFLES]
)
def test_a_shuffle_of_a_known_value(kind: str, lane: str, source: Source) -> None:
    for (text, value), width, block in product(VALUES, (32, 8, 4), ((64, 2), (32, 1))):
        call = f"__shfl{kind}_sync__int(0xffffffffu, {text}, {lane}, {width})"
        store = f"o[{call} + 2 * {X}] = 1;"
        found = result(store, "o", block=block, grid=(1,), functions=FUNCTIONS)
        counts = set()
        for lanes in warps(block):
            threads = [(x, y) for _, x, y, _ in lanes]
            at = [value(*threads[source(i, width, x)]) + 2 * x for i, (x, _) in enumerate(threads)]
            counts.add(sectors(tuple((i, (1 << 40) + 4 * n) for i, n in enumerate(at)), 4))
        assert (count(found).min, count(found).max) == (min(counts), max(counts)), call
        assert found.certainty == "exact"


@pytest.mark.parametrize(
    ("around", "block"),
    [
        ("if (threadIdx.x < 20) {{ {} }}", (32,)),  # the source may not be there
        ("if (threadIdx.x >= 20) return; {}", (32,)),
        ("for (int i = 0; i < (int)threadIdx.x; i++) {{ {} }}", (32,)),
        ("for (;;) {{ {} if (a[threadIdx.x] > 0) break; }}", (32,)),
        ("{}", (48,)),  # nor lanes beyond the block
        ("{}", (8, 8)),
        ("if (idx[threadIdx.x] == 3) return; {}", (64,)),
    ],
)
def test_what_absent_lanes_have_is_not_known(around: str, block: Shape) -> None:
    store = f"o[__shfl_down_sync__int(0xffffffffu, {X} * 8, 1, 32)] = 1;"
    found = result(around.format(store), "o", block=block, grid=(1,), functions=FUNCTIONS)
    assert (count(found).min, found.certainty) == (1, "data-dependent")
    assert count(found).max >= 20


def test_known_for_any_block_of_whole_warps() -> None:
    store = f"o[__shfl_sync__int(0xffffffffu, {X} * 8, 5, 32) + {X}] = 1;"
    found = result(store, "o", block=None, functions=FUNCTIONS)
    assert (count(found).min, count(found).max, found.lane_stride_bytes) == (4, 4, 4)


# a value that is one for all lanes, whoever is there; the others need all lanes
VOTES = [
    ("__any_sync(0xffffffffu, n > 3)", (0, 1)),
    ("__all_sync(0xffffffffu, n > 3)", (0, 1)),
    ("__popc(__activemask())", (32,)),
    ("__popc(__ballot_sync(0xffffffffu, n > 3))", (0, 32)),
    ("(int)(__ballot_sync(0xffffffffu, 1) >> 28)", (15,)),
]


@pytest.mark.parametrize(("vote", "values"), VOTES, ids=[v[0] for v in VOTES])
def test_votes_of_lanes_that_agree(vote: str, values: tuple[int, ...]) -> None:
    for n, value in ((0, values[0]), (9, values[-1])):
        found = result(
            f"o[{X} * {vote}] = 1;", "o", params={"n": n}, grid=(1,), functions=FUNCTIONS
        )
        assert found.lane_stride_bytes == 4 * value
        assert found.certainty == "exact"
    some = result(
        f"if (threadIdx.x < 9) o[{X} * 0 + {vote}] = 1;", "o", grid=(1,), functions=FUNCTIONS
    )
    assert (count(some).min, count(some).max) == (1, 1)  # it is the same for all that are there


def test_lanes_that_differ_have_votes_of_their_own() -> None:
    vote = f"__popc(__ballot_sync(0xffffffffu, {X} < n))"
    found = result(f"o[{X} * {vote}] = 1;", "o", params={"n": 3}, grid=(1,), functions=FUNCTIONS)
    assert found.certainty != "exact"
