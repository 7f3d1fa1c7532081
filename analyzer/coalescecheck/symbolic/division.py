"""Division and remainder of forms, floored and as C truncates them.

Before a quotient becomes an atom, parts that divide are taken out of it, and so is what can
never carry into it; both are proven from bounds and divisors.
"""

from __future__ import annotations

from math import gcd

from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic.form import (
    ONE,
    ZERO,
    Bounds,
    Context,
    Form,
    number,
    single_atom,
)


def floor_divide(ctx: Context, form: Form, divisor: int) -> Form:
    """floor(form / divisor) for a positive divisor."""
    if divisor == 1:
        return form
    quotient, exact, rest = _split(ctx, form, divisor)
    rest = _without_carry(ctx, _by_warps(ctx, rest, divisor), divisor)[0]
    result = quotient
    if exact.terms:
        result = result + _divide_atom(ctx, exact, divisor)
    low, high = ctx.bounds(rest)
    if low is not None and high is not None and low // divisor == high // divisor:
        return result + number(low // divisor)
    return result + _divide_atom(ctx, rest, divisor)


def _divide_atom(ctx: Context, form: Form, divisor: int) -> Form:
    common = gcd(divisor, *form.terms.values())
    if common > 1:
        form = Form({m: c // common for m, c in form.terms.items()})
        divisor //= common
    if divisor == 1:
        return form
    nested = single_atom(ctx, form)
    if nested is not None and nested.op == "fdiv" and nested.args[1].is_constant:
        return floor_divide(ctx, nested.args[0], nested.args[1].constant * divisor)
    low, high = ctx.bounds(form)
    bounds = (
        None if low is None else low // divisor,
        None if high is None else high // divisor,
    )
    varying = None if _may_differ(ctx, form, divisor) else False
    return ctx.atom("fdiv", (form, number(divisor)), bounds, varying=varying)


def _without_carry(ctx: Context, form: Form, divisor: int) -> tuple[Form, Form]:
    """form = high + low, where 0 <= low < m and m divides both ``high`` and the divisor: then
    ``low`` never changes floor(form / divisor).  (form, 0) when there is no such part."""
    steps = {gcd(ctx.multiple_of(Form({m: c})), divisor) for m, c in form.terms.items() if m}
    for step in sorted(steps, reverse=True):
        if step == 1:
            break
        high = {
            m: c - c % step if not m else c
            for m, c in form.terms.items()
            if (c >= step if not m else ctx.multiple_of(Form({m: c})) % step == 0)
        }
        low = form - Form(high)
        least, most = ctx.bounds(low)
        if low.terms and least is not None and least >= 0 and most is not None and most < step:
            return Form(high), low
    return form, ZERO


def _by_warps(ctx: Context, form: Form, divisor: int) -> Form:
    """The form with a thread index ``t`` as ``32*(t/32) + t%32``, where the lanes of a warp never
    carry into the unknown rest: what is left to divide is then one value for the warp."""
    moving = [m for m in form.terms if m and ctx.varying(Form({m: 1}))]
    if len(moving) != 1 or len(form.terms) == 1:
        return form
    index = Form({moving[0]: 1})
    thread, per = _thread(ctx, index)
    factor = form.terms[moving[0]]
    if thread is None or factor <= 0:
        return form
    rest = Form({m: c for m, c in form.terms.items() if m and m != moving[0]})
    span = WARP_SIZE // per  # values of the index in a warp
    step = gcd(ctx.multiple_of(rest), span * factor, divisor)
    if not rest.terms or step <= (span - 1) * factor + form.constant % step:
        return form
    lane = floor_divide(ctx, floor_remainder(ctx, thread, WARP_SIZE), per)
    split = floor_divide(ctx, thread, WARP_SIZE).scaled(span) + lane
    return form + (split - index).scaled(factor)


def _thread(ctx: Context, index: Form) -> tuple[Form | None, int]:
    """``t`` and ``d`` where ``index`` is ``t/d`` of a thread index, for a divisor of 32."""
    per = 1
    atom = single_atom(ctx, index)
    if atom is not None and atom.op == "fdiv" and atom.args[1].is_constant:
        index, per = atom.args[0], atom.args[1].constant
    known = {symbol.kind for g, symbol in ctx.symbols(index) if index == Form({(g,): 1})}
    return (index, per) if known == {"tid"} and WARP_SIZE % per == 0 else (None, 1)


def _may_differ(ctx: Context, form: Form, divisor: int) -> bool:
    """Whether floor(form / divisor) may differ within a warp: not if the lane part only moves
    inside a step that divides the divisor and the rest."""
    lanes = Form({m: c for m, c in form.terms.items() if m and ctx.varying(Form({m: c}))})
    rest = form - lanes
    if not rest.terms or not lanes.terms:
        return True
    step = gcd(ctx.multiple_of(rest), divisor)
    if step == 1 or any(s.kind != "tid" for _, s in ctx.symbols(lanes)):
        return True
    return ctx.varying(floor_divide(ctx, lanes, step))


def floor_remainder(ctx: Context, form: Form, divisor: int) -> Form:
    """form - divisor * floor(form / divisor) for a positive divisor; 0 <= result < divisor."""
    if divisor == 1:
        return ZERO
    _, _, rest = _split(ctx, form, divisor)
    low, high = ctx.bounds(rest)
    if low is not None and high is not None and low // divisor == high // divisor:
        return rest - number(low // divisor * divisor)
    rest, inside = _without_carry(ctx, _by_warps(ctx, rest, divisor), divisor)
    if inside.terms:
        return floor_remainder(ctx, rest, divisor) + inside
    common = gcd(divisor, *rest.terms.values())
    if common > 1:
        reduced = Form({m: c // common for m, c in rest.terms.items()})
        return floor_remainder(ctx, reduced, divisor // common).scaled(common)
    return ctx.atom("fmod", (rest, number(divisor)), (0, divisor - 1))


def _split(ctx: Context, form: Form, divisor: int) -> tuple[Form, Form, Form]:
    """form = divisor*quotient + exact + rest, where divisor divides every value of ``exact``."""
    quotient: dict[tuple[int, ...], int] = {}
    exact: dict[tuple[int, ...], int] = {}
    rest: dict[tuple[int, ...], int] = {}
    for monomial, coefficient in form.terms.items():
        if not monomial:
            if coefficient // divisor:
                quotient[monomial] = coefficient // divisor
            if coefficient % divisor:
                rest[monomial] = coefficient % divisor
        elif coefficient % divisor == 0:
            quotient[monomial] = coefficient // divisor
        elif ctx.multiple_of(Form({monomial: coefficient})) % divisor == 0:
            exact[monomial] = coefficient
        else:
            rest[monomial] = coefficient
    return Form(quotient), Form(exact), Form(rest)


def divide(ctx: Context, left: Form, right: Form) -> Form:
    """C's ``/`` (truncating, C11 6.5.5p6)."""
    if right == ONE:
        return left
    low = ctx.bounds(left)[0]
    if right.is_constant and right.constant > 0 and low is not None and low >= 0:
        return floor_divide(ctx, left, right.constant)
    if left.is_constant and right.is_constant and right.constant:
        return number(_truncated(left.constant, right.constant))
    if left == right:
        return ONE
    op, bounds = "cdiv", _quotient_bounds(ctx, left, right)
    return ctx.atom(op, (left, right), bounds)


def remainder(ctx: Context, left: Form, right: Form) -> Form:
    """C's ``%`` (sign of the dividend)."""
    low, high = ctx.bounds(left)
    if right.is_constant and right.constant > 0 and low is not None and low >= 0:
        return floor_remainder(ctx, left, right.constant)
    if left.is_constant and right.is_constant and right.constant:
        quotient = _truncated(left.constant, right.constant)
        return number(left.constant - quotient * right.constant)
    return ctx.atom("cmod", (left, right), _remainder_bounds((low, high), ctx.bounds(right)))


def _remainder_bounds(left: Bounds, right: Bounds) -> Bounds:
    """``a % b`` lies between 0 and ``a``, and ``|a % b| < |b|``."""
    low = None if left[0] is None else min(left[0], 0)
    high = None if left[1] is None else max(left[1], 0)
    if right[0] is None or right[1] is None:
        return low, high
    largest = max(abs(right[0]), abs(right[1]), 1) - 1
    return (
        -largest if low is None else max(low, -largest),
        largest if high is None else min(high, largest),
    )


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left >= 0) == (right >= 0) else -quotient


def _quotient_bounds(ctx: Context, left: Form, right: Form) -> Bounds:
    low, high = ctx.bounds(left)
    r_low = ctx.bounds(right)[0]
    if low is not None and low >= 0 and r_low is not None and r_low >= 0:
        return 0, None if high is None else high // max(r_low, 1)
    return no_further_from_zero(low, high)


def no_further_from_zero(low: int | None, high: int | None) -> Bounds:
    """Bounds of a value that is at most as large as the one with these bounds."""
    if low is None or high is None:
        return (None, None)
    furthest = max(abs(low), abs(high))
    return -furthest, furthest
