"""What nvcc's code touches is what the analysis says of our own sources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ptx.comparison import compare, compiled
from ptx.requests import Line, requests

TESTS = Path(__file__).parents[1]
SOURCES = sorted(
    [*(TESTS / "language" / "cu").glob("*.cu"), *(TESTS.parent / "examples_cu").glob("*.cu")]
)
# The code made without optimisation chooses between two addresses and loads once, from both
# arrays' parts; the analysis has two loads and a choice between their values, as optimised code.
CHOSEN_ADDRESS = ("overloads.cu:38: load of 4 bytes in references_returned",)

pytestmark = pytest.mark.skipif(
    shutil.which("nvcc") is None or shutil.which("c++filt") is None,
    reason="nvcc and binutils are not installed",
)

KERNEL = """
__device__ float at(const float *p, int i) { return p[i]; }
__global__ void k(float *a, const float *b, int n)
{
    __shared__ float t[32][33];
    int i = threadIdx.x;
    t[i][0] = at(b, i * n);
    __syncthreads();
    for (int j = 0; j < i; j++) {
        if (j == 4)
            break;
        a[i] = t[i][j];
    }
    if (i % 2)
        a[2 * i] = 1;
    else
        a[i] = 2;
    a[i] = 3;
    atomicAdd(&a[i / 8], 1.0f);
}
void run(float *a, float *b, int n) { k<<<1, 32>>>(a, b, n); }
"""


def test_requests_of_a_kernel_counted_by_hand(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(KERNEL, encoding="utf-8")
    module = compiled(source, tmp_path)
    assert module is not None
    (kernel,) = (f for f in module.functions.values() if f.is_entry)
    arrays = [(0x70 << 40).to_bytes(8, "little"), (0x71 << 40).to_bytes(8, "little")]
    given = [*arrays, (8).to_bytes(4, "little")]
    found = requests(module, kernel, (32, 1, 1), (1, 1, 1), given, str(tmp_path))
    counts = {line[1:]: (seen.whole, seen.partial) for line, seen in found.items()}
    assert counts == {
        (2, "load", "global", 4): ({32}, set()),  # a row of 8 floats each
        (7, "store", "shared", 4): ({1}, set()),  # rows of 33 floats
        (12, "load", "shared", 4): (set(), {1}),  # lanes j + 1 to 31, for j of 0 to 3
        (12, "store", "global", 4): (set(), {4}),
        (15, "store", "global", 4): (set(), {8}),  # floats 2, 6, 10 ... 62
        (17, "store", "global", 4): (set(), {4}),  # floats 0, 2, 4 ... 30
        (18, "store", "global", 4): ({4}, set()),
        (19, "atomic", "global", 4): ({1}, set()),
    }
    assert {line.file for line in found} == {"k.cu"}
    assert all(isinstance(line, Line) for line in found)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_nvcc_touches_what_the_analysis_says(source: Path, tmp_path: Path) -> None:
    report = compare(source, tmp_path)
    assert [text for text in report.wrong if not text.startswith(CHOSEN_ADDRESS)] == []


def test_another_number_is_wrong(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    text = KERNEL.replace("i * n", "i * STEP")
    steps = "#ifdef __CUDACC_DEBUG__\n#define STEP 2\n#else\n#define STEP 1\n#endif\n"
    source.write_text(steps + text, encoding="utf-8")
    report = compare(source, tmp_path)
    assert len(report.wrong) == 2  # once for each run
    assert all(": [8], said 4..4 " in text for text in report.wrong)
    assert report.counts["agree, one number"] > 0
