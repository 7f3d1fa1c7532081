"""A proposed pad as a change of the source: only where it is certainly the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.source import Edit

KERNEL = """
{before}
{template}__global__ void flip(float *out, const float *in)
{{
    {declaration}
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
void run(float *out, float *in) {{ {launch} }}
"""
PLAIN = "flip<<<1, dim3(32, 32)>>>(out, in);"


def changed(folder: Path, declaration: str, **parts: str) -> str | None:
    """The declaration's line after the edit of the first fix, None when there is none."""
    values = {"before": "", "template": "", "launch": PLAIN} | parts
    text = KERNEL.format(declaration=declaration, **values)
    path = folder / "flip.cu"
    path.write_text(text, encoding="utf-8")
    (finding,) = coalescecheck.analyze(path, select=["CC201"], verify=False).findings
    assert finding.fix is not None
    edit: Edit | None = finding.fix.edit
    if edit is None:
        return None
    line = text.splitlines()[edit.span.line - 1]
    return (line[: edit.span.column - 1] + edit.text + line[edit.end_column - 1 :]).strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("tile[32][32]", "tile[32][33]", id="a number"),
        pytest.param("tile[32] [ 32 ]", "tile[32] [33]", id="blanks"),
        pytest.param("tile[32][N]", "tile[32][N + 1]", id="a name"),
        pytest.param("tile[N][N * 1]", "tile[N][N * 1 + 1]", id="a product"),
        pytest.param("tile[N][16 << 1]", "tile[N][(16 << 1) + 1]", id="a shift"),
        pytest.param("tile[32][0x20]", "tile[32][0x20 + 1]", id="hexadecimal"),
        pytest.param("a[2], tile[32][32], b[2]", "a[2], tile[32][33], b[2]", id="with others"),
    ],
)
def test_the_last_size_grows(tmp_path: Path, before: str, after: str) -> None:
    line = changed(tmp_path, f"__shared__ float {before}; // tile[1][1]", before="#define N 32")
    assert line == f"__shared__ float {after}; // tile[1][1]"


@pytest.mark.parametrize(
    ("declaration", "parts"),
    [
        pytest.param("TILE", {"before": "#define TILE __shared__ float tile[32][32];"}, id="macro"),
        pytest.param(
            "__shared__ float tile[32][32 + PAD];",
            {
                "template": "template <int PAD> ",
                "launch": "flip<0><<<1, dim3(32, 32)>>>(out, in);",
            },
            id="a template, whose other instances may be fine as they are",
        ),
        pytest.param(
            "__shared__ float tile[32]\n[32];",
            {},
            id="a declaration on two lines",
        ),
        pytest.param(
            "__shared__ float tile[32][32];",
            {"launch": PLAIN + " flip<<<1, dim3(1, 1)>>>(out, in);"},
            id="another launch, for which it was not tried",
        ),
    ],
)
def test_no_edit_is_better_than_a_wrong_one(
    tmp_path: Path, declaration: str, parts: dict[str, str]
) -> None:
    assert changed(tmp_path, declaration, **parts) is None


def test_the_changed_file_has_no_conflict_left(tmp_path: Path) -> None:
    line = changed(tmp_path, "__shared__ float tile[32][32];")
    assert line is not None
    path = tmp_path / "flip.cu"
    text = path.read_text(encoding="utf-8").replace("__shared__ float tile[32][32];", line)
    path.write_text(text, encoding="utf-8")
    assert list(coalescecheck.analyze(path, select=["CC2"]).findings) == []
