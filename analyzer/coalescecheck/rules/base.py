"""What every rule has, and the arithmetic they share.

In: one ``KernelAnalysis``.  Out: findings.  A rule never computes an address or a count; it
judges the ones it is given, and knows nothing of how they were found or will be printed.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, Count, KernelAnalysis, Trial
from coalescecheck.arch import ARCHS, LINE_BYTES, SECTOR_BYTES
from coalescecheck.findings import Finding, Fix, Severity
from coalescecheck.launch import WARP_SIZE

# An access that costs twice what it needs is worth a warning; a tenth more is worth no word.
WARNING_RATIO = 2.0
NOTE_RATIO = 1.1

# A hundredth of what a kernel moves: what is wasted less often than that hurts nobody.
COLD_SHARE = 0.01

WHOLE = (2, 4, 8, 16)  # sizes that one load or store can move
_VECTOR_TYPE = re.compile(r"u?(char|short|int|long|longlong|float|double)[24]")

# From cc 7.0 on a multiprocessor has at least 64 bytes of L1 and shared memory for each thread
# that it runs: 128 KiB for 2048 on 7.0, 96 KiB for 1024 on 7.5 (Programming Guide, technical
# specifications).
L1_BYTES_PER_THREAD = 64

WHOLE_WARPS = "whole warps: "  # how an assumption begins that conditions cut no warp

HEADINGS = ("What it detects", "Why it is slow", "Example", "Use instead", "Limits")


class Rule(ABC):
    """A rule's class docstring is its documentation, under the headings of ``HEADINGS``.

    ``severity`` is the worst it reports; ``enabled`` tells whether it runs without ``--select``.
    """

    code: ClassVar[str]
    slug: ClassVar[str]
    severity: ClassVar[Severity]
    enabled: ClassVar[bool] = True

    @abstractmethod
    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        """Everything this rule has to say about one kernel instance under one launch."""

    def documentation(self) -> str:
        """The rule's page as Markdown."""
        title = f"# {self.code} {self.slug}\n\nSeverity: at most {self.severity}"
        title += "." if self.enabled else "; runs only when selected."
        return f"{title}\n\n{_page(type(self))}\n\n{_silence(self.code)}"

    def summary(self) -> str:
        """What it detects, in one paragraph of plain text."""
        section = _page(type(self)).partition(f"## {HEADINGS[0]}\n")[2]
        return " ".join(section.partition("\n\n")[0].split())

    def finding(
        self,
        analysis: KernelAnalysis,
        result: AccessResult,
        severity: Severity,
        message: str,
        *,
        reason: str = "",
        advice: str = "",
        fixes: Sequence[Fix] = (),
        ratio: float | None = None,
        also: tuple[int, ...] = (),
    ) -> Finding:
        """A finding about one access; ``fixes`` are those of ``fixes``, the best first."""
        return Finding(
            rule=self.code,
            severity=severity,
            span=result.access.span,
            kernel=analysis.name,
            message=message,
            reason=reason,
            advice=advice,
            fix=fixes[0] if fixes else None,
            alternatives=tuple(fixes[1:]),
            access=result.access.id,
            ratio=ratio,
            instances=(wording.instance(analysis),),
            waste=_together([result, *(a for a in analysis.accesses if a.access.id in also)]),
            also=also,
        )


@cache
def _page(rule: type) -> str:
    return inspect.getdoc(rule) or ""


def _silence(code: str) -> str:
    return f"""## How to silence it
One line: `// coalescecheck: ignore[{code}] reason` behind it or above it, or `// NOLINT({code})`.
A folder: `ignore = ["{code}"]` under `[tool.coalescecheck.per-path."folder/"]` in `pyproject.toml`.
A run: `--ignore {code}`. What is there already: `--write-baseline FILE`, then `--baseline FILE`.
"""


@dataclass(frozen=True, slots=True)
class Excess:
    """What an access costs against the least that would do, in sectors or wavefronts.

    ``bound`` is set where ``actual`` is the most it can cost and not what it does cost, ``least``
    where it is the least.
    """

    actual: float
    ideal: float
    bound: bool
    least: bool = False

    @property
    def ratio(self) -> float:
        return self.actual / self.ideal

    @property
    def to(self) -> str:
        """What goes before a number that is the most there can be, or the least."""
        return "up to " if self.bound else "at least " if self.least else ""

    def text(self, unit: str, result: AccessResult) -> str:
        """``32 sectors per warp, 4 would do (8x)``."""
        per = "warp" if result.requests_per_access == 1 else "request"
        return (
            f"{self.to}{wording.plural(self.actual, unit)} per {per}, "
            f"{wording.number(self.ideal)} would do ({self.to}{wording.number(self.ratio)}x)"
        )


def excess(result: AccessResult, count: Count | None) -> Excess | None:
    """The cost to judge ``result`` by, or None where there is no number to judge.

    The mean where it is known.  Where it is not, a stride that depends on a parameter is judged
    by the most it can cost (that is the case people launch), anything else by the least.
    """
    if count is None or not count.ideal or result.certainty in ("data-dependent", "unknown"):
        return None
    if count.mean is not None:
        return Excess(count.mean, count.ideal, bound=False)
    if count.min == count.max:
        return Excess(count.max, count.ideal, bound=False)
    if result.pattern == "strided":
        return Excess(count.max, count.ideal, bound=True)
    return Excess(count.min, count.ideal, bound=False, least=True)


def severity_of(ratio: float) -> Severity | None:
    """How loudly a ratio of actual to ideal cost is reported, None for not at all."""
    if ratio >= WARNING_RATIO:
        return Severity.WARNING
    return Severity.NOTE if ratio >= NOTE_RATIO else None


def wasted(result: AccessResult) -> int | None:
    """Sectors or wavefronts of the launch beyond the ideal, where their number is known."""
    return None if result.totals is None else result.totals.excess.exact


def _together(results: list[AccessResult]) -> int | None:
    waste = [wasted(result) for result in results]
    return None if None in waste else sum(each or 0 for each in waste)


def judged(
    analysis: KernelAnalysis, result: AccessResult, ratio: float, times: int = 1
) -> Severity | None:
    """The severity of a ratio of sectors; a note at most where they are few of the kernel's, or
    where L1 finds again what they brought too much.  ``times``: so many accesses are like it."""
    severity = severity_of(ratio)
    cold = is_cold(analysis, result, times)
    if severity is not None and (cold or _is_absorbed(analysis, result)):
        return Severity.NOTE
    return severity


def is_cold(analysis: KernelAnalysis, result: AccessResult, times: int = 1) -> bool:
    """Whether it wastes less than a hundredth of the sectors (of the wavefronts, in shared memory)
    that the kernel needs in all."""
    waste, totals = wasted(result), analysis.totals
    if waste is None or totals is None:
        return False
    shared = result.space == "shared"
    moved = (totals.shared_wavefronts if shared else totals.global_sectors).exact
    return moved is not None and waste * times < COLD_SHARE * moved


def _is_absorbed(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """A load whose array stays in L1 while a block uses it, with few sectors more than its bytes
    need, and whose hits are read without delay."""
    l1 = l1_excess(analysis, result)
    if l1 is None or l1.ratio >= WARNING_RATIO or not stays_in_l1(analysis, result):
        return False
    mine = [a for a in analysis.accesses if a.array == result.array and a.requests != 0]
    ideals = [a.totals.ideal.exact if a.totals else None for a in mine]
    unique = next(t.unique for t in analysis.array_traffic if t.name == result.array)
    needed = sum(ideal or 0 for ideal in ideals)
    if unique is None or unique.launch is None or None in ideals:
        return False
    return unique.launch < WARNING_RATIO * needed


def stays_in_l1(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether all that a block touches of the array fits its threads' share of L1."""
    block = analysis.launch.block
    traffic = next((t for t in analysis.array_traffic if t.name == result.array), None)
    array = analysis.arrays.get(result.array)
    read_only = array is not None and array.const and array.restrict
    if not (ARCHS[analysis.arch].l1_keeps_loads or read_only):
        return False
    if block is None or traffic is None or traffic.unique is None:
        return False
    return traffic.unique.block * SECTOR_BYTES <= block.size * L1_BYTES_PER_THREAD


def l1_excess(analysis: KernelAnalysis, result: AccessResult) -> Excess | None:
    """What a load that finds its data in L1 costs, in passes over the banks; at least as many as L1
    needs to return the bytes."""
    cost, l1 = excess(result, result.sectors), result.l1_wavefronts
    if cost is None or l1 is None or l1.data.mean is None:
        return None
    returned = ARCHS[analysis.arch].l1_bytes_per_clock or LINE_BYTES
    ideal = max(1, -(-cost.ideal * SECTOR_BYTES // returned))
    return Excess(max(l1.data.mean, ideal), ideal, bound=False)


def rows_are_shorter_than_a_sector(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether contiguous lanes of one row of the block leave part of their sector unused."""
    block = analysis.launch.block
    contiguous = result.lane_stride_bytes in (result.width_bytes, -result.width_bytes)
    return block is not None and contiguous and block.x * result.width_bytes < SECTOR_BYTES


def runs_with_holes(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether half of the lanes or fewer run, with others between them."""
    lanes = result.active_lanes
    if lanes is None or 2 * lanes > WARP_SIZE or result.pattern != "misaligned":
        return False
    running = [lane for lane, offset in enumerate(result.sample_lanes) if offset is not None]
    holes = bool(running) and running[-1] - running[0] >= len(running)
    return holes and not rows_are_shorter_than_a_sector(analysis, result)


def fixes(analysis: KernelAnalysis, result: AccessResult) -> tuple[Fix, ...]:
    """The changes that were shown to help with this access, the best first."""
    return tuple(_fix(trial, result) for trial in analysis.proposals(result))


def proposal(analysis: KernelAnalysis, result: AccessResult) -> str:
    """The best change in one line, "32 → 1 wavefront with `tile[32][33]`"; empty for none."""
    for trial, fix in zip(analysis.proposals(result), fixes(analysis, result), strict=True):
        before = fix.before.rpartition(" ")[0]
        return f"{before} → {fix.after} with {trial.change}"
    return ""


def _fix(trial: Trial, result: AccessResult) -> Fix:
    count = result.sectors if result.wavefronts is None else result.wavefronts
    unit = "sector" if result.wavefronts is None else "wavefront"
    here = result.access.id
    bound = count is not None and count.mean is None and count.min != count.max
    return Fix(
        description=trial.description,
        verified=trial.simulated,
        before=("up to " if bound else "") + wording.plural(trial.before[here], unit),
        after=("up to " if here in trial.at_most else "")
        + wording.plural(trial.after[here], unit)
        + _where(trial),
        edit=trial.edit,
    )


def _where(trial: Trial) -> str:
    """What the numbers of a change hang on; of warps that conditions cut, which are left out, no
    more than that, as the conditions may be long."""
    others = [text for text in trial.assumptions if not text.startswith(WHOLE_WARPS)]
    whole = len(others) < len(trial.assumptions)
    condition = f" if {' and '.join(others)}" if others else ""
    return condition + (" in whole warps" if whole else "")


def sentence(*parts: str) -> str:
    """The parts that are not empty, joined by semicolons."""
    return "; ".join(part for part in parts if part)


def is_vector(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether the elements of its array are of one of CUDA's vector types, or a struct aligned like
    one: a compiler joins accesses to members of it, as it knows the alignment."""
    array = analysis.arrays.get(result.array)
    if array is None:
        return False
    size = array.element_size
    aligned = array.element_kind == "struct" and size in WHOLE and array.element_align >= size
    return aligned or _VECTOR_TYPE.fullmatch(array.element) is not None
