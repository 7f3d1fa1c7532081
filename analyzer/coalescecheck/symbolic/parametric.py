"""Counts as functions of one unknown parameter.

A parameter that scales lanes (a pitch, a stride) or the uniform part (a row offset) changes the
count in a way that repeats modulo 128 once rows lie far apart.  So: count at every residue for
large values, count small values one by one up to a proven separation, and say where the large
behaviour starts.  Nothing is extrapolated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from coalescecheck.symbolic.count import Counter, Split
from coalescecheck.symbolic.form import Atom, Context, Form, Symbol
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.operators import single_atom
from coalescecheck.symbolic.render import UNPLACED
from coalescecheck.symbolic.tally import Tally

FAR = 1 << 20  # a multiple of 128 beyond every separation that is accepted
SEPARATION_LIMIT = 400  # values counted one by one


@dataclass(frozen=True, slots=True)
class Profile:
    """Counts against the value of a parameter, of which only multiples of ``multiple`` matter.

    ``small[n]`` is (least, greatest) count for each n counted one by one, ``large[r]`` for values
    congruent to r modulo ``period`` beyond them (``far_negative`` likewise below).
    ``start`` is the least n >= 1 from which ``large`` holds.  ``tallies`` are the counts from there
    on; ``everywhere`` those of all values the symbol can take, ``by_value`` the same with one
    value that stands for each.
    """

    symbol: int
    multiple: int
    small: dict[int, tuple[int, int]]
    large: tuple[tuple[int, int], ...]
    far_negative: tuple[tuple[int, int], ...]
    start: int
    tallies: tuple[Tally, ...]
    everywhere: tuple[Tally, ...]
    by_value: dict[int, Tally]

    def within(self, low: int | None, high: int) -> tuple[Tally, ...]:
        """The counts of the values up to ``high``, which is less than ``start``."""
        chosen = [t for n, t in self.by_value.items() if (low is None or n >= low) and n <= high]
        return tuple(chosen) or self.everywhere

    @property
    def period(self) -> int:
        return len(self.large)


@dataclass(frozen=True, slots=True)
class Assumption:
    """What has to hold of a parameter: ``>=`` or ``!=`` some value."""

    relation: str
    value: int

    def holds(self, value: int) -> bool:
        """Whether a value of the parameter meets it."""
        return value >= self.value if self.relation == ">=" else value != self.value

    def of(self, name: str) -> str:
        """The text for the reader."""
        return f"{name} {self.relation} {self.value}"


def parameter_of(
    ctx: Context, counter: Counter, split: Split, ranges: Mapping[int, int]
) -> int | None:
    """The one uniform symbol on which the unknown parts depend, None if there is no such."""
    in_lanes = _unknown_in(ctx, counter, split.lanes, ranges)
    if len(in_lanes) > 1 or not _linear(ctx, split.lanes, in_lanes):
        return None
    if in_lanes:
        parameter = in_lanes.pop()
        return None if _is_unplaced(ctx.generators[parameter]) else parameter
    common: set[int] | None = None
    for monomial in split.unknown.terms:
        mine = {g for g in monomial if _is_parameter(ctx, g)}
        common = mine if common is None else common & mine
    return min(common) if common else None


def _is_unplaced(generator: Symbol | Atom) -> bool:
    return isinstance(generator, Symbol) and generator.name.startswith(UNPLACED)


def _unknown_in(ctx: Context, counter: Counter, form: Form, ranges: Mapping[int, int]) -> set[int]:
    return {g for g in ctx.leaves(form) if not counter.knows(Form({(g,): 1}), ranges)}


def _is_parameter(ctx: Context, g: int) -> bool:
    generator = ctx.generators[g]
    return isinstance(generator, Symbol) and generator.kind in ("param", "bdim", "gdim", "data")


def _linear(ctx: Context, lanes: Form, unknown: set[int]) -> bool:
    """Whether unknown symbols only occur as single factors, never inside atoms."""
    for monomial in lanes.terms:
        direct = sum(g in unknown for g in monomial)
        inside = any(
            isinstance(ctx.generators[g], Atom) and ctx.leaves(Form({(g,): 1})) & unknown
            for g in monomial
        )
        if direct > 1 or inside:
            return False
    return True


def symbol_of(ctx: Context, parameter: int) -> Symbol:
    """The symbol of a parameter.  Raises TypeError for an operation."""
    generator = ctx.generators[parameter]
    if not isinstance(generator, Symbol):
        raise TypeError(generator)
    return generator


class Profiler:
    """Counts one piece for many values of one parameter."""

    def __init__(
        self,
        ctx: Context,
        counter: Counter,
        split: Split,
        guards: list[Form],
        ranges: Mapping[int, int],
        target: Target,
    ) -> None:
        self._ctx, self._counter, self._split = ctx, counter, split
        self._guards, self._ranges, self._target = guards, ranges, target

    def profile(self, symbol: int) -> Profile | None:
        """The counts against ``symbol``; None when rows are never provably apart."""
        generator = self._ctx.generators[symbol]
        given = generator.multiple if isinstance(generator, Symbol) else 1
        multiple = lcm(given, self._aligned(symbol))
        apart = self._separation(symbol)
        if apart is None or apart // multiple > SEPARATION_LIMIT:
            return None
        period = self._period(symbol, multiple)
        above = [FAR + r * multiple for r in range(period)]
        scales = symbol in self._ctx.leaves(self._split.lanes)
        near: list[int] = []
        below: list[int] = []
        if scales:
            near = [n * multiple for n in range(-(apart // multiple) - 1, apart // multiple + 2)]
            below = [-FAR + r * multiple for r in range(period)]
        tallies = self._counter.scan(
            self._split, self._guards, self._ranges, self._target, symbol, above + near + below
        )
        ranges = {id(t): _range(t) for t in tallies.values()}  # equal ones are one object
        large = tuple(ranges[id(tallies[n])] for n in above)
        small = {n: ranges[id(tallies[n])] for n in near}
        start = multiple
        for n in sorted((n for n in small if n > 0), reverse=True):
            if small[n] != large[n // multiple % period]:
                start = n + multiple
                break
        far_negative = tuple(ranges[id(tallies[n])] for n in below) if scales else large
        far = tuple(tallies[n] for n in above)
        low = generator.low if isinstance(generator, Symbol) else None
        possible = {n: tallies[n] for n in above + near + below if low is None or n >= low}
        everywhere = tuple(possible.values())
        return Profile(
            symbol, multiple, small, large, far_negative, start, far, everywhere, possible
        )

    def _aligned(self, symbol: int) -> int:
        """What divides the symbol in every launch that does not fault: all lanes' addresses are
        multiples of the access width (CUDA C++ Programming Guide, "Size and Alignment
        Requirement")."""
        lanes = self._split.lanes
        factor = Form({_without(m, symbol): c for m, c in lanes.terms.items() if symbol in m})
        rest = Form({m: c for m, c in lanes.terms.items() if symbol not in m})
        if not factor.terms or any(g in self._ranges for g in self._ctx.leaves(lanes)):
            return 1
        active = self._together()
        width = self._target.width
        if active is None or self._step(rest, active) % width:
            return 1
        step = self._step(factor, active)
        return width // gcd(width, step) if step and width & (width - 1) == 0 else 1

    def _together(self) -> NDArray[np.bool_] | None:
        """Lanes of which all of a warp run in one request somewhere; None where guards hide it."""
        active = self._counter.lanes.exists
        for guard in self._guards:
            if all(s.kind == "tid" for _, s in self._ctx.symbols(guard)):
                values = Evaluator(self._ctx, self._counter.threads((guard,))).form(guard)
                active = active & np.broadcast_to(values != 0, (1, *active.shape))[0]
            elif not _is_less(self._ctx, guard):  # ``i < n`` cuts some warps, others run whole
                return None
        return active

    def _step(self, form: Form, active: NDArray[np.bool_]) -> int:
        """What divides the distances between the active lanes of a warp."""
        values = Evaluator(self._ctx, self._counter.threads((form,))).form(form)
        table = np.broadcast_to(values, (1, *active.shape))[0]
        first = np.take_along_axis(table, active.argmax(axis=1)[:, None], axis=1)
        return int(np.gcd.reduce(np.where(active, table - first, 0).reshape(-1)))

    def _separation(self, symbol: int) -> int | None:
        """A value beyond which lanes with different multiples of the symbol never share a line
        or, for banks, a word."""
        lanes = self._split.lanes
        factor = Form({_without(m, symbol): c for m, c in lanes.terms.items() if symbol in m})
        if not factor.terms:
            return 1
        rest = Form({m: c for m, c in lanes.terms.items() if symbol not in m})
        if any(g in self._ranges for g in self._ctx.leaves(lanes)):
            return (
                None
                if self._ctx.leaves(factor) & self._ranges.keys()
                else self._span(factor, self._ctx.bounds(rest))
            )
        values = self._counter.threads((factor, rest))
        spread = Evaluator(self._ctx, values).form(rest)
        return self._span(factor, (int(spread.min()), int(spread.max())))

    def _span(self, factor: Form, rest: tuple[int | None, int | None]) -> int | None:
        if rest[0] is None or rest[1] is None:
            return None
        values = self._counter.threads((factor,))
        distinct = np.unique(Evaluator(self._ctx, values).form(factor))
        if len(distinct) < 2:
            return 1
        gap = int(np.diff(distinct).min())
        return (rest[1] - rest[0] + self._target.width + 128) // gap + 1

    def _period(self, symbol: int, multiple: int) -> int:
        """Values of the symbol (in units of ``multiple``) that behave alike repeat after this."""
        modulus = 128
        coefficients = [
            c * multiple
            for form in (self._split.lanes, self._split.unknown)
            for m, c in form.terms.items()
            if symbol in m
        ]
        return modulus // gcd(modulus, *coefficients)


def _without(monomial: tuple[int, ...], symbol: int) -> tuple[int, ...]:
    rest = list(monomial)
    rest.remove(symbol)
    return tuple(rest)


def _range(tally: Tally) -> tuple[int, int]:
    units = tally.measures.units
    return (int(units.min()), int(units.max())) if len(units) else (0, 0)


def _is_less(ctx: Context, guard: Form) -> bool:
    atom = single_atom(ctx, guard)
    return atom is not None and atom.op == "lt0"
