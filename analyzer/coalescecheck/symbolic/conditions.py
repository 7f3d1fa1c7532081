"""Which of the conditions on an access can be evaluated, and what the others cost.

In: the path and loops of a :class:`Reach`.  Out: guards to evaluate exactly, and statements
about the rest: taken as true (a tail guard with an unknown size), decided by data, or decided
by a loop whose exits are not understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import Context, Form, Symbol, number
from coalescecheck.symbolic.reach import LoopInfo, Reach


@dataclass(slots=True)
class Conditions:
    """``known`` guards decide lanes exactly.  ``assumed`` guards hold parameters that are not
    known: counts are for warps they do not cut.  ``masked`` says why some lanes may be off
    in a way that cannot be known; ``optional`` that whole requests may not happen."""

    known: list[Form] = field(default_factory=list)
    assumed: list[Form] = field(default_factory=list)
    masked: str = ""
    optional: bool = False

    @property
    def complete(self) -> bool:
        """Whether the set of requests is known."""
        return not (self.assumed or self.masked or self.optional)


def ranges_of(ctx: Context, reach: Reach) -> dict[int, int]:
    """Number of values of every uniform symbol that counts from 0: block indices and loop
    counters with a known end."""
    ranges = {info.counter: info.limit for info in reach.loops if info.limit is not None}
    used: set[int] = set()
    for form in (reach.address, *reach.path, *(c for i in reach.loops for c in i.carry)):
        used |= ctx.leaves(form) & ctx.of_kind["bid"]
    for g in sorted(used):
        symbol = ctx.generators[g]
        if isinstance(symbol, Symbol) and symbol.high is not None:
            ranges[g] = symbol.high + 1
    return ranges


def conditions_of(ctx: Context, reach: Reach, ranges: Mapping[int, int]) -> Conditions:
    """Sort the access's conditions by what can be done with them."""
    result = Conditions()
    known = ranges.keys() | ctx.of_kind["tid"] | ctx.of_kind["base"]
    for guard in reach.path:
        _sort(ctx, guard, known, result)
    for info in reach.loops:
        if info.limit is None:
            result.optional = True
        if not info.steady:
            _give_up(ctx, info.entry, result, "a loop condition that may hold again later")
        for carry in info.carry:
            _sort_carry(ctx, info, carry, known, result)
    return result


def _sort(ctx: Context, guard: Form, known: Set[int], result: Conditions) -> None:
    """``known`` are the symbols that the counting engine has values for (``is_known``)."""
    if guard == op.ONE:
        return
    unknown = ctx.leaves(guard) - known
    if not unknown:
        if guard not in result.known:
            result.known.append(guard)
    elif not ctx.varying(guard):
        result.optional = True
    elif data := unknown & ctx.of_kind["data"]:
        symbols = (ctx.generators[g] for g in sorted(data))
        reasons = [s.reason for s in symbols if isinstance(s, Symbol) and s.reason]
        result.masked = reasons[0] if reasons else "a condition that is not known"
    else:
        result.assumed.append(guard)


def is_known(g: int, symbol: Symbol, ranges: Mapping[int, int]) -> bool:
    """Whether the counting engine has values for the symbol."""
    return symbol.kind in ("tid", "base") or g in ranges


def _sort_carry(
    ctx: Context, info: LoopInfo, carry: Form, known: Set[int], result: Conditions
) -> None:
    """A condition of all earlier iterations, as one of the previous iteration if it is steady."""
    if carry == op.ONE:
        return
    if not _steady(ctx, carry, info.counter):
        _give_up(ctx, (carry,), result, "a loop that is left in a way that is not understood")
        return
    k = Form({(info.counter,): 1})
    before = ctx.substitute(carry, {info.counter: k - number(1)})
    _sort(ctx, op.either(ctx, op.equal(ctx, k, number(0)), before), known, result)


def _steady(ctx: Context, condition: Form, counter: int) -> bool:
    """Whether a condition that is false in one iteration is false in all later ones."""
    if counter not in ctx.leaves(condition):
        return not any(g > counter and s.kind == "data" for g, s in ctx.symbols(condition))
    if len(condition.terms) != 1 or condition.constant:
        return False
    generator = ctx.generators[next(iter(condition.generators()))]
    if isinstance(generator, Symbol) or generator.op != "lt0":
        return False
    slope = generator.args[0].terms.get((counter,), 0)
    rest = generator.args[0] - Form({(counter,): slope} if slope else {})
    return slope > 0 and counter not in ctx.leaves(rest)


def _give_up(ctx: Context, conditions: tuple[Form, ...], result: Conditions, reason: str) -> None:
    result.optional = True
    if any(ctx.varying(c) for c in conditions):
        data = [s.reason for c in conditions for _, s in ctx.symbols(c) if s.kind == "data"]
        result.masked = next((r for r in data if r), reason)
