"""Compares what gcc recorded with the symbolic counts and with the simulation."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from coalescecheck.analysis import AccessResult
from coalescecheck.ir.kernel import Kernel
from coalescecheck.launch import Dim3, Launch
from coalescecheck.simulate import simulate
from coalescecheck.symbolic import summarize

from .agreement import EXACT, assumptions_hold, lowered
from .gcc_oracle import BUFFERS, Key, Requests, can_run, gcc_counts
from .random_kernels import RandomKernel, random_kernel


def gcc_disagreements(case: RandomKernel, truth: Requests) -> list[str]:
    """Where the tool's readings contradict ``truth``; empty when they agree."""
    kernel = lowered(case)
    launch = Launch(Dim3(*case.block), Dim3(*case.grid), "cli")
    found = []
    groups: defaultdict[Key, list[AccessResult]] = defaultdict(list)
    for result in summarize(kernel, launch, case.params).accesses:
        groups[_key(result)].append(result)
    for key in truth.keys() - groups.keys():
        if not any(key[:3] == other[:3] and key[3] in other[3].split("|") for other in groups):
            found.append(f"{key}: not found by the tool")
    for key, results in groups.items():
        if comparable(key, results):
            found += _compare(f"{key} known", results[0], truth.get(key, []), True)
    for result in summarize(kernel, launch, {}).accesses:
        key = _key(result)
        if comparable(key, groups.get(key, [])) and assumptions_hold(result, case.params):
            found += _compare(f"{key} free", result, truth.get(key, []), False)
    return found + _simulated(kernel, launch, case, groups, truth)


def comparable(key: Key, results: list[AccessResult]) -> bool:
    """Whether the requests of an access can be told from all others by its key."""
    return len(results) == 1 and results[0].space != "local" and "|" not in key[3]


def _key(result: AccessResult) -> Key:
    calls = result.access.called_from
    return (
        result.access.span.line,
        calls[0].line if calls else 0,
        result.access.op.value,
        result.array,
    )


def _compare(name: str, result: AccessResult, units: list[int], known: bool) -> list[str]:
    count = result.wavefronts or result.sectors
    if result.requests is not None and result.requests != len(units):
        return [f"{name}: {result.requests} requests derived, {len(units)} recorded"]
    if count is None:
        return []
    if not units:
        return []
    low, high, mean = min(units), max(units), sum(units) / len(units)
    if not count.min <= low <= high <= count.max:
        return [f"{name}: [{count.min}, {count.max}] {result.certainty}, recorded {low}..{high}"]
    exact = known and result.certainty in EXACT and result.requests is not None
    if exact and (count.mean is None or abs(count.mean - mean) > 1e-9):
        return [f"{name}: mean {count.mean} derived, {mean} recorded"]
    if exact and (count.min, count.max) != (low, high):
        return [f"{name}: ({count.min}, {count.max}) derived, ({low}, {high}) recorded"]
    return []


def _simulated(
    kernel: Kernel,
    launch: Launch,
    case: RandomKernel,
    groups: dict[Key, list[AccessResult]],
    truth: Requests,
) -> list[str]:
    run = simulate(
        kernel,
        launch,
        params=case.params,
        buffers={n: b for n, b in BUFFERS.items() if n in kernel.arrays},
        max_steps=50_000,
        detect_races=False,
    )
    found = []
    for key, results in groups.items():
        trace = run.traces[results[0].access.id]
        if trace.any_taint or not comparable(key, results):
            continue
        if run.blocks < (launch.grid.size if launch.grid else 0):
            continue
        banked = results[0].space in ("shared", "constant")
        units = trace.wavefronts if banked else trace.sectors
        if sorted(units.tolist()) != sorted(truth.get(key, [])):
            found.append(
                f"{key}: simulated {sorted(units.tolist())[:20]}, "
                f"recorded {sorted(truth.get(key, []))[:20]}"
            )
    return found


def check(seeds: Sequence[int], folder: Path) -> tuple[int, dict[int, list[str]]]:
    """How many of the seeds' kernels could be compared, and the disagreements by seed."""
    cases = {seed: case for seed in seeds if can_run(case := random_kernel(seed))}
    counts = gcc_counts(list(cases.values()), folder)
    found = {}
    compared = 0
    for (seed, case), truth in zip(cases.items(), counts, strict=True):
        if truth is not None:
            compared += 1
            problems = gcc_disagreements(case, truth)
            if problems:
                found[seed] = problems
    return compared, found


def sweep(first: int, last: int) -> int:
    """Print every disagreement of the seeds first .. last-1; their number is returned."""
    total = wrong = 0
    for start in range(first, last, 50):
        with tempfile.TemporaryDirectory() as folder:
            compared, found = check(range(start, min(start + 50, last)), Path(folder))
        total, wrong = total + compared, wrong + len(found)
        for seed, problems in found.items():
            sys.stdout.write(f"seed {seed}: {problems}\n")
    sys.stdout.write(f"{wrong} of {total} kernels disagree\n")
    return wrong


if __name__ == "__main__":
    sys.exit(min(sweep(int(sys.argv[1]), int(sys.argv[2])), 100))
