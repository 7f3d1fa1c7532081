"""The one place where an unexpected exception is caught, so that it costs one kernel or file.

In: the name of a stage and work to do.  Out: its result, or a ``Defect``: what went wrong, as a
value that is shown to the user and makes the command fail.  Errors that a user can cause pass.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from coalescecheck.errors import CoalesceCheckError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Defect:
    """An exception nobody expected: the stage it struck and what it said, in one line."""

    stage: str
    error: str


def isolated(stage: str, work: Callable[[], T]) -> T | Defect:
    """The result of ``work``, or the defect it ran into."""
    try:
        return work()
    except CoalesceCheckError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect in one kernel must not lose the others
        return Defect(stage, _describe(error))


def _describe(error: Exception) -> str:
    """Kind, message and innermost place of ``error``: enough to find it without a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    place = ""
    if frames:
        path = PurePath(frames[-1].filename)
        place = f" at {path.parent.name}/{path.name}:{frames[-1].lineno}"
    message = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {message}' if message else ''}{place}"
