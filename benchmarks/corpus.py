"""CPU time per kernel over CUDA files: what each stage takes, and the slowest kernels.

    python benchmarks/corpus.py PATH... [--slowest N]

A kernel under several launches counts once for each.  Reading a file (preprocessing, syntax
tree, rewriting) is shared out evenly among its kernels.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coalescecheck import instance, pipeline, verify
from coalescecheck.errors import CoalesceCheckError
from coalescecheck.options import make_options

STAGES = ("frontend", "lower", "symbolic", "simulate", "verify", "advice", "total")


@dataclass(slots=True)
class Clock:
    """CPU seconds by stage; time in a stage called by another counts for the inner one only."""

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _inner: list[float] = field(default_factory=lambda: [0.0])

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function`` with its time added to ``stage``."""

        def run(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            self._inner.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                took = time.process_time() - start
                self.spent[stage] += took - self._inner.pop()
                self._inner[-1] += took

        return run


@dataclass(slots=True)
class Kernel:
    """One kernel under one launch: CPU milliseconds by stage."""

    place: str
    milliseconds: dict[str, float]


def instrument(clock: Clock, kernels: list[Kernel]) -> None:
    """Put the clock around the stages where the pipeline calls them."""
    pipeline.load = clock.timed("frontend", pipeline.load)
    instance.lower.lower = clock.timed("lower", instance.lower.lower)
    instance.summarize = clock.timed("symbolic", instance.summarize)
    verify.simulate = clock.timed("simulate", verify.simulate)
    instance.verify = clock.timed("verify", instance.verify)
    instance.trials = clock.timed("advice", instance.trials)
    analyze = pipeline.analyze_instance

    def one(kernel_c: Any, *args: Any) -> Any:
        before, start = dict(clock.spent), time.process_time()
        try:
            return analyze(kernel_c, *args)
        finally:
            took = {s: 1000 * (clock.spent[s] - before[s]) for s in STAGES}
            took["total"] = 1000 * (time.process_time() - start)
            kernels.append(Kernel(f"{kernel_c.span}: {kernel_c.name}", took))

    pipeline.analyze_instance = one


def measure(paths: list[str]) -> list[Kernel]:
    """Analyse every file; one record per kernel and launch."""
    clock, kernels = Clock(), []
    instrument(clock, kernels)
    options = make_options()
    for path in pipeline.source_files(paths):
        first, read = len(kernels), clock.spent["frontend"]
        try:
            pipeline.analyze_file(path, options)
        except CoalesceCheckError as error:
            print(f"{path}: {error}", file=sys.stderr)
        reading = 1000 * (clock.spent["frontend"] - read)
        for kernel in kernels[first:]:
            share = reading / (len(kernels) - first)
            kernel.milliseconds["frontend"] = share
            kernel.milliseconds["total"] += share
    return kernels


def table(kernels: list[Kernel]) -> str:
    """Mean, median, 95th percentile and maximum of every stage."""
    lines = [f"{len(kernels)} kernels, CPU ms per kernel", _row("stage", "mean median p95 max")]
    for stage in STAGES:
        values = sorted(k.milliseconds[stage] for k in kernels)
        p95 = values[min(len(values) - 1, len(values) * 95 // 100)]
        numbers = (statistics.mean(values), statistics.median(values), p95, values[-1])
        lines.append(_row(stage, " ".join(f"{n:.1f}" for n in numbers)))
    return "\n".join(lines)


def _row(name: str, cells: str) -> str:
    return f"{name:10}" + "".join(f"{cell:>10}" for cell in cells.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--slowest", type=int, default=5)
    args = parser.parse_args()
    kernels = measure(args.paths)
    if not kernels:
        raise SystemExit("no kernels")
    print(table(kernels))
    kernels.sort(key=lambda k: -k.milliseconds["total"])
    for kernel in kernels[: args.slowest]:
        took = [f"{stage} {kernel.milliseconds[stage]:.0f}" for stage in STAGES[:-1]]
        print(f"{kernel.milliseconds['total']:8.0f} ms  {kernel.place} ({', '.join(took)})")


if __name__ == "__main__":
    main()
