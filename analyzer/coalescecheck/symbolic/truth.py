"""Comparisons, logic and choices of forms: truth values are forms that are 0 or 1."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.symbolic.form import ONE, ZERO, Context, Form, Monomial, ordered, single_atom

_THREADS = ("tid", "row", "bdim")  # what a thread's number in its block is made of


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
    if (low, high) == (0, 1) and is_condition(ctx, difference):  # `(i < n) == 0`
        return negate(ctx, difference)
    if min(difference.terms.items())[1] < 0:
        difference = -difference
    if (low == 0 or high == 0) and all(s.kind in _THREADS for _, s in ctx.symbols(difference)):
        return _all_zero(ctx, difference)
    return ctx.atom("eq0", (difference,), (0, 1))


def _all_zero(ctx: Context, form: Form) -> Form:
    """1 if a form that is never on one side of 0 is 0: where no term is, each of them is, as with
    ``threadIdx.x + threadIdx.y * blockDim.x == 0``."""
    terms = [Form({m: c}) for m, c in form.terms.items()]
    if len(terms) > 1 and any(ctx.bounds(term)[0] != 0 for term in terms):
        return ctx.atom("eq0", (form,), (0, 1))
    result = ONE
    for monomial in form.terms:
        term = Form({_without_ones(ctx, monomial): 1})
        result = both(ctx, result, ctx.atom("eq0", (term,), (0, 1)))
    return result


def _without_ones(ctx: Context, monomial: Monomial) -> Monomial:
    """A product without the factors that are never 0, which do not decide whether it is."""
    bounds = ((g, ctx.bounds(Form({(g,): 1}))) for g in monomial)
    return tuple(g for g, (low, high) in bounds if not (low or 0) > 0 and not (high or 0) < 0)


def truth(ctx: Context, form: Form) -> Form:
    """1 if the value is not zero."""
    if ctx.bounds(form) in ((0, 1), (0, 0), (1, 1)):
        return form
    return negate(ctx, equal(ctx, form, ZERO))


def is_condition(ctx: Context, form: Form) -> bool:
    """Whether the form is a comparison or a combination of such, or the opposite of one."""
    atom = single_atom(ctx, form) or single_atom(ctx, ONE - form)
    return atom is not None and atom.op in ("lt0", "eq0", "all", "any")


def negate(ctx: Context, condition: Form) -> Form:
    """1 - condition, with inequalities turned round."""
    if condition.opposite is None:
        atom = single_atom(ctx, condition)
        if atom is not None and atom.op == "lt0":
            condition.opposite = less(ctx, -atom.args[0], ONE)
        else:
            condition.opposite = ONE - condition
    return condition.opposite


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
    if negate(ctx, left) == right or _are_opposite(ctx, left, right):
        return ONE
    return ctx.atom("any", _flattened(ctx, "any", left, right), (0, 1))


def _are_opposite(ctx: Context, left: Form, right: Form) -> bool:
    """Whether one is ``a or b`` and the other what a path makes of its opposite: ``not a``, then
    ``not b``."""
    for one, other in ((left, right), (right, left)):
        atom = single_atom(ctx, one)
        if atom is not None and atom.op == "any":
            return set(conjuncts(ctx, negate(ctx, one))) == set(conjuncts(ctx, other))
    return False


def _flattened(ctx: Context, op: str, left: Form, right: Form) -> tuple[Form, ...]:
    parts: dict[Form, None] = {}
    for form in (left, right):
        atom = single_atom(ctx, form)
        parts |= dict.fromkeys(atom.args if atom is not None and atom.op == op else (form,))
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
    opposite = negate(ctx, condition)
    then = {condition: ONE, opposite: ZERO}.get(then, then)
    otherwise = {condition: ZERO, opposite: ONE}.get(otherwise, otherwise)
    # `a && b` and `a || b` where b has to be loaded, which is done only if a does not decide
    if is_condition(ctx, then) and otherwise in (ZERO, ONE):
        return both(ctx, condition, then) if otherwise == ZERO else either(ctx, opposite, then)
    if is_condition(ctx, otherwise) and then in (ZERO, ONE):
        alone = then == ZERO
        return both(ctx, opposite, otherwise) if alone else either(ctx, condition, otherwise)
    for found in (_decided_extreme, _extreme_of_data):
        if (extreme := found(ctx, condition, then, otherwise)) is not None:
            return extreme
    return condition * (then - otherwise) + otherwise


def _decided_extreme(ctx: Context, condition: Form, then: Form, otherwise: Form) -> Form | None:
    """What ``a > b ? a : b`` is for an ``a`` that is never less than ``b``, and its like."""
    atom = single_atom(ctx, condition)
    if atom is None or atom.op != "lt0":
        return None
    compared, gap = atom.args[0], then - otherwise
    is_greatest = compared in (-gap, -gap - ONE)  # otherwise < then, otherwise <= then
    if not is_greatest and compared not in (gap, gap - ONE):
        return None
    low, high = ctx.bounds(gap)
    if low is not None and low >= 0:
        return then if is_greatest else otherwise
    if high is not None and high <= 0:
        return otherwise if is_greatest else then
    return None


def _extreme_of_data(ctx: Context, condition: Form, then: Form, otherwise: Form) -> Form | None:
    """``v > 15 ? 15 : v`` as ``min`` for loaded values, of which bounds are all that can be said:
    a sum over both cases has none."""
    atom = single_atom(ctx, condition)
    if atom is None or atom.op != "lt0":
        return None
    if not any(s.kind == "data" for _, s in ctx.symbols(then - otherwise)):
        return None
    opposite = negate(ctx, condition)
    for holds, end, value in ((condition, then, otherwise), (opposite, otherwise, then)):
        for inner, may_be_below, may_be_above in _within(ctx, value, end):
            below, above = less(ctx, inner, end), less(ctx, end, inner)
            if may_be_below and holds in (below, negate(ctx, above)):
                return maximum(ctx, end, value)
            if may_be_above and holds in (above, negate(ctx, below)):
                return minimum(ctx, end, value)
    return None


def _within(ctx: Context, value: Form, end: Form) -> Iterator[tuple[Form, bool, bool]]:
    """What to compare with ``end`` to know whether ``value`` is below it, or above it: the value
    itself; of ``min(15, v)``, ``v`` tells whether it is below 0."""
    yield value, True, True
    atom = single_atom(ctx, value)
    if atom is None or atom.op not in ("min", "max"):
        return
    for inner, limit in (atom.args, atom.args[::-1]):
        low, high = ctx.bounds(limit - end)
        if atom.op == "min" and low is not None and low >= 0:
            yield inner, True, False
        elif atom.op == "max" and high is not None and high <= 0:
            yield inner, False, True


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
    return ctx.atom(op, ordered(left, right), bounds)
