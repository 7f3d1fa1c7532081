"""The Markdown report: a comment on a pull request.

In: a ``Report``, from which a baseline has taken what was known before.  Out: Markdown with at
most ``MOST`` findings, which keeps it far below the 65,536 characters a comment may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from coalescecheck import wording
from coalescecheck.findings import Finding, Fix, Severity
from coalescecheck.fingerprint import relative
from coalescecheck.report.model import Report, Terminal, worst_first

MARK = "<!-- coalescecheck -->"  # by which a later run finds the comment it has to replace
MOST = 25
LONGEST = 300  # characters of one cell
ICONS = {Severity.ERROR: "🔴", Severity.WARNING: "🟠", Severity.NOTE: "🔵"}
_PUNCTUATION = re.compile(r"[\\`*_{}\[\]<>()#+.!|~$&-]")


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as Markdown."""
    findings = worst_first(report)
    lines = [MARK, f"## CoalesceCheck: {_headline(report, findings)}", ""]
    if findings:
        lines += _table(findings[:MOST])
    if len(findings) > MOST:
        lines += [f"… and {len(findings) - MOST} more, which cost less.", ""]
    fixes = [f"- {_place(f)}: {_fix(f.fix)}" for f in findings[:MOST] if f.fix is not None]
    if fixes:
        lines += ["<details><summary>Changes that were tried and help</summary>", ""]
        lines += [*dict.fromkeys(fixes), "", "</details>", ""]
    lines += _trouble(report)
    lines.append(_footer(report))
    return "".join(f"{line}\n" for line in lines)


def _headline(report: Report, findings: Sequence[Finding]) -> str:
    hidden = sum(len(file.suppressed) for file in report.files)
    known = f" ({hidden} suppressed)" if hidden else ""
    counts = report.totals.findings
    shown = [
        wording.plural(counts[str(severity)], str(severity))
        for severity in ICONS
        if counts[str(severity)]
    ]
    return (", ".join(shown) if findings else "nothing to report") + known


def _table(findings: Sequence[Finding]) -> list[str]:
    lines = ["| | where | what | advice |", "|---|---|---|---|"]
    for finding in findings:
        what = f"**{finding.rule}** {_text(finding.message)}"
        if finding.reason:
            what += f"<br>{_text(finding.reason)}"
        cells = (ICONS[finding.severity], _place(finding), what, _text(finding.advice))
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _place(finding: Finding) -> str:
    place = f"{relative(finding.span.file, Path.cwd())}:{finding.span.line}"
    return f"{_code(place)} {_code(finding.kernel)}" if finding.kernel else _code(place)


def _fix(fix: Fix) -> str:
    return f"{_text(fix.description)}: {_text(f'{fix.before} → {fix.after}')}"


def _trouble(report: Report) -> Iterator[str]:
    """What is not in the numbers, so that silence is no false comfort."""
    totals = report.totals
    lost = [f"kernels {s}: {totals.kernels[s]}" for s in ("partial", "failed") if totals.kernels[s]]
    unreadable = sum(file.unreadable for file in report.files)
    lost += [f"files unreadable: {unreadable}"] if unreadable else []
    lost += [f"internal errors: {len(report.internal_errors)}"] if report.internal_errors else []
    if lost:
        yield from (f"Not everything could be analysed ({', '.join(lost)}).", "")


def _footer(report: Report) -> str:
    totals = report.totals
    kernels = wording.plural(sum(totals.kernels.values()), "kernel")
    accesses = wording.plural(sum(totals.accesses.values()), "access")
    version = f"CoalesceCheck {report.version}"
    return f"<sub>{kernels}, {accesses}, architecture {report.arch}, {version}</sub>"


# --- escaping ---------------------------------------------------------------------------------


def _text(text: str) -> str:
    """Text in a table cell: no markup but its own ``code``, no mention, no line break."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    parts = " ".join(short.split()).split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner
        return _plain("`".join(parts))
    return "".join(_code(part) if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    return _PUNCTUATION.sub(lambda match: "\\" + match[0], text).replace("@", "@<!-- -->")


def _code(text: str) -> str:
    """A code span; a longer fence than any run of backticks inside it."""
    flat = " ".join(text.split()).replace("|", "\\|") or "?"
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if "`" in flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
