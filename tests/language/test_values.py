"""C++ that is easily misread: the number a device function gives, seen as the step of an address.

Each case of ``values.txt`` says what ``t(3)`` is by C++'s rules (and by nvcc, which runs the same
text on the host); a kernel stores at ``threadIdx.x * t(3)``.  ``unknown`` asks for no number.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coalescecheck

_TEXT = (Path(__file__).parent / "values.txt").read_text()
_CASES = re.findall(r"^//--- (\S+) (.*)\n((?:(?!//---).*\n)*)", _TEXT, re.MULTILINE)
_KERNEL = """
__global__ void k(char *out, int n) { out[(long long)threadIdx.x * (long long)t(n)] = 0; }
void launch(char *p) { k<<<1, 32>>>(p, 3); }
"""


@pytest.mark.parametrize(("wanted", "code"), [pytest.param(w, c, id=n) for w, n, c in _CASES])
def test_value(wanted: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "value.cu"
    path.write_text(f"#define HD __host__ __device__\n{code}{_KERNEL}")
    (kernel,) = coalescecheck.analyze(path).kernels
    (access,) = (a for a in kernel.accesses if a.access.index.startswith("out["))
    if wanted == "unknown":
        assert access.certainty in ("data-dependent", "unknown")
    else:
        assert access.lane_stride_bytes == int(wanted)
