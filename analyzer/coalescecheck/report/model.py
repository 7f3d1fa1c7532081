"""The result of one run, ready to be rendered.

In: analyses and findings of every file.  Out: ``Report`` and the totals all formats share.
Knows nothing of how anything was computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coalescecheck import wording
from coalescecheck.arch import SECTOR_BYTES
from coalescecheck.findings import Finding, Severity, Suppressed
from coalescecheck.source import Diagnostic, Span

if TYPE_CHECKING:
    from coalescecheck.analysis import AccessResult, FileAnalysis, KernelAnalysis

CLEAN = 1.1  # times the ideal: an access below has nothing to report


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a text report may use: its width in columns, and colour or not."""

    width: int = 100
    colour: bool = False


@dataclass(frozen=True, slots=True)
class InternalError:
    """A defect of the tool that cost the user a kernel or a file (``kernel`` is then empty)."""

    stage: str
    file: str
    kernel: str
    error: str

    def __str__(self) -> str:
        kernel = f", kernel {self.kernel}" if self.kernel else ""
        return (
            f"internal error in {self.stage} for {self.file}{kernel}: {self.error}; "
            "please report this with the file"
        )


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule as reports describe it: ``page`` is its documentation in Markdown, ``summary`` the
    first paragraph of it."""

    code: str
    slug: str
    severity: Severity
    summary: str
    page: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file: its analysis and what the rules say.  ``unreadable`` files have no analysis;
    ``suppressed`` findings are not to be shown as findings."""

    analysis: FileAnalysis
    findings: tuple[Finding, ...] = ()
    unreadable: bool = False
    suppressed: tuple[Suppressed, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything said while reading the file and its kernels, each once."""
        return self.analysis.brief.diagnostics


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one file: its report, the defects met, the names of all kernels in it."""

    report: FileReport
    errors: tuple[InternalError, ...] = ()
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """An access that costs another number of sectors or wavefronts (``unit``) than before.

    ``before`` and ``after`` are in words; ``verdict`` is ``better``, ``worse`` or empty.
    """

    kernel: str
    span: Span
    access: str
    unit: str
    before: str
    after: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Since:
    """What else changed since a ``revision`` (as it was given; ``commit`` is its name): the
    findings that are gone, and the accesses with other numbers."""

    revision: str
    commit: str
    gone: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """``arch`` is the architecture's name (``sm_80``; several are joined by commas), ``version``
    that of the tool, ``rules`` those that could report something; ``diagnostics`` speak of the
    run and of no single file; ``since`` is set where findings of a revision are left out."""

    version: str
    arch: str
    files: tuple[FileReport, ...]
    internal_errors: tuple[InternalError, ...] = ()
    rules: tuple[RuleInfo, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    since: Since | None = None

    @property
    def kernels(self) -> Iterator[KernelAnalysis]:
        return (kernel for file in self.files for kernel in file.analysis.kernels)

    @property
    def findings(self) -> Iterator[Finding]:
        return (finding for file in self.files for finding in file.findings)

    @property
    def worst(self) -> Severity | None:
        """The highest severity found, None when nothing was."""
        return max((finding.severity for finding in self.findings), default=None)

    @property
    def disagrees(self) -> bool:
        """Whether an independent reading contradicts a number that is shown."""
        return any(file.analysis.brief.disagrees for file in self.files)

    @property
    def totals(self) -> Totals:
        totals = Totals()
        for file in self.files:
            totals.kernels.update(file.analysis.brief.kernels)
            totals.accesses.update(file.analysis.brief.accesses)
        totals.findings.update(str(finding.severity) for finding in self.findings)
        return totals


def worst_first(report: Report) -> list[Finding]:
    """The findings of all files: by severity, then by what they waste."""
    return sorted(report.findings, key=lambda f: f.rank)


@dataclass(frozen=True, slots=True)
class Totals:
    """Kernels by status, accesses by certainty, findings by severity."""

    kernels: Counter[str] = field(default_factory=Counter)
    accesses: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)

    @property
    def kernels_text(self) -> str:
        """``3 kernels (2 partial)``."""
        kernels = wording.plural(sum(self.kernels.values()), "kernel")
        lost = [f"{self.kernels[s]} {s}" for s in ("partial", "failed") if self.kernels[s]]
        return f"{kernels} ({', '.join(lost)})" if lost else kernels


def excess_of(result: AccessResult) -> float | None:
    """Cost over the least possible, where that is known and no matter of the data."""
    count = result.sectors if result.wavefronts is None else result.wavefronts
    if count is None or not count.ideal or result.certainty in ("data-dependent", "unknown"):
        return None
    return (count.max if count.mean is None else count.mean) / count.ideal


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a whole launch asks of one kind of memory, over all its requests.

    ``moved`` is in sectors (global) or wavefronts (shared); ``useful`` in bytes, None where the
    share of useful bytes is not known.
    """

    requests: int
    moved: float
    useful: float | None

    @property
    def efficiency(self) -> float | None:
        return None if self.useful is None or not self.moved else self.useful / self.bytes

    @property
    def bytes(self) -> float:
        return self.moved * SECTOR_BYTES


def traffic(accesses: list[AccessResult]) -> Traffic | None:
    """The sum over ``accesses``, None unless the requests and the mean of each are known."""
    requests, moved = 0, 0.0
    useful: float | None = 0.0
    for access in accesses:
        if access.requests == 0:
            continue
        count = access.wavefronts or access.sectors
        if count is None or count.mean is None or access.requests is None:
            return None
        requests += access.requests
        moved += access.requests * count.mean
        if useful is None or access.efficiency is None:
            useful = None
        else:
            useful += access.efficiency * access.requests * count.mean * SECTOR_BYTES
    return Traffic(requests, moved, useful) if accesses else None
