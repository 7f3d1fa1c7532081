"""The pre-commit hook over files that have not changed: ``coalescecheck --format concise FILES``.

    python benchmarks/warm_hook.py [--files N] [--runs N]

Copies of ``examples_cu/`` are analysed once into a cache of their own, then N runs over all of them
are timed (goal for 200 files: less than 0.4 s).  Prints the least and the median of CPU and of wall
time; wall time says little on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = sorted((Path(__file__).parent.parent / "examples_cu").glob("*.cu"))


def run(folder: Path, files: list[str]) -> tuple[float, float]:
    """Seconds of CPU and of wall time of one run in ``folder``."""
    environment = {**os.environ, "COALESCECHECK_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "coalescecheck", "--format", "concise", *files]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        raise SystemExit(f"coalescecheck: exit code {done.returncode}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--runs", type=int, default=9)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), [f"{at}.cu" for at in range(args.files)]
        for at, file in enumerate(files):
            (folder / file).write_bytes(EXAMPLES[at % len(EXAMPLES)].read_bytes())
        first, _ = run(folder, files)
        runs = [run(folder, files) for _ in range(args.runs)]
    print(f"{args.files} files: {first:.1f} s of CPU for the first run, then")
    for what, times in zip(("CPU", "wall"), zip(*runs, strict=True), strict=True):
        print(f"  {what:4} least {min(times):.3f} s, median {statistics.median(times):.3f} s")


if __name__ == "__main__":
    main()
