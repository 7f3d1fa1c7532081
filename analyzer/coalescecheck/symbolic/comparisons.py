"""C's comparisons of integers: unsigned values below 0 in their form are the greatest there are.

In: two forms and the type they are compared in.  Out: a condition.  ``truth`` has the comparisons
of plain numbers.
"""

from __future__ import annotations

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ZERO, Context, Form
from coalescecheck.symbolic.wide import wraps_in_64


def compared(ctx: Context, operator: str, left: Form, right: Form, type_: ScalarType) -> Form:
    """1 where ``left operator right`` holds for values of ``type_``."""
    match operator:
        case "==":
            return op.equal(ctx, left, right)
        case "!=":
            return op.negate(ctx, op.equal(ctx, left, right))
        case "<":
            return _less(ctx, left, right, type_)
        case ">":
            return _less(ctx, right, left, type_)
        case "<=":
            return op.negate(ctx, _less(ctx, right, left, type_))
    return op.negate(ctx, _less(ctx, left, right, type_))


def _less(ctx: Context, left: Form, right: Form, type_: ScalarType) -> Form:
    if wraps_in_64(ctx, type_, left, right):
        return op.less_modulo(ctx, left, right)
    below = op.less(ctx, left, right)
    if type_.kind != "uint" or type_.bits < 32:
        return below
    # lanes with `i - n` below 0 hold the greatest values: `i - n < 8u` has two ends
    if _dips(ctx, left):
        below = op.both(ctx, op.negate(ctx, op.less(ctx, left, ZERO)), below)
    if _dips(ctx, right):
        below = op.either(ctx, op.less(ctx, right, ZERO), below)
    return below


def _dips(ctx: Context, form: Form) -> bool:
    """Whether a size decides which lanes are below 0."""
    return ctx.varying(form) and ctx.bounds(form)[0] is None
