"""One line per finding, as compilers print them: for hooks, editors and ``grep``.

In: a ``Report``.  Out: lines, and a last one with the totals.  Loads no library, because a hook
over unchanged files must cost nothing.
"""

from __future__ import annotations

from coalescecheck import wording
from coalescecheck.findings import Finding, Severity
from coalescecheck.report.model import Report, Terminal
from coalescecheck.report.plain import one_line


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as lines in the order of the files, the worst of each file first."""
    lines = [_line(finding) for finding in report.findings]
    return "".join(f"{line}\n" for line in (*map(one_line, lines), _totals(report)))


def _line(finding: Finding) -> str:
    said = f"{finding.rule} {finding.message}"
    if finding.advice:
        said += f"; {finding.advice}"
    return " ".join(f"{finding.span}: {finding.severity}: {said}".split())


def _totals(report: Report) -> str:
    totals = report.totals
    parts = [
        totals.kernels_text,
        wording.plural(sum(totals.accesses.values()), "access"),
    ]
    for severity in sorted(Severity, reverse=True):
        if totals.findings[str(severity)]:
            parts.append(wording.plural(totals.findings[str(severity)], str(severity)))
    hidden = sum(len(file.suppressed) for file in report.files)
    return ", ".join([*parts, f"{hidden} suppressed"] if hidden else parts)
