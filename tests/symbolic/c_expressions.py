"""Random IR expressions together with what C says of them, lane by lane, in plain integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from coalescecheck.ir import expr as ir
from coalescecheck.ir.types import BOOL, I8, I16, I32, I64, U8, U16, U32, U64, ScalarType

Lane = Mapping[str, int]


class UndefinedInC(Exception):
    """Signed overflow, division by zero: any value is right."""


@dataclass(frozen=True)
class Meaning:
    """An expression and the function that computes it in one lane."""

    expr: ir.Expr
    of: Callable[[Lane], int]


def held(value: int, type_: ScalarType) -> int:
    """``value`` as an arithmetic result of this type."""
    if type_.kind == "uint":
        return value % (1 << type_.bits)
    if not -(1 << (type_.bits - 1)) <= value < 1 << (type_.bits - 1):
        raise UndefinedInC
    return value


def converted(value: int, type_: ScalarType) -> int:
    """``value`` after a conversion to this type (C11 6.3.1.3, modulo 2**bits as gcc and nvcc)."""
    if type_ == BOOL:
        return int(value != 0)
    value %= 1 << type_.bits
    if type_.kind == "int" and value >> (type_.bits - 1):
        value -= 1 << type_.bits
    return value


def quotient(a: int, b: int) -> int:
    if b == 0:
        raise UndefinedInC
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "%": lambda a, b: a - b * quotient(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
TYPES = (I32, I32, U32, I64, U64)
NARROW = (I8, U8, I16, U16, BOOL)


def constant(type_: ScalarType, value: int) -> Meaning:
    value = converted(value, type_)
    return Meaning(ir.Const(type_, value), lambda lane: value)


def builtin(name: str) -> Meaning:
    return Meaning(ir.Builtin(name, U32), lambda lane: lane[name])


def cast(inner: Meaning, type_: ScalarType) -> Meaning:
    return Meaning(ir.Cast(inner.expr, type_), lambda lane: converted(inner.of(lane), type_))


def binary(op: str, left: Meaning, right: Meaning) -> Meaning:
    type_, compute = left.expr.type, ARITHMETIC[op]
    return Meaning(
        ir.Binary(op, left.expr, right.expr, type_),
        lambda lane: held(compute(left.of(lane), right.of(lane)), type_),
    )


def shift(op: str, left: Meaning, count: int) -> Meaning:
    type_ = left.expr.type

    def compute(lane: Lane) -> int:
        value = left.of(lane)
        return held(value << count, type_) if op == "<<" else value >> count

    return Meaning(ir.Binary(op, left.expr, ir.Const(type_, count), type_), compute)


def compare(op: str, left: Meaning, right: Meaning) -> Meaning:
    test = COMPARISONS[op]
    return Meaning(
        ir.Binary(op, left.expr, right.expr, BOOL),
        lambda lane: int(test(left.of(lane), right.of(lane))),
    )


def logic(op: str, left: Meaning, right: Meaning) -> Meaning:
    combine = min if op == "&&" else max
    return Meaning(
        ir.Binary(op, left.expr, right.expr, BOOL),
        lambda lane: combine(left.of(lane), right.of(lane)),
    )


def select(condition: Meaning, then: Meaning, otherwise: Meaning) -> Meaning:
    return Meaning(
        ir.Select(condition.expr, then.expr, otherwise.expr, then.expr.type),
        lambda lane: then.of(lane) if condition.of(lane) else otherwise.of(lane),
    )


def unary(op: str, inner: Meaning) -> Meaning:
    type_ = inner.expr.type
    compute: dict[str, Callable[[int], int]] = {
        "-": lambda a: held(-a, type_),
        "~": lambda a: held(~a, type_),
    }
    return Meaning(ir.Unary(op, inner.expr, type_), lambda lane: compute[op](inner.of(lane)))


def call(function: str, inner: Meaning) -> Meaning:
    def compute(lane: Lane) -> int:
        value = inner.of(lane)
        bits = value % (1 << 32)
        return {
            "abs": lambda: held(abs(value), I32),
            "popc": lambda: bin(bits).count("1"),
            "clz": lambda: 32 - bits.bit_length(),
            "ffs": lambda: (bits & -bits).bit_length(),
        }[function]()

    return Meaning(ir.Call(function, (inner.expr,), I32), compute)


@st.composite
def meanings(draw: st.DrawFn, type_: ScalarType, depth: int) -> Meaning:
    """An expression of this type."""
    if depth == 0:
        return _leaf(draw, type_)
    below = meanings(type_, depth - 1)
    kind = draw(st.sampled_from(["arithmetic"] * 5 + ["shift", "select", "unary", "cast", "call"]))
    match kind:
        case "arithmetic":
            op = draw(st.sampled_from(sorted(ARITHMETIC)))
            right = draw(st.one_of(meanings(type_, 0), below))
            return binary(op, draw(below), right)
        case "shift":
            return shift(draw(st.sampled_from(["<<", ">>"])), draw(below), draw(st.integers(0, 5)))
        case "select":
            return select(draw(conditions(depth - 1)), draw(below), draw(below))
        case "unary":
            return unary(draw(st.sampled_from("-~")), draw(below))
        case "cast":
            other = draw(meanings(draw(st.sampled_from(TYPES)), depth - 1))
            through = draw(st.sampled_from((*NARROW, type_)))
            return cast(cast(other, through), type_)
    function = draw(st.sampled_from(["abs", "popc", "clz", "ffs"]))
    return cast(call(function, draw(meanings(I32, depth - 1))), type_)


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> Meaning:
    """A truth value."""
    type_ = draw(st.sampled_from(TYPES))
    test = compare(
        draw(st.sampled_from(sorted(COMPARISONS))),
        draw(meanings(type_, depth)),
        draw(meanings(type_, 0)),
    )
    if depth and draw(st.booleans()):
        return logic(draw(st.sampled_from(["&&", "||"])), test, draw(conditions(depth - 1)))
    return test


def _leaf(draw: st.DrawFn, type_: ScalarType) -> Meaning:
    name = draw(st.sampled_from(["", "threadIdx.x", "threadIdx.y", "threadIdx.x", "blockIdx.x"]))
    if name:
        return cast(builtin(name), type_)
    return constant(type_, draw(st.sampled_from([0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 100, -1, -6])))
