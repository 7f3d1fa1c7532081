"""Compares the symbolic counts of one random kernel with its whole simulation."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np

from coalescecheck.analysis import AccessResult
from coalescecheck.frontend.kernel_c import KernelC, SourceMap
from coalescecheck.ir.kernel import Kernel
from coalescecheck.launch import Dim3, Launch
from coalescecheck.lower import lower
from coalescecheck.simulate import UNDEFINED, AccessTrace, simulate
from coalescecheck.source import Span
from coalescecheck.symbolic import summarize

from .agreement_sums import equal_sums, sums
from .kernel_texts import LAUNCHED_WITH
from .random_kernels import RandomKernel, random_kernel

EXACT = ("exact", "exact-symbolic")


class _SamePlace(SourceMap):
    """Kernel C that is its own source."""

    def span(self, line: int, column: int) -> Span:
        return Span("k.cu", line, column)


def lowered(case: RandomKernel) -> Kernel:
    """The kernel's IR, with the lines of its text."""
    return lower(KernelC("k", Span("k.cu", 1, 1), {}, "k", case.text, _SamePlace()))


def disagreements(case: RandomKernel, turn: int | None = None) -> list[str]:
    """What the two readings do not agree on; empty when they agree.

    Known parameters: ``exact`` counts must be equal in requests, least, greatest and mean.
    Unknown parameters: every simulated count must lie inside the derived bounds wherever the
    result's assumptions hold.  ``turn`` picks one of the ways to know less; all without it.
    """
    kernel = lowered(case)
    launch = Launch(Dim3(*case.block), Dim3(*case.grid), "cli")
    run = simulate(
        kernel,
        launch,
        params=case.params,
        max_steps=50_000,
        keep_addresses=True,
        detect_races=False,
    )
    if run.blocks < launch.grid.size:
        return []
    found, known = [], case.params | LAUNCHED_WITH
    for result in summarize(kernel, launch, known).accesses:
        trace = run.traces[result.access.id]
        # a loop that is left in an odd way has "whole warps" assumptions even here
        if not trace.any_taint & UNDEFINED and assumptions_hold(
            result, case.params | LAUNCHED_WITH
        ):
            found += _known(result, trace) + equal_sums(result, trace)
    weaker = _weaker(case, launch)
    for name, less_known, params in weaker if turn is None else [weaker[turn % len(weaker)]]:
        for result in summarize(kernel, less_known, params).accesses:
            trace = run.traces[result.access.id]
            if not trace.any_taint & UNDEFINED and assumptions_hold(
                result, case.params | LAUNCHED_WITH
            ):
                found += _inside(result, trace, name) + sums(result, trace, name)
    return found


def _weaker(case: RandomKernel, launch: Launch) -> list[tuple[str, Launch, dict[str, int]]]:
    """The same launch with less known of it."""
    choices = [
        ("free parameters", launch, {}),
        ("unknown grid", replace(launch, grid=None), case.params),
    ]
    if case.block[0] % 32 == 0:
        choices.append(("unknown block", Launch(None, None, "assumed"), {}))
    return choices


def assumptions_hold(result: AccessResult, params: dict[str, int]) -> bool:
    """Whether the parameters are known to meet every assumption of the result."""
    for text in result.assumptions:
        found = re.fullmatch(r"([\w\[\]]+) (>=|!=) (\d+)", text)
        if found is None or found[1] not in params:
            return False
        value, limit = params[found[1]], int(found[3])
        if not (value >= limit if found[2] == ">=" else value != limit):
            return False
    return True


def _units(trace: AccessTrace, result: AccessResult) -> np.ndarray:
    return trace.wavefronts if result.space in ("shared", "constant") else trace.sectors


def _known(result: AccessResult, trace: AccessTrace) -> list[str]:
    name = f"#{result.access.id} {result.access.index}"
    count = result.wavefronts or result.sectors
    if result.requests is not None and result.requests != trace.requests:
        return [f"{name}: {result.requests} requests derived, {trace.requests} simulated"]
    if result.certainty not in EXACT or count is None or not trace.requests:
        return _inside(result, trace, "known parameters")
    units = _units(trace, result)
    derived = (count.min, count.max)
    simulated = (int(units.min()), int(units.max()))
    if result.requests is None:
        return _inside(result, trace, "known parameters")
    if derived != simulated or count.mean is None or abs(count.mean - units.mean()) > 1e-9:
        return [f"{name}: {derived} mean {count.mean} derived, {simulated} mean {units.mean()}"]
    ideal = trace.ideal_wavefronts if result.wavefronts else trace.ideal_sectors
    if count.ideal is not None and abs(count.ideal - ideal.mean()) > 1e-9:
        return [f"{name}: ideal {count.ideal} derived, {ideal.mean()} simulated"]
    return []


def _inside(result: AccessResult, trace: AccessTrace, when: str) -> list[str]:
    count = result.wavefronts or result.sectors
    if count is None or not trace.requests:
        return []
    units = _units(trace, result)
    if count.min <= units.min() and units.max() <= count.max:
        return []
    return [
        f"#{result.access.id} {result.access.index} ({when}): [{count.min}, {count.max}] "
        f"{result.certainty}, simulated {units.min()}..{units.max()}"
    ]


def sweep(first: int, last: int) -> int:
    """Print every disagreement of the seeds first .. last-1, and how far it is; their number.

    The kernels take turns in what is not known of their launch: a long run sees more kernels.
    """
    wrong = 0
    for seed in range(first, last):
        problems = disagreements(random_kernel(seed), turn=seed)
        if problems:
            wrong += 1
            sys.stdout.write(f"seed {seed}: {problems}\n")
        done = seed + 1 - first
        if done % 500 == 0 or seed + 1 == last:
            sys.stdout.write(f"{done:,} kernels, {wrong} disagreements\n")
            sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(min(sweep(int(sys.argv[1]), int(sys.argv[2])), 100))
