"""The counts of one piece of an access, and how several pieces make one access."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from coalescecheck.symbolic.count import Tally

CERTAINTIES = ("exact", "exact-symbolic", "bounded", "data-dependent", "unknown")


@dataclass(frozen=True, slots=True)
class Range:
    """Least, greatest and mean value over requests; ``mean`` None if not known."""

    min: int
    max: int
    mean: float | None

    def joined(self, other: Range, weights: tuple[float, float]) -> Range:
        """The range of two groups of requests together."""
        mean = None
        if self.mean is not None and other.mean is not None:
            total = sum(weights)
            mean = (self.mean * weights[0] + other.mean * weights[1]) / total
        return Range(min(self.min, other.min), max(self.max, other.max), mean)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``units`` are sectors or wavefronts per request.  ``asked`` are bytes per request in the
    mean.  ``requests`` is None when the number is not known; ``runs`` False when no request
    has an active lane."""

    certainty: str
    units: Range
    ideal: float
    lines: Range
    degree: tuple[int, int]
    asked: float | None
    requests: int | None
    reason: str = ""
    formula: str | None = None
    assumptions: tuple[str, ...] = ()
    runs: bool = True

    def joined(self, other: Outcome) -> Outcome:
        """Both groups of requests as one: pieces of an access, or copies of one piece."""
        if not self.runs or not other.runs:
            return other if not self.runs else self
        weights = (float(self.requests or 1), float(other.requests or 1))
        known = self.requests is not None and other.requests is not None
        asked = None
        if self.asked is not None and other.asked is not None:
            asked = (self.asked * weights[0] + other.asked * weights[1]) / sum(weights)
        worse = max(self, other, key=lambda o: CERTAINTIES.index(o.certainty))
        return replace(
            worse,
            units=self.units.joined(other.units, weights),
            ideal=(self.ideal * weights[0] + other.ideal * weights[1]) / sum(weights),
            lines=self.lines.joined(other.lines, weights),
            degree=(min(self.degree[0], other.degree[0]), max(self.degree[1], other.degree[1])),
            asked=asked,
            requests=(self.requests or 0) + (other.requests or 0) if known else None,
            formula=self.formula if self.formula == other.formula else None,
            assumptions=tuple(dict.fromkeys(self.assumptions + other.assumptions)),
        )


def from_tally(tally: Tally, certainty: str, requests: int | None) -> Outcome:
    """Exact counts; ``requests`` is the launch's number of requests where it is known."""
    measures, weight = tally.measures, tally.weight
    total = int(weight.sum())
    if not total:
        nothing = Range(0, 0, 0.0)
        return Outcome(certainty, nothing, 0.0, nothing, (0, 0), None, 0, runs=False)
    single = len(tally.shifts) == 1

    def spread(values: np.ndarray) -> Range:
        low, high = int(values.min()), int(values.max())
        mean = float((values * weight).sum() / total) if single or low == high else None
        return Range(low, high, mean)

    return Outcome(
        certainty,
        spread(measures.units),
        float((measures.ideal * weight).sum() / total),
        spread(measures.lines),
        (int(measures.degree.min()), int(measures.degree.max())),
        float((measures.asked * weight).sum() / total),
        requests,
    )
