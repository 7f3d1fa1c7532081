"""Fold expressions over parameter packs.

In: ``(xs + ...)``, ``(... + xs)``, ``(xs + ... + init)``, ``(init + ... + xs)``.  Out: one
:class:`Ex` in which the operator stands between the elements, nested to the side the fold says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import Ex, literal

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_EMPTY = {"&&": 1, "||": 0}  # what a fold of nothing is


def fold(session: Session, node: Node, env: Env) -> Ex | None:
    """A fold written out; None if it is none that C++ has, or of a pack that is not known."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return None
    sign = syntax.text(operator)
    if sign in ("/", "^", ">"):
        sign = session.original(operator)
    to_right = _has_pack(session, left, env)
    pattern, other = (left, right) if to_right else (right, left)
    if not _has_pack(session, pattern, env):
        return None
    parts = [
        session.expressions.emit(pattern, e) for e in session.expressions.pack_envs(pattern, env)
    ]
    if other.type != "...":
        first = session.expressions.emit(other, env)
        parts = [*parts, first] if to_right else [first, *parts]
    if not parts:
        if sign == ",":
            return Ex("((void)0)", types.VOID)
        empty = _EMPTY.get(sign)
        return None if empty is None else literal(ctypes_lp64.Value(empty, ctypes_lp64.BOOL))
    total = parts.pop() if to_right else parts.pop(0)
    for part in reversed(parts) if to_right else parts:
        a, b = (part, total) if to_right else (total, part)
        if sign == ",":
            total = session.expressions.sequence(a, b)
        else:
            total = session.operators.binary(sign, a, b, node, env)
    return total


def _has_pack(session: Session, pattern: Node, env: Env) -> bool:
    return pattern.type != "..." and bool(session.expressions.packs(pattern, env))
