"""The counts of one piece of an access, and how several pieces make one access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from coalescecheck.analysis import AccessTotals, Total
from coalescecheck.symbolic.measure import COLUMNS
from coalescecheck.symbolic.tally import Tally

CERTAINTIES = ("exact", "exact-symbolic", "bounded", "data-dependent", "unknown")


@dataclass(frozen=True, slots=True)
class Range:
    """Least, greatest and mean value over requests; ``mean`` None if not known."""

    min: int
    max: int
    mean: float | None

    def joined(self, other: Range, weights: tuple[float, float]) -> Range:
        """The range of two groups of requests together."""
        mean = _mean(self.mean, other.mean, weights)
        return Range(min(self.min, other.min), max(self.max, other.max), mean)

    def unweighted(self) -> Range:
        """The range where it is not known how often each count happens."""
        return self if self.min == self.max else Range(self.min, self.max, None)


NONE = Range(0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``units`` are sectors or wavefronts per request.  ``asked`` are bytes per request in the
    mean, ``distinct`` the same without those that another lane asks for too (global and local
    memory).  ``requests`` is None when the number is not known; ``runs`` False when no request
    has an active lane.  ``l1_data`` and ``l1_tag`` are cycles of L1's stages, 0 where they are not
    counted; ``totals`` are sums over the launch.  ``together`` are the most lanes of a shared
    atomic on one word, 0 where they are not counted.  ``share`` is the number of requests of a
    block, None where blocks need not make equally many."""

    certainty: str
    units: Range
    ideal: float
    lines: Range
    degree: tuple[int, int]
    asked: float | None
    requests: int | None
    totals: AccessTotals
    l1_data: Range = NONE
    l1_tag: Range = NONE
    reason: str = ""
    formula: str | None = None
    assumptions: tuple[str, ...] = ()
    runs: bool = True
    together: tuple[int, int] = (0, 0)
    distinct: float | None = None
    share: float | None = None

    def joined(self, other: Outcome) -> Outcome:
        """Both groups of requests as one: pieces of an access, or copies of one piece."""
        if not self.runs or not other.runs:
            return other if not self.runs else self
        known = self.requests is not None and other.requests is not None
        shared = self.share is not None and other.share is not None
        weights = (1.0, 1.0)
        if known:
            weights = (float(self.requests or 1), float(other.requests or 1))
        elif shared:
            weights = (self.share or 1.0, other.share or 1.0)
        worse = max(self, other, key=lambda o: CERTAINTIES.index(o.certainty))
        result = replace(
            worse,
            units=self.units.joined(other.units, weights),
            ideal=(self.ideal * weights[0] + other.ideal * weights[1]) / sum(weights),
            lines=self.lines.joined(other.lines, weights),
            l1_data=self.l1_data.joined(other.l1_data, weights),
            l1_tag=self.l1_tag.joined(other.l1_tag, weights),
            degree=_either_of(self.degree, other.degree),
            together=_either_of(self.together, other.together),
            asked=_mean(self.asked, other.asked, weights),
            distinct=_mean(self.distinct, other.distinct, weights),
            requests=(self.requests or 0) + (other.requests or 0) if known else None,
            totals=_sum(self.totals, other.totals),
            formula=self.formula if self.formula == other.formula else None,
            assumptions=tuple(dict.fromkeys(self.assumptions + other.assumptions)),
            share=(self.share or 0.0) + (other.share or 0.0) if shared else None,
        )
        if known or shared:
            return result
        return replace(  # one of them may run far more often than the other
            result.unweighted(),
            ideal=max(self.ideal, other.ideal),
            asked=self.asked if self.asked == other.asked else None,
            distinct=self.distinct if self.distinct == other.distinct else None,
        )

    def unweighted(self) -> Outcome:
        """The outcome without means, where it is not known how often each count happens."""
        return replace(
            self,
            units=self.units.unweighted(),
            lines=self.lines.unweighted(),
            l1_data=self.l1_data.unweighted(),
            l1_tag=self.l1_tag.unweighted(),
        )


def no_requests(certainty: str) -> Outcome:
    """An access that no lane ever runs."""
    zero = Total(0, 0)
    totals = AccessTotals(zero, zero, zero, zero)
    return Outcome(certainty, NONE, 0.0, NONE, (0, 0), None, 0, totals, runs=False)


def from_tally(
    tally: Tally, certainty: str, requests: int | None, most: int | None, weighted: bool
) -> Outcome:
    """Exact counts; ``requests`` is the launch's number of requests where it is known, ``most``
    a bound of it.  ``weighted``: how often each request of the tally happens is known, at least
    in proportion; if not, there is no mean, and ``ideal`` is that of the costliest request."""
    table, weight = tally.measures.table, tally.weight
    total = int(weight.sum())
    if not total:
        return no_requests(certainty)
    sums = (table * weight).sum(axis=1)
    ends = zip(table.min(axis=1).tolist(), table.max(axis=1).tolist(), strict=True)
    means = (sums / total).tolist()
    every = {
        name: Range(low, high, mean if weighted or low == high else None)
        for name, (low, high), mean in zip(COLUMNS, ends, means, strict=True)
    }
    single = len(tally.shifts) == 1
    each = every if single else {name: found.unweighted() for name, found in every.items()}
    if requests is None or not single:
        totals = bounded_totals(each["units"], each["ideal"], requests, most)
    else:
        copies = requests // total
        units, ideal = (int(sums[COLUMNS.index(name)]) * copies for name in ("units", "ideal"))
        totals = AccessTotals(*(Total(n, n) for n in (requests, units, ideal, units - ideal)))
    ideals = every["ideal"]
    return Outcome(
        certainty,
        each["units"],
        float(ideals.max) if ideals.mean is None else ideals.mean,
        each["lines"],
        (every["degree"].min, every["degree"].max),
        every["asked"].mean,
        requests,
        totals,
        each["l1_data"],
        each["l1_tag"],
        together=(every["together"].min, every["together"].max),
        distinct=every["distinct"].mean,
    )


def _mean(one: float | None, other: float | None, weights: tuple[float, float]) -> float | None:
    if one is None or other is None:
        return None
    return (one * weights[0] + other * weights[1]) / sum(weights)


def _either_of(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return (min(one[0], other[0]), max(one[1], other[1]))


# --- sums over the launch ---------------------------------------------------------------------


def bounded_totals(
    units: Range, ideal: Range, requests: int | None, most: int | None
) -> AccessTotals:
    """Sums over ``requests`` requests, or over any number up to ``most`` (None: no bound)."""
    least = requests or 0
    most = most if requests is None else requests

    def total(low: int, high: int) -> Total:
        return Total(least * low, None if most is None else most * high)

    return AccessTotals(
        Total(least, most),
        total(units.min, units.max),
        total(ideal.min, ideal.max),
        total(max(0, units.min - ideal.max), units.max - (ideal.min if requests else 0)),
    )


def alternatives(outcomes: Sequence[Outcome]) -> AccessTotals:
    """The sums when one of the outcomes is the case."""
    return reduce(_either, (outcome.totals for outcome in outcomes))


def _sum(left: AccessTotals, right: AccessTotals) -> AccessTotals:
    return AccessTotals(
        left.requests + right.requests,
        left.units + right.units,
        left.ideal + right.ideal,
        left.excess + right.excess,
    )


def _either(left: AccessTotals, right: AccessTotals) -> AccessTotals:
    return AccessTotals(
        left.requests.joined(right.requests),
        left.units.joined(right.units),
        left.ideal.joined(right.ideal),
        left.excess.joined(right.excess),
    )
