"""Expressions as Python functions: each node is looked at once, not every time it is evaluated.

In: a pure IR expression.  Out: a function from the variables of a batch to a :class:`Value`
(a scalar while all lanes agree for certain).  Types, operators and constants are settled here;
it knows no statement, mask or memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

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
from coalescecheck.ir.types import ScalarType
from coalescecheck.simulate import functions
from coalescecheck.simulate.values import (
    ARITHMETIC,
    CLEAN,
    COMPARISON,
    LOGIC,
    UNDEFINED,
    Data,
    Value,
    convert,
    dtype_of,
    join,
    scalar,
    where_taint,
)


class Variables(Protocol):
    """What an expression reads."""

    def variable(self, name: str) -> Value | None:
        """The variable's value, None when it was never set."""
        ...

    def builtin(self, name: str, kind: ScalarType) -> Value:
        """``threadIdx.x`` and the like."""
        ...

    def base(self, array: str) -> Value:
        """The address of an array's first byte."""
        ...


Function = Callable[[Variables], Value]


class Compiler:
    """Compiles the expressions of one kernel; each of them once."""

    def __init__(self) -> None:
        # by identity: hashing a tree costs more than evaluating it; the tree is kept alive
        self._known: dict[int, tuple[Expr, Function]] = {}

    def function(self, expr: Expr) -> Function:
        """The function that evaluates ``expr``."""
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = (expr, compiled(expr))
        return known[1]


def compiled(expr: Expr) -> Function:
    """A function that evaluates ``expr``."""
    return _COMPILE[type(expr)](expr)


def _converted(operand: Expr, to: ScalarType) -> Function:
    """``operand`` converted to a type."""
    function, target = compiled(operand), dtype_of(to)
    if isinstance(operand, Const):
        value = Value(convert(scalar(operand.value, operand.type), to))
        return lambda variables: value

    def run(variables: Variables) -> Value:
        value = function(variables)
        return value if value.data.dtype is target else Value(convert(value.data, to), value.taint)

    return run


def _const(expr: Const) -> Function:
    value = Value(scalar(expr.value, expr.type))
    return lambda variables: value


def _var(expr: Var) -> Function:
    name, unset = expr.name, Value(scalar(0, expr.type), UNDEFINED)
    return lambda variables: variables.variable(name) or unset


def _builtin(expr: Builtin) -> Function:
    name, kind = expr.name, expr.type
    return lambda variables: variables.builtin(name, kind)


def _array_base(expr: ArrayBase) -> Function:
    array = expr.array
    return lambda variables: variables.base(array)


def _unary(expr: Unary) -> Function:
    if expr.op == "!":
        operand = compiled(expr.operand)

        def inverted(variables: Variables) -> Value:
            data, taint = operand(variables)
            return Value(data == 0, taint)

        return inverted
    number, negative = _converted(expr.operand, expr.type), expr.op == "-"

    def changed(variables: Variables) -> Value:
        data, taint = number(variables)
        return Value(-data if negative else ~data, taint)

    return changed


def _binary(expr: Binary) -> Function:
    if expr.op in COMPARISON:
        return _operation(
            COMPARISON[expr.op], compiled(expr.left), _converted(expr.right, expr.left.type)
        )
    left, right = _converted(expr.left, expr.type), _converted(expr.right, expr.type)
    if expr.op in LOGIC:
        return _operation(LOGIC[expr.op], left, right)
    if expr.op in "/%" and not (isinstance(expr.right, Const) and expr.right.value):
        return _division(ARITHMETIC[expr.op], left, right, expr.type)
    return _arithmetic(ARITHMETIC[expr.op], left, right, expr.type)


def _operation(operate: Callable[[Data, Data], Data], left: Function, right: Function) -> Function:
    def run(variables: Variables) -> Value:
        a, mine = left(variables)
        b, other = right(variables)
        return Value(operate(a, b), join(mine, other) if mine is not other else mine)

    return run


def _arithmetic(
    operate: Callable[[Data, Data], Data], left: Function, right: Function, kind: ScalarType
) -> Function:
    target = dtype_of(kind)

    def run(variables: Variables) -> Value:
        a, mine = left(variables)
        b, other = right(variables)
        data = operate(a, b)
        if data.dtype is not target:
            data = convert(data, kind)
        return Value(data, join(mine, other) if mine is not other else mine)

    return run


def _division(
    operate: Callable[[Data, Data], Data], left: Function, right: Function, kind: ScalarType
) -> Function:
    """Division by something that may be 0: an unknown value there, for integers."""

    def run(variables: Variables) -> Value:
        a, mine = left(variables)
        b, other = right(variables)
        data, taint = convert(operate(a, b), kind), join(mine, other)
        if b.dtype.kind in "iu" and np.any(b == 0):
            taint = join(taint, where_taint(b == 0, UNDEFINED, CLEAN))
        return Value(data, taint)

    return run


def _cast(expr: Cast) -> Function:
    return _converted(expr.operand, expr.type)


def _select(expr: Select) -> Function:
    condition = compiled(expr.condition)
    then, otherwise = _converted(expr.then, expr.type), _converted(expr.otherwise, expr.type)

    def run(variables: Variables) -> Value:
        chosen, decided = condition(variables)
        one, other = then(variables), otherwise(variables)
        data: Data = np.where(chosen, one.data, other.data)
        taint = where_taint(chosen, one.taint, other.taint)
        return Value(data[()], join(decided, taint))

    return run


def _call(expr: Call) -> Function:
    arguments = [compiled(arg) for arg in expr.args]
    name, kind = expr.function, expr.type

    def run(variables: Variables) -> Value:
        args = [argument(variables) for argument in arguments]
        taint = join(*(arg.taint for arg in args))
        data = functions.call(name, [arg.data for arg in args]) if args else None
        if data is None:
            return Value(scalar(0, kind), join(taint, UNDEFINED))
        return Value(convert(np.asarray(data)[()], kind), taint)

    return run


def _undefined(expr: Undefined) -> Function:
    value = Value(scalar(0, expr.type), UNDEFINED)
    return lambda variables: value


_COMPILE: dict[type, Callable[[Any], Function]] = {
    Const: _const,
    Var: _var,
    Builtin: _builtin,
    ArrayBase: _array_base,
    Unary: _unary,
    Binary: _binary,
    Cast: _cast,
    Select: _select,
    Call: _call,
    Undefined: _undefined,
}
