"""The Markdown report: a comment on a pull request.

In: a ``Report``, from which a baseline or a revision has taken what was known before.  Out:
Markdown with at most ``MOST`` lines of a kind, which keeps it below the 65,536 characters a
comment may have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from coalescecheck import wording
from coalescecheck.findings import Finding, Fix, Severity
from coalescecheck.fingerprint import relative
from coalescecheck.report.model import Change, Report, Terminal, worst_first
from coalescecheck.report.plain import plain
from coalescecheck.source import Span

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
    if report.since is not None:
        lines += [*_changes(report.since.changes), *_gone(report.since.gone)]
    lines += _trouble(report)
    lines.append(_footer(report))
    return "".join(f"{plain(line)}\n" for line in lines)


def _headline(report: Report, findings: Sequence[Finding]) -> str:
    """``1 new warning, fixed: 3 (2 known)``."""
    by = Counter(each.by == "baseline" for file in report.files for each in file.suppressed)
    new = "new " if by[True] or report.since is not None else ""
    counts = report.totals.findings
    shown = [
        wording.plural(counts[str(severity)], f"{new}{severity}")
        for severity in ICONS
        if counts[str(severity)]
    ] or [f"nothing {new}to report"]
    if report.since is not None and report.since.gone:
        shown.append(f"fixed: {len(report.since.gone)}")
    hidden = [f"{by[k]} {word}" for k, word in ((True, "known"), (False, "suppressed")) if by[k]]
    return ", ".join(shown) + (f" ({', '.join(hidden)})" if hidden else "")


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
    return _spot(finding.span, finding.kernel)


def _spot(span: Span, kernel: str) -> str:
    place = f"{relative(span.file, Path.cwd())}:{span.line}"
    return f"{_code(place)} {_code(kernel)}" if kernel else _code(place)


def _fix(fix: Fix) -> str:
    return f"{_text(fix.description)}: {_text(f'{fix.before} → {fix.after}')}"


def _changes(changes: Sequence[Change]) -> list[str]:
    """The accesses with other numbers, those that became worse first."""
    if not changes:
        return []
    order = ("worse", "", "better")
    ranked = sorted(changes, key=lambda change: order.index(change.verdict))
    lines = ["| where | access | per warp | before | after | |", "|---|---|---|--:|--:|---|"]
    for change in ranked[:MOST]:
        cells = (_spot(change.span, change.kernel), _code(change.access), change.unit)
        numbers = (_text(change.before), _text(change.after), change.verdict)
        lines.append(f"| {' | '.join((*cells, *numbers))} |")
    if len(changes) > MOST:
        lines += ["", f"… and {len(changes) - MOST} more accesses with other numbers."]
    return [*lines, ""]


def _gone(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return []
    ranked = sorted(findings, key=lambda f: (-f.severity, -(f.ratio or 0.0)))
    shown = [f"- {_place(f)}: **{f.rule}** {_text(f.message)}" for f in ranked[:MOST]]
    more = [f"- … and {len(findings) - MOST} more"] if len(findings) > MOST else []
    summary = f"<details><summary>Fixed: {len(findings)}</summary>"
    return [summary, "", *shown, *more, "", "</details>", ""]


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
    since = "" if report.since is None else f", since {report.since.commit[:12]}"
    version = f"CoalesceCheck {report.version}"
    return f"<sub>{kernels}, {accesses}, architecture {report.arch}{since}, {version}</sub>"


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
