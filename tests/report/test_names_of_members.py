"""A size that is a member of a struct has the source's name wherever a person reads it, and an
identifier where SymPy does."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.report import renderer
from coalescecheck.report.jsonfmt import document

KERNEL = """
struct Grid { int n, pitch, high[2]; };
__global__ void walk(float *a, Grid g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < g.n) a[i * g.pitch + 32 * g.high[1]] = 0.0f;
    if (i < g.high[0]) a[i] = 0.0f;
}
void run(float *a, Grid g) { walk<<<64, 128>>>(a, g); }
"""


@pytest.fixture
def report(tmp_path: Path) -> coalescecheck.Report:
    path = tmp_path / "walk.cu"
    path.write_text(KERNEL, encoding="utf-8")
    return coalescecheck.analyze(path, assume=["g.pitch >= 0"])


def test_sympy_reads_identifiers(report: coalescecheck.Report) -> None:
    store, _ = next(iter(report.kernels)).accesses
    assert (store.lane_stride_bytes, store.names["g_pitch"]) == ("4*g_pitch", "g.pitch")
    assert store.sectors is not None
    assert store.sectors.formula is not None
    assert "g_pitch" in store.sectors.formula


@pytest.mark.parametrize("format_", ["text", "concise", "html", "sarif", "github"])
def test_people_read_members(report: coalescecheck.Report, format_: str) -> None:
    shown = renderer(format_)(report)
    assert "g.pitch" in shown
    assert "g_pitch" not in shown
    assert "g_n" not in shown
    assert "g_high_0" not in shown


def test_json_tells_which_is_which(report: coalescecheck.Report) -> None:
    (kernel,) = document(report)["files"][0]["kernels"]
    access, _ = kernel["accesses"]
    assert access["names"]["g_pitch"] == "g.pitch"
    assert access["names"]["g_high_1"] == "g.high[1]"
    assert "g_n" not in access["names"]  # which no text of the access has
