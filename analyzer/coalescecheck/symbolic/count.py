"""Counts sectors, lines and wavefronts of one piece of one access over a whole launch.

The address of lane l is split into a part that differs between lanes and a uniform part.  The
lane part is evaluated for every warp of a block; the uniform part only matters modulo 128 bytes
(4 for shared memory), so block indices and loop counters collapse into few weighted rows
(``domain``).  A uniform part with unknown parameters can take every multiple of its divisor:
each is tried.  Lane parts with unknown parameters go to ``parametric``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic.conditions import is_known
from coalescecheck.symbolic.domain import Rows, Switch, classes
from coalescecheck.symbolic.form import Atom, Context, Form, Monomial, Symbol, number
from coalescecheck.symbolic.lanes import Lanes
from coalescecheck.symbolic.measure import LANES_AT_ONCE, Measures, Target, measure, nothing
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.operators import ONE
from coalescecheck.symbolic.tally import Tally
from coalescecheck.symbolic.trials import Trials
from coalescecheck.symbolic.warps import Alike, alike

Ints = NDArray[np.int64]
LANE_LIMIT = 1 << 24  # lane addresses evaluated for one piece


@dataclass(frozen=True, slots=True)
class Split:
    """An address without its base: ``lanes`` differs between lanes, ``uniform`` does not and
    is known class by class, ``unknown`` is uniform with parameters or data in it."""

    lanes: Form
    uniform: Form
    unknown: Form


MOST_REQUESTS = 1 << 48  # of one warp: sums of what they cost still fit 64 bits


class TooMany(Exception):
    """More combinations than can be enumerated."""


class Counter:
    """Counts for one kernel under one launch."""

    def __init__(self, ctx: Context, lanes: Lanes) -> None:
        self.ctx = ctx
        self.lanes = lanes
        self._tallies: dict[object, Tally] = {}
        self._alike: dict[object, Alike] = {}
        self.trials = Trials(ctx, lanes)

    # --- preparing ----------------------------------------------------------------------------

    def split(self, address: Form, ranges: Mapping[int, int]) -> Split:
        """Sort the terms of an address by what is known of them."""
        ctx = self.ctx
        lanes: dict[tuple[int, ...], int] = {}
        uniform: dict[tuple[int, ...], int] = {}
        unknown: dict[tuple[int, ...], int] = {}
        for monomial, coefficient in address.terms.items():
            term = Form({monomial: coefficient})
            if any(ctx.generators[g].varying for g in monomial):
                lanes[monomial] = coefficient  # also where each lane chooses among arrays
            elif any(map(self._is_base, monomial)):
                continue  # one array for all lanes, even if it is another one next time
            elif self.knows(term, ranges) and not self._per_warp(term):
                uniform[monomial] = coefficient
            elif self.knows(term, ranges):
                lanes[monomial] = coefficient
            else:
                unknown[monomial] = coefficient
        for monomial in self._unknown_rows(Form(lanes), ranges):
            unknown[monomial] = lanes.pop(monomial)
        return Split(Form(lanes), Form(uniform), Form(unknown))

    def _unknown_rows(self, lanes: Form, ranges: Mapping[int, int]) -> list[Monomial]:
        """Terms such as ``threadIdx.z * n * m`` in a block whose warps have one ``threadIdx.z``:
        somewhere, but nowhere between the lanes.  Where all that is not known is one parameter,
        each warp's own place is counted instead."""
        within: set[int] = set()
        rows: dict[Monomial, set[int]] = {}
        for monomial in lanes.terms:
            term = Form({monomial: 1})
            missing = {g for g, s in self.ctx.symbols(term) if not is_known(g, s, ranges)}
            if missing and not self.ctx.varying(term):
                rows[monomial] = missing
            else:
                within |= missing
        if len(within.union(*rows.values())) <= 1:
            return []
        return [m for m, missing in rows.items() if len(within) != 1 or not missing <= within]

    def _is_base(self, g: int) -> bool:
        generator = self.ctx.generators[g]
        return isinstance(generator, Symbol) and generator.kind == "base"

    def knows(self, form: Form, ranges: Mapping[int, int]) -> bool:
        """Whether every symbol in the form has values here."""
        return all(is_known(g, s, ranges) for g, s in self.ctx.symbols(form))

    def _per_warp(self, form: Form) -> bool:
        """Uniform within a warp, but different between the warps of a block."""
        return any(s.kind in ("tid", "base") for _, s in self.ctx.symbols(form))

    def threads(self, forms: tuple[Form, ...]) -> dict[int, Ints]:
        """Lane arrays [1, warps, 32] for the thread indices that the forms use, and far-apart
        addresses for the arrays among which a lane chooses."""
        values: dict[int, Ints] = {}
        for form in forms:
            for g, symbol in self.ctx.symbols(form):
                if symbol.kind == "tid":
                    axis = getattr(self.lanes, symbol.name[-1])
                    values[g] = axis[None, :, :]
                elif symbol.kind == "base":
                    values[g] = np.full((1, 1, 1), g << 40, np.int64)
        return values

    def least_spread(self, form: Form) -> int:
        """The least distance between the greatest and the least value of a form over thread
        indices in any warp."""
        values = Evaluator(self.ctx, self.threads((form,))).form(form)
        table = np.broadcast_to(values, (1, *self.lanes.exists.shape))[0]
        far = 1 << 62
        low = np.where(self.lanes.exists, table, far).min(axis=1)
        high = np.where(self.lanes.exists, table, -far).max(axis=1)
        return int((high - low).min())

    def _switch(self, guard: Form, ranges: Mapping[int, int]) -> Switch | None:
        """The guard as a comparison of a uniform and a lane part, if it is one."""
        found = _comparison(self.ctx, guard)
        if found is None:
            return None
        kind, argument = found
        lanes = Form(
            {
                m: c
                for m, c in argument.terms.items()
                if self.ctx.varying(Form({m: c})) or self._per_warp(Form({m: c}))
            }
        )
        uniform = argument - lanes
        if any(g in ranges for g in self.ctx.leaves(lanes)):
            return Switch(kind, uniform, lanes)
        values = Evaluator(self.ctx, self.threads((lanes,))).form(lanes)
        return Switch(kind, uniform, lanes, int(values.min()), int(values.max()))

    # --- counting -----------------------------------------------------------------------------

    def tally(
        self, split: Split, guards: list[Form], ranges: Mapping[int, int], target: Target
    ) -> Tally:
        """Count all requests.  Raises TooMany when the launch cannot be enumerated."""
        step = _step(self._shifts(split.unknown, target.modulus), target.modulus)
        moved = number(split.uniform.constant % step)  # all that matters of it
        rest = split.uniform - number(split.uniform.constant)
        key = (split.lanes, rest, moved, split.unknown, *guards, *ranges.items(), target)
        known = self._tallies.get(key)
        if known is None:
            known = self._tallies[key] = self._tally(split, guards, ranges, target)
        return known

    def _tally(
        self, split: Split, guards: list[Form], ranges: Mapping[int, int], target: Target
    ) -> Tally:
        shifts = self._shifts(split.unknown, target.modulus)
        step = _step(shifts, target.modulus)
        rows, switches, whole = self._rows(split, guards, ranges, step)
        return self._evaluate(split, rows, switches, whole, shifts, step, target)[0]

    def scan(
        self,
        split: Split,
        guards: list[Form],
        ranges: Mapping[int, int],
        target: Target,
        symbol: int,
        values: list[int],
    ) -> dict[int, Tally]:
        """Count all requests for every value of one unknown symbol."""
        groups = self._by_shifts(split.unknown, symbol, values, target.modulus)
        step = max(_step(shifts, target.modulus) for shifts in groups)
        rows, switches, whole = self._rows(split, guards, ranges, step)
        moves_lanes = symbol in self.ctx.leaves(split.lanes)
        result: dict[int, Tally] = {}
        for shifts, members in groups.items():
            step, count = _step(shifts, target.modulus), len(members)
            if moves_lanes or not rows.size:
                many = _repeated(rows, symbol, members)
                tally, entries = self._evaluate(split, many, switches, whole, shifts, step, target)
                part = entries % max(many.size, 1) // max(rows.size, 1)
            else:
                moves = tuple(c + s for _, c in members for s in shifts)
                tally, entries = self._evaluate(split, rows, switches, whole, moves, step, target)
                part = entries // (rows.size * len(shifts))
            parts = replace(tally, shifts=shifts).parts(part, count)
            result |= {value: own for (value, _), own in zip(members, parts, strict=True)}
        return result

    def _by_shifts(
        self, unknown: Form, symbol: int, values: list[int], modulus: int
    ) -> dict[tuple[int, ...], list[tuple[int, int]]]:
        """The values of ``symbol``, with what matters of the constant that the unknown part gets
        from each, by the shifts that are left of it."""
        slope = unknown.terms.get((symbol,), 0)
        others = Form({m: c for m, c in unknown.terms.items() if m and m != (symbol,)})
        if symbol not in self.ctx.leaves(others):
            start = unknown.constant
            shifts = self._shifts(others, modulus)
            return {shifts: [(value, (start + slope * value) % modulus) for value in values]}
        factors, by_rest = self._powers(unknown, symbol)
        groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for value in values:
            constant = divisor = 0
            for rest, powers in by_rest.items():
                total = sum(coefficient * value**power for power, coefficient in powers)
                if rest:
                    divisor = gcd(divisor, total * factors[rest])
                else:
                    constant = total
            groups.setdefault(_places(divisor, modulus), []).append((value, constant % modulus))
        return groups

    def _powers(
        self, form: Form, symbol: int
    ) -> tuple[dict[Monomial, int], dict[Monomial, list[tuple[int, int]]]]:
        """``form`` as polynomials in a factor ``symbol``: by what else is in each product a divisor
        of that, and the powers of the symbol with their coefficients.  Operations on the symbol
        stay unknown: what ``n < 1000`` is for the tried values says nothing of others."""
        by_rest: dict[Monomial, list[tuple[int, int]]] = {}
        for monomial, coefficient in form.terms.items():
            rest = tuple(g for g in monomial if g != symbol)
            by_rest.setdefault(rest, []).append((len(monomial) - len(rest), coefficient))
        return {rest: self.ctx.multiple_of(Form({rest: 1})) for rest in by_rest}, by_rest

    def _rows(
        self, split: Split, guards: list[Form], ranges: Mapping[int, int], modulus: int
    ) -> tuple[Rows, list[Switch], list[Form]]:
        if prod(ranges.values()) > MOST_REQUESTS:
            raise TooMany
        switches, whole = [], []
        for guard in guards:
            switch = self._switch(guard, ranges)
            if switch is None:
                whole.append(guard)
            else:
                switches.append(switch)
        raw = self._raw(split, switches, whole, ranges)
        rows = classes(self.ctx, ranges, split.uniform, tuple(switches), raw, modulus)
        if rows is None:
            raise TooMany
        return rows, switches, whole

    def _raw(
        self,
        split: Split,
        switches: list[Switch],
        whole: list[Form],
        ranges: Mapping[int, int],
    ) -> set[int]:
        forms = [split.lanes, *whole, *(s.lanes for s in switches)]
        return {g for form in forms for g in self.ctx.leaves(form) if g in ranges}

    def _shifts(self, unknown: Form, modulus: int) -> tuple[int, ...]:
        return _places(self.ctx.multiple_of(unknown), modulus)

    def _evaluate(
        self,
        split: Split,
        rows: Rows,
        switches: list[Switch],
        whole: list[Form],
        shifts: tuple[int, ...],
        step: int,
        target: Target,
    ) -> tuple[Tally, Ints]:
        """The tally, and for each of its entries ``number of the shift * rows + row``; a move by
        ``step`` changes no count, taken over the shifts."""
        kinds = self._kinds(split, switches, whole, step)
        if rows.size * len(shifts) * len(kinds.first) * WARP_SIZE > LANE_LIMIT:
            raise TooMany
        forms = (split.lanes, *whole, *(s.lanes for s in switches))
        threads = {
            g: v[:, kinds.first] if v.shape[1] > 1 else v for g, v in self.threads(forms).items()
        }
        exists = self.lanes.exists[kinds.first]
        per_chunk = max(1, LANES_AT_ONCE // (len(kinds.first) * WARP_SIZE))
        parts = []
        for start in range(0, rows.size, per_chunk):
            chosen = slice(start, start + per_chunk)
            values = threads | {g: v[chosen, None, None] for g, v in rows.raw.items()}
            evaluator = Evaluator(self.ctx, values)
            active = self._active(evaluator, exists, rows, chosen, switches, whole)
            addresses = evaluator.form(split.lanes) + rows.shift[chosen, None, None]
            weight = rows.weight[chosen, None] * kinds.count
            row = np.arange(rows.size)[chosen, None]
            parts.append(_collect(addresses, active, weight, row, shifts, rows.size, target))
        return _joined(parts, shifts)

    def _kinds(
        self, split: Split, switches: list[Switch], whole: list[Form], modulus: int
    ) -> Alike:
        """The warps that have to be counted."""
        guards = (*whole, *(s.lanes for s in switches))
        key = (split.lanes, guards, modulus)
        known = self._alike.get(key)
        if known is None:
            known = alike(self.ctx, self.lanes, split.lanes, guards, modulus)
            self._alike[key] = known
        return known

    def _active(
        self,
        evaluator: Evaluator,
        exists: NDArray[np.bool_],
        rows: Rows,
        chosen: slice,
        switches: list[Switch],
        whole: list[Form],
    ) -> NDArray[np.bool_]:
        size = len(rows.weight[chosen])
        active = np.broadcast_to(exists, (size, *exists.shape)).copy()
        for at, switch in enumerate(switches):
            value = evaluator.form(switch.lanes) + rows.switches[at][chosen, None, None]
            active &= {"lt0": value < 0, "eq0": value == 0, "ne0": value != 0}[switch.kind]
        for guard in whole:
            active &= evaluator.form(guard) != 0
        return active


def _step(shifts: tuple[int, ...], modulus: int) -> int:
    """What matters of a known place beside the unknown shifts: requests that start a multiple of
    the shifts' step apart are the same ones, taken over all shifts."""
    return shifts[1] - shifts[0] if len(shifts) > 1 else modulus


def _places(divisor: int, modulus: int) -> tuple[int, ...]:
    """Where a value that is a multiple of ``divisor`` (0: it is 0) may lie in ``modulus`` bytes."""
    return tuple(range(0, modulus, gcd(divisor, modulus)))


def _comparison(ctx: Context, guard: Form) -> tuple[str, Form] | None:
    for form, inverse in ((guard, False), (ONE - guard, True)):
        if len(form.terms) != 1 or form.constant:
            continue
        (monomial, coefficient), *_ = form.terms.items()
        generator = ctx.generators[monomial[0]]
        if coefficient != 1 or len(monomial) != 1 or not isinstance(generator, Atom):
            continue
        if generator.op == "eq0":
            return ("ne0" if inverse else "eq0"), generator.args[0]
        if generator.op == "lt0" and not inverse:
            return "lt0", generator.args[0]
    return None


def _collect(
    addresses: Ints,
    active: NDArray[np.bool_],
    weight: Ints,
    row: Ints,
    shifts: tuple[int, ...],
    rows: int,
    target: Target,
) -> tuple[Ints, Ints, Ints]:
    """Measure the requests with an active lane, at every shift: counts, weights and numbers."""
    row = np.broadcast_to(row, active.shape[:2]).reshape(-1)
    addresses = np.broadcast_to(addresses, active.shape).reshape(-1, WARP_SIZE)
    active = active.reshape(-1, WARP_SIZE)
    runs = active.any(axis=1)
    if not runs.all():
        addresses, active, row = addresses[runs], active[runs], row[runs]
        weight = weight.reshape(-1)[runs]
    table = measure(addresses, active, target, shifts).table
    number = np.arange(len(shifts))[:, None] * rows + row
    return table, np.tile(weight.reshape(-1), len(shifts)), number.reshape(-1)


def _joined(parts: list[tuple[Ints, Ints, Ints]], shifts: tuple[int, ...]) -> tuple[Tally, Ints]:
    if not parts:
        empty = np.zeros(0, np.int64)
        return Tally(nothing(), empty, shifts), empty
    tables, weights, numbers = zip(*parts, strict=True)
    if len(parts) == 1:
        return Tally(Measures(tables[0]), weights[0], shifts), numbers[0]
    measures = Measures(np.concatenate(tables, axis=1))
    return Tally(measures, np.concatenate(weights), shifts), np.concatenate(numbers)


def _repeated(rows: Rows, symbol: int, members: list[tuple[int, int]]) -> Rows:
    """The rows once for every (value of ``symbol``, address constant), value by value."""
    count = len(members)
    values = np.repeat(np.asarray([v for v, _ in members], np.int64), rows.size)
    constants = np.repeat(np.asarray([c for _, c in members], np.int64), rows.size)
    return Rows(
        np.tile(rows.weight, count),
        np.tile(rows.shift, count) + constants,
        tuple(np.tile(s, count) for s in rows.switches),
        {g: np.tile(v, count) for g, v in rows.raw.items()} | {symbol: values},
    )
