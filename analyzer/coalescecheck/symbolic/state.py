"""Where abstract interpretation stands: variables, conditions, and the scopes around."""

from __future__ import annotations

from dataclasses import dataclass, field

from coalescecheck.symbolic.form import Form
from coalescecheck.symbolic.reach import LoopInfo
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
