"""Counts of a piece whose address depends on one unknown parameter, with what has to be said.

``parametric`` counts at enough values of the parameter; here that becomes an outcome: a formula,
an assumption on the parameter, or the reason why the count is a range.
"""

from __future__ import annotations

from dataclasses import replace

from coalescecheck.ir.kernel import Space
from coalescecheck.symbolic.conditions import limits_from
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import Context, Form, Symbol
from coalescecheck.symbolic.formulas import show
from coalescecheck.symbolic.missing import Givable, exact_if
from coalescecheck.symbolic.outcome import Outcome, Range
from coalescecheck.symbolic.parametric import Assumption, Profile, Profiler, symbol_of
from coalescecheck.symbolic.question import Question, reason_of
from coalescecheck.symbolic.render import Renderer, plain_name, spoken
from coalescecheck.symbolic.requests import Requests


class ParameterCounter:
    """Counts pieces of one kernel over the values of one parameter each."""

    def __init__(
        self,
        ctx: Context,
        counter: Counter,
        renderer: Renderer,
        requests: Requests,
        givable: Givable,
    ) -> None:
        self._ctx, self._counter, self._renderer = ctx, counter, renderer
        self._requests, self._givable = requests, givable
        self._profiles: dict[object, Profile | None] = {}

    def outcome(self, question: Question, parameter: int) -> Outcome | None:
        """The counts over all values of ``parameter``; None when there are too many to try."""
        profile = self._profile(question, parameter)
        if profile is None:
            return None
        symbol = self._limited(question, parameter)
        name = self._renderer.text(Form({(parameter,): 1}))
        in_lanes = parameter in self._ctx.leaves(question.split.lanes)
        small = in_lanes and (symbol.low is None or symbol.low < profile.start)
        signed = symbol.low is None or symbol.low < 0
        shown = show(profile, name, profile.multiple, small, signed)
        # nobody can promise what a counter, a block index or a loaded value is: all values count
        free = symbol.kind in ("counter", "data", "row", "place", "bid")
        possible, mixed = profile.everywhere if free else profile.tallies, free
        if in_lanes and symbol.high is not None and symbol.high < profile.start:
            free, possible = True, profile.within(symbol.low, symbol.high)
        outcome = self._requests.joined(possible, question, mixed)
        assumption = None if free else self._assumed(profile, symbol, shown.start, outcome.units)
        if not free:
            outcome = self._for_all_values(outcome, profile, assumption, question)
        reason = ""
        if outcome.units.min != outcome.units.max:
            reason = self._split_reason(symbol, shown.condition, outcome, question)
        data = symbol.kind == "data" or reason_of(self._ctx, question)
        certainty = "exact-symbolic"
        if data and outcome.units.min != outcome.units.max:
            # where a launch lets a pointer begin can be told, what memory holds cannot
            launched = symbol.kind == "data" and self._givable.divisible(symbol)
            certainty = "bounded" if launched else "data-dependent"
        return replace(
            outcome,
            certainty=certainty,
            formula=None if free and reason else shown.formula,
            assumptions=(assumption.of(plain_name(symbol.name)),) if assumption else (),
            reason=reason,
        )

    def _limited(self, question: Question, parameter: int) -> Symbol:
        """The symbol within what the guards of the access say of it."""
        symbol = symbol_of(self._ctx, parameter)
        ends = limits_from(self._ctx, question.reach.path, parameter)
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
        every = self._requests.joined(tallies, question, mixed=False)
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
            reason = symbol.reason or f"depends on {spoken([symbol])}"
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
                self._ctx,
                self._counter,
                question.split,
                question.conditions.known,
                question.ranges,
                question.target,
            )
            self._profiles[key] = profiler.profile(parameter)
        return self._profiles[key]
