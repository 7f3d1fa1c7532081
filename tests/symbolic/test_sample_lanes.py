"""The sample request of an access costs what the access is said to cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult
from coalescecheck.memory import count_sectors, count_wavefronts

EXAMPLES = Path(__file__).parents[2] / "examples_cu"

MORE = """
__global__ void guarded(float *out, const float *in, int n)
{
    __shared__ float4 part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && threadIdx.x % 2 == 0 && blockIdx.x > 0)
        out[i] = in[3 * i + 1];
    part[threadIdx.x] = make_float4(in[i], 0.0f, 0.0f, 0.0f);
    __syncthreads();
    for (int k = 1; k < 4; ++k)
        if (k == 3)
            out[i + k] = part[threadIdx.x ^ 1].x;
}
void run(float *out, const float *in) { guarded<<<8, 64>>>(out, in, 400); }
"""


def counted(result: AccessResult) -> int:
    active = np.array([[offset is not None for offset in result.sample_lanes]])
    addresses = np.array([[offset or 0 for offset in result.sample_lanes]], np.int64)
    if result.space == "shared":
        op = str(result.access.op)
        return int(count_wavefronts(addresses, active, result.width_bytes, op).total[0])
    return int(count_sectors(addresses, active, result.width_bytes)[0])


def accesses(folder: Path) -> list[AccessResult]:
    path = folder / "more.cu"
    path.write_text(MORE, encoding="utf-8")
    report = coalescecheck.analyze([EXAMPLES, path], verify=False)
    return [access for kernel in report.kernels for access in kernel.accesses]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[AccessResult]:
    return accesses(tmp_path_factory.mktemp("sample"))


def test_the_sample_is_one_of_the_requests_that_were_counted(results: list[AccessResult]) -> None:
    wrong = []
    for result in results:
        count = result.wavefronts or result.sectors
        if result.sample_lanes and not (count and count.min <= counted(result) <= count.max):
            wrong.append((result.access.index, count, result.sample_lanes))
    assert wrong == []


def test_only_unknown_lanes_have_no_sample(results: list[AccessResult]) -> None:
    without = {result.access.index for result in results if not result.sample_lanes}
    assert without == {"in[order[i]]", "data[i * stride]"}


def test_a_sample_is_found_behind_conditions(results: list[AccessResult]) -> None:
    (store,) = (r for r in results if r.access.index == "in[3 * i + 1]")
    start = store.sample_lanes[0]
    assert start is not None
    assert store.sample_lanes[:4] == (start, None, start + 24, None)


def test_offsets_count_from_the_start_of_the_array(results: list[AccessResult]) -> None:
    (load,) = (r for r in results if r.access.index == "in[i + 1]")
    assert load.sample_lanes == tuple(4 + 4 * lane for lane in range(32))


def test_a_pad_trial_has_the_request_after_the_change() -> None:
    report = coalescecheck.analyze(EXAMPLES / "transpose.cu", verify=False)
    kernel = next(k for k in report.kernels if k.template.get("PAD") == "0")
    (trial,) = (t for t in kernel.trials if t.kind == "pad")
    (load,) = (a for a in kernel.accesses if a.space == "shared" and a.access.op == "load")
    assert load.sample_lanes == tuple(128 * lane for lane in range(32))
    assert trial.lanes_after[load.access.id] == tuple(132 * lane for lane in range(32))
