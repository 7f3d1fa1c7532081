"""What a floating-point expression is made of, as far as addresses are concerned.

Of a floating-point value only whether lanes differ is kept, so a whole tree of arithmetic is as
good as the list of the variables and of the other expressions at its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.ir.expr import Binary, Call, Cast, Const, Expr, Select, Unary

Part = tuple[bool, Expr]  # whether it is read as a truth value


def is_arithmetic(expr: Expr) -> bool:
    """Whether the expression computes a floating-point value from others."""
    if expr.type.kind != "float":
        return False
    if isinstance(expr, Binary):
        return "float" in (expr.left.type.kind, expr.right.type.kind)
    return isinstance(expr, Unary | Cast | Select | Call)


def parts_of(expr: Expr) -> Iterator[Part]:
    """The operands that decide whether lanes differ, from left to right."""
    if not is_arithmetic(expr):
        if not isinstance(expr, Const):
            yield False, expr
        return
    match expr:
        case Unary() | Cast():
            yield from parts_of(expr.operand)
        case Binary():
            yield from parts_of(expr.left)
            yield from parts_of(expr.right)
        case Select():
            yield True, expr.condition
            yield from parts_of(expr.then)
            yield from parts_of(expr.otherwise)
        case Call():
            for arg in expr.args:
                yield from parts_of(arg)
