"""A kernel that was lost is told in every format: no finding there is no comfort."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coalescecheck.report import FORMATS, renderer
from coalescecheck.report.model import FileReport, Report, Terminal
from coalescecheck.source import Diagnostic, Span
from hand_made import PATH, access, file, kernel

WHY = "syntax error: `;` is missing"
SAID = Diagnostic(Span(PATH, 9, 4), "error", WHY)
GOOD = kernel(access())
PARTIAL = replace(kernel(access(), diagnostics=(SAID,)), name="half", status="partial", reason=WHY)
FAILED = replace(kernel(diagnostics=(SAID,)), name="none", status="failed", reason=WHY)

TOLD = {
    "text": "(1 partial, 1 failed)",
    "json": '"status": "failed"',
    "concise": "3 kernels (1 partial, 1 failed), 2 accesses",
    "sarif": WHY,
    "github": f"::warning file={PATH},line=9,col=4,title=not analysed::{WHY}\n"
    "coalescecheck: 3 kernels (1 partial, 1 failed), 2 accesses, 0 findings\n",
    "markdown": "Not everything could be analysed (kernels partial: 1, kernels failed: 1).",
    "junit": f"not all of it could be analysed: {WHY}",
    "html": "failed",
}


@pytest.mark.parametrize("format_", FORMATS)
def test_a_loss_is_visible(format_: str) -> None:
    report = Report("1", "sm_80", (FileReport(file(GOOD, PARTIAL, FAILED), ()),))
    assert TOLD[format_] in renderer(format_)(report, Terminal(120, colour=False))


def test_what_is_lost_does_not_push_warnings_out_of_ten() -> None:
    lost = tuple(replace(SAID, span=Span(PATH, line, 1)) for line in range(1, 13))
    report = Report("1", "sm_80", (FileReport(file(replace(FAILED, diagnostics=lost)), ()),))
    assert renderer("github")(report, Terminal(120, colour=False)).count("::warning ") == 10
