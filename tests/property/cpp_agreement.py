"""Compares what g++ recorded of a C++ kernel with what the whole tool says of the same text."""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import coalescecheck
from coalescecheck.analysis import AccessResult, KernelAnalysis

from .cpp_oracle import PREFIXES, ROOMS, CppCase, Key, Lanes, Request, Truth, Undefined, recorded
from .random_cpp import random_case

EXACT = ("exact", "exact-symbolic")


def analysed(case: CppCase, folder: Path) -> KernelAnalysis:
    """The tool's whole analysis, from the text on."""
    path = folder / "kernel.cu"
    path.write_text(case.text, encoding="utf-8")
    report = coalescecheck.analyze(
        path,
        block="x".join(map(str, case.block)),
        grid="x".join(map(str, case.grid)),
        params=case.params,
    )
    assert report.internal_errors == (), report.internal_errors
    (kernel,) = report.kernels
    return kernel


def disagreements(kernel: KernelAnalysis, truth: Truth) -> list[str]:
    """Where the analysis contradicts ``truth``; empty when all it says is true.

    A kernel that is partly understood may miss accesses, and says so.
    """
    groups: defaultdict[Key, list[AccessResult]] = defaultdict(list)
    vague = set()  # an access of an array that is not known may be any of the line
    for result in kernel.accesses:
        key = result.access.span.line, result.access.op.value, result.array
        if _is_known(result.array):
            groups[key].append(result)
        elif result.space != "local":
            vague.add(key[:2])
    found = [
        f"{key}: the simulation disagrees"
        for key, results in groups.items()
        if any(r.verified.simulation == "disagrees" for r in results)
    ]
    if kernel.status != "analysed":
        return found
    for key in truth.keys() | groups.keys():
        if key[:2] in vague:
            continue
        if key not in groups:
            found.append(f"{key}: missing, {len(truth[key])} recorded")
        else:
            found += [f"{key}: {text}" for text in _compared(groups[key], truth.get(key, []))]
    return found


def _is_known(array: str) -> bool:
    return array in {name for name, _ in ROOMS} or array[:2] in PREFIXES


def _compared(results: list[AccessResult], truth: list[Request]) -> list[str]:
    """The accesses of one line, operation and array, which are told apart by nothing else."""
    sums = (("requests", len(truth)), ("units", sum(request.units for request in truth)))
    found = [_summed(results, name, total) for name, total in sums]
    widths = {request.width for request in truth}
    for result in results:
        if not truth or result.certainty not in EXACT or not result.requests:
            continue
        if result.width_bytes not in widths:
            found.append(f"width {result.width_bytes} derived, {widths} recorded")
        wanted = tuple((i, a) for i, a in enumerate(result.sample_lanes) if a is not None)
        if wanted and not any(_same(request.lanes, wanted) for request in truth):
            found.append(f"lanes {wanted} derived, {truth[0].lanes} recorded")
    return [text for text in found if text]


def _summed(results: list[AccessResult], name: str, total: int) -> str:
    """What is wrong with a sum over the launch."""
    sums = [getattr(r.totals, name) for r in results if r.totals is not None]
    if len(sums) < len(results) or any(s.assumed for s in sums):
        return ""
    low = sum(s.min for s in sums)
    high = None if any(s.max is None for s in sums) else sum(s.max for s in sums)
    right = low <= total and (high is None or total <= high)
    return "" if right else f"{name}: {low}..{high} derived, {total} recorded"


def _same(lanes: Lanes, wanted: Lanes) -> bool:
    """Equal, or moved: the contents of constants are not known."""
    if [lane for lane, _ in lanes] != [lane for lane, _ in wanted]:
        return False
    return len({a - b for (_, a), (_, b) in zip(lanes, wanted, strict=True)}) == 1


class Sweep:
    """What came of many seeds."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.said: dict[str, list[str]] = defaultdict(list)
        self.found: dict[int, list[str]] = {}

    def add(self, seed: int, folder: Path) -> None:
        """Compare one program."""
        case = random_case(seed)
        try:
            truth = recorded(case, folder)
        except Undefined:
            self.counts["invalid"] += 1
            return
        kernel = analysed(case, folder)
        self.counts["programs"] += 1
        self.counts["partial"] += kernel.status != "analysed"
        self.counts["accesses"] += len(kernel.accesses)
        self.counts["exact"] += sum(r.certainty in EXACT for r in kernel.accesses)
        for diagnostic in kernel.diagnostics:
            text = re.sub(r"`[^`]*`", "``", diagnostic.message)
            self.said[text].append(f"seed {seed}, line {diagnostic.span.line}")
        problems = disagreements(kernel, truth)
        if problems:
            self.found[seed] = problems


def compare(seeds: Iterable[int], folder: Path) -> Sweep:
    """All seeds, one after the other."""
    sweep = Sweep()
    for seed in seeds:
        sweep.add(seed, folder)
    return sweep


def main(first: int, last: int) -> int:
    """Print what the seeds first .. last-1 show; the number of programs that disagree."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = compare(range(first, last), Path(folder))
    for text, places in sorted(sweep.said.items(), key=lambda item: -len(item[1])):
        sys.stdout.write(f"{len(places):5} {text[:100]} ({places[0]})\n")
    for seed, problems in sweep.found.items():
        lines = random_case(seed).text.splitlines()
        for text in problems:
            number = re.match(r"\((\d+)", text)
            shown = lines[int(number[1]) - 1] if number else ""
            sys.stdout.write(f"seed {seed}: {text}\n    {shown}\n")
    sys.stdout.write(f"{len(sweep.found)} disagree; {dict(sweep.counts)}\n")
    return len(sweep.found)


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 100))
