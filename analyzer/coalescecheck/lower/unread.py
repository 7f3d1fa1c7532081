"""Statements with syntax errors: what they decide is unknown.

In: a statement of the IR that is made of code of which a part could not be read.  Out: the same
with unknown values in it, unknown places and unknown conditions.  A macro that nothing defines may
stand for anything: ``a[i * 2 FOO] = 1`` for ``a[i * 2 + 1] = 1``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import Assign, Atomic, If, Load, Loop, Stmt, Store, WarpOp
from coalescecheck.lower import arith

if TYPE_CHECKING:
    from coalescecheck.lower.context import Context

BEGIN, END = "unread", "read"  # attributes around such statements
REASON = "code that could not be read"


def weakened(cx: Context, stmt: Stmt) -> Stmt:
    """``stmt`` without what only the readable part of the code says."""
    match stmt:
        case Assign() if stmt.var.type == ir.PTR:
            return replace(stmt, value=arith.offset(stmt.value, _distance(cx, 1)))
        case Assign():
            return replace(stmt, value=cx.undefined("unread", REASON, stmt.var.type))
        case Load() | Store() | Atomic():
            align = cx.access_align.get(stmt.access, 1)
            return replace(stmt, address=arith.offset(stmt.address, _distance(cx, align)))
        case If() | Loop():
            return replace(stmt, condition=condition(cx, stmt.condition))
        case WarpOp():
            unknown = (cx.undefined("unread", REASON, arg.type) for arg in stmt.args)
            return replace(stmt, args=tuple(unknown))
    return stmt


def condition(cx: Context, expr: Expr) -> Expr:
    """A condition of the code that is being lowered; unknown where that could not be read."""
    return cx.undefined("unread", REASON, ir.BOOL) if cx.unread else expr


def _distance(cx: Context, unit: int) -> Expr:
    """An unknown number of bytes, a multiple of ``unit``."""
    return arith.binary("*", cx.undefined("unread", REASON, ir.I64), arith.integer(unit))
