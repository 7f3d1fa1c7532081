"""Other block shapes and exchanged axes, with sectors counted by hand.

A warp of a block 16 wide is two rows of 16 lanes.  A 32-byte sector holds eight floats.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from trying import analysed, helping, numbers

KERNEL = """
// coalescecheck: block({block}) grid({grid}) n=2048
__global__ void f(float *out, const float *in, const int *list, int n)
{{
    {shared}
    int x = {x}, y = {y};
    {body}
}}
"""
GLOBAL = {
    "x": "blockIdx.x * blockDim.x + threadIdx.x",
    "y": "blockIdx.y * blockDim.y + threadIdx.y",
    "shared": "",
    "grid": "64,64",
}
TRANSPOSED = "out[x * n + y] = in[x * n + y];"


def kernel(body: str, block: str, **parts: str) -> str:
    return KERNEL.format(**(GLOBAL | {"body": body, "block": block} | parts))


# --- axes -------------------------------------------------------------------------------------


def test_swapped_axes_make_both_accesses_contiguous(tmp_path: Path) -> None:
    # lanes x, x + 1 are a row apart; the two values of y in a warp share a sector: 16 sectors
    found = numbers(analysed(tmp_path, kernel(TRANSPOSED, "16,16")), "swap")
    assert found == {"load in[x * n + y]": (16, 4), "store out[x * n + y]": (16, 4)}


def test_the_block_turns_with_the_axes(tmp_path: Path) -> None:
    # 32 rows; then four rows of eight floats, a sector each
    trial = helping(analysed(tmp_path, kernel(TRANSPOSED, "32,8")), "swap")
    assert trial is not None
    assert trial.change == "`threadIdx.x` and `threadIdx.y` swapped and block 8x32"
    assert set(trial.before.values()) == {32}
    assert set(trial.after.values()) == {4}


def test_an_unknown_block_stays_unknown(tmp_path: Path) -> None:
    text = kernel(TRANSPOSED, "1").partition("n=2048")[2]
    trial = helping(analysed(tmp_path, text), "swap")
    assert trial is not None
    # a row starts where n says: 4 sectors, or 5 across a boundary
    assert set(trial.after.values()) == {5}
    assert len(trial.at_most) == 2
    assert trial.assumptions == ()


def test_no_swap_that_makes_another_access_worse(tmp_path: Path) -> None:
    text = kernel("out[x * n + y] = in[y * n + x];", "32,8")
    found = analysed(tmp_path, text)
    (trial,) = (t for t in found.trials if t.kind == "swap")
    costs = {a.access.op: (trial.before[a.access.id], trial.after[a.access.id])
             for a in found.accesses}  # fmt: skip
    # eight rows of four floats, and four rows of eight
    assert costs == {"load": (4, 8), "store": (32, 4)}
    assert not trial.helps
    assert found.proposals(found.accesses[0]) == found.proposals(found.accesses[1]) == ()


@pytest.mark.parametrize(
    ("body", "block"),
    [
        pytest.param(
            "out[x * n + y] = __shfl_sync(~0u, in[x * n + y], 0);", "16,16", id="lanes communicate"
        ),
        pytest.param("out[x * n + y] = in[list[x * n + y]];", "16,16", id="data decides"),
        pytest.param("out[x * n + y] = 0;", "256,1", id="there is one axis only"),
        pytest.param("out[y * n + x] = in[y * n + x];", "16,16", id="nothing is wasted"),
    ],
)
def test_no_swap_is_tried(tmp_path: Path, body: str, block: str) -> None:
    assert {t.kind for t in analysed(tmp_path, kernel(body, block)).trials} <= {"block"}


# --- shapes -----------------------------------------------------------------------------------

ROWS = "if (x < n && y < n) out[y * n + x] = in[y * n + x + 1];"


def test_a_row_of_lanes_needs_fewer_sectors(tmp_path: Path) -> None:
    # Eight rows of four floats.  Stores: a sector each.  Loads start at byte 4 or 20 of a sector
    # and take 16: one sector or two, 8 or 16 in all.  A row of 32: 4, or 5 where it is shifted.
    found = analysed(tmp_path, kernel(ROWS, "4,64"))
    assert numbers(found, "block") == {
        "load in[y * n + x + 1]": (12, 5),
        "store out[y * n + x]": (8, 4),
    }
    trial = helping(found, "block")
    assert trial is not None
    assert trial.change == "block 32x8"
    assert trial.description == "launch with block 32x8 instead of 4x64"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"x": "blockIdx.x * 4 + threadIdx.x"}, id="the width is in the code"),
        pytest.param({"shared": "__shared__ float tile[64][4];"}, id="shared memory"),
        pytest.param({"grid": "5,64"}, id="20 columns are not whole rows of 32"),
        pytest.param({"grid": "64,1", "block": "4,16"}, id="64 threads in two rows: 16 are four"),
        pytest.param({"body": ROWS + " __syncthreads();"}, id="a barrier"),
        pytest.param({"body": ROWS + " out[threadIdx.x] = 0;"}, id="a place in the block"),
    ],
)
def test_no_other_shape(tmp_path: Path, parts: dict[str, str]) -> None:
    values = {"body": ROWS, "block": "4,64"} | parts
    found = analysed(tmp_path, kernel(**values))
    if parts.get("block"):
        trial = helping(found, "block")
        assert trial is not None
        assert trial.change == "block 32x2"
    else:
        assert [t for t in found.trials if t.kind == "block"] == []


@pytest.mark.parametrize(
    "x",
    [
        pytest.param("threadIdx.x + blockDim.x * blockIdx.x", id="another order"),
        pytest.param("(int)(blockIdx.x * blockDim.x) + (int)threadIdx.x", id="conversions"),
        pytest.param("1 + blockIdx.x * blockDim.x + threadIdx.x - 1", id="among other terms"),
    ],
)
def test_positions_are_recognised(tmp_path: Path, x: str) -> None:
    assert helping(analysed(tmp_path, kernel(ROWS, "4,64", x=x)), "block") is not None


def test_variables_for_indices_are_followed(tmp_path: Path) -> None:
    body = "int tx = threadIdx.x, bx = blockIdx.x * blockDim.x; x = bx + tx; " + ROWS
    assert helping(analysed(tmp_path, kernel(body, "4,64", x="0")), "block") is not None
