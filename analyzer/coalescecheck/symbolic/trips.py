"""How many iterations a loop makes: bounds and numbers from conditions that are linear in k."""

from __future__ import annotations

from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ONE, ZERO, Atom, Context, Form, number
from coalescecheck.symbolic.reach import LoopInfo


def greatest_trips(ctx: Context, condition: Form, counter: int) -> int | None:
    """How many k from 0 on can satisfy all parts of ``condition``."""
    bounds = [_last(ctx, part, counter) for part in op.conjuncts(ctx, condition)]
    return min((max(b, 0) for b in bounds if b is not None), default=None)


def _last(ctx: Context, condition: Form, counter: int) -> int | None:
    """How many k from 0 on can satisfy ``condition``."""
    argument, negated = _inequality(ctx, condition)
    if argument is None:
        return None
    slope = argument.terms.get((counter,), 0)
    rest = argument - Form({(counter,): slope} if slope else {})
    if slope == 0 or counter in ctx.leaves(rest):
        return None
    if negated:  # argument != 0
        hit = rest.is_constant and -rest.constant % slope == 0 and -rest.constant // slope >= 0
        return -rest.constant // slope if hit else None
    low = ctx.bounds(rest)[0]
    return None if slope < 0 or low is None else (-1 - low) // slope + 1


def falls(ctx: Context, condition: Form, counter: int) -> bool:
    """Whether the condition, once false at some k, stays false."""
    if counter not in ctx.leaves(condition):
        return True
    argument, negated = _inequality(ctx, condition)
    if argument is None or negated:
        return False
    slope = argument.terms.get((counter,), 0)
    rest = argument - Form({(counter,): slope} if slope else {})
    return slope > 0 and counter not in ctx.leaves(rest)


def trips_of(ctx: Context, info: LoopInfo, test_first: bool) -> Form | None:
    """The number of iterations of a loop with one linear condition and no other exit."""
    if len(info.entry) != 1 or not test_first:
        return None
    if info.entry[0] == ONE and info.limit is not None:
        return number(info.limit)  # no iteration below the bound can fail the test
    argument, negated = _inequality(ctx, info.entry[0])
    if argument is None or negated:
        return None
    slope = argument.terms.get((info.counter,), 0)
    rest = argument - Form({(info.counter,): slope} if slope else {})
    if slope <= 0 or info.counter in ctx.leaves(rest):
        return None
    # smallest k with slope*k + rest >= 0
    return op.maximum(ctx, op.floor_divide(ctx, number(slope - 1) - rest, slope), ZERO)


def _inequality(ctx: Context, condition: Form) -> tuple[Form | None, bool]:
    """(f, False) for ``f < 0``, (f, True) for ``f != 0``, (None, False) for anything else."""
    for form, op_name, negated in ((condition, "lt0", False), (ONE - condition, "eq0", True)):
        generators = form.generators()
        if len(form.terms) == 1 and len(generators) == 1 and not form.constant:
            generator = ctx.generators[next(iter(generators))]
            if isinstance(generator, Atom) and generator.op == op_name:
                return generator.args[0], negated
    return None, False
