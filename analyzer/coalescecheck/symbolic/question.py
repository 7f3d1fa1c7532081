"""A piece of an access with everything about it sorted: what the counting methods are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coalescecheck.symbolic import edges
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.conditions import (
    Conditions,
    conditions_of,
    is_known,
    keep_possible,
    ranges_of,
    values_from,
)
from coalescecheck.symbolic.count import Counter, Split
from coalescecheck.symbolic.form import Context, Form, number
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.missing import start_of
from coalescecheck.symbolic.reach import Reach


@dataclass(frozen=True, slots=True)
class Question:
    """A reach with everything about it sorted: what is asked of the counting methods."""

    reach: Reach
    split: Split
    conditions: Conditions
    ranges: dict[int, int]
    target: Target
    base_step: int  # the base address is a multiple of it
    phases: dict[int, int]  # parts of unknown block indices that are tried one by one

    @property
    def key(self) -> object:
        """All that the counts depend on: of the address only what is left modulo the modulus."""
        uniform, conditions = self.split.uniform, self.conditions
        far = uniform.constant - uniform.constant % self.target.modulus
        return (
            replace(self.split, uniform=uniform - number(far)),
            (*conditions.known, None, *conditions.assumed),
            (conditions.masked, conditions.sizes, conditions.optional),
            self.reach.path,
            tuple(self.ranges.items()),
            self.target,
            tuple((info.counter, info.limit) for info in self.reach.loops),
        )


def question_of(
    ctx: Context,
    counter: Counter,
    reach: Reach,
    target: Target,
    base_step: int,
    known_phases: Mapping[int, int] | None = None,
) -> Question:
    """Prepare ``reach``; ``base_step`` divides the base address (bytes)."""
    ranges = ranges_of(ctx, reach) | dict(known_phases or {})
    bases = [(g, s) for g, s in ctx.symbols(reach.address) if s.kind == "base"]
    adrift = base_step % target.modulus != 0
    if adrift and len(bases) > 1:  # each of them begins somewhere else
        starts = {g: Form({(g,): 1}) + ctx.symbol(start_of(s.name, base_step)) for g, s in bases}
        reach = replace(reach, address=ctx.substitute(reach.address, starts))
    address = reach.address
    if not adrift:
        address = edges.unwrapped(ctx, address, lambda g, s: is_known(g, s, ranges), target.modulus)
    phased = edges.phases(ctx, address, lambda g, s: is_known(g, s, ranges))
    given = values_from(ctx, reach.path, ranges)
    reach = replace(reach, address=op.replaced(ctx, phased.address, given))
    tried = dict(known_phases or {}) | phased.ranges
    ranges |= phased.ranges
    conditions = conditions_of(ctx, reach, ranges)
    keep_possible(ctx, conditions, ranges, counter.trials)
    split = counter.split(reach.address, ranges)
    if adrift and len(bases) <= 1:
        start = start_of(bases[0][1].name if bases else "", base_step)
        split = replace(split, unknown=split.unknown + ctx.symbol(start))
    return Question(reach, split, conditions, ranges, target, base_step, tried)


def moving(ctx: Context, question: Question) -> Form:
    """The unknown uniform part without the terms that can change no count."""
    terms = question.split.unknown.terms.items()
    modulus = question.target.modulus
    return Form({m: c for m, c in terms if ctx.multiple_of(Form({m: c})) % modulus})


def reason_of(ctx: Context, question: Question) -> str:
    """Why the unknown uniform part is more than a parameter; empty when it is not."""
    own = {info.counter for info in question.reach.loops}
    for g, symbol in ctx.symbols(moving(ctx, question)):
        if symbol.kind == "data" or (symbol.kind == "counter" and g not in own):
            return symbol.reason or symbol.name
    return ""
