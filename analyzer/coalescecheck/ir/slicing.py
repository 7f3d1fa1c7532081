"""Slices of a kernel: the statements that have to run for some of its variables to be right.

In: a kernel's statements.  Out: :class:`Slice`: whatever sets a wanted variable, whatever that
reads, and all that decides whether it runs: the branches, loops and scopes around, and the jumps
that leave those.  Who follows a slice passes over every other statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from coalescecheck.ir.expr import Expr, variables_of
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Continue,
    Leave,
    Load,
    Loop,
    Scope,
    Stmt,
    WarpOp,
    nested,
)


@dataclass(frozen=True, slots=True)
class Slice:
    """The statements, by identity (``id``), and the variables whose values they need."""

    statements: frozenset[int]
    variables: frozenset[str]


@dataclass(slots=True)
class _Entry:
    """A statement in its place: the number of the one around (-1: none) and of the last inside."""

    stmt: Stmt
    around: int
    last: int = -1
    reads: frozenset[str] | None = None


class Slicer:
    """Slices of one list of statements.

    ``reads`` gives the expressions of a statement that count once it is in a slice; a statement
    that is ``always`` wanted is in every slice.
    """

    def __init__(
        self,
        body: tuple[Stmt, ...],
        reads: Callable[[Stmt], Iterable[Expr]],
        always: Callable[[Stmt], bool],
    ) -> None:
        self._reads, self._always = reads, always
        self._entries: list[_Entry] = []
        self._number: dict[int, int] = {}
        self._frames: dict[str, int] = {}  # the loops and scopes around, by label
        self._setters: dict[str, list[int]] = {}
        self._jumps: dict[int, list[int]] = {}  # by the loop or scope that they leave or continue
        self._wanted: list[int] = []
        self._index(body, -1)

    def all(self, names: Iterable[str] = (), also: Iterable[Stmt] = ()) -> Slice:
        """What sets ``names``, what is always wanted, and the statements ``also`` wanted."""
        wanted = chain(self._wanted, (self._number[id(stmt)] for stmt in also))
        return self._closed(0, len(self._entries) - 1, wanted, names)

    def inside(self, stmt: Stmt, names: Iterable[str]) -> Slice:
        """The part of a loop or scope that sets ``names`` or jumps out of it."""
        first = self._number[id(stmt)]
        last = self._entries[first].last
        out = (
            number
            for frame, numbers in self._jumps.items()
            if not first < frame <= last
            for number in numbers
        )
        return self._closed(first, last, chain((first,), self._wanted, out), names)

    def _closed(self, first: int, last: int, wanted: Iterable[int], names: Iterable[str]) -> Slice:
        """All that is needed, of the statements with numbers from ``first`` to ``last``."""
        kept: set[int] = set()
        needed: set[str] = set()
        waiting: list[int] = []

        def keep(numbers: Iterable[int]) -> None:
            new = [n for n in numbers if first <= n <= last and n not in kept]
            kept.update(new)
            waiting.extend(new)

        def need(wanted: Iterable[str]) -> None:
            for name in wanted:
                if name not in needed:
                    needed.add(name)
                    keep(self._setters.get(name, ()))

        need(names)
        keep(wanted)
        while waiting:
            number = waiting.pop()
            entry = self._entries[number]
            need(self._read_by(entry))
            keep((entry.around, *self._jumps.get(number, ())))
        statements = frozenset(id(self._entries[number].stmt) for number in kept)
        return Slice(statements, frozenset(needed))

    def _index(self, body: tuple[Stmt, ...], around: int) -> None:
        for stmt in body:
            number = len(self._entries)
            entry = _Entry(stmt, around)
            self._entries.append(entry)
            self._number[id(stmt)] = number
            if self._always(stmt):
                self._wanted.append(number)
            for name in targets(stmt):
                self._setters.setdefault(name, []).append(number)
            if isinstance(stmt, Leave | Continue):
                self._jumps.setdefault(self._frames.get(stmt.label, -1), []).append(number)
            elif isinstance(stmt, Loop | Scope):
                self._frames[stmt.label] = number
            for inner in nested(stmt):
                self._index(inner, number)
            entry.last = len(self._entries) - 1

    def _read_by(self, entry: _Entry) -> frozenset[str]:
        if entry.reads is None:
            exprs = self._reads(entry.stmt)
            entry.reads = frozenset().union(*(variables_of(expr) for expr in exprs))
        return entry.reads


def targets(stmt: Stmt) -> tuple[str, ...]:
    """The variables that ``stmt`` itself sets."""
    match stmt:
        case Load():
            return (stmt.var.name, *(var.name for _, var in stmt.more))
        case Assign() | WarpOp():
            return (stmt.var.name,)
        case Atomic() if stmt.var is not None:
            return (stmt.var.name,)
    return ()
