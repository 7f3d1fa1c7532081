"""One line per finding, and nothing that costs time to load."""

from __future__ import annotations

import subprocess
import sys

from coalescecheck.report import renderer
from coalescecheck.report.model import Report, Terminal
from hostile import hostile, ordinary


def concise(report: Report) -> list[str]:
    return renderer("concise")(report, Terminal()).splitlines()


def test_a_line_per_finding_and_the_totals() -> None:
    lines = concise(ordinary())
    assert lines[0] == (
        "flip.cu:7:24: warning: CC201 shared load tile[threadIdx.x][threadIdx.y]: 32 wavefronts "
        "per warp, 1 would do (32x); lanes step 128 bytes; 32 → 1 wavefront with `tile[32][33]`"
    )
    assert lines[2:] == ["1 kernel, 3 accesses, 2 warnings"]


def test_a_name_with_line_breaks_stays_on_its_line() -> None:
    report = hostile()
    assert len(concise(report)) == len(list(report.findings)) + 1


def test_it_loads_no_library() -> None:
    code = "import sys, coalescecheck.report.concise; print('rich' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
