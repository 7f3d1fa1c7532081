"""128-byte lines per access against a recording on a GPU, site by site (Rodinia).

In: a checkout of github.com/upenn-acg/gpuDranoDynamicAnalysis, whose ``Results`` hold the sources
of Rodinia that were instrumented (they are not part of this repository).  Out: a scoreboard.

    python benchmarks/drano.py PATH [--sites]

``data/drano_truth_by_site.tsv`` says for every load and store of global memory that was seen how
many 128-byte lines its warps touched: least, greatest and mean, in two runs.  *Align* counts true
lines; *NoAlign* first subtracts the least address of the warp, so that a request counts as
uncoalesced only when it spans more than 128 bytes.  A site is uncoalesced when one request was.

A site is a line, column and operation.  clang places loads at the start of an array expression or
at the name of a member, and stores and compound assignments at the operator.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from drano_launches import launches

from coalescecheck import analyze
from coalescecheck.analysis import AccessResult

TRUTH = Path(__file__).parent / "data" / "drano_truth_by_site.tsv"
LINE_BYTES = 128
CLOSE = 0.05  # of a mean: only the last 4096 records before each synchronisation survive

Place = tuple[str, int, int, str]  # file below the checkout, line, column, operation


class Verdict(StrEnum):
    """Of a site: whether some request of it touches more than one line."""

    UNCOALESCED = "uncoalesced"
    COALESCED = "coalesced"
    OPEN = "data-dependent"  # both are possible
    UNKNOWN = "unknown"  # nothing is said
    MISSING = "missing"  # no access was found at this place


@dataclass
class Recorded:
    """One mode of the recording at one site: least and greatest lines, and their mean."""

    least: int = 1 << 30
    greatest: int = 0
    lines: float = 0.0
    calls: int = 0

    def add(self, row: dict[str, str], mode: str) -> None:
        """Add a row of the table, if it has this mode."""
        if not row[f"{mode}_calls"]:
            return
        calls = int(row[f"{mode}_calls"])
        self.least = min(self.least, int(row[f"{mode}_min"]))
        self.greatest = max(self.greatest, int(row[f"{mode}_max"]))
        self.lines += calls * float(row[f"{mode}_avg"])
        self.calls += calls

    @property
    def uncoalesced(self) -> bool:
        return self.greatest > 1

    def __str__(self) -> str:
        return f"{self.lines / self.calls:.3f} ({self.least}..{self.greatest})"


@dataclass
class Site:
    """One access of the source: the recording, and every result of the analysis for it."""

    benchmark: str
    width: int
    align: Recorded = field(default_factory=Recorded)
    noalign: Recorded = field(default_factory=Recorded)
    results: list[AccessResult] = field(default_factory=list)

    @property
    def running(self) -> list[AccessResult]:
        """The results in which the access runs at all."""
        return [result for result in self.results if result.requests != 0]

    @property
    def reason(self) -> str:
        """Why the count is not known, where it is not."""
        return next((r.reason for r in self.running if r.reason), "")

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The least and the greatest count of lines that the analysis allows."""
        counts = [r.lines128 for r in self.running if r.lines128 is not None]
        if not counts or len(counts) < len(self.running):
            return None
        return min(c.min for c in counts), max(c.max for c in counts)

    @property
    def mean(self) -> float | None:
        """Lines per request over all launches, where it is exact for each of them."""
        lines, requests = 0.0, 0
        for result in self.running:
            count = result.lines128
            if result.certainty != "exact" or count is None or count.mean is None:
                return None
            times = result.requests or 0
            lines, requests = lines + times * count.mean, requests + times
        return lines / requests if requests else None

    @property
    def outside(self) -> bool:
        """Whether a count was recorded that the analysis rules out."""
        if self.bounds is None:
            return False
        least, greatest = self.bounds
        return self.align.least < least or self.align.greatest > greatest


# --- the verdicts of the analysis -------------------------------------------------------------


def noalign_verdict(result: AccessResult) -> Verdict:
    """The span of a request.

    Three lines cannot be had with 128 bytes.  Two can, so there the sample request decides: it is
    a whole warp of the access.  Where data decides which lanes run, the addresses are known all
    the same, and a span beyond a line is what the analysis reports.
    """
    count = result.lines128
    if count is None:
        return Verdict.UNKNOWN
    if count.max == 1:
        return Verdict.COALESCED
    offsets = [offset for offset in result.sample_lanes if offset is not None]
    if offsets and max(offsets) - min(offsets) + result.width_bytes > LINE_BYTES:
        return Verdict.UNCOALESCED
    if count.max == 2 and offsets:
        return Verdict.COALESCED
    return Verdict.UNCOALESCED if _certain(result) or count.min > 2 else Verdict.OPEN


def align_verdict(result: AccessResult) -> Verdict:
    """True lines: where counts are exact their maximum happens, a bound only may."""
    count = result.lines128
    if count is None:
        return Verdict.UNKNOWN
    if count.max == 1:
        return Verdict.COALESCED
    if _certain(result) or count.min > 1:
        return Verdict.UNCOALESCED
    wide = noalign_verdict(result) is Verdict.UNCOALESCED  # at any alignment
    return Verdict.UNCOALESCED if wide else Verdict.OPEN


def _certain(result: AccessResult) -> bool:
    return result.certainty.startswith("exact")


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """A site is uncoalesced when one of its launches or copies is."""
    seen = set(verdicts)
    order = (Verdict.UNCOALESCED, Verdict.OPEN, Verdict.UNKNOWN, Verdict.COALESCED)
    return next((verdict for verdict in order if verdict in seen), Verdict.MISSING)


# --- sites ------------------------------------------------------------------------------------


def recorded() -> dict[Place, Site]:
    """The sites of the recording; several inputs are one site."""
    sites: dict[Place, Site] = {}
    with TRUTH.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            place = (row["src_file"], int(row["line"]), int(row["column"]), row["op"])
            site = sites.setdefault(place, Site(row["benchmark"], int(row["elem_bytes"])))
            site.align.add(row, "align")
            site.noalign.add(row, "noalign")
    return sites


def columns(result: AccessResult, source: list[str]) -> Iterator[int]:
    """Where clang may place the access on its line, counted from 1."""
    span = result.access.span
    yield span.column
    member = re.search(r"(?:\.|->)\s*(\w+)\s*$", result.access.index)
    if member:
        yield span.column + member.start(1)
    operator = _assignment(source[span.line - 1], span.column - 1)
    if operator is not None:
        yield operator + 1


def _assignment(text: str, start: int) -> int | None:
    """Where the assignment to the expression at ``start`` has its operator."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if depth < 0 or text[at] == ";":
            return None
        found = re.match(r"(?:[-+*/%|&^]|<<|>>)?=(?!=)", text[at:]) if depth == 0 else None
        if found and text[at - 1] not in "=!<>":
            return at
    return None


def analysed(sites: dict[Place, Site], checkout: Path) -> None:
    """Give every site the results of the analysis for the recorded launches."""
    sources: dict[str, list[str]] = {}
    for launch in launches():
        report = analyze(
            checkout / "Results" / launch.file,
            kernels=[launch.kernel],
            block=launch.block,
            grid=launch.grid,
            params=launch.params,
            templates=launch.templates,
            verify=False,
        )
        if report.internal_errors:
            raise SystemExit("\n".join(map(str, report.internal_errors)))
        for result in (r for kernel in report.kernels for r in kernel.accesses):
            path = Path(result.access.span.file).resolve()
            name = path.relative_to(checkout.resolve()).as_posix()
            if name not in sources:
                sources[name] = path.read_text(errors="replace").splitlines()
            line, op = result.access.span.line, result.access.op.value
            for column in dict.fromkeys(columns(result, sources[name])):
                site = sites.get((name, line, column, op))
                if site is not None and site.width == result.width_bytes:
                    site.results.append(result)
                    break


# --- output -----------------------------------------------------------------------------------


def _line(place: Place, site: Site) -> str:
    name, line, column, op = place
    bounds = "?" if site.bounds is None else "{}..{}".format(*site.bounds)
    where = f"{name.removeprefix('Results/')}:{line}:{column}"
    noalign, align = (
        together(map(rule, site.running)) for rule in (noalign_verdict, align_verdict)
    )
    mean = "" if site.mean is None else f"{site.mean:.3f}"
    return (
        f"{where:48} {op:5}  NoAlign {site.noalign!s:18} {noalign:14}"
        f"  Align {site.align!s:16} {align:14} lines {bounds:7} {mean:6} {site.reason}"
    )


def _scores(sites: Iterable[Site]) -> Iterator[tuple[str, bool, Counter[Verdict]]]:
    """Verdicts of the real and of the coalesced sites, by mode."""
    sites = list(sites)
    for mode, rule in (("NoAlign", noalign_verdict), ("Align", align_verdict)):
        for real in (True, False):
            some = [s for s in sites if getattr(s, mode.lower()).uncoalesced is real]
            yield mode, real, Counter(together(map(rule, s.running)) for s in some)


def _scoreboard(sites: Iterable[Site]) -> Iterator[str]:
    names = [str(verdict) for verdict in Verdict]
    yield f"| mode | recorded | sites | {' | '.join(names)} |"
    yield f"|---|---|--:|{'--:|' * len(names)}"
    for mode, real, counts in _scores(sites):
        kind = "uncoalesced" if real else "coalesced"
        cells = " | ".join(str(counts[verdict]) for verdict in Verdict)
        yield f"| {mode} | {kind} | {counts.total()} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Lines per access against a recording.")
    parser.add_argument("checkout", type=Path, help="folder with Results")
    parser.add_argument("--sites", action="store_true", help="print every site")
    given = parser.parse_args()
    sites = recorded()
    analysed(sites, given.checkout)
    for place, site in sites.items():
        noalign = together(map(noalign_verdict, site.running))
        right = Verdict.UNCOALESCED if site.noalign.uncoalesced else Verdict.COALESCED
        align = together(map(align_verdict, site.running))
        true = Verdict.UNCOALESCED if site.align.uncoalesced else Verdict.COALESCED
        if given.sites or noalign is not right or align is not true:
            print(_line(place, site))
    exact = [(s.mean, s.align.lines / s.align.calls) for s in sites.values() if s.mean is not None]
    close = sum(abs(mean - seen) <= CLOSE * seen for mean, seen in exact)
    print(f"sites with exact means: {len(exact)}, within {CLOSE:.0%} of the recorded ones: {close}")
    print(
        f"sites with a recorded count outside the bounds: {sum(s.outside for s in sites.values())}"
    )
    print("\n".join(_scoreboard(sites.values())))


if __name__ == "__main__":
    main()
