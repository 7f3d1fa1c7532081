"""Source text in, what one rule says of it out: for tests of facts and rules together."""

from __future__ import annotations

from pathlib import Path

import coalescecheck
from coalescecheck.findings import Finding


def findings(folder: Path, text: str, *codes: str) -> list[Finding]:
    """The findings of the rules ``codes``; the kernels must be analysed."""
    path = folder / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    report = coalescecheck.analyze(path, select=list(codes))
    assert report.internal_errors == ()
    assert {kernel.status for kernel in report.kernels} == {"analysed"}
    assert all(
        result.verified.simulation != "disagrees"
        for kernel in report.kernels
        for result in kernel.accesses
    )
    return list(report.findings)


def said(folder: Path, text: str, *codes: str) -> list[str]:
    """Severity and code of each."""
    return [f"{finding.severity} {finding.rule}" for finding in findings(folder, text, *codes)]
