"""One process against two over the same files: wall time, CPU time, and their ratios.

    python benchmarks/processes.py PATH... [--rounds 3] [--processes 2] [--no-verify]

Rounds alternate, and the best of each side counts.  Other load on the machine spoils wall time;
CPU time gives the ratio that an idle machine would show: all work of one process over the main
process plus the busiest worker, since these two go on at the same time as nothing else.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from coalescecheck import pipeline, running
from coalescecheck.options import Options, make_options

GOAL = 1.8  # with two processes
TICKS = 1e-9  # of /proc/PID/schedstat, in seconds


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of one run; ``workers`` is the CPU time of each worker."""

    wall: float
    main: float
    workers: tuple[float, ...] = ()

    @property
    def cpu(self) -> float:
        return self.main + sum(self.workers)

    @property
    def path(self) -> float:
        """CPU seconds one after another, where nothing else keeps the processors busy."""
        return self.main + max(self.workers, default=0.0)


def spent(pid: int) -> float:
    """CPU seconds a process has had."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) * TICKS


def run(paths: list[str], options: Options, processes: int) -> Round:
    """Analyse everything once."""
    wall, main = time.perf_counter(), time.process_time()
    if processes == 1:
        running.analyze(paths, options)
        return Round(time.perf_counter() - wall, time.process_time() - main)
    with ProcessPoolExecutor(processes) as pool:
        running.analyze(paths, options, executor=pool)
        workers = tuple(spent(pid) for pid in pool._processes)
    return Round(time.perf_counter() - wall, time.process_time() - main, workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-verify", action="store_true")
    args = parser.parse_args()
    options = make_options(verify=not args.no_verify)
    assert pipeline.analyze_file  # loaded before the clock starts, as workers inherit it
    sides: dict[int, list[Round]] = {1: [], args.processes: []}
    for _ in range(args.rounds):
        for processes, rounds in sides.items():
            with ProcessPoolExecutor(1) as fresh:  # nothing is left of the rounds before
                rounds.append(fresh.submit(run, args.paths, options, processes).result())
    print(f"{'processes':12}{'wall s':>10}{'CPU s':>10}{'in a row s':>12}")
    for processes, rounds in sides.items():
        best = [min(getattr(r, name) for r in rounds) for name in ("wall", "cpu", "path")]
        print(f"{processes:<12}{best[0]:10.2f}{best[1]:10.2f}{best[2]:12.2f}")
    one, several = sides.values()
    for name, what in (("wall", "measured"), ("path", "by CPU time, on an idle machine")):
        ratio = min(getattr(r, name) for r in one) / min(getattr(r, name) for r in several)
        print(f"speed-up {what}: {ratio:.2f} (goal {GOAL} with 2)")


if __name__ == "__main__":
    main()
