"""Where abstract interpretation stands: variables, conditions, and the scopes around."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from coalescecheck.symbolic.form import Form
from coalescecheck.symbolic.reach import LoopInfo, Reach
from coalescecheck.symbolic.values import Environment


@dataclass(slots=True)
class State:
    """A point of the program: variables and the conditions under which it is reached."""

    env: Environment
    path: tuple[Form, ...]


@dataclass(slots=True)
class Frame:
    """An enclosing scope or loop that jumps can leave.

    ``exits`` and ``continues`` collect the states of jumps to it; ``passed`` says that some jump
    from inside went to a scope further out, ``hangs`` how many loops that nothing leaves were come
    to before; ``info`` is set for loops, with the variables that an
    iteration ``sets`` and the per-thread arrays that it ``writes``.
    """

    label: str
    entry: tuple[Form, ...]
    exits: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    passed: bool = False
    hangs: int = 0
    info: LoopInfo | None = None
    sets: Collection[str] = ()
    writes: Collection[str] = ()


class Progress:
    """What a run has told so far, to come back to when it was only a trial."""

    def __init__(self, reaches: list[Reach], frames: list[Frame]) -> None:
        self._reaches, self._first = reaches, len(reaches)
        lists: list[list[Any]] = [reaches]
        for frame in frames:
            lists += [frame.exits, frame.continues]
            if frame.info is not None:
                lists.append(frame.info.carry)
        self._told = [(told, len(told)) for told in lists]

    def restore(self) -> None:
        """Drop the accesses and the jumps since."""
        for told, known in self._told:
            del told[known:]

    def reaches(self) -> list[Reach]:
        """The accesses since."""
        return self._reaches[self._first :]

    def replace(self, reaches: list[Reach]) -> None:
        """Put ``reaches`` in the place of the accesses since."""
        self._reaches[self._first :] = reaches
