"""Shifts and bitwise operations of forms; masks of one run of ones are remainders."""

from __future__ import annotations

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.division import floor_divide, floor_remainder, no_further_from_zero
from coalescecheck.symbolic.form import ONE, ZERO, Bounds, Context, Form, number, ordered
from coalescecheck.symbolic.truth import both, either, equal, is_condition, negate
from coalescecheck.symbolic.wrapping import multiply

_NONE: Bounds = (None, None)


def shift_left(ctx: Context, left: Form, right: Form, type_: ScalarType) -> Form:
    if right.is_constant and 0 <= right.constant < 64:
        return multiply(ctx, left, number(1 << right.constant), type_)
    return ctx.atom("shl", (left, right), _shifted_bounds(ctx, left, right))


def _shifted_bounds(ctx: Context, left: Form, right: Form) -> Bounds:
    low, high = ctx.bounds(left)
    most = ctx.bounds(right)[1]
    if low is None or high is None or most is None or not 0 <= most < 64:
        return (0, None) if low is not None and low >= 0 else _NONE
    return min(low << most, low), max(high << most, high)


def shift_right(ctx: Context, left: Form, right: Form) -> Form:
    """``>>`` of a settled value: arithmetic for negative signed values, as nvcc does."""
    if right.is_constant and 0 <= right.constant < 64:
        return floor_divide(ctx, left, 1 << right.constant)
    low, high = ctx.bounds(left)
    bounds = (0, high) if low is not None and low >= 0 else no_further_from_zero(low, high)
    return ctx.atom("shr", (left, right), bounds)


def bit_and(ctx: Context, left: Form, right: Form) -> Form:
    if left.is_constant and right.is_constant:
        return number(left.constant & right.constant)
    if left.is_constant:
        left, right = right, left
    if left == right:
        return left
    if _are_truths(ctx, left, right):
        return both(ctx, left, right)
    if right.is_constant:
        mask = right.constant
        if mask < 0 and _is_power_of_two(-mask):
            return floor_divide(ctx, left, -mask).scaled(-mask)
        if mask > 0:
            low_bit = mask & -mask
            if _is_power_of_two(mask + low_bit):  # one run of ones
                high_part = floor_remainder(ctx, left, mask + low_bit)
                return high_part - floor_remainder(ctx, left, low_bit)
        if mask == 0:
            return ZERO
    return ctx.atom("and", ordered(left, right), _and_bounds(ctx, left, right))


def _are_truths(ctx: Context, left: Form, right: Form) -> bool:
    """Whether both are conditions, as in ``(i < n) & (j < m)``."""
    return is_condition(ctx, left) and is_condition(ctx, right)


def _and_bounds(ctx: Context, left: Form, right: Form) -> Bounds:
    highs = []
    for form in (left, right):
        low, high = ctx.bounds(form)
        if low is not None and low >= 0:
            highs.append(high)
    if not highs:
        return _within_bits(ctx, left, right)
    known = [high for high in highs if high is not None]
    return 0, min(known) if known else None


def _within_bits(ctx: Context, left: Form, right: Form) -> Bounds:
    """Bitwise operations of two's complement numbers of n bits give numbers of n bits."""
    ends = [end for form in (left, right) for end in ctx.bounds(form)]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return _NONE
    limit = 1 << max((end if end >= 0 else -end - 1).bit_length() for end in known)
    return -limit, limit - 1


def bit_or(ctx: Context, left: Form, right: Form) -> Form:
    if left.is_constant and right.is_constant:
        return number(left.constant | right.constant)
    if left == right:
        return left
    if _are_truths(ctx, left, right):
        return either(ctx, left, right)
    if _disjoint(ctx, left, right) or _disjoint(ctx, right, left):
        return left + right
    return ctx.atom("or", ordered(left, right), _or_bounds(ctx, left, right))


def bit_xor(ctx: Context, left: Form, right: Form) -> Form:
    if left.is_constant and right.is_constant:
        return number(left.constant ^ right.constant)
    if left == right:
        return ZERO
    if right == number(-1) or left == number(-1):
        other = left if right == number(-1) else right
        return -other - ONE
    if ONE in (left, right) and is_condition(ctx, left + right - ONE):
        return negate(ctx, left + right - ONE)
    if _are_truths(ctx, left, right):
        return negate(ctx, equal(ctx, left, right))
    if _disjoint(ctx, left, right) or _disjoint(ctx, right, left):
        return left + right
    return ctx.atom("xor", ordered(left, right), _or_bounds(ctx, left, right))


def _disjoint(ctx: Context, high_part: Form, low_part: Form) -> bool:
    """Whether ``low_part`` lies in the bits that are zero in every value of ``high_part``."""
    divisor = ctx.multiple_of(high_part)
    low, high = ctx.bounds(low_part)
    if low is None or high is None or low < 0:
        return False
    return divisor == 0 or (divisor & -divisor) > high


def _or_bounds(ctx: Context, left: Form, right: Form) -> Bounds:
    (l_low, l_high), (r_low, r_high) = ctx.bounds(left), ctx.bounds(right)
    if l_low is None or r_low is None or l_low < 0 or r_low < 0:
        return _within_bits(ctx, left, right)
    if l_high is None or r_high is None:
        return 0, None
    return 0, (1 << max(l_high, r_high).bit_length()) - 1


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
