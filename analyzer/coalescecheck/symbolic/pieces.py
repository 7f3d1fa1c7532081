"""Counts one piece of one access: picks the method its address allows.

Exact enumeration where everything is known, enumeration over one parameter where one is not,
bounds where the address depends on data or on several unknowns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coalescecheck.analysis import AccessTotals, Total
from coalescecheck.ir.kernel import Op, Space
from coalescecheck.launch import WARP_SIZE, Launch
from coalescecheck.symbolic import edges
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.bounds import (
    BANK_ROW,
    SECTOR,
    l1_range,
    lanes_range,
    phases,
    reachable_banks,
)
from coalescecheck.symbolic.conditions import (
    Conditions,
    conditions_of,
    is_known,
    limits_from,
    ranges_of,
    values_from,
)
from coalescecheck.symbolic.count import Counter, Split, Tally, TooMany
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol, number
from coalescecheck.symbolic.formulas import show
from coalescecheck.symbolic.groups import most_sectors
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.missing import Givable, exact_if, start_of
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.outcome import (
    CERTAINTIES,
    Outcome,
    Range,
    alternatives,
    bounded_totals,
    from_tally,
    no_requests,
)
from coalescecheck.symbolic.parametric import Assumption, Profile, Profiler, parameter_of
from coalescecheck.symbolic.reach import Reach
from coalescecheck.symbolic.render import Renderer

FEW_VALUES = 256  # a byte: values of an index that are tried one by one


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


class PieceCounter:
    """Counts the pieces of one kernel under one launch."""

    def __init__(
        self,
        ctx: Context,
        counter: Counter,
        renderer: Renderer,
        launch: Launch,
        givable: Givable,
    ) -> None:
        self.ctx, self.counter, self.renderer, self.grid = ctx, counter, renderer, launch.grid
        self._block_known = launch.block is not None
        self._givable = givable
        self._profiles: dict[object, Profile | None] = {}
        self._outcomes: dict[object, Outcome] = {}

    def question(
        self,
        reach: Reach,
        target: Target,
        base_step: int,
        known_phases: Mapping[int, int] | None = None,
    ) -> Question:
        """Prepare ``reach``."""
        ranges = ranges_of(self.ctx, reach) | dict(known_phases or {})
        phased = edges.phases(self.ctx, reach.address, lambda g, s: is_known(g, s, ranges))
        given = values_from(self.ctx, reach.path, ranges)
        reach = replace(reach, address=op.replaced(self.ctx, phased.address, given))
        tried = dict(known_phases or {}) | phased.ranges
        ranges |= phased.ranges
        conditions = conditions_of(self.ctx, reach, ranges)
        split = self.counter.split(reach.address, ranges)
        if base_step % target.modulus:
            bases = [s.name for _, s in self.ctx.symbols(reach.address) if s.kind == "base"]
            start = start_of(bases[0] if len(bases) == 1 else "", base_step)
            split = replace(split, unknown=split.unknown + self.ctx.symbol(start))
        return Question(reach, split, conditions, ranges, target, base_step, tried)

    def outcome(self, question: Question) -> Outcome:
        """The counts of the piece, away from edges whose position is not known."""
        ranges = question.ranges
        away = edges.inside(
            self.ctx,
            question.reach.address,
            lambda g, s: is_known(g, s, ranges),
            self.counter.least_spread,
        )
        if not (away.equalities or away.conditions or away.quotients):
            return self._tried(question)
        outcomes = [self._tried(self._moved(question, a)) for a in away.addresses]
        result = outcomes[0]
        for other in outcomes[1:]:
            result = result.joined(other)
        if any(o.units != outcomes[0].units or o.lines != outcomes[0].lines for o in outcomes):
            result = _unweighted(result)
        texts = tuple(
            f"warps without {self.display(self.renderer.condition(c))}" for c in away.equalities
        )
        texts += tuple(
            f"warps not cut by {self.display(self.renderer.condition(c))}" for c in away.conditions
        ) + tuple(
            f"warps whose lanes share {self.display(self.renderer.text(q))}" for q in away.quotients
        )
        some = Total(0, None)
        return replace(
            result,
            certainty="exact-symbolic" if result.certainty == "exact" else result.certainty,
            requests=outcomes[0].requests,
            totals=AccessTotals(outcomes[0].totals.requests, some, some, some),
            assumptions=result.assumptions + texts,
        )

    def _moved(self, question: Question, address: Form) -> Question:
        """The question for another address of the same piece."""
        reach = replace(question.reach, address=address)
        return self.question(reach, question.target, question.base_step, question.phases)

    def _tried(self, question: Question) -> Outcome:
        """The counts over all phases of unknown block indices."""
        result = self._outcome(question)
        if not question.phases:
            return result
        certainty = "exact-symbolic" if result.certainty == "exact" else result.certainty
        return replace(_unweighted(result), certainty=certainty)

    def _outcome(self, question: Question) -> Outcome:
        """The counts; inlined copies and neighbouring places often ask the same question."""
        key = question.key
        known = self._outcomes.get(key)
        if known is None:
            known = self._outcomes[key] = self._found(question)
        return known

    def _found(self, question: Question) -> Outcome:
        data = self._varying_data(question.split.lanes)
        if data is not None:
            return self._gather(question, data)
        try:
            return self._masked(question, self._counted(question))
        except TooMany:
            reason = "the launch has too many different requests to enumerate"
            return self._bounded(question, reason, "bounded")

    # --- exact --------------------------------------------------------------------------------

    def _counted(self, question: Question) -> Outcome:
        split, ranges = question.split, question.ranges
        unknown_lanes = [
            s
            for g, s in self.ctx.symbols(split.lanes)
            if not self.counter.knows(Form({(g,): 1}), ranges)
        ]
        if not unknown_lanes and not split.unknown.terms:
            tally = self._tally(question)
            return self._from_tally(question, tally, self._certainty(question, tally))
        counted = replace(split, unknown=self._moving(question))
        parameter = parameter_of(self.ctx, self.counter, counted, ranges)
        if parameter is not None:
            return self._by_parameter(question, parameter)
        if unknown_lanes:
            names = sorted({self._display(s.name) for s in unknown_lanes})
            data = [s.reason for s in unknown_lanes if s.kind == "data"]
            reason = data[0] if data else f"depends on {', '.join(names)} between the lanes"
            reason += self._givable.settled(unknown_lanes)
            return self._bounded(question, reason, "data-dependent" if data else "bounded")
        return self._at_all_shifts(question)

    def _tally(self, question: Question) -> Tally:
        return self.counter.tally(
            question.split, question.conditions.known, question.ranges, question.target
        )

    def _from_tally(self, question: Question, tally: Tally, certainty: str) -> Outcome:
        requests = self._requests(question, tally)
        most, weighted = self._most(question, tally), self._weighted(question)
        return from_tally(tally, certainty, requests, most, weighted)

    def _weighted(self, question: Question) -> bool:
        """Whether every block makes the requests of the tally, each as often as it says: not if
        the number of warps, the end of a loop or the truth of a guard is not known."""
        loops = all(info.limit is not None for info in question.reach.loops)
        return self._block_known and loops and question.conditions.complete

    def _requests(self, question: Question, tally: Tally) -> int | None:
        return self._most(question, tally) if question.conditions.complete else None

    def _most(self, question: Question, tally: Tally) -> int | None:
        """The requests of the launch if all conditions that are not known hold."""
        if self.grid is None or any(info.limit is None for info in question.reach.loops):
            return None
        used = 1
        for g, count in question.ranges.items():
            generator = self.ctx.generators[g]
            if isinstance(generator, Symbol) and generator.kind == "bid":
                used *= count
        return tally.requests // len(tally.shifts) * (self.grid.size // used)

    def _certainty(self, question: Question, tally: Tally) -> str:
        known = self._requests(question, tally) is not None
        return "exact" if known else "exact-symbolic"

    def _at_all_shifts(self, question: Question) -> Outcome:
        """A uniform part without one common parameter: every reachable alignment counts."""
        tally = self._tally(question)
        data = self._reasons(question)
        certainty = "exact-symbolic" if not data else "data-dependent"
        outcome = self._from_tally(question, tally, certainty)
        if outcome.units.min == outcome.units.max:
            certainty = "exact" if outcome.requests is not None else "exact-symbolic"
            return replace(outcome, certainty=certainty)
        unknown = [symbol for _, symbol in self.ctx.symbols(self._moving(question))]
        names = ", ".join(sorted({self._display(s.name) for s in unknown if s.kind != "data"}))
        reason = data or f"depends on {names}"
        return replace(outcome, reason=f"alignment: {reason}{self._givable.settled(unknown)}")

    def _moving(self, question: Question) -> Form:
        """The unknown uniform part without the terms that can change no count."""
        terms = question.split.unknown.terms.items()
        modulus = question.target.modulus
        return Form({m: c for m, c in terms if self.ctx.multiple_of(Form({m: c})) % modulus})

    def _reasons(self, question: Question) -> str:
        """Why the unknown uniform part is more than a parameter; empty when it is not."""
        own = {info.counter for info in question.reach.loops}
        for g, symbol in self.ctx.symbols(self._moving(question)):
            if symbol.kind == "data" or (symbol.kind == "counter" and g not in own):
                return symbol.reason or symbol.name
        return ""

    # --- one parameter ------------------------------------------------------------------------

    def _by_parameter(self, question: Question, parameter: int) -> Outcome:
        profile = self._profile(question, parameter)
        if profile is None:
            symbol = self._symbol(parameter)
            reason = f"depends on {self._display(symbol.name)} between the lanes"
            reason += self._givable.settled([symbol])
            return self._bounded(question, reason, "bounded")
        symbol = self._limited(question, parameter)
        name = self.renderer.text(Form({(parameter,): 1}))
        in_lanes = parameter in self.ctx.leaves(question.split.lanes)
        small = in_lanes and (symbol.low is None or symbol.low < profile.start)
        shown = show(profile, name, profile.multiple, small)
        # nobody can promise what a counter, a block index or a loaded value is: all values count
        free = symbol.kind in ("counter", "data", "row", "bid")
        possible, mixed = profile.everywhere if free else profile.tallies, free
        if in_lanes and symbol.high is not None and symbol.high < profile.start:
            free, possible = True, profile.within(symbol.low, symbol.high)
        outcome = self._joined_tallies(possible, question, mixed)
        assumption = None if free else self._assumed(profile, symbol, shown.start, outcome.units)
        if not free:
            outcome = self._for_all_values(outcome, profile, assumption, question)
        reason = ""
        if outcome.units.min != outcome.units.max:
            reason = self._split_reason(symbol, shown.condition, outcome, question)
        data = symbol.kind == "data" or self._reasons(question)
        certainty = "exact-symbolic"
        if data and outcome.units.min != outcome.units.max:
            certainty = "data-dependent"
        return replace(
            outcome,
            certainty=certainty,
            formula=None if free and reason else shown.formula,
            assumptions=(assumption.of(self._display(symbol.name)),) if assumption else (),
            reason=reason,
        )

    def _limited(self, question: Question, parameter: int) -> Symbol:
        """The symbol within what the guards of the access say of it."""
        symbol = self._symbol(parameter)
        ends = limits_from(self.ctx, question.reach.path, parameter)
        low = max((n for n in (symbol.low, ends[0]) if n is not None), default=None)
        high = min((n for n in (symbol.high, ends[1]) if n is not None), default=None)
        return replace(symbol, low=low, high=high)

    def _for_all_values(
        self, outcome: Outcome, profile: Profile, assumption: Assumption | None, question: Question
    ) -> Outcome:
        """``outcome`` of large values with what small values change beside the main count."""
        tallies = tuple(
            tally
            for value, tally in profile.by_value.items()
            if assumption is None or assumption.holds(value)
        )
        if not tallies:
            return outcome
        every = self._joined_tallies(tallies, question, mixed=False)
        return replace(
            outcome,
            lines=every.lines,
            l1_data=every.l1_data,
            l1_tag=every.l1_tag,
            degree=every.degree,
            together=every.together,
            totals=every.totals,
        )

    def _assumed(
        self, profile: Profile, symbol: Symbol, start: int | None, units: Range
    ) -> Assumption | None:
        """What has to hold of the parameter for the counts to hold: nothing, unless it scales
        lanes and small or negative values give other counts."""
        if start is not None:
            return Assumption(">=", start)
        others = [
            n
            for n, (low, high) in profile.small.items()
            if n <= 0 and (symbol.low is None or n >= symbol.low)
            if low < units.min or high > units.max
        ]
        if others == [0] and profile.far_negative == profile.large:
            return Assumption("!=", 0)
        return Assumption(">=", 1) if others else None

    def _split_reason(
        self,
        symbol: Symbol,
        condition: tuple[int, int] | None,
        outcome: Outcome,
        question: Question,
    ) -> str:
        """What the count depends on, and the fact that would settle it."""
        fact = self._givable.divisible(symbol)
        if condition is None or fact is None or question.conditions.masked:
            reason = symbol.reason or f"depends on {self._display(symbol.name)}"
            return reason + self._givable.settled([symbol])
        divisor, count = condition
        unit = "wavefronts" if question.target.space is Space.SHARED else "sectors"
        why = f"{symbol.reason}; " if symbol.reason else ""
        return f"{why}up to {outcome.units.max} {unit}; {count} and {exact_if(fact, divisor)}"

    def _profile(self, question: Question, parameter: int) -> Profile | None:
        key = (
            question.split,
            tuple(question.conditions.known),
            parameter,
            question.target,
            tuple(question.ranges.items()),
        )
        if key not in self._profiles:
            profiler = Profiler(
                self.ctx,
                self.counter,
                question.split,
                question.conditions.known,
                question.ranges,
                question.target,
            )
            self._profiles[key] = profiler.profile(parameter)
        return self._profiles[key]

    def _joined_tallies(
        self, tallies: tuple[Tally, ...], question: Question, mixed: bool
    ) -> Outcome:
        """One of the tallies is the case; ``mixed``: for each request another one."""
        distinct = {t.fingerprint: t for t in reversed(tallies)}
        outcomes = [
            self._from_tally(question, t, "exact-symbolic") for t in reversed(distinct.values())
        ]
        result = outcomes[0]
        for other in outcomes[1:]:
            result = result.joined(other)
        return replace(
            result,
            requests=outcomes[0].requests,
            units=_settled(result.units),
            lines=_settled(result.lines),
            l1_data=_settled(result.l1_data),
            l1_tag=_settled(result.l1_tag),
            totals=self._mixed_totals(result.units, tuple(distinct.values()), question)
            if mixed
            else alternatives(outcomes),
        )

    def _mixed_totals(
        self, units: Range, tallies: tuple[Tally, ...], question: Question
    ) -> AccessTotals:
        """The sums when each request is of any of the tallies."""
        ideals = [tally.measures.ideal for tally in tallies if tally.weight.sum()]
        if not ideals:
            return no_requests("exact").totals
        least, greatest = min(int(i.min()) for i in ideals), max(int(i.max()) for i in ideals)
        counts = [self._requests(question, tally) for tally in tallies]
        requests = counts[0] if len(set(counts)) == 1 else None
        most = [self._most(question, tally) for tally in tallies]
        highest = None if any(m is None for m in most) else max(m for m in most if m is not None)
        return bounded_totals(units, Range(least, greatest, None), requests, highest)

    # --- what cannot be exact -----------------------------------------------------------------

    def _masked(self, question: Question, outcome: Outcome) -> Outcome:
        """Conditions that data decides may switch lanes off: the full count is the maximum."""
        conditions = question.conditions
        if conditions.masked and outcome.runs:
            # one lane alone: a word of local memory lies in a sector of its own
            local = question.target.space is Space.LOCAL
            least = max(1, question.target.width // 4) if local else 1
            certainty, reason = "data-dependent", f"a condition on data: {conditions.masked}"
            if conditions.sizes:
                certainty, reason = "bounded", f"a condition on {self.display(conditions.masked)}"
            worse = max(outcome.certainty, certainty, key=CERTAINTIES.index)
            return replace(
                outcome,
                certainty=worse,
                units=Range(min(least, outcome.units.min), outcome.units.max, None),
                lines=Range(min(1, outcome.lines.min), outcome.lines.max, None),
                l1_data=Range(min(1, outcome.l1_data.min), outcome.l1_data.max, None),
                l1_tag=Range(min(1, outcome.l1_tag.min), outcome.l1_tag.max, None),
                degree=(min(1, outcome.degree[0]), outcome.degree[1]),
                together=(min(1, outcome.together[0]), outcome.together[1]),
                requests=None,
                asked=None,
                distinct=None,
                reason=f"lanes run under {reason}",
            )
        if conditions.assumed:
            texts = tuple(
                f"whole warps: {self.display(self.renderer.condition(g))}"
                for g in conditions.assumed
            )
            return replace(outcome, assumptions=outcome.assumptions + texts)
        return outcome

    def _varying_data(self, lanes: Form) -> Symbol | None:
        for _, symbol in self.ctx.symbols(lanes):
            if symbol.varying and symbol.kind in ("data", "base"):
                return symbol
        return None

    def _gather(self, question: Question, symbol: Symbol) -> Outcome:
        reason = symbol.reason or "a pointer loaded from memory"
        if not symbol.reason and symbol.kind == "data":
            reason = "a value that is not known"
        outcome = self._bounded(
            question, f"index {reason}" if symbol.kind == "data" else reason, "data-dependent"
        )
        banks = self._by_bank(question)
        if banks is None:
            return outcome
        low, high = max(outcome.units.min, banks[0]), min(outcome.units.max, banks[1])
        certainty = "exact-symbolic" if low == high else "data-dependent"
        units = Range(low, high, float(low) if low == high else None)
        one = Range(1, 1, None)  # banks are only followed for accesses of one phase
        return replace(
            outcome,
            units=units,
            totals=bounded_totals(units, one, outcome.requests, outcome.totals.requests.max),
            degree=(low, high),
            certainty=certainty,
            reason="" if low == high else outcome.reason,
        )

    def _by_bank(self, question: Question) -> tuple[int, int] | None:
        """Shared accesses whose unknown part is a whole number of bank rows, or small."""
        if question.target.space is not Space.SHARED or question.target.op is Op.ATOMIC:
            return None
        known: dict[tuple[int, ...], int] = {}
        offsets = np.zeros(1, np.int64)
        for monomial, coefficient in question.split.lanes.terms.items():
            term = Form({monomial: coefficient})
            if self.counter.knows(term, question.ranges):
                known[monomial] = coefficient
            elif self.ctx.multiple_of(term) % BANK_ROW:
                values = self._few_values(monomial)
                if values is None or len(offsets) > 1:
                    return None
                offsets = values * coefficient
        lanes = Form(known)
        if any(g in question.ranges for g in self.ctx.leaves(lanes)):
            return None
        values = Evaluator(self.ctx, self.counter.threads((lanes,))).form(lanes)
        exists = self.counter.lanes.exists
        addresses = np.broadcast_to(values, (1, *exists.shape)).reshape(-1, WARP_SIZE)
        return reachable_banks(addresses, exists, offsets, question.target)

    def _few_values(self, monomial: tuple[int, ...]) -> NDArray[np.int64] | None:
        """All values of an unknown factor whose type or operation leaves it few."""
        low, high = self.ctx.bounds(Form({monomial: 1}))
        if low is None or high is None or high - low >= FEW_VALUES:
            return None
        return np.arange(low, high + 1, dtype=np.int64)

    def _bounded(self, question: Question, reason: str, certainty: str) -> Outcome:
        """Bounds from the number of lanes that can be active."""
        empty = replace(question.split, lanes=ZERO, uniform=ZERO, unknown=ZERO)
        try:
            tally = self._tally(replace(question, split=empty))
        except TooMany:
            return self._bounds_for(question, None, reason, certainty)
        if not tally.requests:
            return no_requests(certainty)
        return self._bounds_for(question, tally, reason, certainty)

    def _bounds_for(
        self, question: Question, tally: Tally | None, reason: str, certainty: str
    ) -> Outcome:
        """``tally`` says which lanes run; without one any may."""
        target, conditions = question.target, question.conditions
        lanes, fewest, asked, requests, most = WARP_SIZE, 1, None, None, None
        if tally is not None:
            active = tally.measures.asked // target.width
            lanes, fewest = int(active.max()), int(active.min())
            asked = float((tally.measures.asked * tally.weight).sum() / tally.requests)
            requests, most = self._requests(question, tally), self._most(question, tally)
        low, high = lanes_range(lanes, target)
        if target.space is Space.GLOBAL and certainty == "bounded":
            split, ranges = question.split, question.ranges
            bound = most_sectors(self.ctx, self.counter, split.lanes, ranges, target.width)
            high = min(high, bound or high)
        if conditions.masked or conditions.assumed or fewest < lanes:  # a warp may be cut
            low = fewest = 1
        units = Range(low, high, float(low) if low == high else None)
        ideal = float(max(1, -(-lanes * target.width // SECTOR)))
        if target.space in (Space.SHARED, Space.CONSTANT):
            ideal = float(low)
        lines = Range(1, max(lanes, high if target.space is Space.LOCAL else 1), None)
        ideals = Range(1, int(ideal), None)
        if target.space is Space.SHARED:
            ideals = Range(1, phases(target.width), None)
        data, tags = l1_range(fewest, lanes, lines.max, target)
        return Outcome(
            certainty,
            units,
            ideal,
            lines,
            (1, lanes),
            asked,
            requests,
            bounded_totals(units, ideals, requests, most),
            Range(*data, None),
            Range(*tags, None),
            reason,
            distinct=float(target.width) if lanes == 1 else None,
        )

    # --- names --------------------------------------------------------------------------------

    def _symbol(self, g: int) -> Symbol:
        generator = self.ctx.generators[g]
        if not isinstance(generator, Symbol):
            raise TypeError(generator)
        return generator

    def _display(self, name: str) -> str:
        return name.split("#")[0]

    def display(self, text: str) -> str:
        """Names of CUDA's own variables as CUDA writes them."""
        for head in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            for axis in "xyz":
                text = text.replace(f"{head}_{axis}", f"{head}.{axis}")
        return text


def _unweighted(outcome: Outcome) -> Outcome:
    """The outcome without means, where it is not known how often each count happens."""
    return replace(
        outcome,
        units=_settled(outcome.units),
        lines=_settled(outcome.lines),
        l1_data=_settled(outcome.l1_data),
        l1_tag=_settled(outcome.l1_tag),
    )


def _settled(values: Range) -> Range:
    """Counts for several values of a parameter: how often each happens is not known."""
    return values if values.min == values.max else replace(values, mean=None)
