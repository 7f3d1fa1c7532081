"""How far a run over many files is: a bar on stderr, for someone who waits at a terminal.

In: files done and files in all.  Nothing is shown for one file, for a run that ends at once, or
where stderr is no terminal; the bar is gone before anything else is written.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

A_MOMENT = 0.5  # seconds
BETWEEN = 0.1  # seconds from one drawing to the next


@contextmanager
def shown(wanted: bool = True) -> Iterator[Callable[[int, int], None]]:
    """What is to be called whenever a file is done; the bar goes when the block is left."""
    bar = _Bar()
    try:
        seen = sys.stderr is not None and sys.stderr.isatty()  # None: it is closed
        yield bar.update if wanted and seen else _nothing
    finally:
        bar.close()


def _nothing(done: int, total: int) -> None:
    pass


class _Bar:
    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._drawn = 0.0
        self._shown: tuple[Progress, TaskID] | None = None

    def update(self, done: int, total: int) -> None:
        """``done`` of ``total`` files are done."""
        now = time.monotonic()
        if self._shown is None:
            if not 1 < total > done or now - self._begin < A_MOMENT:
                return
            self._shown = _opened()
        bar, task = self._shown
        draw = now - self._drawn > BETWEEN
        bar.update(task, completed=done, total=total, refresh=draw)
        self._drawn = now if draw else self._drawn

    def close(self) -> None:
        """Leave nothing of it on the terminal."""
        if self._shown is not None:
            self._shown[0].stop()


def _opened() -> tuple[Progress, TaskID]:
    from rich.console import Console  # most runs show no bar
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), "files", TimeRemainingColumn())
    bar = Progress(
        *columns,
        console=Console(stderr=True),
        auto_refresh=False,  # a thread of its own would be there when processes are forked
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.start()
    return bar, bar.add_task("files", total=None)
