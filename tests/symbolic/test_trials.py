"""Assumptions on unknown sizes that no warp can meet are not made, so the counts hold for all.

The sectors of every warp are counted lane by lane in Python, for many sizes.
"""

from __future__ import annotations

import pytest
from summaries import result

SIZES = [*range(1, 70), 96, 100, 128, 1000]

# a condition on x = threadIdx.x and n that some lanes of every warp meet and some do not
CUTTING = ["(x + n) & 1", "((x ^ n) & 3) != 0", "(x * n) % 4 != 0", "(x + n) % 8 < 5", "x & n"]
# an address that lanes of no warp share, or that is chosen by a condition some lanes always meet
CHANGING = ["(x * n) / n", "(x * n + 5) / n", "((x + n) & 1) ? 3 : 8 * x", "x * n == 0 ? 800 : x"]


def evaluated(text: str, x: int, n: int) -> int:
    """C's value, for numbers that are not below 0."""
    condition, question, sides = text.partition(" ? ")
    if question:
        then, _, otherwise = sides.partition(" : ")
        text = f"({then}) if ({condition}) else ({otherwise})"
    return int(eval(text.replace("/", "//"), {"x": x, "n": n}))


@pytest.mark.parametrize("block", [32, 16])
@pytest.mark.parametrize("condition", CUTTING)
def test_a_condition_that_cuts_every_warp(condition: str, block: int) -> None:
    body = f"int x = threadIdx.x; if ({condition}) o[x * 8] = 1;"
    found = result(body, "o", block=(block,))
    assert found.sectors is not None
    assert not found.assumptions
    for n in SIZES:
        running = [x for x in range(block) if evaluated(condition, x, n)]
        if running:
            assert found.sectors.min <= len(running) <= found.sectors.max


@pytest.mark.parametrize(
    ("condition", "lanes"),
    [
        ("threadIdx.x >= blockDim.x - 5", 5),
        ("threadIdx.x + 7 > blockDim.x", 6),
        ("blockIdx.x * blockDim.x + threadIdx.x >= gridDim.x * blockDim.x - 3", 3),
        ("blockIdx.x + 1 == gridDim.x && threadIdx.x >= blockDim.x - 9", 9),
    ],
)
def test_the_last_lanes_of_an_unknown_block_are_no_whole_warp(condition: str, lanes: int) -> None:
    found = result(f"if ({condition}) o[threadIdx.x * 8] = 1;", "o", block=None)
    assert found.sectors is not None
    assert not any(text.startswith("whole warps") for text in found.assumptions)
    assert found.sectors.min <= lanes <= found.sectors.max


@pytest.mark.parametrize(
    "condition",
    [
        "threadIdx.x < blockDim.x / 2",
        "threadIdx.x < blockDim.x - 1",
        "blockIdx.x * blockDim.x + threadIdx.x < gridDim.x * blockDim.x - 3",
        "blockIdx.x * blockDim.x + threadIdx.x < gridDim.x * blockDim.x / 4",
    ],
)
def test_others_of_an_unknown_block_are_whole_warps(condition: str) -> None:
    found = result(f"if ({condition}) o[threadIdx.x * 8] = 1;", "o", block=None)
    assert found.certainty == "exact-symbolic"
    assert any(text.startswith("whole warps: ") for text in found.assumptions)
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (32, 32)


# unsigned indices below 0 in some lane of every warp, and those that wrap more than once
WRAPPING = ["5 - x * n", "(3 - x) * n", "x * (0 - n)", "~(x * n)", "~n * x", "(2 - x) * n / 3"]


@pytest.mark.parametrize("index", WRAPPING)
def test_an_unsigned_index_that_wraps_in_every_warp(index: str) -> None:
    unsigned = "float *o, unsigned n"
    body = f"unsigned x = threadIdx.x; o[{index}] = 1;"
    found = result(body, "o", block=(32,), parameters=unsigned)
    assert found.sectors is not None
    assert not any(text.endswith(">= 0") for text in found.assumptions)
    product, _, divisor = index.partition(" / ")
    for n in (*SIZES, 1 << 27, (1 << 31) + 1):
        values = [eval(product, {"x": x, "n": n}) % 2**32 // int(divisor or 1) for x in range(32)]
        touched = len({value // 8 for value in values})
        assert found.sectors.min <= touched <= found.sectors.max


@pytest.mark.parametrize(
    ("condition", "lanes"),
    [
        ("x >= n - 3 && x < n", 3),
        ("x > n - 5 && x < n + 5", 9),
        ("(x < n) != (x < n + 2)", 2),
        ("(x + 1 < n) != (x < n)", 1),
    ],
)
@pytest.mark.parametrize("type_", ["int", "unsigned"])
def test_conditions_that_leave_fewer_lanes_than_a_warp(
    condition: str, lanes: int, type_: str
) -> None:
    body = f"{type_} x = 64 * blockIdx.x + threadIdx.x; if ({condition}) o[x * 8] = 1;"
    found = result(body, "o", block=(64,), parameters=f"float *o, {type_} n")
    assert found.sectors is not None
    assert not found.assumptions
    assert found.sectors.min <= lanes <= found.sectors.max


@pytest.mark.parametrize("index", CHANGING)
def test_an_address_that_changes_in_every_warp(index: str) -> None:
    found = result(f"int x = threadIdx.x; o[{index}] = 1;", "o", block=(32,))
    assert found.sectors is not None
    assert not any(text.startswith("warps") for text in found.assumptions)
    for n in SIZES:
        touched = {evaluated(index, x, n) // 8 for x in range(32)}
        assert found.sectors.min <= len(touched) <= found.sectors.max


@pytest.mark.parametrize(
    ("body", "assumption"),
    [
        ("int i = 64 * blockIdx.x + threadIdx.x; if (i % n < m) o[i] = 1;", "whole warps: "),
        ("int i = 64 * blockIdx.x + threadIdx.x; if (i % n != 0) o[i] = 1;", "whole warps: "),
        ("int i = 64 * blockIdx.x + threadIdx.x; o[i / n] = 1;", "warps whose lanes share "),
        ("int x = threadIdx.x; o[x == n ? 0 : x] = 1;", "warps without "),
        ("int x = threadIdx.x; o[x % n == 0 ? 0 : x] = 1;", "warps without "),
    ],
)
def test_what_whole_warps_may_meet_is_assumed(body: str, assumption: str) -> None:
    found = result(body, "o", block=(64,))
    assert any(text.startswith(assumption) for text in found.assumptions)


def test_a_loop_over_a_grid_of_unknown_sizes_runs_whole_warps_at_first() -> None:
    body = """int all = 64 * gridDim.x * gridDim.y * gridDim.z;
    int at = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int i = 64 * at + threadIdx.x; i < n; i += all) o[i] = 1;"""
    found = result(body, "o", block=(64,))
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (4, 4)
    assert [text.partition(": ")[0] for text in found.assumptions] == ["whole warps"]
