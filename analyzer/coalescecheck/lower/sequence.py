"""What must be read before a later part of an expression changes it (C++17 [intro.execution]).

Variables are read when the statement that uses them runs.  Where C++ orders the parts of an
expression, an earlier one is read before the effects of a later one: the value of an assignment
before its target is found, items of a list one after the other, a shift from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from coalescecheck.ir.expr import Const
from coalescecheck.lower.context import Context
from coalescecheck.lower.values import Members, Scalar, Value

_TEMPORARY = "tmp__"  # by the front end, for one use
_UPDATES = frozenset({"++", "--", "p++", "p--"})


def has_effect(node: c_ast.Node | None) -> bool:
    """Whether an expression itself sets a variable."""
    if node is None:
        return False
    if isinstance(node, c_ast.Assignment):
        target = node.lvalue
        ours = isinstance(target, c_ast.ID) and target.name.startswith(_TEMPORARY)
        return not ours or has_effect(node.rvalue)
    if isinstance(node, c_ast.UnaryOp) and node.op in _UPDATES:
        return True
    return any(has_effect(child) for _, child in node.children())


def in_order(cx: Context, nodes: Sequence[c_ast.Node]) -> list[Value]:
    """The values of expressions one after the other, as C++ orders arguments in braces and
    compilers all others."""
    changing = any(has_effect(node) for node in nodes)
    values = []
    for node in nodes:
        value = cx.evaluate(cx, node)
        values.append(read_now(cx, value) if changing else value)
    return values


def read_now(cx: Context, value: Value) -> Value:
    """A value that no later change of a variable reaches."""
    match value:
        case Scalar() if not isinstance(value.expr, Const):
            return Scalar(value.type, cx.keep(value.expr))
        case Members():
            return Members(value.type, {n: read_now(cx, v) for n, v in value.members.items()})
        case _:
            return value
