"""Counts over several files: a kernel counts once, at its best file and worst instance."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from coalescecheck import pipeline
from coalescecheck.cli import main
from coalescecheck.options import make_options
from coalescecheck.report.statistics import render

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


UNCHECKED = """
__global__ void guarded(float *a, const int *at) { if (at[0] > 1000000) a[5 * threadIdx.x] = 2; }
__global__ void loops(float *a) {
    for (int i = 0; i < 3000; i++) a[i] += 1;
    a[7 * threadIdx.x] = 3;
}
"""


def test_what_was_not_compared_is_counted_by_its_reason(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(UNCHECKED)
    result = pipeline.statistics([str(tmp_path)], make_options())
    assert result.total("unchecked") == {
        "no lane of the sample runs it": 1,
        "the sample takes too many statements": 1,  # what stands behind 3,000 iterations
    }
    table = render(result)
    assert "why accesses were not compared with the simulation:" in table


def test_sizes_that_end_loops_soon_reach_what_stands_behind_them(tmp_path: Path) -> None:
    body = (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += 1; a[7 * threadIdx.x] = 3;"
    )
    (tmp_path / "k.cu").write_text(f"__global__ void k(float *a, int n) {{ {body} }}")
    result = pipeline.statistics([str(tmp_path)], make_options())
    assert result.total("verdicts") == {"agrees": 3}
