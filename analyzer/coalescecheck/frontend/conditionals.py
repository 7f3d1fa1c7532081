"""The stack of ``#if`` groups of one file.

In: conditional directives with their conditions.  Out: whether text is active.  Must not
know how conditions are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch by the offset of its directive, and of the ``#if`` that its group begins with."""

    offset: int
    group: int


@dataclass(slots=True)
class _Group:
    """``taken``: a branch of the group was active; ``active``: the present one is, which begins
    at ``branch``."""

    outer: bool
    active: bool
    taken: bool
    has_else: bool
    offset: int
    directive: str
    branch: int


class Conditionals:
    """Which lines of a file are active."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def active(self) -> bool:
        return not self._groups or self._groups[-1].active

    def directive(self, name: str, condition: Callable[[], bool], offset: int) -> bool:
        """Handle a conditional directive; False when it has no ``#if``.

        ``condition`` is only asked where its answer matters.
        """
        if name in ("if", "ifdef", "ifndef"):
            outer = self.active
            active = outer and condition()
            self._groups.append(_Group(outer, active, active, False, offset, name, offset))
            return True
        if not self._groups or (name != "endif" and self._groups[-1].has_else):
            return False
        group = self._groups[-1]
        if name == "endif":
            self._groups.pop()
            return True
        group.has_else = name == "else"
        group.branch = offset
        may = group.outer and not group.taken
        group.active = may and (name == "else" or condition())
        group.taken = group.taken or group.active
        return True

    def left_out_by(self) -> Branch | None:
        """The outermost branch that is not active; None where all are."""
        group = next((g for g in self._groups if not g.active), None)
        return None if group is None else Branch(group.branch, group.offset)

    def unfinished(self) -> Iterator[tuple[int, str]]:
        """Offset and name of each group that has no ``#endif``."""
        for group in self._groups:
            yield group.offset, group.directive
