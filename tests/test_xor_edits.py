"""A proposed swizzle as a change of the source: every access of the array, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coalescecheck.cli import main

# 44 KiB beside a tile of 4 KiB: a longer row would be more than a kernel can have
KERNEL = """{before}
{template}__global__ void flip(float *out, const float *in)
{{
    __shared__ float tile[32][32], other[11264];
    other[threadIdx.x] = in[threadIdx.x];
    {store}; /* tile */
    __syncthreads();
    {use}
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][31 - threadIdx.y] + other[0]; // tile
}}
void run(float *out, float *in) {{ {launch}; }}
"""
STORE = "tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x]"
LAUNCH = "flip<<<1, dim3(32, 32)>>>(out, in)"


def call(folder: Path, *arguments: str, **parts: str) -> tuple[Result, str]:
    """The command's result, and the file after it."""
    given = {"before": "", "template": "", "store": STORE, "use": "", "launch": LAUNCH} | parts
    path = folder / "flip.cu"
    path.write_text(KERNEL.format(**given), encoding="utf-8")
    result = CliRunner().invoke(main, [str(path), "--no-config", *arguments])
    return result, path.read_text(encoding="utf-8")


def test_every_access_changes_and_the_conflict_is_gone(tmp_path: Path) -> None:
    _, before = call(tmp_path, "--diff")
    result, after = call(tmp_path, "--fix")
    assert result.exit_code == 0
    assert "CC201" not in result.stdout
    assert after == before.replace(
        "tile[threadIdx.y][threadIdx.x]", "tile[threadIdx.y][threadIdx.x ^ threadIdx.y]"
    ).replace(
        "tile[threadIdx.x][31 - threadIdx.y]",
        "tile[threadIdx.x][(31 - threadIdx.y) ^ threadIdx.x]",
    )


def test_a_launch_that_a_comment_gives(tmp_path: Path) -> None:
    comment = "// coalescecheck: block(32,32) grid(1)"
    _, after = call(tmp_path, "--fix", before=comment, launch="")
    assert after.count("^ threadIdx") == 2


def test_sarif_has_all_of_it(tmp_path: Path) -> None:
    result, _ = call(tmp_path, "--format", "sarif")
    assert result.stdout.count('"insertedContent"') == 2


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"use": "float *p = &tile[0][0];"}, id="a pointer"),
        pytest.param({"use": "float *p = tile[1];"}, id="a row"),
        pytest.param({"use": "int size = sizeof(tile);"}, id="the whole"),
        pytest.param(
            {"before": "#define AT(r, c) tile[r][c]", "use": "AT(threadIdx.y, 0) = 0;"},
            id="an access by a macro",
        ),
        pytest.param(
            {"store": "int y = threadIdx.y; tile[y++][threadIdx.x] = in[threadIdx.x]"},
            id="a row that must be read once",
        ),
        pytest.param(
            {
                "before": "#define ROW y++",
                "store": "int y = threadIdx.y; tile[ROW][threadIdx.x] = in[threadIdx.x]",
            },
            id="a macro for such a row",
        ),
        pytest.param({"store": STORE.replace("][", "]\n[")}, id="an access on two lines"),
        pytest.param(
            {"store": STORE.replace("tile[threadIdx.y]", "tile[0]").replace(
                "[threadIdx.x] =", "[threadIdx.y * 32 + threadIdx.x] =")},
            id="an access beyond its row",
        ),
        pytest.param(
            {"template": "template <class T> ", "launch": LAUNCH.replace("flip", "flip<int>")},
            id="a template",
        ),
        pytest.param(
            {"launch": LAUNCH + "; flip<<<1, dim3(1, 1)>>>(out, in)"}, id="another launch"
        ),
    ],
)  # fmt: skip
def test_no_edit_is_better_than_a_wrong_one(tmp_path: Path, parts: dict[str, str]) -> None:
    result, _ = call(tmp_path, "--diff", **parts)
    assert result.exit_code in (0, 1)
    assert result.stdout == ""
