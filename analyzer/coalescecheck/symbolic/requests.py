"""The outcome of a tally: what it says of the requests of the whole launch."""

from __future__ import annotations

from dataclasses import replace

from coalescecheck.analysis import AccessTotals
from coalescecheck.launch import Launch
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import Context, Symbol
from coalescecheck.symbolic.outcome import (
    Outcome,
    Range,
    alternatives,
    bounded_totals,
    from_tally,
    no_requests,
)
from coalescecheck.symbolic.question import Question
from coalescecheck.symbolic.tally import Tally


class Requests:
    """Tallies of the pieces of one kernel, and the requests of its launch they stand for."""

    def __init__(self, ctx: Context, counter: Counter, launch: Launch) -> None:
        self._ctx, self._counter, self._grid = ctx, counter, launch.grid
        self._block_known = launch.block is not None

    def tally(self, question: Question) -> Tally:
        """Count all requests of the piece.  Raises TooMany when it cannot be enumerated."""
        return self._counter.tally(
            question.split, question.conditions.known, question.ranges, question.target
        )

    def outcome(self, question: Question, tally: Tally, certainty: str) -> Outcome:
        """The counts of ``tally`` with their sums over the launch."""
        requests = self.number(question, tally)
        most, weighted = self.most(question, tally), self._weighted(question)
        result = from_tally(tally, certainty, requests, most, weighted)
        if not weighted:
            return result
        block = tally.requests / len(tally.shifts) / self._blocks_in(question)
        return replace(result, share=block)

    def _weighted(self, question: Question) -> bool:
        """Whether every block makes the requests of the tally, each as often as it says: not if
        the number of warps, the end of a loop or the truth of a guard is not known."""
        loops = all(info.limit is not None for info in question.reach.loops)
        return self._block_known and loops and question.conditions.complete

    def number(self, question: Question, tally: Tally) -> int | None:
        """The requests of the launch; None when a condition or a size leaves them open."""
        return self.most(question, tally) if question.conditions.complete else None

    def most(self, question: Question, tally: Tally) -> int | None:
        """The requests of the launch if all conditions that are not known hold."""
        if self._grid is None or any(info.limit is None for info in question.reach.loops):
            return None
        blocks = self._grid.size // self._blocks_in(question)
        return tally.requests // len(tally.shifts) * blocks

    def _blocks_in(self, question: Question) -> int:
        """The blocks whose requests are told apart, and so are all in the tally."""
        blocks = 1
        for g, count in question.ranges.items():
            generator = self._ctx.generators[g]
            if isinstance(generator, Symbol) and generator.kind == "bid":
                blocks *= count
        return blocks

    def certainty(self, question: Question, tally: Tally) -> str:
        """What a count without unknowns in its address is worth."""
        known = self.number(question, tally) is not None
        return "exact" if known else "exact-symbolic"

    def joined(self, tallies: tuple[Tally, ...], question: Question, mixed: bool) -> Outcome:
        """One of the tallies is the case; ``mixed``: for each request another one."""
        shared = {id(t): t for t in reversed(tallies)}  # values with equal counts share a tally
        distinct = {t.fingerprint: t for t in shared.values()}
        outcomes = [
            self.outcome(question, t, "exact-symbolic") for t in reversed(distinct.values())
        ]
        result = outcomes[0]
        for other in outcomes[1:]:
            result = result.joined(other)
        return replace(
            result.unweighted(),
            requests=outcomes[0].requests,
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
        counts = [self.number(question, tally) for tally in tallies]
        requests = counts[0] if len(set(counts)) == 1 else None
        most = [self.most(question, tally) for tally in tallies]
        highest = None if any(m is None for m in most) else max(m for m in most if m is not None)
        return bounded_totals(units, Range(least, greatest, None), requests, highest)
