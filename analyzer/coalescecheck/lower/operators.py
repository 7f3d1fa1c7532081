"""C's arithmetic, comparison and logical operators on values.

In: values that are already evaluated.  Out: a value with C's result type; the casts that C
implies are explicit in the IR.  No memory is read here.
"""

from __future__ import annotations

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import FALSE, TRUE, Expr
from coalescecheck.lower import arith, conversions, ctypes, places, storage
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import Number, Pointer
from coalescecheck.lower.values import Reference, Scalar, Value

_FLOAT_OPERATORS = frozenset({"+", "-", "*", "/"}) | arith.COMPARISONS


def condition(cx: Context, value: Value) -> Expr:
    """A value as a BOOL condition."""
    match value:
        case Scalar():
            return arith.truth(value.expr)
        case Reference():
            return TRUE
    return cx.undefined("condition", f"a condition of the type {value.type}", ir.BOOL)


def binary(cx: Context, op: str, left: Value, right: Value, node: c_ast.Node) -> Value:
    """``left op right`` for everything but ``&&``, ``||`` and ``,``."""
    if _is_address(left) or _is_address(right):
        return _pointers(cx, op, left, right, node)
    match left, right:
        case Scalar(type=Number() as a), Scalar(type=Number() as b):
            known = _numbers(op, a, left.expr, b, right.expr)
            if known is not None:
                return known
    return _unknown(cx, op, left, right, node)


def _unknown(cx: Context, op: str, left: Value, right: Value, node: c_ast.Node) -> Value:
    """An operator the front end did not resolve to a function."""
    cx.warn(node, f"`{left.type} {op} {right.type}` is not known: the result is unknown")
    result = ctypes.BOOL if op in arith.COMPARISONS else left.type
    return storage.undefined_value(cx, result, "operator", f"unknown operator {op}")


def _numbers(op: str, a: Number, left: Expr, b: Number, right: Expr) -> Scalar | None:
    """An operator on numbers, None where C has none (``%`` of floats)."""
    if op in ("<<", ">>"):
        result = ctypes.promote(a)
        count = arith.cast(right, ctypes.promote(b).scalar)
        if not result.scalar.is_integer or not count.type.is_integer:
            return None
        return Scalar(result, arith.binary(op, arith.cast(left, result.scalar), count))
    result = ctypes.common(a, b)
    if not result.scalar.is_integer and op not in _FLOAT_OPERATORS:
        return None
    expr = arith.binary(op, arith.cast(left, result.scalar), arith.cast(right, result.scalar))
    return Scalar(ctypes.BOOL if op in arith.COMPARISONS else result, expr)


# --- pointers ---------------------------------------------------------------------------------


def _is_address(value: Value) -> bool:
    return isinstance(value, Reference) or (
        isinstance(value, Scalar) and isinstance(value.type, Pointer)
    )


def _pointers(cx: Context, op: str, left: Value, right: Value, node: c_ast.Node) -> Value:
    if op in arith.COMPARISONS:
        return Scalar(ctypes.BOOL, _compare(cx, op, left, right))
    if op == "+" and not _is_address(left):
        left, right = right, left
    if op in ("+", "-") and not _is_address(right):
        steps = index(cx, right, node)
        return places.advance(cx, left, steps if op == "+" else arith.unary("-", steps), node)
    if op == "-" and isinstance(left.type, Pointer):
        return Scalar(ctypes.LONG, _difference(cx, left, left.type, right))
    return _unknown(cx, op, left, right, node)


def index(cx: Context, value: Value, node: c_ast.Node) -> Expr:
    """A subscript as i64, extended by the sign of its own type."""
    converted = conversions.convert(cx, value, ctypes.LONG, node)
    if isinstance(converted, Scalar):
        return converted.expr
    return cx.undefined("index", f"a subscript of the type {value.type}", ir.I64)


def _address(cx: Context, value: Value) -> Expr:
    """A comparable address; a variable that is compared must have one."""
    if isinstance(value, Scalar):
        if value.expr.type.is_integer:
            return arith.cast(arith.cast(value.expr, ir.I64), ir.PTR)
        return value.expr
    if isinstance(value, Reference):
        conversions.demote(cx, value.place)
    return cx.undefined("address", "the address of a variable", ir.PTR)


def _compare(cx: Context, op: str, left: Value, right: Value) -> Expr:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Reference) and op in ("==", "!="):
            null = isinstance(other, Scalar) and arith.constant_int(other.expr) == 0
            if null or isinstance(other, Reference):
                same = isinstance(other, Reference) and one.place is other.place
                return TRUE if same == (op == "==") else FALSE
    return arith.binary(op, _address(cx, left), _address(cx, right))


def _difference(cx: Context, left: Value, pointer: Pointer, right: Value) -> Expr:
    a = arith.cast(_address(cx, left), ir.I64)
    b = arith.cast(_address(cx, right), ir.I64)
    step = ctypes.as_expr(ctypes.size_of(pointer.target))
    return arith.binary("/", arith.binary("-", a, b), step)


# --- unary ------------------------------------------------------------------------------------


def unary(cx: Context, op: str, value: Value, node: c_ast.Node) -> Value:
    """``+``, ``-``, ``~`` or ``!``."""
    if op == "!":
        return Scalar(ctypes.BOOL, arith.negate(condition(cx, value)))
    if not (isinstance(value, Scalar) and isinstance(value.type, Number)):
        cx.warn(node, f"`{op}{value.type}` is not known: the result is unknown")
        return storage.undefined_value(cx, value.type, "operator", f"unknown operator {op}")
    result = ctypes.promote(value.type)
    expr = arith.cast(value.expr, result.scalar)
    if op == "~" and not result.scalar.is_integer:
        return storage.undefined_value(cx, result, "operator", "~ of a float")
    return Scalar(result, expr if op == "+" else arith.unary(op, expr))


def choose(cx: Context, test: Expr, then: Scalar, otherwise: Scalar) -> Scalar:
    """``test ? then : otherwise`` of values that are already of one type."""
    return Scalar(then.type, arith.select(test, then.expr, otherwise.expr))


def merged_type(then: Value, otherwise: Value) -> ctypes.CType:
    """The type of a conditional expression (C11 6.5.15)."""
    a, b = then.type, otherwise.type
    if isinstance(a, Number) and isinstance(b, Number):
        return a if a.scalar == b.scalar and not b.unknown else ctypes.common(a, b)
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return b if isinstance(a.target, ctypes.Void) else a
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        return a if isinstance(a, Pointer) else b
    return a
