"""What a request can cost at most where the values of an address are known to be few.

In: the part of an address that differs between lanes, such as ``4*(data & 15) + 12``.  Whatever
the data is, all lanes lie within the bytes between its bounds, and at as many places as there are
multiples of its divisor in between: a table of 16 floats lies in 2 sectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from coalescecheck.arch import BANK_BYTES, BANKS, LINE_BYTES, SECTOR_BYTES
from coalescecheck.ir.kernel import Op, Space
from coalescecheck.symbolic.bounds import phases
from coalescecheck.symbolic.conditions import limits_from
from coalescecheck.symbolic.form import Bounds, Context, Form, Monomial, number
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.question import Question


@dataclass(frozen=True, slots=True)
class Span:
    """Lanes start at ``low``, ``low + step``, ... up to ``high`` (bytes), all moved together by
    some multiple of ``align``."""

    low: int
    high: int
    step: int
    align: int

    @property
    def places(self) -> int:
        """Different addresses at which lanes can start."""
        return (self.high - self.low) // self.step + 1

    def most(self, width: int, unit: int) -> int:
        """The most aligned ``unit`` bytes that lanes of ``width`` bytes touch."""
        alone = _most(self.low, self.low, width, unit, gcd(self.align, self.step))
        return min(self.between(width, unit), self.places * alone)

    def between(self, width: int, unit: int) -> int:
        """The most aligned ``unit`` bytes from the first place to the last, used or not."""
        return _most(self.low, self.high, width, unit, self.align)


def _most(low: int, high: int, width: int, unit: int, align: int) -> int:
    moves = range(0, unit, gcd(align, unit))
    return max((high + m + width - 1) // unit - (low + m) // unit + 1 for m in moves)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a request can take: sectors or wavefronts, lines, cycles of L1's data stage."""

    units: int
    lines: int
    l1_data: int


def limits_of(ctx: Context, question: Question) -> Limits | None:
    """What bounds of the address leave; None where it has none, or they do not matter."""
    target = question.target
    if target.kind == "ldmatrix" or (target.space is Space.SHARED and target.op is Op.ATOMIC):
        return None  # rows of matrices; lanes of an atomic wait for each other on one word too
    span = _span(ctx, question)
    return None if span is None else _limits(span, target)


def _span(ctx: Context, question: Question) -> Span | None:
    split = question.split
    low, high = _bounds(ctx, split.lanes, question.reach.path)
    if low is None or high is None:
        return None
    moved = number(split.lanes.constant + split.uniform.constant + split.unknown.constant)
    others = split.uniform + split.unknown
    align = gcd(
        question.base_step,
        ctx.multiple_of(others - number(others.constant)),
        LINE_BYTES,
    )
    step = ctx.multiple_of(split.lanes - number(split.lanes.constant)) or 1
    start = moved.constant - split.lanes.constant
    return Span(low + start, high + start, step, align)


def _bounds(ctx: Context, lanes: Form, path: tuple[Form, ...]) -> Bounds:
    """Bounds of ``lanes`` where guards such as ``v >= 0`` and ``v < 16`` hold."""
    parts = [
        _term_bounds(ctx, monomial, coefficient, path)
        for monomial, coefficient in lanes.terms.items()
    ]
    lows, highs = [low for low, _ in parts], [high for _, high in parts]
    return (
        None if None in lows else sum(low for low in lows if low is not None),
        None if None in highs else sum(high for high in highs if high is not None),
    )


def _term_bounds(
    ctx: Context, monomial: Monomial, coefficient: int, path: tuple[Form, ...]
) -> Bounds:
    term = Form({monomial: coefficient})
    low, high = ctx.bounds(term)
    if len(monomial) == 1 and None in (low, high):
        ends = [
            None if end is None else coefficient * end for end in limits_from(ctx, path, *monomial)
        ]
        least, most = ends if coefficient > 0 else reversed(ends)
        low, high = least if low is None else low, most if high is None else high
    return low, high


def _limits(span: Span, target: Target) -> Limits:
    width = target.width
    if target.space is Space.CONSTANT:
        return Limits(span.places, 1, 0)
    if target.space is Space.LOCAL:  # a word of all lanes is a line
        words = span.most(width, BANK_BYTES)
        return Limits(words * LINE_BYTES // SECTOR_BYTES, words, 0)
    rows = -(-span.between(width, BANK_BYTES) // BANKS)
    banked = phases(width) * min(rows, span.places)
    lines = span.most(width, LINE_BYTES)
    units = banked if target.space is Space.SHARED else span.most(width, SECTOR_BYTES)
    return Limits(units, lines, banked)
