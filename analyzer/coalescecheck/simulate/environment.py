"""The variables of all lanes, and expressions evaluated over them.

In: pure IR expressions.  Out: one value per lane (a scalar while all lanes agree for certain).
It knows variables and builtins; it does not know statements or what lies in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalescecheck.ir.expr import (
    ArrayBase,
    Binary,
    Builtin,
    Call,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    Undefined,
    Var,
)
from coalescecheck.simulate import functions
from coalescecheck.simulate.lanes import Batch, Mask
from coalescecheck.simulate.values import (
    ARITHMETIC,
    CLEAN,
    COMPARISON,
    LOGIC,
    UNDEFINED,
    Data,
    Taint,
    Value,
    convert,
    is_tainted,
    join,
    scalar,
    where_taint,
)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A variable: its value, and the lanes for which it has ever been set."""

    value: Value
    owner: Mask


class Environment:
    """Variables by name, over one batch of lanes."""

    def __init__(
        self,
        batch: Batch,
        everyone: Mask,
        given: dict[str, Value],
        bases: dict[str, Value],
        shared_bytes: int,
    ) -> None:
        self._batch = batch
        self._bases = bases
        self._shared_bytes = np.uint32(shared_bytes)
        self._slots = {name: _Slot(value, everyone) for name, value in given.items()}

    def assign(self, name: str, value: Value, mask: Mask) -> None:
        """Set the variable for the lanes of ``mask``; the others keep what they had."""
        slot = self._slots.get(name)
        if slot is None or _within(slot.owner, mask):
            self._slots[name] = _Slot(Value(value.data, join(value.taint, mask.taint)), mask)
            return
        data = np.where(mask.lanes, value.data, slot.value.data)
        taint = where_taint(mask.lanes, value.taint, slot.value.taint)
        owner = slot.owner if _within(mask, slot.owner) else Mask(slot.owner.lanes | mask.lanes)
        self._slots[name] = _Slot(Value(data, join(taint, mask.taint)), owner)

    def add_taint(self, name: str, taint: Taint) -> None:
        """The variable might have been set by a branch that did not run."""
        slot = self._slots.get(name)
        if slot is not None:
            value = Value(slot.value.data, join(slot.value.taint, taint))
            self._slots[name] = _Slot(value, slot.owner)

    def evaluate(self, expr: Expr) -> Value:
        """The expression's value for every lane."""
        return _EVALUATE[type(expr)](self, expr)

    def full(self, data: Data) -> Any:
        """One entry per lane."""
        return np.broadcast_to(data, (self._batch.size,))

    def _const(self, expr: Const) -> Value:
        return Value(scalar(expr.value, expr.type))

    def _var(self, expr: Var) -> Value:
        slot = self._slots.get(expr.name)
        if slot is None:  # read before it was ever set
            return Value(scalar(0, expr.type), UNDEFINED)
        return slot.value

    def _builtin(self, expr: Builtin) -> Value:
        data = self._batch.builtin(expr.name)
        if expr.name == "shared_bytes":
            data = self._shared_bytes
        if data is None:
            return Value(scalar(0, expr.type), UNDEFINED)
        return Value(convert(data, expr.type))

    def _array_base(self, expr: ArrayBase) -> Value:
        return self._bases[expr.array]

    def _unary(self, expr: Unary) -> Value:
        operand = self.evaluate(expr.operand)
        if expr.op == "!":
            return Value(operand.data == 0, operand.taint)
        data = convert(operand.data, expr.type)
        return Value(-data if expr.op == "-" else ~data, operand.taint)

    def _binary(self, expr: Binary) -> Value:
        left, right = self.evaluate(expr.left), self.evaluate(expr.right)
        taint = join(left.taint, right.taint)
        if expr.op in COMPARISON:
            other = convert(right.data, expr.left.type)
            return Value(COMPARISON[expr.op](left.data, other), taint)
        a, b = convert(left.data, expr.type), convert(right.data, expr.type)
        if expr.op in LOGIC:
            return Value(LOGIC[expr.op](a, b), taint)
        data = convert(ARITHMETIC[expr.op](a, b), expr.type)
        if expr.op in "/%" and b.dtype.kind in "iu" and np.any(b == 0):
            taint = join(taint, where_taint(b == 0, UNDEFINED, CLEAN))
        return Value(data, taint)

    def _cast(self, expr: Cast) -> Value:
        operand = self.evaluate(expr.operand)
        return Value(convert(operand.data, expr.type), operand.taint)

    def _select(self, expr: Select) -> Value:
        condition = self.evaluate(expr.condition)
        then, otherwise = self.evaluate(expr.then), self.evaluate(expr.otherwise)
        data: Data = np.where(
            condition.data, convert(then.data, expr.type), convert(otherwise.data, expr.type)
        )
        taint = where_taint(condition.data, then.taint, otherwise.taint)
        return Value(data[()], join(condition.taint, taint))

    def _call(self, expr: Call) -> Value:
        args = [self.evaluate(arg) for arg in expr.args]
        taint = join(*(arg.taint for arg in args))
        data = functions.call(expr.function, [arg.data for arg in args]) if args else None
        if data is None:
            return Value(scalar(0, expr.type), join(taint, UNDEFINED))
        return Value(convert(np.asarray(data)[()], expr.type), taint)

    def _undefined(self, expr: Undefined) -> Value:
        return Value(scalar(0, expr.type), UNDEFINED)


_EVALUATE: dict[type, Callable[[Environment, Any], Value]] = {
    Const: Environment._const,
    Var: Environment._var,
    Builtin: Environment._builtin,
    ArrayBase: Environment._array_base,
    Unary: Environment._unary,
    Binary: Environment._binary,
    Cast: Environment._cast,
    Select: Environment._select,
    Call: Environment._call,
    Undefined: Environment._undefined,
}


def _within(inner: Mask, outer: Mask) -> bool:
    """Whether every lane of ``inner`` is in ``outer`` and neither is in doubt."""
    if inner is outer:
        return True
    if is_tainted(inner.taint) or is_tainted(outer.taint):
        return False
    return not bool((inner.lanes & ~outer.lanes).any())
