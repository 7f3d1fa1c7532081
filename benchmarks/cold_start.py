"""CPU time of the whole command on a small file, in a process of its own: mostly imports.

    python benchmarks/cold_start.py [FILE] [--runs N]

Prints the least and the median of N runs (user + system seconds).  Wall time says little on a
busy machine.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples_cu" / "transpose.cu"


def cpu_seconds(file: str) -> float:
    """User and system time of one run; SystemExit when the command cannot be run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "coalescecheck", file]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=str(EXAMPLE))
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    times = [cpu_seconds(args.file) for _ in range(args.runs)]
    print(f"{args.file}: least {min(times):.2f} s, median {statistics.median(times):.2f} s of CPU")


if __name__ == "__main__":
    main()
