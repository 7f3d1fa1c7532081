"""What a run over a tree found, in numbers: the ``--stats`` table.

In: file reports, one by one, so that a large tree needs no memory.  Out: text.  A kernel counts
once, whatever the number of its instances, launches, or files that include it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from coalescecheck.analysis import KernelAnalysis
from coalescecheck.report.model import FileReport
from coalescecheck.report.plain import plain
from coalescecheck.source import shown

STATUSES = ("analysed", "partial", "failed")  # from best to worst
CERTAINTIES = ("exact", "exact-symbolic", "data-dependent", "bounded", "unknown")
KNOWN = CERTAINTIES[:3]
COUNTED_SPACES = ("global", "shared")
TOP = 25  # reasons shown

Place = tuple[str, int, str]


@dataclass(slots=True)
class KernelCounts:
    """All instances and launches of one kernel as one file shows it; ``status`` is the worst."""

    status: str = STATUSES[0]
    accesses: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    launches: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, kernel: KernelAnalysis) -> None:
        """Count one instance under one launch."""
        self.status = max(self.status, kernel.status, key=STATUSES.index)
        if kernel.status != STATUSES[0]:
            self.problems[f"{kernel.status}: {kernel.reason}"] += 1
        known = (kernel.launch.block is not None, kernel.launch.grid is not None)
        self.launches[_LAUNCHES[known]] += 1
        for access in kernel.accesses:
            self.accesses[access.space, access.certainty] += 1
            self.verdicts[access.verified.simulation] += 1
            if access.verified.reason:
                self.unchecked[access.verified.reason] += 1
            if access.certainty in ("bounded", "unknown"):
                self.reasons[f"{access.certainty}: {access.reason}"] += 1

    @property
    def defects(self) -> tuple[int, float]:
        """What orders two views of one kernel: a header alone may lack what it needs."""
        total = sum(self.accesses.values())
        known = sum(n for (_, certainty), n in self.accesses.items() if certainty in KNOWN)
        return STATUSES.index(self.status), 1 - known / total if total else 1.0


@dataclass(slots=True)
class Statistics:
    """Counts over the files added so far; of a kernel in several files the best view counts."""

    files: int = 0
    unreadable: int = 0
    kernels: dict[Place, KernelCounts] = field(default_factory=dict)
    defects: list[str] = field(default_factory=list)
    seconds: list[tuple[float, str]] = field(default_factory=list)

    def add(self, file: FileReport, seconds: float) -> None:
        """Count one file, which took ``seconds`` of CPU."""
        self.files += 1
        self.unreadable += file.unreadable
        self.seconds.append((seconds, file.analysis.path))
        here: dict[Place, KernelCounts] = {}
        for kernel in file.analysis.kernels:
            place = (os.path.realpath(kernel.span.file), kernel.span.line, kernel.name)
            here.setdefault(place, KernelCounts()).add(kernel)
        for place, counts in here.items():
            before = self.kernels.get(place)
            if before is None or counts.defects < before.defects:
                self.kernels[place] = counts

    def total(self, name: str) -> Counter[Any]:
        """A counter of all kernels together."""
        result: Counter[Any] = Counter()
        for counts in self.kernels.values():
            result += getattr(counts, name)
        return result


_LAUNCHES = {
    (True, True): "block and grid known",
    (True, False): "block known",
    (False, True): "grid known",
    (False, False): "unknown",
}


def render(statistics: Statistics) -> str:
    """The table as text."""
    return plain("\n".join(_lines(statistics))) + "\n"


def _lines(s: Statistics) -> Iterator[str]:
    yield f"files      {s.files:,}" + (f" ({s.unreadable} unreadable)" if s.unreadable else "")
    statuses = Counter(counts.status for counts in s.kernels.values())
    total = len(s.kernels)
    shares = ", ".join(
        f"{statuses[name]:,} {name}{_share(statuses[name], total)}" for name in STATUSES
    )
    yield f"kernels    {total:,}: {shares}"
    yield f"launches   {_ranked(s.total('launches'))}"
    yield f"verified   {_ranked(s.total('verdicts'))}"
    yield from _accesses(s.total("accesses"))
    yield from _time(s.seconds, total)
    for title, ranking in (
        ("why accesses are not known", s.total("reasons")),
        ("why accesses were not compared with the simulation", s.total("unchecked")),
        ("what was lost", s.total("problems")),
    ):
        if ranking:
            yield ""
            yield f"{title}:"
            yield from (f"{count:8,}  {reason}" for reason, count in ranking.most_common(TOP))
            rest = len(ranking) - TOP
            if rest > 0:
                yield f"          and {rest} more reasons"
    yield from s.defects


def _accesses(accesses: Counter[tuple[str, str]]) -> Iterator[str]:
    yield "accesses   " + "".join(f"{name:>16}" for name in CERTAINTIES)
    for space in sorted({space for space, _ in accesses}):
        counts = "".join(f"{accesses[space, name]:>16,}" for name in CERTAINTIES)
        yield f"  {space:<9}{counts}"
    counted = [(c, n) for (space, c), n in accesses.items() if space in COUNTED_SPACES]
    total = sum(n for _, n in counted)
    known = sum(n for c, n in counted if c in KNOWN)
    if total:
        yield (
            f"           {known:,} of {total:,} global and shared accesses"
            f"{_share(known, total)} are exact, exact-symbolic or data-dependent"
        )


def _time(seconds: list[tuple[float, str]], kernels: int) -> Iterator[str]:
    total = sum(s for s, _ in seconds)
    line = f"time       {total:.1f} s of CPU"
    if kernels:
        line += f", {1000 * total / kernels:.0f} ms a kernel"
    yield line
    for spent, path in sorted(seconds, reverse=True)[:3]:
        yield f"           {spent:.1f} s  {shown(path)}"


def _ranked(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common()) or "none"


def _share(part: int, total: int) -> str:
    return f" ({100 * part / total:.1f} %)" if total else ""
