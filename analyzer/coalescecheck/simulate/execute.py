"""Statements over all lanes of a batch: control flow with masks.

In: the kernel's statements.  Out: variables, memory and records changed.  A statement runs once
for all lanes whose mask is set; lanes that left a scope, broke out of a loop or returned are
taken out of the mask until the statement they left has ended.

Where a condition depends on something unknown, the lanes concerned carry that taint through both
branches: what is accessed and assigned there is marked, for the lanes that do not run it too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coalescecheck.ir.expr import ArrayBase, Expr, children
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Barrier,
    Continue,
    If,
    Leave,
    Load,
    Loop,
    Scope,
    Stmt,
    Store,
    WarpOp,
    walk,
)
from coalescecheck.simulate import warp_ops
from coalescecheck.simulate.accesses import AccessUnit
from coalescecheck.simulate.course import Course
from coalescecheck.simulate.environment import Environment
from coalescecheck.simulate.lanes import Batch, Mask
from coalescecheck.simulate.memory_map import AddressSpace
from coalescecheck.simulate.races import RaceDetector
from coalescecheck.simulate.trace import Recorder
from coalescecheck.simulate.values import (
    CLEAN,
    UNDEFINED,
    Bools,
    Data,
    Taint,
    Value,
    convert,
    is_tainted,
    join,
    scalar,
)


class StepLimitError(Exception):
    """The simulation ran for too long, or needs too much memory, which is its message then."""


class Budget:
    """How many statements may still run, over all batches, and what was odd on the way.

    ``patience``: how many may run without coming to an access that was not reached before.
    """

    def __init__(self, steps: int, patience: int) -> None:
        self._most, self._patience = steps, patience
        self._until = min(steps, patience)
        self.spent = 0
        self.reasons: dict[str, None] = {}

    def spend(self) -> None:
        """Count one statement."""
        self.spent += 1
        if self.spent > self._until:
            raise StepLimitError

    def progress(self) -> None:
        """An access was reached for the first time."""
        self._until = min(self._most, self.spent + self._patience)

    def note(self, reason: str) -> None:
        """Remember why the result is not complete."""
        self.reasons[reason] = None


class Machine:
    """Runs statements over one batch."""

    def __init__(
        self,
        batch: Batch,
        environment: Environment,
        unit: AccessUnit,
        races: RaceDetector | None,
        space: AddressSpace,
        recorder: Recorder,
        budget: Budget,
        course: Course | None,
    ) -> None:
        self._batch = batch
        self._environment = environment
        self._unit = unit
        self._races = races
        self._space = space
        self._recorder = recorder
        self._budget = budget
        self._followed = None if course is None else course.statements
        # Lanes that jumped to the end of a label, and to the step of a loop.
        self._left: dict[str, Bools] = {}
        self._continued: dict[str, Bools] = {}
        # What decided about those jumps, for lanes that may or may not have taken them.
        self._doubt: dict[tuple[str, str], Taint] = {}

    def run(self, stmts: tuple[Stmt, ...], mask: Mask) -> Mask:
        """Run a list of statements; the mask of lanes that fall through its end."""
        followed = self._followed
        for position, stmt in enumerate(stmts):
            if followed is not None and id(stmt) not in followed:
                continue
            if not mask.alive:
                self._skip(stmts[position:], mask)
                return mask
            self._budget.spend()
            mask = _RUN[type(stmt)](self, stmt, mask)
        return mask

    def _assign(self, stmt: Assign, mask: Mask) -> Mask:
        value = self._environment.evaluate(stmt.value)
        data = convert(value.data, stmt.var.type)
        self._environment.assign(stmt.var.name, Value(data, value.taint), mask)
        return mask

    def _load(self, stmt: Load, mask: Mask) -> Mask:
        self._unit.load(stmt, mask)
        return mask

    def _store(self, stmt: Store, mask: Mask) -> Mask:
        self._unit.store(stmt, mask)
        return mask

    def _atomic(self, stmt: Atomic, mask: Mask) -> Mask:
        self._unit.atomic(stmt, mask)
        return mask

    def _if(self, stmt: If, mask: Mask) -> Mask:
        yes, no = self._split(stmt.condition, mask, f"line {stmt.span.line}")
        after_then = self.run(stmt.then, yes)
        after_else = self.run(stmt.otherwise, no)
        if after_then is yes and after_else is no and not self._doubt:
            return mask
        return self._joined(mask, after_then.lanes | after_else.lanes)

    def _loop(self, stmt: Loop, mask: Mask) -> Mask:
        label, tested = stmt.label, stmt.test_first
        self._left[label] = np.zeros_like(mask.lanes)
        current = mask
        while True:
            if tested:
                current = self.run(stmt.test, current)
                current, done = self._split(stmt.condition, current, f"line {stmt.span.line}")
                if done.alive:
                    self._left[label] = self._left[label] | done.lanes
                if is_tainted(current.taint):
                    self._add_doubt((label, "leave"), current.taint)
            tested = True
            if not current.alive:
                self._skip((stmt,), current)
                break
            self._budget.spend()
            current = self._iterate(stmt, current)
        return self._closed(label, mask, self._left.pop(label))

    def _iterate(self, stmt: Loop, mask: Mask) -> Mask:
        """The body and the step, once."""
        self._continued[stmt.label] = np.zeros_like(mask.lanes)
        after = self.run(stmt.body, mask)
        continued = self._continued.pop(stmt.label)
        self._doubt.pop((stmt.label, "continue"), None)
        if continued.any():
            after = self._joined(mask, after.lanes | continued)
        return self.run(stmt.step, after)

    def _scope(self, stmt: Scope, mask: Mask) -> Mask:
        self._left[stmt.label] = np.zeros_like(mask.lanes)
        after = self.run(stmt.body, mask)
        return self._closed(stmt.label, mask, self._left.pop(stmt.label) | after.lanes)

    def _leave(self, stmt: Leave, mask: Mask) -> Mask:
        self._left[stmt.label] = self._left[stmt.label] | mask.lanes
        self._add_doubt((stmt.label, "leave"), mask.taint)
        return mask.nobody(mask.taint)

    def _continue(self, stmt: Continue, mask: Mask) -> Mask:
        self._continued[stmt.label] = self._continued[stmt.label] | mask.lanes
        self._add_doubt((stmt.label, "continue"), mask.taint)
        return mask.nobody(mask.taint)

    def _barrier(self, stmt: Barrier, mask: Mask) -> Mask:
        if stmt.scope == "grid" and self._batch.blocks < self._batch.grid.size:
            self._budget.note("a grid barrier, and not all blocks run together")
        if self._races is not None:
            if stmt.scope == "warp":
                self._races.warp_barrier(mask.lanes, self._ordered(stmt))
            else:  # an unknown one as well: nothing is called a race that may be ordered
                self._races.block_barrier(mask.lanes)
        return mask

    def _ordered(self, stmt: Barrier) -> Data | None:
        """The lanes that each lane names as those with which it waits; None: its whole warp."""
        if stmt.mask is None:
            return None
        value = self._environment.evaluate(stmt.mask)
        if is_tainted(value.taint):  # nothing is called a race that may be ordered
            return None
        return np.broadcast_to(value.data, (self._batch.size,))

    def _warp_op(self, stmt: WarpOp, mask: Mask) -> Mask:
        args = [self._environment.evaluate(arg) for arg in stmt.args]
        value = warp_ops.exchange(stmt.op, args, mask, self._batch)
        if value is None:
            value = Value(scalar(0, stmt.var.type), UNDEFINED)
        if stmt.op.startswith("block_") and self._races is not None:
            self._races.block_barrier(mask.lanes)
        data = convert(value.data, stmt.var.type)
        self._environment.assign(stmt.var.name, Value(data, value.taint), mask)
        return mask

    def _split(self, condition: Expr, mask: Mask, place: str) -> tuple[Mask, Mask]:
        """The lanes for which the condition holds, and the others."""
        value = self._environment.evaluate(condition)
        taint: Taint = mask.taint
        if is_tainted(value.taint):
            mine = np.where(mask.possible(), np.asarray(value.taint, np.uint8), np.uint8(0))
            if (mine & UNDEFINED).any():
                self._budget.note(f"an unknown value decides a branch at {place}")
            taint = join(taint, mine)
        if np.ndim(value.data) == 0 and not is_tainted(taint):
            return (mask, mask.nobody()) if value.data else (mask.nobody(), mask)
        holds = mask.lanes & (value.data != 0)
        if is_tainted(taint):
            return Mask(holds, taint), Mask(mask.lanes & ~holds, taint)
        return mask.narrowed(holds), mask.narrowed(mask.lanes & ~holds)

    def _joined(self, mask: Mask, lanes: Bools) -> Mask:
        """Back to ``lanes`` of ``mask`` after its branches, with the doubts still open."""
        taint = join(*self._doubt.values()) if self._doubt else CLEAN
        if is_tainted(taint) or is_tainted(mask.taint):
            return Mask(lanes, join(mask.taint, taint))
        return mask.narrowed(lanes)

    def _closed(self, label: str, mask: Mask, lanes: Bools) -> Mask:
        """After the end of a label: whoever jumped here runs again."""
        self._doubt.pop((label, "leave"), None)
        return self._joined(mask, lanes)

    def _add_doubt(self, jump: tuple[str, str], taint: Taint) -> None:
        if is_tainted(taint):
            self._doubt[jump] = join(self._doubt.get(jump, CLEAN), taint)

    def _skip(self, stmts: tuple[Stmt, ...], mask: Mask) -> None:
        """Nobody runs these, but some lanes might have: doubt what they would have changed."""
        if not is_tainted(mask.taint):
            return
        for stmt in walk(stmts):
            match stmt:
                case Assign() | WarpOp():
                    self._environment.add_taint(stmt.var.name, mask.taint)
                case Load() | Store() | Atomic():
                    self._recorder.note_taint(stmt.access, mask.taint)
                    self._doubt_memory(stmt, mask.taint)

    def _doubt_memory(self, stmt: Load | Store | Atomic, taint: Taint) -> None:
        if isinstance(stmt, Load):
            for var in (stmt.var, *(var for _, var in stmt.more)):
                self._environment.add_taint(var.name, taint)
            return
        if isinstance(stmt, Atomic) and stmt.var is not None:
            self._environment.add_taint(stmt.var.name, taint)
        bits = int(np.bitwise_or.reduce(np.atleast_1d(np.asarray(taint))))
        for array in _bases(stmt.address):
            self._space.add_taint(array, bits)


_RUN: dict[type, Callable[[Machine, Any, Mask], Mask]] = {
    Assign: Machine._assign,
    Load: Machine._load,
    Store: Machine._store,
    Atomic: Machine._atomic,
    If: Machine._if,
    Loop: Machine._loop,
    Scope: Machine._scope,
    Leave: Machine._leave,
    Continue: Machine._continue,
    Barrier: Machine._barrier,
    WarpOp: Machine._warp_op,
}


def _bases(expr: Expr) -> set[str]:
    if isinstance(expr, ArrayBase):
        return {expr.array}
    return {name for child in children(expr) for name in _bases(child)}
