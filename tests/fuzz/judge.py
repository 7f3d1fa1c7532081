"""What a case may not do, whatever is in it: crash, hang, break off, contradict itself.

In: a case.  Out: problems in words, each with a key that is the same for the same cause.  A
worker process runs the cases and is killed by the kernel when one takes too much time or memory.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from click.testing import CliRunner

import coalescecheck
from coalescecheck.cli import main
from coalescecheck.errors import CoalesceCheckError
from fuzz.cases import CACHE, SOURCE, Case, damage_entry

SECONDS = 10  # of processor time for one case: no clock on the wall, which other work slows
MEMORY = 4 << 30  # bytes of address space
DEFECT = re.compile(r"internal error[^\n]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """``key`` names the cause as far as it can be seen, ``said`` is for a person."""

    number: int
    key: str
    said: str


def problems(cases: Iterable[Case], folder: Path) -> Iterator[Problem]:
    """The problems of the cases, run one by one in worker processes below ``folder``."""
    left = list(cases)
    while left:
        done = 0
        for message in _worked(left, folder):
            if message is None:
                done += 1
            else:
                yield message
        left = left[done:]


def _worked(cases: list[Case], folder: Path) -> Iterator[Problem | None]:
    """What one worker says: problems, and None at the end of each case; the death of the worker
    is a problem of the case it was at."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(cases, folder, theirs))
    worker.start()
    theirs.close()
    done = 0
    with suppress(EOFError):
        while True:
            message: Problem | None = ours.recv()
            done += message is None
            yield message
    worker.join()
    if done < len(cases):
        yield Problem(cases[done].number, *_death(worker.exitcode or 0, folder))
        yield None


def _death(code: int, folder: Path) -> tuple[str, str]:
    trace = (folder / "trace").read_text(errors="replace")
    place = re.search(r'File "[^"]*coalescecheck/([^"]*)", line \d+ in (\w+)', trace)
    where = f" in {place[1]} {place[2]}" if place else ""
    if code == -signal.SIGXCPU:
        return f"hang{where}", f"more than {SECONDS} s\n{trace}"
    return f"death {code}{where}", f"the process ended with {code}\n{trace}"


def _work(cases: list[Case], folder: Path, out: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with (folder / "trace").open("w") as trace:
        faulthandler.enable(trace)
        faulthandler.register(signal.SIGXCPU, trace, chain=True)
        for case in cases:
            for problem in _checked(case, folder):
                out.send(problem)
            out.send(None)
    os._exit(0)


def _allow() -> None:
    """``SECONDS`` from now on; the kernel counts whole seconds of the whole process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 1 + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _checked(case: Case, folder: Path) -> Iterator[Problem]:
    """Problems of one case in this process."""
    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.chdir(place)
    case.write(place)
    os.environ["COALESCECHECK_CACHE"] = str(place / CACHE) if case.damage else ""
    try:
        yield from _commanded(case)
        if case.kind in ("source", "bomb") and case.number % 3 == 0:
            yield from _asked(case)
    except Exception as error:  # noqa: BLE001 - any exception is what is looked for
        yield Problem(case.number, _key(error), traceback.format_exc())


def _commanded(case: Case) -> Iterator[Problem]:
    _allow()
    if case.damage is not None:
        first = CliRunner().invoke(main, case.arguments)
        damage_entry(Path(CACHE), case.damage)
    result = CliRunner().invoke(main, case.arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in range(4):
        yield Problem(case.number, f"exit code {result.exit_code}", result.output)
    if case.damage is None or first.output != result.output:
        yield from _said(case, result.stderr)


def _said(case: Case, stderr: str) -> Iterator[Problem]:
    for match in DEFECT.finditer(stderr):
        place = re.search(r"(\w*Error)\b.*? at ([\w/.]+):\d+", match[0])
        cause = " ".join(place.groups()) if place else match[0][:60]
        yield Problem(case.number, f"defect {cause}", match[0])
    if "Traceback" in stderr:
        yield Problem(case.number, "traceback", stderr)


def _asked(case: Case) -> Iterator[Problem]:
    """The same through the API, where the numbers can be seen to agree or not."""
    _allow()
    report = coalescecheck.analyze(SOURCE)
    if report.disagrees:
        wrong = [str(finding) for finding in report.findings if finding.rule == "CC902"]
        yield Problem(case.number, "disagreement", "\n".join(wrong))
    _allow()
    with suppress(CoalesceCheckError):
        coalescecheck.analyze(SOURCE, verify=False, block=(8, 8), params={"n": 100})


def _key(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {Path(frame.filename).name} {frame.name}"


def run_apart(case: Case, folder: Path) -> Iterator[Problem]:
    """Problems of one case in a process of its own, started as a user starts it."""
    place = folder / "apart"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    case.write(place)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 2, SECONDS + 3))  # 2: the start
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    ran = subprocess.run(
        [sys.executable, "-m", "coalescecheck", *case.arguments],
        cwd=place,
        env={**os.environ, "COALESCECHECK_CACHE": ""},
        preexec_fn=limited,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    if ran.returncode not in range(4):
        yield Problem(case.number, f"exit code {ran.returncode}", ran.stderr.decode()[-2000:])
    yield from _said(case, ran.stderr.decode(errors="replace"))
