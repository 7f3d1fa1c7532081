"""Cycles of the L1 cache's stages for global loads, counted by hand.

Data: passes over 32 banks of 4 bytes; 8-byte loads go in two halves.  Tag: four lines a cycle.
"""

from __future__ import annotations

import pytest
from summaries import result, results

from coalescecheck.analysis import Count

FIRST = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
DOUBLE = "float *o, const double *a, const int *idx, int n, int m"
FLOAT = "float *o, const float *a, const int *idx, int n, int m"

# body, parameters, (least, greatest) of the data stage and of the tag stage
CASES = {
    "neighbours": ("o[i] = a[i];", FLOAT, (1, 1), (1, 1)),
    "stride 32, all lanes in one bank, 32 lines": ("o[i] = a[i * 32];", FLOAT, (32, 32), (8, 8)),
    "stride 33, all banks, 32 or 33 lines": ("o[i] = a[i * 33];", FLOAT, (1, 1), (8, 8)),
    "stride 5, five lines": ("o[i] = a[i * 5];", FLOAT, (1, 1), (2, 2)),
    "one float for all": ("o[i] = a[0];", FLOAT, (1, 1), (1, 1)),
    "doubles": ("o[i] = a[i];", DOUBLE, (2, 2), (1, 1)),
    "one double for all: halves are not merged": ("o[i] = a[0];", DOUBLE, (2, 2), (1, 1)),
    "doubles, stride 2": ("o[i] = a[2 * i];", DOUBLE, (4, 4), (1, 1)),
    "half of the lanes": ("if (threadIdx.x % 32 < 16) o[i] = a[i * 32];", FLOAT, (16, 16), (4, 4)),
    "a gather": ("o[i] = a[idx[i]];", FLOAT, (1, 32), (1, 8)),
    "a gather of doubles": ("o[i] = a[idx[i]];", DOUBLE, (2, 32), (1, 8)),
    "lanes that data chooses": ("if (idx[i]) o[i] = a[i * 32];", FLOAT, (1, 32), (1, 8)),
    "an offset: it may straddle two lines": ("o[i] = a[i + n];", FLOAT, (1, 1), (1, 1)),
    "lines of a row that may start anywhere": ("o[i] = a[8 * i + n];", FLOAT, (8, 8), (2, 3)),
}


@pytest.mark.parametrize(("body", "parameters", "data", "tag"), CASES.values(), ids=CASES)
def test_stages_of_an_l1_hit(
    body: str, parameters: str, data: tuple[int, int], tag: tuple[int, int]
) -> None:
    found = result(FIRST + body, "a", block=(64,), grid=(4,), parameters=parameters).l1_wavefronts
    assert found is not None
    assert (found.data.min, found.data.max) == data
    assert (found.tag.min, found.tag.max) == tag


def test_means_are_over_all_requests() -> None:
    """Iterations with strides 1, 2 and 4 take 1, 2 and 4 passes."""
    body = FIRST + "for (int s = 1; s < 8; s *= 2) o[i] += a[i * s];"
    found = result(body, "a", block=(64,), grid=(4,)).l1_wavefronts
    assert found is not None
    assert found.data == Count(1, 4, pytest.approx(7 / 3))
    assert found.tag == Count(1, 1, 1.0)


def test_a_free_stride_covers_all_strides() -> None:
    """Beyond 7 floats there are 32 sectors, at strides 8 to 31 fewer lines than lanes."""
    found = result(FIRST + "o[i] = a[i * n];", "a", block=(32,), grid=(1,))
    assert found.assumptions == ("n >= 8",)
    assert found.l1_wavefronts is not None
    assert (found.l1_wavefronts.data.min, found.l1_wavefronts.data.max) == (1, 32)
    assert (found.l1_wavefronts.tag.min, found.l1_wavefronts.tag.max) == (2, 8)
    assert found.lines128 is not None
    assert (found.lines128.min, found.lines128.max) == (8, 32)


def test_only_loads_of_global_memory_have_them() -> None:
    body = "[[cuda::shared]] float s[64]; s[threadIdx.x] = 1; o[threadIdx.x] = s[threadIdx.x];"
    assert [r.l1_wavefronts for r in results(body)] == [None, None, None]
    volatile = "o[threadIdx.x] = *(const volatile float *)(a + threadIdx.x);"
    assert [r.l1_wavefronts for r in results(volatile)] == [None, None]
