"""The cost model against published times.

* Strides on a T4: 4096 MB of floats, ``data[i * stride] += 1``: 8.0, 14.6 and 25.5 times the time
  of stride 1 at strides 8, 16 and 32.
* Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++": ten bandwidths.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import analyze
from coalescecheck.analysis import KernelAnalysis, Touched
from coalescecheck.cost import GPUS, OF_ARCH, Work, time, whole_lines

EXAMPLES = Path(__file__).parents[1] / "examples_cu"
TOLERANCE = 0.2

# stride in floats: (sectors, 64-byte pairs, lines) that a warp touches, measured slowdown
STRIDES = {8: ((32, 16, 8), 8.0), 16: ((32, 32, 16), 14.6), 32: ((32, 32, 32), 25.5)}


@pytest.mark.parametrize("stride", STRIDES)
def test_strides_on_a_t4(stride: int) -> None:
    (sectors, pairs, lines), measured = STRIDES[stride]
    # read and written: every term twice, in both
    strided = Work(Touched(sectors, pairs, lines), lines, 0)
    dense = Work(Touched(4, 2, 1), 1, 0)
    slowdown = time(strided, GPUS["T4"]) / time(dense, GPUS["T4"])
    assert slowdown == pytest.approx(measured, rel=TOLERANCE)


# For each 128 bytes read and written: requests of lines to L2, shared wavefronts (the K20c's
# banks of 8 bytes make the column of a tile 16-way), measured GB/s.
TRANSPOSES = {
    ("M2050", "copy"): (2, 0, 105.2),
    ("M2050", "copy through shared memory"): (2, 2, 104.6),
    ("M2050", "naive"): (33, 0, 18.8),
    ("M2050", "tile"): (2, 33, 51.3),
    ("M2050", "padded tile"): (2, 2, 99.5),
    ("K20c", "copy"): (2, 0, 136.0),
    ("K20c", "copy through shared memory"): (2, 2, 152.3),
    ("K20c", "naive"): (33, 0, 55.3),
    ("K20c", "tile"): (2, 17, 97.6),
    ("K20c", "padded tile"): (2, 2, 144.3),
}


@pytest.mark.parametrize("row", TRANSPOSES, ids=" ".join)
def test_transposes_of_two_gpus(row: tuple[str, str]) -> None:
    """Two lines that cost nothing but themselves pass at the rate of the copy through shared
    memory; the naive one touches two lines as well, for its neighbours use the rest."""
    requests, wavefronts, measured = TRANSPOSES[row]
    reference = TRANSPOSES[row[0], "copy through shared memory"][2]
    predicted = reference * 2 / time(Work(whole_lines(2), requests, wavefronts), GPUS[row[0]])
    assert predicted == pytest.approx(measured, rel=TOLERANCE)


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_a_whole_line_costs_one(gpu: object) -> None:
    assert time(Work(whole_lines(1), 0, 0), gpu) == pytest.approx(1, abs=0.005)


def test_every_architecture_has_a_gpu_of_the_table() -> None:
    assert set(OF_ARCH.values()) <= set(GPUS)


# --- through the whole tool -------------------------------------------------------------------


def kernels(arch: str = "sm_80") -> dict[str, KernelAnalysis]:
    """The example's kernels: 512 x 512 floats, 8192 lines read and 8192 written."""
    report = analyze(EXAMPLES / "transpose.cu", arch=arch)
    return {k.name + "".join(k.template.values()): k for k in report.kernels}


def test_the_analysis_gives_the_model_its_counts() -> None:
    """Per 128 bytes read and written: two lines touched; 2 or 33 requests of lines."""
    found = kernels()["transpose_naive"]
    blocks = 16 * 16
    lines = [side.lines for a in found.array_traffic for side in (a.reads, a.writes) if side]
    assert blocks * sum(lines) == 2 * 8192
    requests = [(a.requests or 0) * (a.lines128.mean or 0) for a in found.accesses if a.lines128]
    assert sum(requests) == 33 * 8192


def test_relative_times_rank_the_transposes() -> None:
    found = {name: k.relative_time for name, k in kernels().items()}
    up_to = {name: time.up_to for name, time in found.items() if time is not None}
    assert up_to.keys() == found.keys()
    assert up_to["copy"] == 1
    assert up_to["transpose_tile1true"] == 1
    assert up_to["transpose_tile0true"] > 1.3
    assert up_to["transpose_naive"] > 2 * up_to["transpose_tile0true"]


def test_an_architecture_without_parameters_has_no_relative_time() -> None:
    assert {k.relative_time for k in kernels("sm_50").values()} == {None}


STRIDED = """\
__global__ void add_one(float *data)
{
    long i = (long)(blockIdx.x * blockDim.x + threadIdx.x) * STRIDE;
    data[i] += 1.0f;
}
"""


@pytest.mark.parametrize("stride", STRIDES)
def test_the_stride_experiment_from_its_source(stride: int, tmp_path: Path) -> None:
    path = tmp_path / "add_one.cu"
    path.write_text(STRIDED, encoding="utf-8")
    report = analyze(path, defines=[f"STRIDE={stride}"], block=256, grid=4096, arch="sm_75")
    (found,) = report.kernels
    assert found.relative_time is not None
    assert found.relative_time.gpu == "T4"
    assert found.relative_time.up_to == pytest.approx(STRIDES[stride][1], rel=TOLERANCE)
