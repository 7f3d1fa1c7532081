"""What an editor shows over an access or a kernel's name: the number and how it came about.

In: an analysed document and a place in it.  Out: Markdown, and the text it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding
from coalescecheck.lsp.pictures import bank_picture, sector_picture
from coalescecheck.lsp.places import Places
from coalescecheck.report.html_kernel import cost_of, derivation, grade_of
from coalescecheck.report.model import FileReport
from coalescecheck.report.text import launch_text, verification_text
from coalescecheck.source import Span

MOST_INSTANCES = 4  # kernel instances that are shown one by one
GRADES = ("wasteful", "note", "unknown", "clean")
# what stands in CODE is shown as it is written
CODE = frozenset({"address", "runs if", "inside", "sectors", "wavefronts", "called from"})
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


class Said(NamedTuple):
    """Markdown about the text from ``span`` up to ``end`` (a column, from 1)."""

    span: Span
    end: int
    markdown: str


class _Seen(NamedTuple):
    """An access in one kernel instance, and the column after it."""

    kernel: KernelAnalysis
    result: AccessResult
    end: int

    @property
    def width(self) -> int:
        return self.end - self.result.access.span.column


def hover(report: FileReport, places: Places, line: int, column: int) -> Said | None:
    """About the innermost access at a place, else the kernel whose name is there."""
    path = report.analysis.path
    seen = [
        _Seen(kernel, result, places.end(result.access.span))
        for kernel in report.analysis.kernels
        for result in kernel.accesses
        if result.access.span.file == path and result.access.span.line == line
    ]
    seen = [each for each in seen if each.result.access.span.column <= column < each.end]
    if not seen:
        return _kernel_at(report, places, line, column)
    narrow = min(each.width for each in seen)
    seen = [each for each in seen if each.width == narrow]
    span = seen[0].result.access.span
    parts = [*_accesses(seen), *_findings(report, span)]
    return Said(span, seen[0].end, "\n\n".join(parts))


# --- accesses ---------------------------------------------------------------------------------


def _accesses(seen: Sequence[_Seen]) -> Iterator[str]:
    """Each access with its numbers, the worst first; instances that agree together."""
    alike: dict[str, list[str]] = {}
    for each in sorted(seen, key=lambda each: GRADES.index(grade_of(each.result))):
        about = "\n\n".join((_title(each.result), *_body(each)))
        launch = _prose(launch_text(each.kernel))
        alike.setdefault(about, []).append(f"- in {_code(wording.instance(each.kernel))}: {launch}")
    for about, instances in [*alike.items()][:MOST_INSTANCES]:
        more = [f"- and in {len(instances) - MOST_INSTANCES} more"] * (
            len(instances) > MOST_INSTANCES
        )
        yield "\n".join((f"{about}\n", *instances[:MOST_INSTANCES], *more))
    if len(alike) > MOST_INSTANCES:
        yield f"… {wording.plural(len(alike) - MOST_INSTANCES, 'more instance')} with other numbers"


def _title(result: AccessResult) -> str:
    count = result.wavefronts if result.wavefronts is not None else result.sectors
    ideal = "" if count is None or count.ideal is None else wording.number(count.ideal)
    least = f", {ideal} would do" if ideal and grade_of(result) != "clean" else ""
    per = "" if count is None else " per request"
    known = _prose(f"{cost_of(result)}{per}{least}")
    return f"**{wording.kind(result)}** {_code(result.access.index)}: {known}"


def _body(seen: _Seen) -> Iterator[str]:
    result, kernel = seen.result, seen.kernel
    yield _verdict(result)
    facts = derivation(result)
    if result.efficiency is not None:
        facts.append(("useful", f"{wording.percent(result.efficiency)} of the moved bytes"))
    said = {value for name, value in facts if name == "assuming"}
    facts += [("assuming", each) for each in kernel.assumptions if each not in said]
    yield "\n".join(
        f"- {name}: {_code(value) if name in CODE else _prose(value)}" for name, value in facts
    )
    picture = _picture(result)
    if picture:
        yield "\n".join(("```text", *picture, "```"))


def _verdict(result: AccessResult) -> str:
    unit = "wavefronts" if result.wavefronts is not None else "sectors"
    match grade_of(result):
        case "clean":
            more = "no more" if _is_ideal(result) else "hardly more"
            return f"✓ fine: it takes {more} {unit} than its bytes need"
        case "note":
            return f"• it takes a few more {unit} than its bytes need"
        case "wasteful":
            return f"▲ wasteful: it takes at least twice the {unit} that its bytes need"
        case _:
            return f"? whether it could take fewer {unit} is not known"


def _is_ideal(result: AccessResult) -> bool:
    count = result.wavefronts if result.wavefronts is not None else result.sectors
    if count is None or count.ideal is None:
        return False
    return (count.max if count.mean is None else count.mean) <= count.ideal


def _picture(result: AccessResult) -> list[str]:
    """One representative request, where its addresses are known."""
    lanes, width = result.sample_lanes, result.width_bytes
    if not width or not any(lane is not None for lane in lanes):
        return []
    if result.space == "shared":
        return bank_picture(lanes, width, str(result.access.op))
    return sector_picture(lanes, width) if result.space == "global" else []


def _findings(report: FileReport, span: Span) -> Iterator[str]:
    """What the rules say of the place, and what is silenced there."""

    def here(finding: Finding) -> bool:
        return (finding.span.line, finding.span.column) == (span.line, span.column)

    for finding in filter(here, report.findings):
        advice = "" if finding.fix is None else finding.fix.description
        parts = (finding.message, finding.reason, advice or finding.advice)
        said = "; ".join(_prose(part) for part in parts if part)
        yield f"**{finding.rule}** {finding.severity}: {said}"
    for each in report.suppressed:
        if here(each.finding):
            reason = f": {_prose(each.reason)}" if each.reason else ""
            yield f"{each.finding.rule} is silenced here by the {each.by}{reason}"


# --- kernels ----------------------------------------------------------------------------------


def _kernel_at(report: FileReport, places: Places, line: int, column: int) -> Said | None:
    """About the kernel, with all its launches, whose name is at a place."""
    path = report.analysis.path
    named = [k for k in report.analysis.kernels if k.span.file == path and k.span.line == line]
    for kernel in named:
        end = kernel.span.column + len(kernel.name.rpartition("::")[2])
        if kernel.span.column <= column < end:
            mine = [k for k in named if k.span == kernel.span]
            shown = [_kernel(k) for k in mine[:MOST_INSTANCES]]
            if len(mine) > MOST_INSTANCES:
                shown.append(f"… {wording.plural(len(mine) - MOST_INSTANCES, 'more instance')}")
            return Said(kernel.span, end, "\n\n".join(shown))
    return None


def _kernel(kernel: KernelAnalysis) -> str:
    facts = [("launch", launch_text(kernel))]
    facts += [("assuming", each) for each in kernel.assumptions]
    if kernel.status != "analysed":
        facts.append((kernel.status, kernel.reason))
    grades = [grade_of(result) for result in kernel.accesses]
    facts.append(("accesses", f"{len(grades)}, {grades.count('wasteful')} of them wasteful"))
    if grades:
        facts.append(("verified", verification_text(kernel)))
    lines = (f"- {name}: {_prose(value)}" for name, value in facts)
    return "\n".join((f"**kernel** {_code(wording.instance(kernel))}\n", *lines))


# --- Markdown ---------------------------------------------------------------------------------


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).split()) or ' '}`"


def _prose(text: str) -> str:
    """Text as it is, with what stands between backticks as code."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner
        return _SPECIAL.sub(r"\\\1", "`".join(parts))
    return "".join(
        f"`{part}`" if at % 2 else _SPECIAL.sub(r"\\\1", part) for at, part in enumerate(parts)
    )
