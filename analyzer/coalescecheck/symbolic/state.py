"""Where abstract interpretation stands: variables, conditions, and the scopes around."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    from inside went to a scope further out; ``info`` is set for loops.
    """

    label: str
    entry: tuple[Form, ...]
    exits: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    passed: bool = False
    info: LoopInfo | None = None


class Progress:
    """What a run has told so far, to come back to when it was only a trial."""

    def __init__(self, reaches: list[Reach], frames: list[Frame]) -> None:
        self._reaches, self._reached = reaches, len(reaches)
        self._carries = [(f.info.carry, len(f.info.carry)) for f in frames if f.info is not None]

    def restore(self) -> None:
        """Drop the accesses and the conditions of jumps since."""
        del self._reaches[self._reached :]
        for carry, known in self._carries:
            del carry[known:]
