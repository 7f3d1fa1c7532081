"""The range of C's integer types: values that may leave it are reduced to it."""

from __future__ import annotations

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.form import Atom, Context, Form, number

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
        below = below or (low is None and high == 0)  # -x: for every x but one
        below = below or (low is None and only_blocks_unbounded(ctx, form))
        if high is None and _scales_header(ctx, form):
            return wrap(ctx, form, type_)
        fits = not below and (low is None or low >= 0) and (high is None or high < 1 << type_.bits)
    else:
        limit = 1 << (type_.bits - 1)
        fits = (low is None or low >= -limit) and (high is None or high < limit)
    return form if fits else wrap(ctx, form, type_)


def _taken_to_fit(ctx: Context, form: Form, type_: ScalarType) -> bool:
    unbounded = [s for _, s in ctx.symbols(form) if s.low is None or s.high is None]
    if type_.bits >= 32:
        return bool(unbounded)
    return bool(unbounded) and all(
        s.kind == "counter" or (s.kind == "header" and s.bits <= type_.bits) for s in unbounded
    )


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
    form = unwrapped(ctx, form, type_.bits)
    low, high = ctx.bounds(form)
    if low is not None and high is not None and bounds[0] <= low and high <= bounds[1]:
        return form
    return ctx.atom("wrap", (form,), bounds, (type_.bits, int(signed)))


def unwrapped(ctx: Context, form: Form, bits: int = 32, hashes: bool = True) -> Form:
    """The same modulo 2**bits: ``8u + (unsigned)-1`` need not wrap before it is added.

    Not those of ``hashes`` if these are to stay.
    """
    result = form
    for monomial, coefficient in form.terms.items():
        atom = ctx.generators[monomial[0]] if len(monomial) == 1 else None
        if not isinstance(atom, Atom) or atom.op != "wrap" or atom.data[0] < bits:
            continue
        if hashes or is_index(atom.args[0]):
            result = result + (atom.args[0] - Form({monomial: 1})) * number(coefficient)
    return result


def sum_of(ctx: Context, form: Form, type_: ScalarType) -> Form:
    """An unsigned sum with what has wrapped in it as it was before: ``(unsigned)-1 + n`` is in the
    range again for most ``n``.  Else the form itself."""
    if type_.kind != "uint" or type_.bits > 32 or len(form.terms) < 2:
        return form
    return unwrapped(ctx, form, type_.bits, hashes=False)


def is_index(form: Form) -> bool:
    """Whether a value is made of small multiples, as indices are and hashes are not."""
    return all(abs(c) < WRAPPING_FACTOR for m, c in form.terms.items() if m)


def cut(ctx: Context, form: Form, source: ScalarType, target: ScalarType) -> Form:
    """A value of 64 bits that becomes an unsigned one of 32: the low half of a product with a
    large factor wraps for real, as in 32 bits (``multiply``)."""
    hashed = source.bits > 32 and target.kind == "uint" and target.bits == 32 and not is_index(form)
    if not hashed:
        return form
    high = ctx.bounds(form)[1]
    return wrap(ctx, form, target) if high is None or high >= 1 << 32 else form


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
