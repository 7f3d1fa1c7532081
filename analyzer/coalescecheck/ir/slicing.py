"""Slices of a kernel: the statements that have to run for some of its variables to be right.

In: a kernel's statements.  Out: :class:`Slice`: whatever sets a wanted variable, whatever that
reads, and all that decides whether it runs: the branches, loops and scopes around, and the jumps
that leave those.  Who follows a slice passes over every other statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Continue,
    If,
    Kernel,
    Leave,
    Load,
    Loop,
    Scope,
    Stmt,
    WarpOp,
    nested,
)
from coalescecheck.ir.mentions import Mentions, mentions_in
from coalescecheck.ir.per_kernel import per_kernel


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


class Dependences:
    """The statements of a kernel by number: what sets a variable, and what jumps where."""

    def __init__(self, body: tuple[Stmt, ...], mentions: Mentions) -> None:
        self.mentions = mentions
        self.entries: list[_Entry] = []
        self.number: dict[int, int] = {}  # by identity of the statement
        self.setters: dict[str, list[int]] = {}
        self.jumps: dict[int, list[int]] = {}  # by the loop or scope that they leave or continue
        self._index(body, -1, {})

    def _index(self, body: tuple[Stmt, ...], around: int, frames: dict[str, int]) -> None:
        """``frames`` are the loops and scopes around, by label."""
        for stmt in body:
            number = len(self.entries)
            entry = _Entry(stmt, around)
            self.entries.append(entry)
            self.number[id(stmt)] = number
            for name in targets(stmt):
                self.setters.setdefault(name, []).append(number)
            if isinstance(stmt, Leave | Continue):
                self.jumps.setdefault(frames.get(stmt.label, -1), []).append(number)
            elif isinstance(stmt, If | Loop | Scope):
                inside = frames if isinstance(stmt, If) else frames | {stmt.label: number}
                for inner in nested(stmt):
                    self._index(inner, number, inside)
            entry.last = len(self.entries) - 1


@per_kernel
def dependences_in(kernel: Kernel) -> Dependences:
    """The dependences among the statements of ``kernel``."""
    return Dependences(kernel.body, mentions_in(kernel))


class Slicer:
    """Slices of one list of statements.

    ``reads`` gives the expressions of a statement that count once it is in a slice; a statement
    that is ``always`` wanted is in every slice.
    """

    def __init__(
        self,
        dependences: Dependences,
        reads: Callable[[Stmt], Iterable[Expr]],
        always: Callable[[Stmt], bool],
    ) -> None:
        self._all, self._reads = dependences, reads
        self._read: dict[int, frozenset[str]] = {}
        entries = enumerate(dependences.entries)
        self._wanted = [number for number, entry in entries if always(entry.stmt)]

    def all(self, names: Iterable[str] = (), also: Iterable[Stmt] = ()) -> Slice:
        """What sets ``names``, what is always wanted, and the statements ``also`` wanted."""
        wanted = chain(self._wanted, (self._all.number[id(stmt)] for stmt in also))
        return self._closed(0, len(self._all.entries) - 1, wanted, names)

    def inside(self, stmt: Stmt, names: Iterable[str]) -> Slice:
        """The part of a loop or scope that sets ``names`` or jumps out of it."""
        first = self._all.number[id(stmt)]
        last = self._all.entries[first].last
        out = (
            number
            for frame, numbers in self._all.jumps.items()
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
                    keep(self._all.setters.get(name, ()))

        need(names)
        keep(wanted)
        while waiting:
            number = waiting.pop()
            need(self._read_by(number))
            keep((self._all.entries[number].around, *self._all.jumps.get(number, ())))
        statements = frozenset(id(self._all.entries[number].stmt) for number in kept)
        return Slice(statements, frozenset(needed))

    def _read_by(self, number: int) -> frozenset[str]:
        known = self._read.get(number)
        if known is None:
            exprs = self._reads(self._all.entries[number].stmt)
            found = [self._all.mentions.of(expr).variables for expr in exprs]
            known = found[0] if len(found) == 1 else frozenset().union(*found)
            self._read[number] = known
        return known


def targets(stmt: Stmt) -> tuple[str, ...]:
    """The variables that ``stmt`` itself sets."""
    if isinstance(stmt, Assign | WarpOp):
        return (stmt.var.name,)
    if isinstance(stmt, Load):
        return (stmt.var.name, *(var.name for _, var in stmt.more))
    if isinstance(stmt, Atomic) and stmt.var is not None:
        return (stmt.var.name,)
    return ()
