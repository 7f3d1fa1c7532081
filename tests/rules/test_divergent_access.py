"""CC403: silent where the lanes that run are neighbours, and where data decides which run."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysed import findings, said

KERNEL = """
// coalescecheck: block(256) grid(4)
__global__ void k(float *out, const float *in, const int *flag, int n)
{{
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
    {body}
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("out[i] = in[i];", id="every lane"),
        pytest.param("if (lane == 0) out[i] = in[i];", id="a single lane"),
        pytest.param("if (lane < 8) out[i] = in[i];", id="neighbours"),
        pytest.param("if (i < n) out[i] = in[i];", id="the end of the data"),
        pytest.param("if (lane < 15) out[i + 1] = in[i + 1];", id="misaligned, without holes"),
        pytest.param("if (flag[i]) out[i] = in[i];", id="the data decides"),
        pytest.param("if (threadIdx.x % 16 == 0) out[i % 16 + i / 16 * n] = 1.0f;", id="an edge"),
        pytest.param("if (lane != 7) out[i] = in[i];", id="one lane less"),
    ],
)
def test_silent_on(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, KERNEL.format(body=body), "CC403") == []


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("lane % 8 == 0", "4 sectors per warp, 1 would do (4x); 4 of 32 lanes run"),
        ("lane % 2 == 1", "4 sectors per warp, 2 would do (2x); 16 of 32 lanes run"),
        ("lane == 3 || lane == 17", "2 sectors per warp, 1 would do (2x); 2 of 32 lanes run"),
    ],
)
def test_reports_and_nothing_else_does(condition: str, words: str, tmp_path: Path) -> None:
    body = f"if ({condition}) out[i] = 1.0f;"
    (finding,) = findings(tmp_path, KERNEL.format(body=body), "CC1", "CC4")
    assert (str(finding.severity), finding.rule) == ("note", "CC403")
    assert finding.message == f"global store out[i]: {words}, with others between them"
