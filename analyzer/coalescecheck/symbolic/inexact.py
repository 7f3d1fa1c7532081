"""Ranges of counts where the address or the set of active lanes is not known.

A gather through loaded data, several unknowns in one address, a condition that data decides:
the count lies between what the fewest and the most active lanes can cost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.kernel import Op, Space
from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic.bounds import (
    BANK_ROW,
    SECTOR,
    l1_range,
    lanes_range,
    phases,
    reachable_banks,
)
from coalescecheck.symbolic.count import Counter, TooMany
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol
from coalescecheck.symbolic.groups import most_sectors
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.outcome import (
    CERTAINTIES,
    Outcome,
    Range,
    bounded_totals,
    no_requests,
)
from coalescecheck.symbolic.question import Question
from coalescecheck.symbolic.render import spoken
from coalescecheck.symbolic.requests import Requests
from coalescecheck.symbolic.span import Limits, limits_of
from coalescecheck.symbolic.tally import Tally
from coalescecheck.symbolic.written import Written

FEW_VALUES = 256  # a byte: values of an index that are tried one by one


class RangeCounter:
    """Ranges for the pieces of one kernel that have no exact count."""

    def __init__(
        self, ctx: Context, counter: Counter, written: Written, requests: Requests
    ) -> None:
        self._ctx, self._counter = ctx, counter
        self._written, self._requests = written, requests

    def gather(self, question: Question, symbol: Symbol) -> Outcome:
        """The counts where each lane takes its address from ``symbol``: loaded data."""
        reason = symbol.reason or "a pointer loaded from memory"
        if not symbol.reason and symbol.kind == "data":
            reason = "a value that is not known"
        outcome = self.bounded(
            question, f"index {reason}" if symbol.kind == "data" else reason, "data-dependent"
        )
        banks = self._by_bank(question)
        if banks is None:
            return _settled(outcome)
        low, high = max(outcome.units.min, banks[0]), min(outcome.units.max, banks[1])
        units = Range(low, high, float(low) if low == high else None)
        one = Range(1, 1, None)  # banks are only followed for accesses of one phase
        return _settled(
            replace(
                outcome,
                units=units,
                totals=bounded_totals(units, one, outcome.requests, outcome.totals.requests.max),
                degree=(low, high),
            )
        )

    def _by_bank(self, question: Question) -> tuple[int, int] | None:
        """Shared accesses whose unknown part is a whole number of bank rows, or small."""
        if question.target.space is not Space.SHARED or question.target.op is Op.ATOMIC:
            return None
        known: dict[tuple[int, ...], int] = {}
        offsets = np.zeros(1, np.int64)
        for monomial, coefficient in question.split.lanes.terms.items():
            term = Form({monomial: coefficient})
            if self._counter.knows(term, question.ranges):
                known[monomial] = coefficient
            elif self._ctx.multiple_of(term) % BANK_ROW:
                values = self._few_values(monomial)
                if values is None or len(offsets) > 1:
                    return None
                offsets = values * coefficient
        lanes = Form(known)
        if any(g in question.ranges for g in self._ctx.leaves(lanes)):
            return None
        values = Evaluator(self._ctx, self._counter.threads((lanes,))).form(lanes)
        exists = self._counter.lanes.exists
        addresses = np.broadcast_to(values, (1, *exists.shape)).reshape(-1, WARP_SIZE)
        return reachable_banks(addresses, exists, offsets, question.target)

    def _few_values(self, monomial: tuple[int, ...]) -> NDArray[np.int64] | None:
        """All values of an unknown factor whose type or operation leaves it few."""
        low, high = self._ctx.bounds(Form({monomial: 1}))
        if low is None or high is None or high - low >= FEW_VALUES:
            return None
        return np.arange(low, high + 1, dtype=np.int64)

    def bounded(self, question: Question, reason: str, certainty: str) -> Outcome:
        """Bounds from the number of lanes that can be active."""
        empty = replace(question.split, lanes=ZERO, uniform=ZERO, unknown=ZERO)
        try:
            tally = self._requests.tally(replace(question, split=empty))
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
            requests, most = (
                self._requests.number(question, tally),
                self._requests.most(question, tally),
            )
        low, high = lanes_range(lanes, target)
        if target.space is Space.GLOBAL and certainty == "bounded":
            split, ranges = question.split, question.ranges
            bound = most_sectors(self._ctx, self._counter, split.lanes, ranges, target.width)
            high = min(high, bound or high)
        limits = limits_of(self._ctx, question) or Limits(high, WARP_SIZE, WARP_SIZE)
        high = min(high, limits.units)
        if conditions.masked or conditions.assumed or fewest < lanes:  # a warp may be cut
            low = fewest = 1
        low = min(low, high)
        units = Range(low, high, float(low) if low == high else None)
        ideal = float(min(high, max(1, -(-lanes * target.width // SECTOR))))
        if target.space in (Space.SHARED, Space.CONSTANT):
            ideal = float(low)
        most_lines = max(lanes, high if target.space is Space.LOCAL else 1)
        lines = Range(1, min(most_lines, limits.lines), None)
        ideals = Range(1, int(ideal), None)
        if target.space is Space.SHARED:
            ideals = Range(1, phases(target.width), None)
        data, tags = l1_range(fewest, lanes, lines.max, target)
        return Outcome(
            certainty,
            units,
            ideal,
            lines,
            (1, min(lanes, high)),
            asked,
            requests,
            bounded_totals(units, ideals, requests, most),
            Range(data[0], max(data[0], min(data[1], limits.l1_data)), None),
            Range(*tags, None),
            reason,
            distinct=float(target.width) if lanes == 1 else None,
        )

    def masked(self, question: Question, outcome: Outcome, settled: str) -> Outcome:
        """Conditions that data decides may switch lanes off: the full count is the maximum.

        ``settled`` is what settles conditions on sizes."""
        conditions = question.conditions
        if conditions.masked and outcome.runs:
            # one lane alone: a word of local memory lies in a sector of its own
            local = question.target.space is Space.LOCAL
            least = max(1, question.target.width // 4) if local else 1
            certainty, reason = "data-dependent", f"a condition on data: {conditions.masked}"
            if conditions.sizes:
                on = f"{spoken(conditions.deciding)}{settled}"
                certainty, reason = "bounded", f"a condition on {on}"
            units = _from(least, outcome.units)
            counts = (_from(1, outcome.lines), _from(1, outcome.l1_data), _from(1, outcome.l1_tag))
            reason = f"lanes run under {reason}"
            if all(count.min == count.max for count in (units, *counts)):
                certainty, reason = "exact-symbolic", outcome.reason  # as much for any lanes
            lines, data, tag = counts
            return replace(
                outcome,
                certainty=max(outcome.certainty, certainty, key=CERTAINTIES.index),
                units=units,
                lines=lines,
                l1_data=data,
                l1_tag=tag,
                degree=(min(1, outcome.degree[0]), outcome.degree[1]),
                together=(min(1, outcome.together[0]), outcome.together[1]),
                requests=None,
                share=None,
                asked=None,
                distinct=None,
                reason=reason,
            )
        if conditions.assumed:
            texts = tuple(f"whole warps: {self._written.condition(g)}" for g in conditions.assumed)
            return replace(outcome, assumptions=outcome.assumptions + texts)
        return outcome


def _from(least: int, count: Range) -> Range:
    """``count`` where fewer lanes may run, down to ``least``."""
    low = min(least, count.min)
    return Range(low, count.max, float(low) if low == count.max else None)


def _settled(outcome: Outcome) -> Outcome:
    """A gather that costs as much whatever the data is."""
    counts = (outcome.units, outcome.l1_data, outcome.l1_tag)
    if not outcome.runs or any(count.min != count.max for count in counts):
        return outcome
    return replace(outcome, certainty="exact-symbolic", reason="")
