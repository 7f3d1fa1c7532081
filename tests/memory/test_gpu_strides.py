"""The stages of an L1 hit against measurements on A100, A40 and H200.

``data/gpu_strides.tsv`` holds te42kyfo/gpu-benches, gpu-strides: a block of 256 threads loads
``A[(t % 64) * stride]`` ("stride") or ``A[t / width * pitch + t % width]`` ("block") from L1.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from coalescecheck import analyze
from coalescecheck.memory import count_l1_data_wavefronts, count_tag_wavefronts

TABLE = Path(__file__).parents[1] / "data" / "gpu_strides.tsv"
with TABLE.open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t"))
GPUS = ("a100", "a40", "h200")
WIDTH = {"float": 4, "double": 8}
# Cycles below which no load of a pattern was measured: 128 bytes a clock, 64 on the A40.  Its
# double loads take 8 at any pattern, one address for all lanes included: the benchmark adds what
# it loads, and a GA102 has few units for double precision.
FLOOR = {"a100": (1, 2), "h200": (1, 2), "a40": (2, 8)}
# The one row where 5 % is not met: 8.5 cycles measured, 8 expected.
BEYOND = {("a40", "double", "stride", "14")}


def addresses(row: dict[str, str]) -> np.ndarray:
    """Byte addresses of the block's 8 warps."""
    t, size = np.arange(256).reshape(8, 32), int(row["width_or_stride"])
    if row["pattern"] == "stride":
        return t % 64 * size * WIDTH[row["type"]]
    return (t // size * int(row["pitch"]) + t % size) * WIDTH[row["type"]]


def stages(row: dict[str, str]) -> tuple[float, float, int]:
    """Mean data and tag wavefronts as counted, and the floor."""
    lanes, width = addresses(row), WIDTH[row["type"]]
    everyone = np.ones(lanes.shape, np.bool_)
    data = count_l1_data_wavefronts(lanes, everyone, width)
    tags = count_tag_wavefronts(lanes, everyone, width)
    return float(data.mean()), float(tags.mean()), FLOOR[row["gpu"]][width == 8]


def test_the_table_is_complete() -> None:
    assert [sum(r["gpu"] == gpu for r in ROWS) for gpu in GPUS] == [144, 144, 46]


@pytest.mark.parametrize("gpu", GPUS)
def test_data_wavefronts_are_those_measured(gpu: str) -> None:
    rows = [r for r in ROWS if r["gpu"] == gpu]
    assert [r for r in rows if abs(stages(r)[0] - float(r["l1_data_wavefronts"])) > 0.01] == []


@pytest.mark.parametrize("gpu", GPUS)
def test_cycles_are_the_slower_stage_of_the_two(gpu: str) -> None:
    """Within 5 %, with the tag wavefronts that were measured."""
    off = set()
    for row in (r for r in ROWS if r["gpu"] == gpu):
        data, _, floor = stages(row)
        expected = max(data, float(row["l1_tag_wavefronts"]), floor)
        if abs(expected / float(row["cycles_per_warp_load"]) - 1) > 0.05:
            off.add((row["gpu"], row["type"], row["pattern"], row["width_or_stride"]))
    assert off == {row for row in BEYOND if row[0] == gpu}


@pytest.mark.parametrize("gpu", GPUS)
def test_counted_tag_wavefronts_are_a_lower_bound(gpu: str) -> None:
    """Four lines a clock is the best the tag stage does; it was measured to take up to twice."""
    ratios = [float(r["l1_tag_wavefronts"]) / stages(r)[1] for r in ROWS if r["gpu"] == gpu]
    assert min(ratios) >= 1
    assert max(ratios) < 2
    assert sum(ratios) / len(ratios) < 1.25


# --- the same rows through the whole tool -----------------------------------------------------

KERNEL = """\
__global__ void sum(T *out, const T *A)
{
    int t = threadIdx.x;
    out[t] = A[INDEX];
}
"""
INDEX = {"stride": "(t % 64) * {size}", "block": "t / {size} * {pitch} + t % {size}"}
THROUGH = [
    row
    for row in ROWS
    if row["gpu"] == "a100" and row["width_or_stride"] in ("0", "1", "8", "14", "33", "64")
]


@pytest.mark.parametrize(
    "row", THROUGH, ids=lambda r: f"{r['type']} {r['pattern']} {r['width_or_stride']}"
)
def test_a_kernel_has_the_wavefronts_that_were_measured(
    row: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "sum.cu"
    path.write_text(KERNEL, encoding="utf-8")
    index = INDEX[row["pattern"]].format(size=row["width_or_stride"], pitch=row["pitch"])
    defines = [f"T={row['type']}", f"INDEX={index}"]
    report = analyze(path, defines=defines, block=256, grid=2)
    (kernel,) = report.kernels
    load = next(a for a in kernel.accesses if a.array == "A")
    assert load.verified.simulation == "agrees"
    assert load.l1_wavefronts is not None
    assert load.l1_wavefronts.data.mean == pytest.approx(float(row["l1_data_wavefronts"]), abs=0.01)
    assert load.l1_wavefronts.tag.mean == pytest.approx(stages(row)[1])
