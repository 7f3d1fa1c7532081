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
    assert {name: status for (_, _, name), status in result.kernels.items()} == {
        "scale": "analysed",
        "calls": "partial",  # what hidden() accesses is not seen
    }
    # two instances from calls.cu, one free instance from the header alone
    assert sum(n for (space, _), n in result.accesses.items() if space == "global") == 5
    assert result.accesses["global", "data-dependent"] == 1
    assert result.launches["block and grid known"] == 3


def test_the_table_names_what_was_lost(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(main, ["--stats", str(tree(tmp_path))])
    assert outcome.exit_code == 0
    assert "kernels    2: 1 analysed (50.0 %), 1 partial (50.0 %), 0 failed (0.0 %)" in (
        outcome.output
    )
    assert "`hidden()` is not known" in outcome.output
