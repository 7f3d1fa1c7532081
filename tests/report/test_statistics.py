"""Counts over several files: a kernel counts once, at its best file and worst instance."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from coalescecheck import pipeline
from coalescecheck.cli import main
from coalescecheck.options import make_options

HEADER = """
template <int N> __global__ void scale(float *a) { a[N * threadIdx.x] = 1; }
"""
CALLS = """
#include "scale.cuh"
extern __device__ void hidden(float *a);
__global__ void calls(float *a, const int *at) { hidden(a); a[at[threadIdx.x]] = 2; }
void run(float *a, const int *at) {
    scale<1><<<2, 64>>>(a); scale<2><<<2, 64>>>(a); calls<<<1, 32>>>(a, at); }
"""


def tree(folder: Path) -> Path:
    (folder / "scale.cuh").write_text(HEADER)
    (folder / "calls.cu").write_text(CALLS)
    return folder


def test_a_kernel_counts_once_whatever_its_instances_and_files(tmp_path: Path) -> None:
    result = pipeline.statistics([str(tree(tmp_path))], make_options())
    assert result.files == 2
    assert {name: counts.status for (_, _, name), counts in result.kernels.items()} == {
        "scale": "analysed",
        "calls": "partial",  # what hidden() accesses is not seen
    }
    # the two instances in calls.cu; the header alone knows no launch and does not count again
    accesses = result.total("accesses")
    assert accesses["global", "exact"] == 3
    assert accesses["global", "data-dependent"] == 1
    assert result.total("launches") == {"block and grid known": 3}


def test_the_table_names_what_was_lost(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(main, ["--stats", str(tree(tmp_path))])
    assert outcome.exit_code == 0
    assert "kernels    2: 1 analysed (50.0 %), 1 partial (50.0 %), 0 failed (0.0 %)" in (
        outcome.output
    )
    assert "`hidden()` is not known" in outcome.output
