"""Counts one piece of one access: picks the method its address allows.

Exact enumeration where everything is known, enumeration over one parameter where one is not
(``one_parameter``), bounds where the address depends on data or on several unknowns (``inexact``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coalescecheck.analysis import AccessTotals, Total
from coalescecheck.launch import Launch
from coalescecheck.symbolic import edges
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.conditions import is_known
from coalescecheck.symbolic.count import Counter, TooMany
from coalescecheck.symbolic.fits import Fit
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol
from coalescecheck.symbolic.inexact import RangeCounter
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.missing import Givable
from coalescecheck.symbolic.one_parameter import ParameterCounter
from coalescecheck.symbolic.outcome import Outcome
from coalescecheck.symbolic.parametric import parameter_of, symbol_of
from coalescecheck.symbolic.question import Question, moving, question_of, reason_of
from coalescecheck.symbolic.reach import Reach
from coalescecheck.symbolic.render import spoken
from coalescecheck.symbolic.requests import Requests
from coalescecheck.symbolic.written import Written


class PieceCounter:
    """Counts the pieces of one kernel under one launch."""

    def __init__(
        self,
        ctx: Context,
        counter: Counter,
        written: Written,
        launch: Launch,
        givable: Givable,
    ) -> None:
        self._ctx, self._counter, self._written = ctx, counter, written
        self._givable = givable
        self._requests = Requests(ctx, counter, launch)
        self._parameters = ParameterCounter(ctx, counter, written.symbols, self._requests, givable)
        self._ranges = RangeCounter(ctx, counter, written, self._requests)
        self._outcomes: dict[object, Outcome] = {}
        self._inside: dict[object, edges.Inside] = {}

    def question(
        self,
        reach: Reach,
        target: Target,
        base_step: int,
        known_phases: Mapping[int, int] | None = None,
    ) -> Question:
        """Prepare ``reach``."""
        return question_of(self._ctx, self._counter, reach, target, base_step, known_phases)

    def outcome(self, question: Question) -> Outcome:
        """The counts of the piece, away from edges whose position is not known."""
        wrapping = self._wrapping(question)
        if wrapping is not None:
            return self._ranged(question, wrapping, [])
        away = self._away(question)
        if not (away.equalities or away.conditions or away.quotients):
            return self._tried(question)
        outcomes = [self._tried(self._moved(question, a)) for a in away.addresses]
        result = outcomes[0]
        for other in outcomes[1:]:
            result = result.joined(other)
        if any(o.units != outcomes[0].units or o.lines != outcomes[0].lines for o in outcomes):
            result = result.unweighted()
        texts = tuple(f"warps without {self._written.condition(c)}" for c in away.equalities)
        texts += tuple(
            f"warps not cut by {self._written.condition(c)}" for c in away.conditions
        ) + tuple(f"warps whose lanes share {self._written.text(q)}" for q in away.quotients)
        fits = (Fit(whole, low=False, high=True, short=True) for whole in away.short)
        texts += tuple(fit.text(self._ctx, self._written) for fit in fits)
        some = Total(0, None)
        return replace(
            result,
            certainty="exact-symbolic" if result.certainty == "exact" else result.certainty,
            requests=outcomes[0].requests,
            totals=AccessTotals(outcomes[0].totals.requests, some, some, some),
            assumptions=result.assumptions + texts,
        )

    def _wrapping(self, question: Question) -> list[Symbol] | None:
        """The sizes with which an unsigned value wraps in some lane of every warp, as ``5 - n*i``
        does; None where the address has no such value."""
        met = self._counter.trials.where((*question.conditions.known, *question.reach.path))
        address = self._ctx.leaves(question.reach.address)
        for fit in question.reach.fits:
            sizes = self._ctx.leaves(fit.form) - self._ctx.of_kind["tid"]
            if fit.low and sizes <= address and not met.by_none(op.less(self._ctx, fit.form, ZERO)):
                return [s for _, s in self._ctx.symbols(fit.form) if s.kind != "tid"]
        return None

    def _away(self, question: Question) -> edges.Inside:
        ranges, address = question.ranges, question.reach.address
        met = self._counter.trials.where(question.conditions.known)
        key = (address, tuple(ranges.items()), met)
        found = self._inside.get(key)
        if found is None:
            spread = self._counter.least_spread
            found = edges.inside(
                self._ctx, address, lambda g, s: is_known(g, s, ranges), spread, met
            )
            self._inside[key] = found
        return found

    def uncut(self, question: Question) -> list[Question]:
        """The question for the warps that no edge of unknown position cuts, by what the edges
        leave open."""
        return [self._moved(question, address) for address in self._away(question).addresses]

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
        return replace(result.unweighted(), certainty=certainty)

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
            return self._ranges.gather(question, data)
        unknown = question.conditions.deciding
        settled = self._givable.settled(self._deciding(question, unknown))
        try:
            return self._ranges.masked(question, self._counted(question), settled)
        except TooMany:
            reason = "the launch has too many different requests to enumerate"
            return self._ranges.bounded(question, reason, "bounded")

    def _counted(self, question: Question) -> Outcome:
        split, ranges = question.split, question.ranges
        unknown_lanes = [
            s
            for g, s in self._ctx.symbols(split.lanes)
            if not self._counter.knows(Form({(g,): 1}), ranges)
        ]
        if not unknown_lanes and not split.unknown.terms:
            tally = self._requests.tally(question)
            return self._requests.outcome(
                question, tally, self._requests.certainty(question, tally)
            )
        counted = replace(split, unknown=moving(self._ctx, question))
        parameter = parameter_of(self._ctx, self._counter, counted, ranges)
        if parameter is not None:
            outcome = self._parameters.outcome(question, parameter)
            return outcome or self._ranged(question, [symbol_of(self._ctx, parameter)], [])
        if unknown_lanes:
            data = [s.reason for s in unknown_lanes if s.kind == "data"]
            return self._ranged(question, unknown_lanes, data)
        return self._at_all_shifts(question)

    def _ranged(self, question: Question, unknown: list[Symbol], data: list[str]) -> Outcome:
        """Bounds for an address that depends on ``unknown`` between the lanes; ``data`` are the
        reasons why some of these are not known."""
        reason = data[0] if data else f"depends on {spoken(unknown)} between the lanes"
        reason += self._givable.settled(self._deciding(question, unknown))
        return self._ranges.bounded(question, reason, "data-dependent" if data else "bounded")

    def _at_all_shifts(self, question: Question) -> Outcome:
        """A uniform part without one common parameter: every reachable alignment counts."""
        tally = self._requests.tally(question)
        data = reason_of(self._ctx, question)
        certainty = "exact-symbolic" if not data else "data-dependent"
        outcome = self._requests.outcome(question, tally, certainty)
        if outcome.units.min == outcome.units.max:
            certainty = "exact" if outcome.requests is not None else "exact-symbolic"
            return replace(outcome, certainty=certainty)
        symbols = self._ctx.symbols(moving(self._ctx, question))
        unknown = [symbol for _, symbol in symbols if symbol.kind != "tid"]
        reason = data or "; ".join(_dependences(unknown))
        if not reason:  # warps of one block begin at different places: nothing is left open
            return outcome
        settled = self._givable.settled(self._deciding(question, unknown))
        return replace(outcome, reason=f"alignment: {reason}{settled}")

    def _deciding(self, question: Question, unknown: list[Symbol]) -> list[Symbol]:
        """What has to be known for all of ``unknown`` to be: for the iteration of a loop whose end
        is not known, what its condition hangs on."""
        deciding = list(unknown)
        for info in question.reach.loops:
            ((counter, iteration),) = self._ctx.symbols(Form({(info.counter,): 1}))
            if iteration not in unknown or info.carry or not info.entry:
                continue
            found = [(g, s) for form in info.entry for g, s in self._ctx.symbols(form)]
            ends = [s for g, s in found if g != counter and s.kind != "tid"]
            deciding = [s for s in deciding if s != iteration] + ends
        return deciding

    def _varying_data(self, lanes: Form) -> Symbol | None:
        for _, symbol in self._ctx.symbols(lanes):
            if symbol.varying and symbol.kind in ("data", "base"):
                return symbol
        return None


def _dependences(unknown: list[Symbol]) -> list[str]:
    """What is not known, in words: names of the source, and reasons for what has no name there."""
    plain = [s for s in unknown if s.kind != "data"]
    named = [s for s in plain if not s.reason]
    reasons = sorted({s.reason for s in plain if s.reason})
    return [f"depends on {spoken(named)}", *reasons] if named else reasons
