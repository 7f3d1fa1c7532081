"""What g++ records of random CUDA C++ agrees with the whole tool's reading of the same text.

More seeds by hand: ``python -m property.cpp_agreement FIRST LAST`` in the tests folder.
"""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from property.cpp_agreement import analysed, compare, disagreements
from property.cpp_oracle import CppCase, Undefined, recorded
from property.cpp_pieces import pieces
from property.random_cpp import HEAD, random_case

SEEDS = range(24)
SIGNATURE = """\
__global__ void k(const int *idx, float *o, const float *a, int *q, unsigned char *c, double *d,
                  float4 *v, Rec *r, unsigned short *h, unsigned *u, int n, int m)
"""

needs_gcc = [
    pytest.mark.skipif(
        shutil.which("g++") is None or shutil.which("addr2line") is None,
        reason="g++ and binutils are not installed",
    ),
    pytest.mark.skipif(
        (platform.system(), platform.machine()) != ("Linux", "x86_64"),
        reason="the recorder maps memory as x86-64 Linux does",
    ),
]


def case(body: str) -> CppCase:
    return CppCase(f"{HEAD}{SIGNATURE}{body}", (32, 1, 1), (1, 1, 1), {"n": 3, "m": 1})


class TestAgainstGcc:
    pytestmark = needs_gcc

    def test_programs_agree(self, tmp_path: Path) -> None:
        sweep = compare(SEEDS, tmp_path)
        assert sweep.found == {}
        assert sweep.counts["programs"] >= len(SEEDS) // 2
        assert sweep.counts["exact"] >= sweep.counts["accesses"] // 2

    def test_what_is_recorded_is_what_runs(self, tmp_path: Path) -> None:
        """Shown on one kernel, so that an oracle that records nothing cannot pass."""
        body = (
            "{ ENTER(0); for (int i = 0; i < 2; i++) { ITERATION(0);\n"
            "  if ((int)threadIdx.x >= 8 * i) r[threadIdx.x].at(i) = a[2 * threadIdx.x];\n"
            "} EXIT(0); }\n"
        )
        truth = recorded(case(body), tmp_path)
        line = (HEAD + SIGNATURE).count("\n") + 2
        # 16-byte elements: two lanes share a sector; 8-byte steps: four do
        assert {key: [r.units for r in requests] for key, requests in truth.items()} == {
            (line, "load", "a"): [8, 6],
            (line, "store", "r"): [16, 12],
        }
        assert truth[line, "store", "r"][1].lanes[0] == (8, 8 * 16 + 12)

    def test_a_wrong_number_is_found(self, tmp_path: Path) -> None:
        kernel = analysed(case("{ o[threadIdx.x * n] = 1; }\n"), tmp_path)
        truth = recorded(case("{ o[threadIdx.x * 2 * n] = 1; }\n"), tmp_path)
        # 32 lanes at 12 bytes lie in 12 sectors, at 24 bytes in 24
        found = disagreements(kernel, truth)
        assert any(text.endswith("units: 12..12 derived, 24 recorded") for text in found)

    def test_what_is_no_program_is_not_compared(self, tmp_path: Path) -> None:
        with pytest.raises(Undefined):
            recorded(case("{ o[0] = 2147483647 + (int)threadIdx.x; }\n"), tmp_path)
        with pytest.raises(Undefined):
            recorded(case("{ o[0] = nothing; }\n"), tmp_path)


def test_every_piece_can_be_used() -> None:
    assert len({piece.name for piece in pieces()}) == len(pieces()) >= 25
    assert random_case(1).text == random_case(1).text != random_case(2).text
