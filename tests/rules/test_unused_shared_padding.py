"""CC204: silent as soon as an access uses the declared rows, or may."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysed import findings, said

KERNEL = """
// coalescecheck: block(32,8) grid(4)
__global__ void k(float *out, const int *in, int n)
{{
    __shared__ {declared};
    int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
    {body}
}}
"""
TILE = "float tile[32][33]"
FLAT = "float *flat = &tile[0][0]; "


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        pytest.param(TILE, "tile[y][x] = 1.0f; out[t] = tile[x][y];", id="a padded tile"),
        pytest.param(TILE, FLAT + "flat[t] = 0.0f; tile[y][x] = 1.0f;", id="cleared flat"),
        pytest.param(TILE, FLAT + "flat[t] = 0.0f;", id="no conflict that the pad would spare"),
        pytest.param(TILE, FLAT + "flat[y * 33 + x] = 1.0f;", id="flat with the pad"),
        pytest.param(TILE, FLAT + "flat[(y * 33 + x) % 1056] = 1.0f;", id="with a wrap"),
        pytest.param(TILE, "tile[in[t]][x] = 1.0f;", id="a row by data"),
        pytest.param(TILE, FLAT + "flat[in[t]] = flat[y * 32 + x];", id="an index by data"),
        pytest.param(TILE, FLAT + "flat[y * n + x] = flat[y * 32 + x];", id="a pitch by parameter"),
        pytest.param(TILE, "tile[5][x] = 1.0f;", id="a single row"),
        pytest.param(
            TILE, "for (int j = y; j < 32; j += 8) tile[j][x] = 1.0f;", id="rows in a loop"
        ),
        pytest.param("float tile[32][32]", FLAT + "flat[y * 32 + x] = 1.0f;", id="no pad"),
        pytest.param("float tile[10][34]", "tile[y + 1][x + 1] = 1.0f;", id="a halo"),
        pytest.param("float tile[1056]", "tile[y * 32 + x] = 1.0f;", id="declared without rows"),
        pytest.param(
            TILE + "; __shared__ float other[1024]",
            FLAT + "flat[t] = other[t * 4 % 1024];",
            id="conflicts of another array",
        ),
        pytest.param(
            "float tile[2][300]", "tile[0][t] = 1.0f; tile[0][t + 256 % n] = 1.0f;", id="buffers"
        ),
    ],
)
def test_silent_on(declared: str, body: str, tmp_path: Path) -> None:
    assert said(tmp_path, KERNEL.format(declared=declared, body=body), "CC204") == []


@pytest.mark.parametrize(
    ("declared", "body", "words"),
    [
        pytest.param(
            TILE,
            FLAT + "flat[y * 32 + x] = 1.0f; out[t] = flat[x * 32 + y];",
            "tile[32][33]: rows are declared 132 bytes apart, and every access steps 128; "
            "the pad of 1 element per row",
            id="a flat pointer",
        ),
        pytest.param(
            TILE,
            "tile[0][y * 32 + x] = 1.0f; out[t] = tile[0][x * 32 + y];",
            "tile[32][33]: rows are declared 132 bytes apart, and every access steps 128; "
            "the pad of 1 element per row",
            id="the first row as if it were all",
        ),
        pytest.param(
            "double tile[16][18]",
            "double *flat = (double *)tile; flat[x % 16 * 16 + y] = 1.0;",
            "tile[16][18]: rows are declared 144 bytes apart, and every access steps 128; "
            "the pad of 2 elements per row",
            id="a cast",
        ),
    ],
)
def test_reports(declared: str, body: str, words: str, tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, KERNEL.format(declared=declared, body=body), "CC204")
    assert str(finding.severity) == "note"
    assert finding.message == f"shared array {words} is not used"
    assert (finding.span.line, finding.span.column > 1) == (5, True), "the declaration"


SEVERAL = """
{outside}
// coalescecheck: block(32,8) grid(4)
__global__ void flat(float *out)
{{
    {inside}
    int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
    float *flat = &tile[0][0];
    flat[t] = 1.0f; __syncthreads(); out[t] = flat[x * 32 + y];
}}
// coalescecheck: block(32,8) grid(4)
__global__ void other(float *out, const int *in)
{{
    {inside}
    int x = threadIdx.x, y = threadIdx.y;
    {use}
}}
"""
TILE_OF_ALL = "__shared__ float tile[32][33];"


@pytest.mark.parametrize(
    ("use", "count"),
    [
        pytest.param("tile[y][x] = 1.0f;", 0, id="its rows are used"),
        pytest.param("tile[in[y]][x] = 1.0f;", 0, id="they may be"),
        pytest.param("tile[0][y * 32 + x] = 1.0f;", 1, id="they are not"),
        pytest.param("out[y * 32 + x] = 1.0f;", 1, id="it is not used"),
    ],
)
def test_an_array_of_several_kernels(use: str, count: int, tmp_path: Path) -> None:
    text = SEVERAL.format(outside=TILE_OF_ALL, inside="", use=use)
    assert len(said(tmp_path, text, "CC204")) == count
    text = SEVERAL.format(outside="", inside=TILE_OF_ALL, use=use)
    flat = [finding for finding in findings(tmp_path, text, "CC204") if finding.kernel == "flat"]
    assert len(flat) == 1  # that of another kernel is another array
