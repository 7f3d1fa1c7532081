"""C operators on forms: each returns a form that is equal for every value, never a guess.

What is not a polynomial becomes an atom, after a few rewrites that are proven from the
operands' bounds and divisors (sums whose parts divide, remainders that cannot wrap, disjoint
bits).  Truth values are forms that are 0 or 1.
"""

from __future__ import annotations

from math import gcd

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.form import ZERO, Atom, Bounds, Context, Form, Symbol, number

ONE = number(1)
WRAPPING_FACTOR = 1 << 16  # a larger unsigned factor is a hash, not an index


def settle(ctx: Context, form: Form, type_: ScalarType) -> Form:
    """The value reduced to the range of ``type_`` where it may leave it.

    Unsigned arithmetic wraps (C11 6.2.5p9); signed overflow is undefined, so a signed form keeps
    its mathematical value.  A side of the range that has no known bound because of a parameter
    or data is taken to hold: an index that wraps would leave its array.  That says nothing of
    types narrower than ``int``, to which values are cut on purpose; only a loop's own counter is
    taken to fit them.
    """
    if not type_.is_integer or type_.bits >= 64:
        return form
    low, high = ctx.bounds(form)
    if (low is None or high is None) and not _taken_to_fit(ctx, form, type_):
        return wrap(ctx, form, type_)
    if type_.kind == "uint":
        below = high is not None and high < 0  # ~x of an unsigned x: below 0 for every x
        below = below or (low is None and only_blocks_unbounded(ctx, form))
        if high is None and _scales_header(ctx, form):
            return wrap(ctx, form, type_)
        fits = not below and (low is None or low >= 0) and (high is None or high < 1 << type_.bits)
    else:
        limit = 1 << (type_.bits - 1)
        fits = (low is None or low >= -limit) and (high is None or high < limit)
    return form if fits else wrap(ctx, form, type_)


def depends_on_unbounded(ctx: Context, form: Form) -> bool:
    """Whether the form holds a symbol without bounds: a parameter, a counter, loaded data."""
    return any(s.low is None or s.high is None for _, s in ctx.symbols(form))


def _taken_to_fit(ctx: Context, form: Form, type_: ScalarType) -> bool:
    unbounded = [s for _, s in ctx.symbols(form) if s.low is None or s.high is None]
    if type_.bits >= 32:
        return bool(unbounded)
    return bool(unbounded) and all(s.kind in ("header", "counter") for s in unbounded)


def _scales_header(ctx: Context, form: Form) -> bool:
    """Whether a multiple of what a loop variable may be is read: ``x * 2u >> 1`` loses a bit."""
    headers = ctx.of_kind["header"]
    return any(
        (abs(coefficient) > 1 or len(monomial) > 1) and not headers.isdisjoint(monomial)
        for monomial, coefficient in form.terms.items()
    )


def only_blocks_unbounded(ctx: Context, form: Form) -> bool:
    """Whether nothing is unbounded but the block indices of an unknown grid, if anything is."""
    unbounded = [s for _, s in ctx.symbols(form) if s.low is None or s.high is None]
    return all(s.kind == "bid" for s in unbounded)


def wrap(ctx: Context, form: Form, type_: ScalarType) -> Form:
    """The value modulo 2**bits, as the type represents it."""
    signed = type_.kind == "int"
    if form.is_constant:
        value = form.constant & ((1 << type_.bits) - 1)
        if signed and value >> (type_.bits - 1):
            value -= 1 << type_.bits
        return number(value)
    limit = 1 << (type_.bits - 1)
    bounds = (-limit, limit - 1) if signed else (0, 2 * limit - 1)
    form = _unwrapped(ctx, form, type_.bits)
    low, high = ctx.bounds(form)
    if low is not None and high is not None and bounds[0] <= low and high <= bounds[1]:
        return form
    return ctx.atom("wrap", (form,), bounds, (type_.bits, int(signed)))


def _unwrapped(ctx: Context, form: Form, bits: int) -> Form:
    """The same modulo 2**bits: ``8u + (unsigned)-1`` need not wrap before it is added."""
    result = form
    for monomial, coefficient in form.terms.items():
        atom = ctx.generators[monomial[0]] if len(monomial) == 1 else None
        if isinstance(atom, Atom) and atom.op == "wrap" and atom.data[0] >= bits:
            result = result + (atom.args[0] - Form({monomial: 1})) * number(coefficient)
    return result


def multiply(ctx: Context, left: Form, right: Form, type_: ScalarType) -> Form:
    """Product; a large unsigned factor without known bounds wraps for real (hashes)."""
    product = left * right
    if type_.kind == "uint" and type_.bits <= 32:
        factor = max(abs(left.constant), abs(right.constant))
        if factor >= WRAPPING_FACTOR and (left.is_constant or right.is_constant):
            high = ctx.bounds(product)[1]
            if high is None or high >= 1 << type_.bits:
                return wrap(ctx, product, type_)
    return product


# --- division and bits ------------------------------------------------------------------------


def floor_divide(ctx: Context, form: Form, divisor: int) -> Form:
    """floor(form / divisor) for a positive divisor."""
    if divisor == 1:
        return form
    quotient, exact, rest = _split(ctx, form, divisor)
    rest = _without_carry(ctx, rest, divisor)[0]
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
    rest, inside = _without_carry(ctx, rest, divisor)
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
    if low is not None and low >= 0:
        r_low, r_high = ctx.bounds(right)
        if r_low is not None and r_high is not None:
            largest = max(abs(r_low), abs(r_high), 1) - 1  # |a % b| < |b|
            high = largest if high is None else min(high, largest)
        return ctx.atom("cmod", (left, right), (0, high))
    return ctx.atom("cmod", (left, right), _no_further_from_zero(low, high))


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left >= 0) == (right >= 0) else -quotient


def _quotient_bounds(ctx: Context, left: Form, right: Form) -> Bounds:
    low, high = ctx.bounds(left)
    r_low = ctx.bounds(right)[0]
    if low is not None and low >= 0 and r_low is not None and r_low >= 1:
        return 0, None if high is None else high // r_low
    return _no_further_from_zero(low, high)


def _no_further_from_zero(low: int | None, high: int | None) -> Bounds:
    """Bounds of a value that is at most as large as the one with these bounds."""
    if low is None or high is None:
        return _NONE
    furthest = max(abs(low), abs(high))
    return -furthest, furthest


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
    bounds = (0, high) if low is not None and low >= 0 else _no_further_from_zero(low, high)
    return ctx.atom("shr", (left, right), bounds)


_NONE: Bounds = (None, None)


def bit_and(ctx: Context, left: Form, right: Form) -> Form:
    if left.is_constant and right.is_constant:
        return number(left.constant & right.constant)
    if left.is_constant:
        left, right = right, left
    if left == right:
        return left
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
    return ctx.atom("and", _ordered(left, right), _and_bounds(ctx, left, right))


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
    if _disjoint(ctx, left, right) or _disjoint(ctx, right, left):
        return left + right
    return ctx.atom("or", _ordered(left, right), _or_bounds(ctx, left, right))


def bit_xor(ctx: Context, left: Form, right: Form) -> Form:
    if left.is_constant and right.is_constant:
        return number(left.constant ^ right.constant)
    if left == right:
        return ZERO
    if right == number(-1) or left == number(-1):
        other = left if right == number(-1) else right
        return -other - ONE
    if _disjoint(ctx, left, right) or _disjoint(ctx, right, left):
        return left + right
    return ctx.atom("xor", _ordered(left, right), _or_bounds(ctx, left, right))


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


def _ordered(left: Form, right: Form) -> tuple[Form, Form]:
    return (left, right) if hash(left) <= hash(right) else (right, left)


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


# --- comparison, selection, truth -------------------------------------------------------------


def less(ctx: Context, left: Form, right: Form) -> Form:
    """1 if left < right."""
    difference = left - right
    low, high = ctx.bounds(difference)
    if high is not None and high < 0:
        return ONE
    if low is not None and low >= 0:
        return ZERO
    return ctx.atom("lt0", (difference,), (0, 1))


def less_modulo(ctx: Context, left: Form, right: Form) -> Form:
    """1 if left < right for unsigned values held modulo 2**bits: those below 0 are the largest."""
    left_wraps, right_wraps = less(ctx, left, ZERO), less(ctx, right, ZERO)
    below = less(ctx, left, right)
    same_side = negate(ctx, either(ctx, left_wraps, right_wraps))
    plain = both(ctx, same_side, below)
    crossing = both(ctx, right_wraps, either(ctx, negate(ctx, left_wraps), below))
    return either(ctx, plain, crossing)


def equal(ctx: Context, left: Form, right: Form) -> Form:
    """1 if left == right."""
    difference = left - right
    if difference.is_constant:
        return ONE if difference.constant == 0 else ZERO
    low, high = ctx.bounds(difference)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return ZERO
    if min(difference.terms.items())[1] < 0:
        difference = -difference
    return ctx.atom("eq0", (difference,), (0, 1))


def truth(ctx: Context, form: Form) -> Form:
    """1 if the value is not zero."""
    if ctx.bounds(form) in ((0, 1), (0, 0), (1, 1)):
        return form
    return negate(ctx, equal(ctx, form, ZERO))


def negate(ctx: Context, condition: Form) -> Form:
    """1 - condition, with inequalities turned round."""
    atom = single_atom(ctx, condition)
    if atom is not None and atom.op == "lt0":
        return less(ctx, -atom.args[0], ONE)
    return ONE - condition


def both(ctx: Context, left: Form, right: Form) -> Form:
    """Logical and."""
    if left == ZERO or right == ZERO:
        return ZERO
    if left in (ONE, right):
        return right
    if right == ONE:
        return left
    return ctx.atom("all", _flattened(ctx, "all", left, right), (0, 1))


def either(ctx: Context, left: Form, right: Form) -> Form:
    """Logical or."""
    if left == ONE or right == ONE:
        return ONE
    if left in (ZERO, right):
        return right
    if right == ZERO:
        return left
    if negate(ctx, left) == right:
        return ONE
    return ctx.atom("any", _flattened(ctx, "any", left, right), (0, 1))


def _flattened(ctx: Context, op: str, left: Form, right: Form) -> tuple[Form, ...]:
    parts: list[Form] = []
    for form in (left, right):
        atom = single_atom(ctx, form)
        for part in atom.args if atom is not None and atom.op == op else (form,):
            if part not in parts:
                parts.append(part)
    return tuple(parts)


def conjuncts(ctx: Context, condition: Form) -> tuple[Form, ...]:
    """The conditions that all have to hold for ``condition``."""
    atom = single_atom(ctx, condition)
    if atom is not None and atom.op == "all":
        return tuple(part for arg in atom.args for part in conjuncts(ctx, arg))
    inverse = single_atom(ctx, ONE - condition)
    if inverse is not None and inverse.op == "any":
        return tuple(p for arg in inverse.args for p in conjuncts(ctx, negate(ctx, arg)))
    return (condition,)


def select(ctx: Context, condition: Form, then: Form, otherwise: Form) -> Form:
    """``condition ? then : otherwise`` for a truth value."""
    if then == otherwise or condition == ONE:
        return then
    if condition == ZERO:
        return otherwise
    return condition * (then - otherwise) + otherwise


def minimum(ctx: Context, left: Form, right: Form) -> Form:
    return _extreme(ctx, "min", left, right)


def maximum(ctx: Context, left: Form, right: Form) -> Form:
    return _extreme(ctx, "max", left, right)


def _extreme(ctx: Context, op: str, left: Form, right: Form) -> Form:
    low, high = ctx.bounds(left - right)
    if (high is not None and high <= 0) or (low is not None and low >= 0):
        left_is_smaller = high is not None and high <= 0
        return left if left_is_smaller == (op == "min") else right
    (l_low, l_high), (r_low, r_high) = ctx.bounds(left), ctx.bounds(right)
    pick = min if op == "min" else max
    lows = [b for b in (l_low, r_low) if b is not None]
    highs = [b for b in (l_high, r_high) if b is not None]
    # min: unbounded below if either is; bounded above by either.  max: the other way round.
    need_low, need_high = (2, 1) if op == "min" else (1, 2)
    bounds = (
        pick(lows) if len(lows) >= need_low else None,
        pick(highs) if len(highs) >= need_high else None,
    )
    return ctx.atom(op, _ordered(left, right), bounds)


def single_atom(ctx: Context, form: Form) -> Atom | None:
    """The atom, if the form is one atom and nothing else."""
    if len(form.terms) != 1:
        return None
    (monomial, coefficient), *_ = form.terms.items()
    if coefficient != 1 or len(monomial) != 1:
        return None
    generator = ctx.generators[monomial[0]]
    return None if isinstance(generator, Symbol) else generator


# --- substitution -----------------------------------------------------------------------------


def replaced(ctx: Context, form: Form, values: dict[int, Form]) -> Form:
    """The form with symbols replaced, every operation applied anew so that it simplifies."""
    if not ctx.leaves(form) & values.keys():
        return form
    result = ZERO
    for monomial, coefficient in form.terms.items():
        term = number(coefficient)
        for g in monomial:
            term = term * _replaced_generator(ctx, g, values)
        result = result + term
    return result


def _replaced_generator(ctx: Context, g: int, values: dict[int, Form]) -> Form:
    if g in values:
        return values[g]
    generator = ctx.generators[g]
    alone = Form({(g,): 1})
    if isinstance(generator, Symbol) or not ctx.leaves(alone) & values.keys():
        return alone
    args = tuple(replaced(ctx, arg, values) for arg in generator.args)
    match generator.op:
        case "fdiv" if args[1].is_constant and args[1].constant > 0:
            return floor_divide(ctx, args[0], args[1].constant)
        case "fmod" if args[1].is_constant and args[1].constant > 0:
            return floor_remainder(ctx, args[0], args[1].constant)
        case "cdiv":
            return divide(ctx, *args)
        case "cmod":
            return remainder(ctx, *args)
        case "lt0":
            return less(ctx, args[0], ZERO)
        case "eq0":
            return equal(ctx, args[0], ZERO)
        case "min":
            return minimum(ctx, *args)
        case "max":
            return maximum(ctx, *args)
        case "xor":
            return bit_xor(ctx, *args)
        case "or":
            return bit_or(ctx, *args)
        case "and":
            return bit_and(ctx, *args)
    bounds = (generator.low, generator.high)
    return ctx.atom(generator.op, args, bounds, generator.data)
