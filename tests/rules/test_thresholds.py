"""Where rules begin to speak, and where a note becomes a warning: each bound from both sides.

The kernels are analysed, so that a bound is one of source code; the sums are in the comments.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import Count
from coalescecheck.rules.strided_global_access import StridedGlobalAccess
from hand_made import access, kernel


def said(folder: Path, body: str, block: int = 32, grid: int = 1) -> list[str]:
    """Rules and severities of a kernel's findings."""
    path = folder / "k.cu"
    path.write_text(f"__global__ void k(float *o, const float *a, const float *b) {{ {body} }}")
    found = coalescecheck.analyze(path, block=block, grid=grid, verify=False).findings
    return [f"{finding.rule} {finding.severity}" for finding in found]


@pytest.mark.parametrize(
    ("mean", "severity"), [(4.36, []), (4.44, ["note"]), (7.96, ["note"]), (8.0, ["warning"])]
)
def test_a_tenth_is_worth_a_note_and_twice_a_warning(mean: float, severity: list[str]) -> None:
    count = Count(4, 8, mean, 4)
    found = StridedGlobalAccess().check(kernel(access(pattern="strided", sectors=count)))
    assert [str(finding.severity) for finding in found] == severity


@pytest.mark.parametrize(("trips", "severity"), [(691, "warning"), (692, "note")])
def test_a_hundredth_of_the_sectors_is_cold(tmp_path: Path, trips: int, severity: str) -> None:
    # 28 sectors too many; 32 + 4 * trips + 4 in all: 2800 and 2804
    body = f"float s = b[threadIdx.x * 32]; for (int k = 0; k < {trips}; k++)"
    body += " s += a[k * 32 + threadIdx.x]; o[threadIdx.x] = s;"
    assert said(tmp_path, body) == [f"CC101 {severity}"]


@pytest.mark.parametrize(("trips", "severity"), [(3068, "warning"), (3069, "note")])
@pytest.mark.parametrize(
    ("first", "rule"),
    [("t[threadIdx.x * 32] = 1;", "CC201"), ("atomicMax(&u[threadIdx.x * 32], 1);", "CC203")],
)
def test_a_hundredth_of_the_wavefronts_is_cold(
    tmp_path: Path, first: str, rule: str, trips: int, severity: str
) -> None:
    # 31 wavefronts too many; 32 + trips in all: 3100 and 3101
    array = "int u" if rule == "CC203" else "float t"
    body = f"__shared__ {array}[1024]; {first} __syncthreads(); float s = 0; for (int k = 0; k < "
    body += f"{trips}; k++) s += {array[-1]}[threadIdx.x]; o[threadIdx.x] = s;"
    assert said(tmp_path, body) == [f"{rule} {severity}"]


@pytest.mark.parametrize(("row", "severity"), [(15, "note"), (17, "warning")])
def test_64_bytes_a_thread_stay_in_l1(tmp_path: Path, row: int, severity: str) -> None:
    # 60 and 68 bytes; odd rows, so that L1 reads them without conflict
    body = f"float s = 0; for (int k = 0; k < {row}; k++) s += a[threadIdx.x * {row} + k];"
    assert said(tmp_path, f"{body} o[threadIdx.x] = s;", block=256) == [f"CC106 {severity}"]


@pytest.mark.parametrize(("row", "rule"), [(16, "CC302"), (17, "CC106")])
def test_more_than_64_bytes_are_a_walk_and_no_vector(tmp_path: Path, row: int, rule: str) -> None:
    body = f"for (int k = 0; k < {row}; k++) o[(blockIdx.x * 256 + threadIdx.x) * {row} + k] = k;"
    assert said(tmp_path, body, block=256, grid=64) == [f"{rule} warning"]


@pytest.mark.parametrize(
    ("warps", "loads", "found"),
    [
        pytest.param(7, 16, [], id="7 times"),
        pytest.param(8, 16, ["CC108 note"], id="8 times"),
        pytest.param(8, 8, [], id="32 sectors"),
        pytest.param(8, 9, ["CC108 note"], id="36 sectors"),
    ],
)
def test_what_is_read_again(tmp_path: Path, warps: int, loads: int, found: list[str]) -> None:
    body = f"float s = 0; for (int k = 0; k < {loads}; k++) s += a[k * 32 + threadIdx.x % 32];"
    body += " o[blockIdx.x * blockDim.x + threadIdx.x] = s;"
    assert said(tmp_path, body, block=32 * warps, grid=8) == found


@pytest.mark.parametrize(("lanes", "found"), [(1, []), (2, ["CC109 note"])])
def test_two_lanes_meet(tmp_path: Path, lanes: int, found: list[str]) -> None:
    assert said(tmp_path, f"if (threadIdx.x < {lanes}) atomicAdd(o, 1.0f);") == found
