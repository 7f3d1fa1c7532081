"""Sums over launches: against Nsight Compute's published totals, by hand, and bounds.

The measured numbers: Nsight Compute on the kernels of RaCUDA (POPL 2021) and on an interleaved
reduction of 4096 blocks (614,400 shared wavefronts, 430,080 of them excessive, 102,400 load and
81,920 store requests).  The kernels here are our own of the same shape.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coalescecheck import analyze
from coalescecheck.analysis import AccessTotals, KernelTotals, Total
from coalescecheck.totals import kernel_totals
from hand_made import access

KERNELS = """\
__global__ void interleaved(const int *in, int *out, unsigned n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) part[t] = in[i];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned at = 2 * s * t;
        if (at < blockDim.x) part[at] += part[at + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void halving(const int *in, int *out, unsigned n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + t;
    int sum = 0;
    if (i < n) sum = in[i];
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    part[t] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = sum = sum + part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sum;
}

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

template <bool TURNED>
__global__ void product(float *c, const float *a, const float *b, int n)
{
    __shared__ float x[32][32], y[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        float v = a[row * n + k + tx];
        if (TURNED) x[tx][ty] = v; else x[ty][tx] = v;
        y[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int j = 0; j < 32; ++j) sum += (TURNED ? x[j][ty] : x[ty][j]) * y[j][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void columns(int *b, const int *a, int w)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < w; i++) b[j * w + i] += a[i];
}

__global__ void gather(float *out, const float *in, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}

__global__ void chosen(float *out, const int *flag)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flag[i]) out[i] = 1;
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("totals") / "kernels.cu"
    path.write_text(KERNELS, encoding="utf-8")
    return path


def totals(source: Path, kernel: str, **options: Any) -> KernelTotals:
    report = analyze(source, kernels=[kernel], **options)
    (found,) = report.kernels
    assert not report.disagrees
    assert found.totals is not None
    return found.totals


MEASURED = {
    "interleaved reduction of 1024: sectors": (
        ("interleaved", 256, 4, {"n": 1024}), "global_sectors", 132),
    "interleaved reduction of 1024: conflicts": (
        ("interleaved", 256, 4, {"n": 1024}), "shared_bank_conflicts", 420),
    "interleaved reduction of 262144: sectors": (
        ("interleaved", 256, 1024, {"n": 262144}), "global_sectors", 33792),
    "interleaved reduction of 262144: conflicts": (
        ("interleaved", 256, 1024, {"n": 262144}), "shared_bank_conflicts", 107520),
    "interleaved reduction, 4096 blocks: wavefronts": (
        ("interleaved", 256, 4096, {"n": 1 << 20}), "shared_wavefronts", 614400),
    "interleaved reduction, 4096 blocks: conflicts": (
        ("interleaved", 256, 4096, {"n": 1 << 20}), "shared_bank_conflicts", 430080),
    "interleaved reduction, 4096 blocks: requests": (
        ("interleaved", 256, 4096, {"n": 1 << 20}), "shared_requests", 102400 + 81920),
    "halving reduction of 1024: sectors": (
        ("halving", 256, 2, {"n": 1024}), "global_sectors", 130),
    "halving reduction of 1024: conflicts": (
        ("halving", 256, 2, {"n": 1024}), "shared_bank_conflicts", 0),
    "sum of vectors of 131072": (("add", 256, 512, {"n": 131072}), "global_sectors", 49152),
    "sum of vectors of 131073": (("add", 256, 513, {"n": 131073}), "global_sectors", 49155),
    "sum of vectors of 134680": (("add", 256, 527, {"n": 134680}), "global_sectors", 50505),
    "product of 1280: sectors": (
        ("product<false>", (32, 32), (40, 40), {"n": 1280}), "global_sectors", 16588800),
    "product of 1280: conflicts": (
        ("product<false>", (32, 32), (40, 40), {"n": 1280}), "shared_bank_conflicts", 0),
    "product of 1280, turned: sectors": (
        ("product<true>", (32, 32), (40, 40), {"n": 1280}), "global_sectors", 16588800),
    "product of 1280, turned: conflicts": (
        ("product<true>", (32, 32), (40, 40), {"n": 1280}), "shared_bank_conflicts", 63488000),
    # 8 warps x 256 iterations: 32 sectors read and written, and one of a
    "columns of 256": (("columns", 256, 1, {"w": 256}), "global_sectors", 2048 * 65),
}  # fmt: skip


@pytest.mark.parametrize(("launch", "field", "value"), MEASURED.values(), ids=MEASURED)
def test_totals_are_those_measured(
    source: Path, launch: tuple[str, Any, Any, dict[str, int]], field: str, value: int
) -> None:
    name, block, grid, params = launch
    kernel, _, argument = name.rstrip(">").partition("<")
    templates = {"TURNED": argument} if argument else {}
    found = totals(source, kernel, block=block, grid=grid, params=params, templates=templates)
    assert getattr(found, field) == Total(value, value)


def test_loads_stores_and_atomics_are_told_apart(source: Path) -> None:
    found = totals(source, "add", block=256, grid=4, params={"n": 1024})
    assert found.global_requests.exact == 3 * 32
    assert found.global_load_sectors.exact == 2 * 128
    assert found.global_store_sectors.exact == 128
    assert found.global_atomic_sectors.exact == 0


def test_a_gather_has_bounds(source: Path) -> None:
    found = totals(source, "gather", block=256, grid=4)
    assert found.global_requests.exact == 3 * 32
    assert found.global_load_sectors == Total(32 * (4 + 1), 32 * (4 + 32))
    assert found.global_load_sectors.exact is None
    assert found.global_store_sectors.exact == 128


def test_a_store_under_a_condition_on_data_may_not_happen(source: Path) -> None:
    found = totals(source, "chosen", block=256, grid=4)
    assert found.global_store_sectors == Total(0, 128)
    assert found.global_requests == Total(32, 64)


def test_without_a_grid_there_is_no_upper_bound(source: Path) -> None:
    found = totals(source, "add", block=256)
    assert (found.global_sectors.min, found.global_sectors.max) == (0, None)


def test_an_unknown_size_leaves_the_tail_open(source: Path) -> None:
    """`i < n` with n unknown: as many requests as the launch has, or fewer."""
    found = totals(source, "add", block=256, grid=4)
    assert (found.global_sectors.min, found.global_sectors.max) == (0, 3 * 128)
    assert found.global_sectors.exact is None


# --- by hand ----------------------------------------------------------------------------------


def sums(requests: int, units: int, ideal: int) -> AccessTotals:
    return AccessTotals(*(Total(n, n) for n in (requests, units, ideal, units - ideal)))


KNOWN = access(0, totals=sums(10, 40, 40))
SHARED = access(1, space="shared", array="tile", totals=sums(10, 20, 10))


def test_each_space_has_its_own_sums() -> None:
    found = kernel_totals([KNOWN, SHARED], complete=True)
    assert found.global_sectors == Total(40, 40)
    assert found.shared_wavefronts == Total(20, 20)
    assert found.shared_bank_conflicts == Total(10, 10)


def test_an_access_of_unknown_space_may_be_in_either() -> None:
    lost = access(2, certainty="unknown", array="", sectors=None, lines128=None)
    found = kernel_totals([KNOWN, SHARED, lost], complete=True)
    assert found.global_sectors == Total(40, None)
    assert found.shared_wavefronts == Total(20, None)


def test_a_texture_fetch_is_in_neither(tmp_path: Path) -> None:
    source = tmp_path / "fetch.cu"
    source.write_text(
        "__global__ void fetch(float *out, cudaTextureObject_t image) {"
        " out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 0); }"
    )
    found = totals(source, "fetch", block=64, grid=2)
    assert found.global_sectors == Total(16, 16)  # the stores: 2 blocks of 2 warps, 4 each
    assert found.shared_requests == Total(0, 0)


def test_an_access_that_may_be_missing_leaves_no_upper_bound() -> None:
    found = kernel_totals([KNOWN], complete=False)
    assert found.global_sectors == Total(40, None)
    assert found.shared_requests == Total(0, None)


def test_numbers_under_assumptions_are_not_exact() -> None:
    found = kernel_totals([access(0, totals=sums(10, 40, 40), assumptions=("n >= 8",))], True)
    assert (found.global_sectors.min, found.global_sectors.max) == (40, 40)
    assert found.global_sectors.exact is None
