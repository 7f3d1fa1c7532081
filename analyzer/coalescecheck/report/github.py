"""Annotations on GitHub: workflow commands that the runner reads from a step's output.

In: a ``Report``.  Out: one line per annotation.  The runner keeps ten of each kind per step and
drops the rest silently, so the worst come first and the last line says how many are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coalescecheck import wording
from coalescecheck.findings import Finding, Severity
from coalescecheck.fingerprint import relative
from coalescecheck.report.model import Report, Terminal, worst_first
from coalescecheck.report.plain import plain
from coalescecheck.source import Span

KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
MOST = 10  # annotations of one kind per step (GitHub, "Usage limits" of workflow commands)


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as workflow commands."""
    findings = worst_first(report)
    lines: list[str] = []
    left_out: list[str] = []
    for severity, kind in KINDS.items():
        mine = [finding for finding in findings if finding.severity is severity]
        lines += [_command(kind, finding) for finding in mine[:MOST]]
        lost = _lost(report) if severity is Severity.WARNING else ()
        lines += list(lost)[: MOST - min(len(mine), MOST)]
        if len(mine) > MOST:
            left_out.append(wording.plural(len(mine) - MOST, f"more {severity}"))
    return "".join(f"{line}\n" for line in (*map(plain, lines), *_ending(report, left_out)))


def _ending(report: Report, left_out: Sequence[str]) -> Iterator[str]:
    """Plain output: it is in the log, and no annotation."""
    if left_out:
        yield f"{', '.join(left_out)}: GitHub shows {MOST} of each kind; see the whole report"
    totals = report.totals
    accesses = wording.plural(sum(totals.accesses.values()), "access")
    findings = wording.plural(sum(totals.findings.values()), "finding")
    yield f"coalescecheck: {totals.kernels_text}, {accesses}, {findings}"


def _lost(report: Report) -> Iterator[str]:
    """What could not be read or analysed: silence there means nothing."""
    for entry in dict.fromkeys(entry for file in report.files for entry in file.diagnostics):
        if entry.severity == "error":
            yield _annotation("warning", entry.span, "not analysed", entry.message)


def _command(kind: str, finding: Finding) -> str:
    title = f"{finding.rule} in {finding.kernel}" if finding.kernel else finding.rule
    parts = (finding.message, finding.reason, finding.advice)
    return _annotation(kind, finding.span, title, "\n".join(part for part in parts if part))


def _annotation(kind: str, span: Span, title: str, text: str) -> str:
    properties = {
        "file": relative(span.file, Path.cwd()),
        "line": str(max(span.line, 1)),
        "col": str(max(span.column, 1)),
        "title": title,
    }
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
