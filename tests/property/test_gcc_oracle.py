"""gcc's own reading of random kernels, address by address, agrees with both of ours.

More seeds by hand: ``python -m property.gcc_agreement FIRST LAST`` in the tests folder.
"""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from property.gcc_agreement import check
from property.gcc_oracle import OPS, can_run, gcc_counts
from property.hardware_in_python import sectors, wavefronts
from property.random_kernels import RandomKernel, random_kernel

SEEDS = range(200, 260)

needs_gcc = [
    pytest.mark.skipif(
        shutil.which("gcc") is None or shutil.which("addr2line") is None,
        reason="gcc and binutils are not installed",
    ),
    pytest.mark.skipif(
        (platform.system(), platform.machine()) != ("Linux", "x86_64"),
        reason="the recorder maps memory as x86-64 Linux does",
    ),
]


class TestAgainstGcc:
    pytestmark = needs_gcc

    def test_all_three_readings_agree_on_sixty_kernels(self, tmp_path: Path) -> None:
        compared, found = check(SEEDS, tmp_path)
        assert found == {}
        assert compared >= len(SEEDS) // 2

    def test_a_kernel_whose_counts_are_plain_is_recorded_so(self, tmp_path: Path) -> None:
        """Shown on one kernel, so that an oracle that records nothing cannot pass."""
        body = (
            "  ENTER(0); for (int i = 0; i < 2; i++) { ITERATION(0);\n"
            "  if ((int)threadIdx.x >= 8 * i) o[threadIdx.x * 2 + i] = a[threadIdx.x];\n"
            "  } EXIT(0);\n  t[threadIdx.x & 31][0] = 1.0;\n"
        )
        case = RandomKernel(body, (32, 1, 1), (1, 1, 1), {"n": 1, "m": 1}, False)
        (counts,) = gcc_counts([case], tmp_path)
        assert counts is not None
        by_array = {(key[2], key[3]): units for key, units in counts.items()}
        assert by_array == {
            ("load", "a"): [4, 3],
            ("store", "o"): [8, 6],
            # 33 doubles are 66 words: 16 lanes of a half fall on 16 different pairs of banks
            ("store", "t"): [2],
        }

    def test_a_kernel_that_c_leaves_undefined_is_not_counted(self, tmp_path: Path) -> None:
        body = "  o[0] = (float)(2147483647 + (int)threadIdx.x);\n"
        case = RandomKernel(body, (32, 1, 1), (1, 1, 1), {"n": 1, "m": 1}, False)
        assert gcc_counts([case], tmp_path) == [None]


def test_most_random_kernels_can_run_thread_by_thread() -> None:
    assert sum(can_run(random_kernel(seed)) for seed in SEEDS) > len(SEEDS) // 2


@pytest.mark.parametrize(
    ("stride", "width", "expected"),
    [(4, 4, 4), (8, 4, 8), (32, 4, 32), (0, 4, 1), (8, 8, 8), (16, 16, 16), (12, 4, 12)],
)
def test_the_plain_model_counts_sectors(stride: int, width: int, expected: int) -> None:
    assert sectors(tuple((lane, lane * stride) for lane in range(32)), width) == expected


@pytest.mark.parametrize(
    ("stride", "width", "op", "expected"),
    [
        *((4, 4, "load", 1), (128, 4, "load", 32), (132, 4, "load", 1), (0, 4, "load", 1)),
        *((8, 8, "load", 2), (256, 8, "store", 32), (264, 8, "store", 2), (0, 8, "load", 1)),
        *((0, 8, "store", 2), (16, 16, "load", 4), (0, 16, "load", 2), (32, 16, "load", 8)),
        *((0, 4, "atomic", 32), (4, 4, "atomic", 1), (66, 2, "load", 1), (32, 1, "load", 8)),
    ],
)
def test_the_plain_model_counts_wavefronts(stride: int, width: int, op: str, expected: int) -> None:
    assert op in OPS
    assert wavefronts(tuple((lane, lane * stride) for lane in range(32)), width, op) == expected
