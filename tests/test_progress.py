"""The bar: only for someone who waits at a terminal, and never in a report."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coalescecheck import progress

KERNEL = "__global__ void k(float *o) { o[2 * threadIdx.x] = 1; }\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, moment: float, wanted: bool, total: int
) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "A_MOMENT", moment)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown(wanted) as watch:
        for done in range(total + 1):
            watch(done, total)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("stream", "moment", "wanted", "total", "expected"),
    [
        pytest.param(Terminal, 0, True, 8, True, id="a terminal"),
        pytest.param(io.StringIO, 0, True, 8, False, id="no terminal"),
        pytest.param(Terminal, 60, True, 8, False, id="over at once"),
        pytest.param(Terminal, 0, False, 8, False, id="not wanted"),
        pytest.param(Terminal, 0, True, 1, False, id="one file"),
        pytest.param(Terminal, 0, True, 0, False, id="no file"),
    ],
)
def test_when_it_is_shown(
    monkeypatch: pytest.MonkeyPatch,
    stream: Callable[[], io.StringIO],
    moment: float,
    wanted: bool,
    total: int,
    expected: bool,
) -> None:
    text = written(monkeypatch, stream(), moment, wanted, total)
    assert (f"/{total}" in text) == expected
    assert bool(text) == expected


def run(tmp_path: Path, *arguments: str) -> tuple[bytes, bytes]:
    """Stdout, which is a pipe, and stderr, which is a pseudo terminal."""
    for at in range(6):
        (tmp_path / f"{at}.cu").write_text(KERNEL, encoding="utf-8")
    code = "from coalescecheck import cli, progress; progress.A_MOMENT = 0; cli.main()"
    command = [sys.executable, "-c", code, ".", "--format", "concise", *arguments]
    terminal, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    ran = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:  # the other end is closed: how Linux says that there is no more
        pass
    os.close(terminal)
    assert ran.stdout is not None
    with ran.stdout:
        report = ran.stdout.read()
    assert ran.wait() == 1
    return report, shown


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_on_a_terminal_the_bar_comes_and_goes(tmp_path: Path, jobs: str) -> None:
    with_bar, shown = run(tmp_path, "--jobs", jobs)
    without_bar, quiet = run(tmp_path, "--jobs", jobs, "--no-progress")
    assert b"/6" in shown
    assert shown.endswith(b"\x1b[2K")  # the line is erased
    assert quiet == b""
    assert with_bar == without_bar
    assert with_bar.count(b"CC101") == 6
