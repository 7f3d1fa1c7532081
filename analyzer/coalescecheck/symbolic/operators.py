"""C operators on forms: each returns a form that is equal for every value, never a guess.

What is not a polynomial becomes an atom, after a few rewrites that are proven from the
operands' bounds and divisors (sums whose parts divide, remainders that cannot wrap, disjoint
bits).  Here they come together: ``replaced`` applies them anew.
"""

from __future__ import annotations

from coalescecheck.symbolic.bits import bit_and, bit_or, bit_xor, shift_left, shift_right
from coalescecheck.symbolic.division import divide, floor_divide, floor_remainder, remainder
from coalescecheck.symbolic.form import ONE, ZERO, Context, Form, Symbol, number, single_atom
from coalescecheck.symbolic.truth import (
    both,
    conjuncts,
    either,
    equal,
    less,
    less_modulo,
    maximum,
    minimum,
    negate,
    select,
    truth,
)
from coalescecheck.symbolic.wrapping import cut, multiply, only_blocks_unbounded, settle, sum_of

__all__ = [
    "ONE",
    "bit_and",
    "bit_or",
    "bit_xor",
    "both",
    "conjuncts",
    "cut",
    "divide",
    "either",
    "equal",
    "floor_divide",
    "floor_remainder",
    "less",
    "less_modulo",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "only_blocks_unbounded",
    "remainder",
    "replaced",
    "select",
    "settle",
    "shift_left",
    "shift_right",
    "single_atom",
    "sum_of",
    "truth",
]


def replaced(
    ctx: Context, form: Form, values: dict[int, Form], done: dict[int, Form] | None = None
) -> Form:
    """The form with symbols replaced, every operation applied anew so that it simplifies.

    ``done`` keeps what became of each generator, which may stand in several places.
    """
    if ctx.leaves(form).isdisjoint(values):
        return form
    done = {} if done is None else done
    result = ZERO
    for monomial, coefficient in form.terms.items():
        term = number(coefficient)
        for g in monomial:
            new = done.get(g)
            if new is None:
                new = done[g] = _replaced_generator(ctx, g, values, done)
            term = term * new
        result = result + term
    return result


def _replaced_generator(
    ctx: Context, g: int, values: dict[int, Form], done: dict[int, Form]
) -> Form:
    if g in values:
        return values[g]
    generator = ctx.generators[g]
    alone = Form({(g,): 1})
    if isinstance(generator, Symbol) or ctx.leaves(alone).isdisjoint(values):
        return alone
    args = tuple(replaced(ctx, arg, values, done) for arg in generator.args)
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
