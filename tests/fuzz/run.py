"""Fuzzing for as long as there is time: ``python tests/fuzz/run.py --minutes 60``.

Writes each new cause with its files to a folder and goes on; ends with what it did.  A find is
made a test in ``test_found.py`` once it is understood.  ``--case N`` runs one case again.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.cases import KINDS, case
from fuzz.judge import Problem, problems, run_apart

BATCH = 200
APART = 50  # of so many cases, one runs in a process of its own


def main() -> None:
    """Runs batches until the time is over."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--minutes", type=float, default=1.0)
    asked.add_argument("--first", type=int, default=0, help="number of the first case")
    asked.add_argument("--kind", choices=sorted(set(KINDS)))
    asked.add_argument("--finds", type=Path, default=Path(tempfile.gettempdir(), "finds"))
    asked.add_argument("--case", type=int, help="only this one")
    told = asked.parse_args()
    found: Counter[str] = Counter()
    end, number = time.monotonic() + 60 * told.minutes, told.first
    while time.monotonic() < end:
        first, last = (number, number + BATCH) if told.case is None else (told.case, told.case + 1)
        for problem in _batch(first, last, told.kind):
            found[problem.key] += 1
            if found[problem.key] == 1:
                _keep(problem, told.kind, told.finds)
        number = last
        if told.case is not None:
            break
    print(f"{number - told.first} cases, {_seconds():.0f} s of processor time")
    for key, times in found.most_common():
        print(f"{times:6}  {key}")


def _batch(first: int, last: int, kind: str | None) -> Iterator[Problem]:
    cases = [case(number, kind) for number in range(first, last)]
    with tempfile.TemporaryDirectory() as folder:
        yield from problems(cases, Path(folder))
        for each in cases:
            if each.number % APART == 0 and each.kind != "cache":
                yield from run_apart(each, Path(folder))


def _keep(problem: Problem, kind: str | None, finds: Path) -> None:
    print(f"case {problem.number}: {problem.key}", flush=True)
    folder = finds / str(problem.number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "problem.txt").write_text(f"{problem.key}\n{problem.said}\n")
    it = case(problem.number, kind)
    it.write(folder)
    (folder / "arguments.txt").write_text(repr(it.arguments))


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
