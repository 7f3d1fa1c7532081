"""Which pointers a kernel looks at before it uses them.

A null pointer that is checked decides what runs.  One that is not checked is never used by a
program that works: the launch only stands in for another one, so it has an array like all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from coalescecheck.ir.expr import Binary, Cast, Expr, Select, Unary, children
from coalescecheck.ir.kernel import If, Kernel, Loop, expressions, walk
from coalescecheck.ir.origins import origins_in

_DECIDING = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


def checked(kernel: Kernel, names: Collection[str]) -> frozenset[str]:
    """Those of the pointer parameters ``names`` whose addresses decide something."""
    origins = origins_in(kernel)
    found: set[str] = set()
    for stmt in walk(kernel.body):
        for expr in expressions(stmt):
            truths = [expr] if isinstance(stmt, If | Loop) else []
            for truth in (*truths, *_truths(expr)):
                found |= origins.known(truth)
    return frozenset(names) & found


def _truths(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression that are true or false."""
    match expr:
        case Binary() if expr.op in _DECIDING:
            yield expr
        case Unary(op="!") | Cast() if expr.type.name == "bool":
            yield expr.operand
        case Select():
            yield expr.condition
    for child in children(expr):
        yield from _truths(child)
