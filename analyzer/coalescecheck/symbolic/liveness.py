"""Which variables still matter at a point of a kernel: those some later statement may read.

The classic backward analysis, over structured statements.  Sets are bit masks, one bit a
variable, because kernels have thousands of statements and hundreds of variables.  The cells of
a per-thread array count as one variable, which every access of the array reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Continue,
    If,
    Leave,
    Load,
    Loop,
    Scope,
    Stmt,
    Store,
    WarpOp,
    expressions,
    walk,
)
from coalescecheck.ir.mentions import Mentions
from coalescecheck.symbolic.cells import array_key, is_cell

Mask = int
ALWAYS: Mask = 1  # the bit of names that no statement mentions, and of arrays with pointers to them
EXACT_DEPTH = 3  # loops inside loops that are solved exactly
T = TypeVar("T")


class _BitOf(dict[str, Mask]):
    """The bit of every name that has been asked about; a cell has that of its array."""

    def __init__(self, bits: dict[str, Mask]) -> None:
        self._bits = bits

    def __missing__(self, name: str) -> Mask:
        bit = self[name] = self._bits.get(array_key(name) if is_cell(name) else name, ALWAYS)
        return bit


class Liveness:
    """The variables that are live around the If, Loop and Scope statements of ``body``.

    Without ``relevant`` all variables are: others are not asked about.
    """

    def __init__(
        self,
        body: tuple[Stmt, ...],
        relevant: Callable[[str], bool] = lambda name: True,
        mentions: Mentions | None = None,
    ) -> None:
        self._mentions = Mentions() if mentions is None else mentions
        self._relevant = relevant
        self._bits: dict[str, Mask] = {}
        self._bit_of = _BitOf(self._bits)
        self._plain: dict[int, tuple[Mask, Mask]] = {}  # what a statement reads, and sets
        self._left: dict[str, Mask] = {}  # live where Leave(label) leads
        self._continued: dict[str, Mask] = {}
        self._before: dict[int, Mask] = {}
        self._after: dict[int, Mask] = {}
        self._depth = 0  # loops around
        for stmt in walk(body):
            self._pin_arrays(stmt)
        self._block(body, 0)

    def before(self, stmt: Stmt, values: Mapping[str, T]) -> dict[str, T]:
        """The values that ``stmt`` or something after it may read before setting them."""
        return self._only(values, self._before[id(stmt)])

    def after(self, stmt: Stmt, values: Mapping[str, T]) -> dict[str, T]:
        """The values that something after ``stmt`` may read before setting them."""
        return self._only(values, self._after[id(stmt)])

    def _only(self, values: Mapping[str, T], live: Mask) -> dict[str, T]:
        bit_of, live = self._bit_of, live | ALWAYS
        return {name: value for name, value in values.items() if bit_of[name] & live}

    def _block(self, body: tuple[Stmt, ...], live: Mask) -> Mask:
        """What is live before ``body`` when ``live`` is after it."""
        for stmt in reversed(body):
            live = self._statement(stmt, live)
        return live

    def _statement(self, stmt: Stmt, after: Mask) -> Mask:
        match stmt:
            case Leave():
                return self._left[stmt.label]
            case Continue():
                return self._continued[stmt.label]
            case If():
                live = self._block(stmt.then, after) | self._block(stmt.otherwise, after)
                before = live | self._reads(stmt)
            case Scope():
                self._left[stmt.label] = after
                before = self._block(stmt.body, after)
            case Loop():
                before = self._loop(stmt, after)
            case _:
                reads, sets = self._effect(stmt)
                return after & ~sets | reads
        # a statement is visited several times inside loops; what any visit finds counts
        self._before[id(stmt)] = self._before.get(id(stmt), 0) | before
        self._after[id(stmt)] = self._after.get(id(stmt), 0) | after
        return before

    def _loop(self, stmt: Loop, after: Mask) -> Mask:
        """What is live when an iteration starts.

        "live = read | (live - set)" is stable after one round from nothing; deep inside, where
        that would double the work level by level, all that the loop reads is taken as a start.
        """
        deep = self._depth >= EXACT_DEPTH
        start = self._all_reads(stmt) | after if deep else 0
        self._depth += 1
        for _ in range(1 if deep else 2):
            self._left[stmt.label] = after
            start = self._iteration(stmt, start, self._reads(stmt) | after)
        self._depth -= 1
        return start

    def _iteration(self, stmt: Loop, next_: Mask, tested: Mask) -> Mask:
        """What is live before an iteration with ``next_`` before the following one."""
        if stmt.test_first:
            step = self._continued[stmt.label] = self._block(stmt.step, next_)
            return self._block(stmt.test, self._block(stmt.body, step) | tested)
        test = self._block(stmt.test, next_ | tested)
        step = self._continued[stmt.label] = self._block(stmt.step, test)
        return self._block(stmt.body, step)

    def _all_reads(self, stmt: Loop) -> Mask:
        found = 0
        for inner in walk((stmt,)):
            found |= self._reads(inner)
        return found

    def _reads(self, stmt: Stmt) -> Mask:
        return self._effect(stmt)[0]

    def _effect(self, stmt: Stmt) -> tuple[Mask, Mask]:
        if isinstance(stmt, Assign | WarpOp) and not self._relevant(stmt.var.name):
            return 0, 0
        known = self._plain.get(id(stmt))
        if known is None:
            reads = 0
            for expr in expressions(stmt):
                reads |= self._variables(expr)
            sets = 0
            if isinstance(stmt, Assign | Load | Atomic | WarpOp) and stmt.var is not None:
                sets = self._bit(stmt.var.name)
            if isinstance(stmt, Load):
                for _, var in stmt.more:
                    sets |= self._bit(var.name)
            known = self._plain[id(stmt)] = (reads, sets)
        return known

    def _variables(self, expr: Expr) -> Mask:
        mention = self._mentions.of(expr)
        found = 0
        for name in mention.variables:
            found |= self._bit(name)
        for name in mention.arrays:
            found |= self._bit(array_key(name))
        return found

    def _pin_arrays(self, stmt: Stmt) -> None:
        """Arrays whose address is kept somewhere may be read where nothing names them."""
        direct = 1 if isinstance(stmt, Load | Store | Atomic) else 0
        for expr in expressions(stmt)[direct:]:
            for name in self._mentions.of(expr).arrays:
                self._bits[array_key(name)] = ALWAYS

    def _bit(self, name: str) -> Mask:
        return self._bits.setdefault(name, ALWAYS << len(self._bits) + 1)
