"""How many iterations a loop makes: bounds and numbers from conditions that are linear in k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

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
    line = None if argument is None else _line(ctx, argument, counter)
    if line is None:
        return None
    slope, low = ctx.bounds(line.slope)[0], ctx.bounds(line.rest)[0]
    if negated:  # argument != 0
        way = line.distance(ctx)
        if way is not None:
            return ctx.bounds(way)[1]
        step = line.slope.constant
        hit = line.rest.is_constant and line.slope.is_constant and step != 0
        hit = hit and -line.rest.constant % step == 0 and -line.rest.constant // step >= 0
        return -line.rest.constant // step if hit else None
    return None if slope is None or slope <= 0 or low is None else (-1 - low) // slope + 1


def falls(ctx: Context, condition: Form, counter: int) -> bool:
    """Whether the condition, once false at some k, stays false."""
    if counter not in ctx.leaves(condition):
        return True
    argument, negated = _inequality(ctx, condition)
    if argument is not None and _is_of_halves(ctx, argument, counter, negated):
        return True
    line = None if argument is None or negated else _line(ctx, argument, counter)
    slope = None if line is None else ctx.bounds(line.slope)[0]
    return slope is not None and slope >= 0


def _is_of_halves(ctx: Context, argument: Form, counter: int, negated: bool) -> bool:
    """``n >> k > rest`` and ``n >> k != 0``: it only becomes smaller, and stays 0."""
    moving = {m: c for m, c in argument.terms.items() if counter in ctx.leaves(Form({m: 1}))}
    if len(moving) != 1 or (negated and len(argument.terms) > 1):
        return False
    (monomial, coefficient), *_ = moving.items()
    atom = ctx.generators[monomial[0]]
    if len(monomial) != 1 or not isinstance(atom, Atom) or atom.op != "shr":
        return False
    number_, shift = atom.args
    low = ctx.bounds(number_)[0]
    slope = shift.terms.get((counter,), 0)
    grows = shift.terms == {(counter,): slope} and slope > 0
    still = low is not None and low >= 0 and counter not in ctx.leaves(number_)
    return grows and still and (negated or coefficient < 0)


def holds_before(ctx: Context, condition: Form, counter: int, count: Form) -> Form | None:
    """Whether the condition holds at k = 0 ... count - 1; None where that has no closed form."""
    result = ONE
    for part in op.conjuncts(ctx, condition):
        all_along = _held(ctx, part, counter, count)
        if all_along is None:
            return None
        result = op.both(ctx, result, all_along)
    return result


def _held(ctx: Context, condition: Form, counter: int, count: Form) -> Form | None:
    never_asked = op.less(ctx, count, ONE)
    if any(g > counter and s.kind not in ("tid", "bid", "bdim") for g, s in ctx.symbols(condition)):
        return None  # decided anew in each iteration
    if counter not in ctx.leaves(condition):
        return op.either(ctx, never_asked, condition)
    still = [c for c in _alternatives(ctx, condition) if counter not in ctx.leaves(c)]
    moving = [c for c in _alternatives(ctx, condition) if counter in ctx.leaves(c)]
    if still and len(moving) == 1:
        held = _held(ctx, moving[0], counter, count)
        if held is None:
            return None
        return reduce(lambda one, other: op.either(ctx, one, other), still, held)
    argument, negated = _inequality(ctx, condition)
    line = None if argument is None else _line(ctx, argument, counter)
    if line is None:
        return None
    if negated:
        return None if (zero := line.meets_zero(ctx, count)) is None else op.negate(ctx, zero)
    low, high = ctx.bounds(line.slope)
    if low is not None and low >= 0:  # the last is the greatest
        last = line.rest + line.slope * (count - ONE)
        return op.either(ctx, never_asked, op.less(ctx, last, ZERO))
    if high is not None and high <= 0:
        return op.either(ctx, never_asked, op.less(ctx, line.rest, ZERO))
    return None


def _alternatives(ctx: Context, condition: Form) -> tuple[Form, ...]:
    """The conditions of which one has to hold."""
    return tuple(op.negate(ctx, c) for c in op.conjuncts(ctx, op.negate(ctx, condition)))


@dataclass(frozen=True, slots=True)
class _Line:
    """``rest + slope*k``."""

    slope: Form
    rest: Form

    def distance(self, ctx: Context) -> Form | None:
        """The k at which it is 0, where it comes there from below or above in steps of 1."""
        if self.slope not in (ONE, -ONE):
            return None
        way = -self.rest if self.slope == ONE else self.rest
        low = ctx.bounds(way)[0]
        return way if low is not None and low >= 0 else None

    def meets_zero(self, ctx: Context, count: Form) -> Form | None:
        """Whether it is 0 for some k = 0 ... count - 1."""
        if not self.slope.is_constant:
            return None
        step = abs(self.slope.constant)
        way = -self.rest if self.slope.constant > 0 else self.rest  # step*k = way
        there = op.both(
            ctx, op.negate(ctx, op.less(ctx, way, ZERO)), op.less(ctx, way, count * number(step))
        )
        whole = op.equal(ctx, op.floor_remainder(ctx, way, step), ZERO)
        return op.both(ctx, there, whole)


def _line(ctx: Context, form: Form, counter: int) -> _Line | None:
    """The form as a line in k; None if it is none, or a constant."""
    slope: dict[tuple[int, ...], int] = {}
    rest: dict[tuple[int, ...], int] = {}
    for monomial, coefficient in form.terms.items():
        if counter in monomial:
            at = monomial.index(counter)
            slope[monomial[:at] + monomial[at + 1 :]] = coefficient
        else:
            rest[monomial] = coefficient
    line = _Line(Form(slope), Form(rest))
    bent = counter in ctx.leaves(line.slope) or counter in ctx.leaves(line.rest)
    return None if bent or not slope else line


def trips_of(ctx: Context, info: LoopInfo, test_first: bool) -> Form | None:
    """The number of iterations of a thread that only the loop's condition stops; None where it is
    not linear in k.  Parts of the condition that hold up to the bound are not in ``entry``."""
    if len(info.entry) != 1 or not test_first:
        return None
    if info.entry[0] == ONE and info.limit is not None:
        return number(info.limit)  # no iteration below the bound can fail the test
    argument, negated = _inequality(ctx, info.entry[0])
    line = None if argument is None else _line(ctx, argument, info.counter)
    if line is None or not line.slope.is_constant:
        return None
    slope = line.slope.constant
    trips = line.distance(ctx) if negated else None
    if not negated and slope > 0:  # smallest k with slope*k + rest >= 0
        trips = op.maximum(ctx, op.floor_divide(ctx, number(slope - 1) - line.rest, slope), ZERO)
    if trips is None or info.limit is None:
        return trips
    return op.minimum(ctx, trips, number(info.limit))


def _inequality(ctx: Context, condition: Form) -> tuple[Form | None, bool]:
    """(f, False) for ``f < 0``, (f, True) for ``f != 0``, (None, False) for anything else."""
    for form, op_name, negated in ((condition, "lt0", False), (ONE - condition, "eq0", True)):
        generators = form.generators()
        if len(form.terms) == 1 and len(generators) == 1 and not form.constant:
            generator = ctx.generators[next(iter(generators))]
            if isinstance(generator, Atom) and generator.op == op_name:
                return generator.args[0], negated
    return None, False
