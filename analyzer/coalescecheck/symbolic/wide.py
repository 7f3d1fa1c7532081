"""64-bit unsigned values whose form is not C's value but congruent to it modulo 2**64.

Forms are numbers without an end, and unknown sizes are taken to fit.  What is below 0 for sure or
multiplied by a large factor, as hashes and shifts to the left are, does not fit.
"""

from __future__ import annotations

from math import gcd

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.division import floor_divide, floor_remainder
from coalescecheck.symbolic.form import Context, Form, number
from coalescecheck.symbolic.wrapping import only_blocks_unbounded

HELD = 1 << 63  # numbers from here on are held as negative ones
LARGE = 1 << 32  # a factor that no index has


def wraps_in_64(ctx: Context, type_: ScalarType, *forms: Form) -> bool:
    """Whether a 64-bit unsigned operand may be outside of its type; unbounded ones are taken to
    hold, as in ``settle``."""
    if type_.kind != "uint" or type_.bits < 64:
        return False
    return any(_may_be_below_0(ctx, form) or _exceeds(ctx, form) for form in forms)


def exceeds_64(ctx: Context, type_: ScalarType, *forms: Form) -> bool:
    """Whether a 64-bit unsigned operand may be too large for its type."""
    return type_.kind == "uint" and type_.bits == 64 and any(_exceeds(ctx, f) for f in forms)


def _may_be_below_0(ctx: Context, form: Form) -> bool:
    low, high = ctx.bounds(form)
    if low is not None:
        return low < 0
    return (high is not None and high < 0) or only_blocks_unbounded(ctx, form)


def _exceeds(ctx: Context, form: Form) -> bool:
    low, high = ctx.bounds(form)
    if high is not None:
        return high >= HELD or (low is not None and low < -HELD)
    return any(abs(c) >= LARGE for monomial, c in form.terms.items() if monomial)


def as_signed_64(ctx: Context, form: Form) -> Form | None:
    """The value as a signed one if it is known how often it is to be reduced by 2**64."""
    low, high = ctx.bounds(form)
    if low is None or high is None:
        return None
    times = (low + HELD) // (2 * HELD)
    return form - number(2 * HELD * times) if (high + HELD) // (2 * HELD) == times else None


def shifted_down(ctx: Context, form: Form, count: Form, type_: ScalarType) -> Form | None:
    """``form >> count`` where ``form`` has been shifted to the left and bits were lost that way:
    ``i << 60 >> 55`` has the lowest four bits of ``i``.  None where that is not so."""
    if not count.is_constant or not 2 <= count.constant < 64 or not exceeds_64(ctx, type_, form):
        return None
    factor = gcd(HELD, *form.terms.values())
    if factor < 4:
        return None
    plain = Form({monomial: c // factor for monomial, c in form.terms.items()})
    kept, down = floor_remainder(ctx, plain, 2 * HELD // factor), 1 << count.constant
    return (
        kept.scaled(factor // down) if factor >= down else floor_divide(ctx, kept, down // factor)
    )
