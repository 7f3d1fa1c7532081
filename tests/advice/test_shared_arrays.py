"""Pads and swizzles of shared arrays, with wavefronts counted by hand.

A warp that reads a column of ``float[32][32]`` meets 32 words of one bank: 32 wavefronts.  With
rows of 33 words, or with column ``c ^ r`` in row ``r``, the words lie in 32 banks: 1 wavefront.
16-byte lanes are served in four groups of eight, 4 wavefronts when those eight visit all banks.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from trying import analysed, helping, numbers

FLIP = """
__device__ float sum(float4 v) {{ return v.x + v.y + v.z + v.w; }}
// coalescecheck: block(32,{rows}) grid(1)
__global__ void flip(float *out, const float *in)
{{
    __shared__ {type} tile{dims};
    int x = threadIdx.x, y = threadIdx.y;
    {store} = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = {load};
}}
"""


def flip(folder: Path, **parts: object) -> dict[str, dict[str, tuple[float, float]]]:
    """Before and after of the store and load of a tile, for each kind of change that helps."""
    values = {
        "rows": 32,
        "type": "float",
        "dims": "[32][32]",
        "store": "tile[y][x]",
        "load": "tile[x][y]",
    }
    kernel = analysed(folder, FLIP.format(**(values | parts)))
    found = {kind: numbers(kernel, kind) for kind in ("pad", "swizzle")}
    return {
        kind: {name.partition(" ")[0]: pair for name, pair in pairs.items()}
        for kind, pairs in found.items()
        if pairs
    }


def test_a_column_is_free_with_a_pad_and_with_a_swizzle(tmp_path: Path) -> None:
    free = {"store": (1, 1), "load": (32, 1)}
    assert flip(tmp_path) == {"pad": free, "swizzle": free}


@pytest.mark.parametrize(
    ("parts", "pads", "swizzle"),
    [
        pytest.param({}, "`tile[32][33]`", "`tile[r][c ^ r]`", id="as many rows as columns"),
        pytest.param(
            {"dims": "[64][32]", "load": "tile[2 * x + y / 32][y]"},
            "`tile[64][33]`",
            # with r / 1 % 32 the even rows 2x meet 16 columns twice each
            None,
            id="every second row: only 16 different columns with the swizzle, so 2 wavefronts",
        ),
        pytest.param(
            {"dims": "[64][32]", "load": "tile[x + 32][y]"},
            "`tile[64][33]`",
            "`tile[r][c ^ (r % 32)]`",
            id="more rows than columns",
        ),
        pytest.param(
            {"dims": "[32][16]", "store": "tile[y][x % 16]", "load": "tile[x][y % 16]"},
            "`tile[32][17]`",
            "`tile[r][c ^ (r / 2)]`",
            id="two rows share the banks: those differ by half a row already",
        ),
    ],
)
def test_the_change_is_named(
    tmp_path: Path, parts: dict[str, object], pads: str, swizzle: str | None
) -> None:
    values = {
        "rows": 32, "type": "float", "dims": "[32][32]", "store": "tile[y][x]",
        "load": "tile[x][y]",
    }  # fmt: skip
    kernel = analysed(tmp_path, FLIP.format(**(values | parts)))
    pad, xor = helping(kernel, "pad"), helping(kernel, "swizzle")
    assert pad is not None
    assert pad.change == pads
    assert xor is not None
    if swizzle is None:
        assert max(xor.after.values()) == 2
    else:
        assert xor.change == swizzle
        assert max(xor.after.values()) == 1


def test_no_swizzle_where_columns_are_no_power_of_two(tmp_path: Path) -> None:
    # columns 24 words apart: 8 * 3 * lane visits 4 banks, 8 lanes each
    parts = {"dims": "[32][24]", "store": "tile[y][x % 24]", "load": "tile[x][y % 24]"}
    found = flip(tmp_path, **parts)
    assert found["pad"]["load"] == (8, 1)
    assert "swizzle" not in found


def test_no_pad_that_misaligns_vectors(tmp_path: Path) -> None:
    # rows of 128 bytes: eight lanes of a group read the same four banks, 8 * 4 wavefronts
    parts = {
        "rows": 8,
        "type": "__align__(16) float",
        "load": "sum(*(float4 *)&tile[x][4 * y])",
    }
    kernel = analysed(
        tmp_path,
        FLIP.format(**({"dims": "[32][32]", "store": "tile[y][x]"} | parts)),
    )
    pad, xor = helping(kernel, "pad"), helping(kernel, "swizzle")
    assert pad is not None
    assert pad.change == "`tile[32][36]`"
    assert sorted(pad.before.values()) == [1, 32]
    assert sorted(pad.after.values()) == [1, 4]
    assert xor is not None
    assert xor.change == "`tile[r][c ^ (r % 8 * 4)]`"
    assert sorted(xor.after.values()) == [1, 4]


def test_no_pad_beyond_the_limit_of_static_shared_memory(tmp_path: Path) -> None:
    full = flip(tmp_path, dims="[384][32]")  # 48 KiB
    assert "pad" not in full
    assert full["swizzle"] == {"store": (1, 1), "load": (32, 1)}
    assert "pad" in flip(tmp_path, dims="[352][32]")


def test_no_change_that_makes_another_access_worse(tmp_path: Path) -> None:
    # The store along the diagonal is free: lanes 33 words apart.  33 words per row would make
    # that 34, 2 wavefronts; with 34 words it is 35, free, and the column's 34 are 2 wavefronts.
    # The swizzle puts the diagonal into one column.
    found = flip(tmp_path, store="tile[x][(x + y) % 32]")
    assert found == {"pad": {"store": (1, 1), "load": (32, 2)}}


def test_planes_count_their_rows_anew(tmp_path: Path) -> None:
    parts = {"dims": "[2][32][32]", "store": "tile[1][y][x]", "load": "tile[1][x][y]"}
    kernel = analysed(tmp_path, FLIP.format(**({"rows": 32, "type": "float"} | parts)))
    trial = helping(kernel, "swizzle")
    assert trial is not None
    assert trial.change == "`tile[i][r][c ^ (r % 32)]`"
    assert max(trial.after.values()) == 1
    # 24 rows: row r of plane 1 is row 24 + r of all
    parts["dims"] = "[2][24][32]"
    parts |= {"store": "tile[1][y % 24][x]", "load": "tile[1][x % 24][y]"}
    kernel = analysed(tmp_path, FLIP.format(**({"rows": 32, "type": "float"} | parts)))
    assert helping(kernel, "swizzle") is None
    assert helping(kernel, "pad") is not None


def test_accesses_through_pointers_are_swizzled_alike(tmp_path: Path) -> None:
    text = FLIP.format(
        rows=32, type="float", dims="[32][32]", store="tile[y][x]", load="row[y]"
    ).replace("__syncthreads();", "__syncthreads(); float *row = tile[x];")
    kernel = analysed(tmp_path, text)
    assert numbers(kernel, "swizzle")["load row[y]"] == (32, 1)


def test_an_array_that_may_be_another_is_left_alone(tmp_path: Path) -> None:
    text = FLIP.format(
        rows=32, type="float", dims="[32][32]", store="tile[y][x]", load="some[32 * x + y]"
    ).replace(
        "__syncthreads();",
        "__syncthreads(); __shared__ float more[1024]; float *some = y ? tile[0] : more;",
    )
    assert helping(analysed(tmp_path, text), "swizzle") is None


@pytest.mark.parametrize(
    ("store", "load", "pads"),
    [
        pytest.param("tile[0][32 * y + x]", "tile[x][y]", False, id="a row is left"),
        pytest.param("int i = 32 * y + x; tile[0][i]", "tile[x][y]", False, id="by a variable"),
        pytest.param("tile[1][x]", "tile[x][y]", True, id="always one row"),
        pytest.param("((float *)tile)[32 * y + x]", "tile[x][y]", False, id="no rows"),
        pytest.param("tile[y][x]", "(*(float (*)[32])tile[x])[y]", True, id="a pointer to a row"),
    ],
)
def test_pads_need_accesses_that_keep_to_rows(
    tmp_path: Path, store: str, load: str, pads: bool
) -> None:
    found = flip(tmp_path, store=store, load=load)
    assert ("pad" in found) is pads
    assert found["swizzle"] == {"store": (1, 1), "load": (32, 1)}  # it moves bytes, not rows


def test_a_swizzle_says_which_row_and_column_a_flat_index_means(tmp_path: Path) -> None:
    behind = ", with r = i / 32 and c = i % 32 where it counts through the array"
    for store, said in (("tile[y][x]", ""), ("((float *)tile)[32 * y + x]", behind)):
        parts = {"rows": 32, "type": "float", "dims": "[32][32]", "load": "tile[x][y]"}
        trial = helping(analysed(tmp_path, FLIP.format(store=store, **parts)), "swizzle")
        assert trial is not None
        assert trial.description == f"use `tile[r][c ^ r]` for `tile[r][c]` in every access{said}"


def test_an_array_whose_address_is_kept_in_memory_is_left_alone(tmp_path: Path) -> None:
    load = "tile[x][y] + start[0][1]"
    for kept in ("tile[0]", "&tile[y][x]"):
        text = FLIP.format(
            rows=32, type="float", dims="[32][32]", store="tile[y][x]", load=load
        ).replace(
            "__syncthreads();", f"__shared__ float *start[1]; start[0] = {kept}; __syncthreads();"
        )
        kernel = analysed(tmp_path, text)
        assert {trial.kind for trial in kernel.trials} <= {"swap", "block"}


def test_a_tile_without_conflict_is_not_touched(tmp_path: Path) -> None:
    kernel = analysed(
        tmp_path,
        FLIP.format(rows=32, type="float", dims="[32][33]", store="tile[y][x]", load="tile[x][y]"),
    )
    assert kernel.trials == ()
