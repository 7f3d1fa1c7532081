"""Builds IR expressions with constants folded the way C computes them.

In: IR expressions.  Out: IR expressions that obey the typing rules of ``ir.expr``; an operation
on constants becomes a constant (wrapping, truncating division), an identity disappears.
Nothing here knows C types or memory.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from coalescecheck.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    Undefined,
)
from coalescecheck.ir.types import BOOL, I64, PTR, ScalarType

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
NULL = Const(PTR, 0)


def integer(value: int, type_: ScalarType = I64) -> Const:
    """An integer constant, wrapped to its type."""
    return Const(type_, wrap(value, type_))


def wrap(value: int, type_: ScalarType) -> int:
    """The value of the type that is congruent to ``value``; bool is 0 or 1."""
    if type_ == BOOL:
        return int(value != 0)
    value &= (1 << type_.bits) - 1
    if type_.kind == "int" and value >> (type_.bits - 1):
        value -= 1 << type_.bits
    return value


def constant_int(expr: Expr) -> int | None:
    """The value of an integer (or pointer) constant."""
    if isinstance(expr, Const) and isinstance(expr.value, int):
        return expr.value
    return None


def cast(expr: Expr, to: ScalarType) -> Expr:
    """``expr`` converted to ``to``; no node where the type is the same already."""
    if expr.type == to:
        return expr
    match expr:
        case Const():
            folded = _cast_const(expr.value, to)
            if folded is not None:
                return folded
        case Undefined():
            return replace(expr, type=to, key=f"{expr.key}.{to}")
        case Cast() if to == BOOL and expr.operand.type == BOOL:
            return expr.operand
    if to == BOOL:
        return Binary("!=", expr, zero(expr.type), BOOL)
    return Cast(expr, to)


def _cast_const(value: int | float, to: ScalarType) -> Const | None:
    if to.kind == "float":
        return Const(to, _round_float(float(value), to))
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if to == BOOL:
            return Const(BOOL, int(value != 0))
        value = math.trunc(value)
        return integer(value, to) if wrap(value, to) == value else None
    return integer(value, to)


def _round_float(value: float, to: ScalarType) -> float:
    if to.size == 4 and math.isfinite(value):
        try:
            rounded: float = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
        return rounded
    return value


def zero(type_: ScalarType) -> Const:
    """Zero, false or null."""
    return Const(type_, 0.0 if type_.kind == "float" else 0)


def truth(expr: Expr) -> Expr:
    """``expr`` as a condition (BOOL)."""
    return cast(expr, BOOL)


def negate(condition: Expr) -> Expr:
    """The opposite of a BOOL condition."""
    match condition:
        case Const():
            return FALSE if condition.value else TRUE
        case Unary(op="!"):
            return condition.operand
    return Unary("!", condition, BOOL)


def unary(op: str, operand: Expr) -> Expr:
    """``-`` or ``~`` of a promoted operand."""
    if isinstance(operand, Const):
        if op == "-" and isinstance(operand.value, float):
            return Const(operand.type, -operand.value)
        if isinstance(operand.value, int):
            value = -operand.value if op == "-" else ~operand.value
            return integer(value, operand.type)
    return Unary(op, operand, operand.type)


def binary(op: str, left: Expr, right: Expr) -> Expr:
    """Both operands have one type already (a shift's right operand is cast here)."""
    if op in ("<<", ">>"):
        right = cast(right, left.type)
    result = BOOL if op in COMPARISONS else left.type
    if isinstance(left, Const) and isinstance(right, Const):
        value = _fold(op, left.value, right.value, left.type)
        if value is not None:
            return Const(result, value)
    return _identity(op, left, right) or Binary(op, left, right, result)


def _fold(op: str, a: int | float, b: int | float, type_: ScalarType) -> int | float | None:
    if op in COMPARISONS:
        order = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return int(order[op])
    if not (isinstance(a, int) and isinstance(b, int)):
        return _fold_float(op, float(a), float(b), type_)
    value = _fold_int(op, a, b, type_.bits)
    return None if value is None else wrap(value, type_)


def _fold_float(op: str, a: float, b: float, type_: ScalarType) -> float | None:
    # one operation in double, then rounding, is exact for float + - * / (double rounding is
    # innocuous with 53 >= 2*24 + 2 bits)
    if op == "/" and b == 0:
        return None
    results = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else 0.0}
    value = results.get(op)
    return None if value is None else _round_float(value, type_)


def _fold_int(op: str, a: int, b: int, bits: int) -> int | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - quotient * b
        case "<<" if 0 <= b < bits:
            return a << b
        case ">>" if 0 <= b < bits:
            return a >> b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
    return None


def _identity(op: str, left: Expr, right: Expr) -> Expr | None:
    """Integer identities only: x+0, x*1, x*0, x-0, x<<0, x/1."""
    if not (left.type.is_integer or left.type == PTR):
        return None
    a, b = constant_int(left), constant_int(right)
    if b == 0 and op in ("+", "-", "<<", ">>", "|", "^"):
        return left
    if a == 0 and op in ("+", "|", "^") and right.type == left.type:
        return right
    if op == "*" and (a == 1 or b == 1):
        return right if a == 1 else left
    if op in ("*", "&") and (a == 0 or b == 0):
        return integer(0, left.type)
    return left if op == "/" and b == 1 else None


def logic(op: str, left: Expr, right: Expr) -> Expr:
    """``&&`` or ``||`` of two BOOL expressions."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const):
            decides = bool(one.value) == (op == "||")
            return one if decides else other
    return Binary(op, left, right, BOOL)


def select(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """``condition ? then : otherwise`` of one type."""
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    return then if then == otherwise else Select(condition, then, otherwise, then.type)


def offset(address: Expr, amount: Expr) -> Expr:
    """``address`` moved by an i64 number of bytes; constant offsets are merged."""
    step = constant_int(amount)
    if step == 0:
        return address
    if step is not None and isinstance(address, Binary) and address.op == "+":
        inner = constant_int(address.right)
        if inner is not None:
            return offset(address.left, integer(inner + step))
    return Binary("+", address, amount, PTR)


def root(address: Expr) -> Expr:
    """What an address is an offset from: an ArrayBase, a Var, or something unclear."""
    while isinstance(address, Binary) and address.type == PTR:
        address = address.left
    return address


def distance(address: Expr) -> int | None:
    """The constant number of bytes by which an address is behind its root; None for others."""
    if not isinstance(address, Binary) or address.type != PTR:
        return 0
    near = root(address) is address.left
    return constant_int(address.right) if near else None


def call(function: str, args: tuple[Expr, ...], type_: ScalarType) -> Expr:
    """A pure function; the integer ones are folded where it is cheap to be right."""
    value = constant_int(args[0]) if len(args) == 1 else None
    if value is not None:
        bits = args[0].type.bits
        pattern = value & ((1 << bits) - 1)
        match function:
            case "popc":
                return integer(pattern.bit_count(), type_)
            case "clz":
                return integer(bits - pattern.bit_length(), type_)
            case "ffs":
                return integer((pattern & -pattern).bit_length(), type_)
            case "abs":
                return integer(abs(value), type_)
    return Call(function, args, type_)
