"""The values that warp-uniform quantities take, as few weighted classes.

A count depends on the uniform part of an address only modulo a small number (32-byte sectors
and 128-byte lines, 4-byte words), on the uniform part of a guard only near the point where it
switches lanes, and on a few generators by value.  All combinations of block indices and loop
counters that agree in these are one row with a weight, so a launch of millions of requests
becomes a handful of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from coalescecheck.symbolic.arithmetic import in_64_bits
from coalescecheck.symbolic.form import Context, Form, Monomial, Symbol
from coalescecheck.symbolic.numeric import Evaluator

Ints = NDArray[np.int64]
Axis = tuple[Ints, Ints]
COMPONENT_LIMIT = 1 << 21  # combinations of values that are enumerated at once
ROW_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True)
class Switch:
    """A guard ``uniform + lanes < 0`` (``lt0``), ``== 0`` (``eq0``) or ``!= 0`` (``ne0``).

    ``low``/``high`` bound the lane part over all lanes; None when it also depends on ``raw``
    generators.
    """

    kind: str
    uniform: Form
    lanes: Form
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Classes of uniform values: one entry per row in every array.

    ``weight`` counts the combinations in the row, ``shift`` is the address contribution modulo
    the modulus, ``switches[j]`` the uniform part of guard j, ``raw`` generator values.
    """

    weight: Ints
    shift: Ints
    switches: tuple[Ints, ...]
    raw: dict[int, Ints]

    @property
    def size(self) -> int:
        return len(self.weight)


def classes(
    ctx: Context,
    ranges: Mapping[int, int],
    shift: Form,
    switches: tuple[Switch, ...],
    raw: Iterable[int],
    modulus: int,
) -> Rows | None:
    """Rows over all generators in ``ranges`` (value 0 … n-1 each); None when there are too many.

    ``shift`` and the switches' uniform parts depend on no other symbols.
    """
    raw_here = sorted(set(raw) & ranges.keys())
    parts = [
        _component(ctx, members, ranges, shift, switches, raw_here, modulus)
        for members in _components(ctx, ranges, shift, switches, raw_here)
    ]
    result = Rows(
        np.ones(1, np.int64),
        np.full(1, shift.constant % modulus, np.int64),
        tuple(np.full(1, in_64_bits(_constant(ctx, s, ranges)), np.int64) for s in switches),
        {},
    )
    for part in parts:
        if part is None or result.size * part.size > 16 * ROW_LIMIT:
            return None
        result = _reduced(_product(result, part, modulus))
        if not result.size:
            break
    return result if result.size <= ROW_LIMIT else None


def _components(
    ctx: Context,
    ranges: Mapping[int, int],
    shift: Form,
    switches: tuple[Switch, ...],
    raw: list[int],
) -> list[frozenset[int]]:
    """Generators grouped so that no monomial or guard joins two groups."""
    groups: list[set[int]] = [{g} for g in ranges]
    joined = [_leaves(ctx, monomial) & ranges.keys() for monomial in shift.terms]
    joined += [set(ctx.leaves(s.uniform) & ranges.keys()) for s in switches]
    for together in joined:
        if len(together) > 1:
            touched = [g for g in groups if g & together]
            groups = [g for g in groups if not g & together] + [set().union(*touched)]
    return [frozenset(g) for g in groups]


def _leaves(ctx: Context, monomial: Monomial) -> set[int]:
    return set(ctx.leaves(Form({monomial: 1}))) if monomial else set()


def _component(
    ctx: Context,
    members: frozenset[int],
    ranges: Mapping[int, int],
    shift: Form,
    switches: tuple[Switch, ...],
    raw: list[int],
    modulus: int,
) -> Rows | None:
    """The rows of one group of generators; contributions of the others are left out."""
    own = Form({m: c for m, c in shift.terms.items() if m and _leaves(ctx, m) & members})
    guards = [s if ctx.leaves(s.uniform) & members else None for s in switches]
    kept = [g for g in raw if g in members]
    mine = sorted(members)
    free = not kept and all(guard is None for guard in guards)
    axes = []
    for g in mine:
        axis = _axis(ctx, g, ranges[g], own if free else None, modulus)
        if axis is None:
            return None
        axes.append(axis)
    total = prod(len(values) for values, _ in axes)
    if total > COMPONENT_LIMIT:
        return None
    index = np.unravel_index(np.arange(total), [len(values) for values, _ in axes])
    values = {g: axis[0][i] for g, axis, i in zip(mine, axes, index, strict=True)}
    weight = np.ones(total, np.int64)
    for (_, weights), i in zip(axes, index, strict=True):
        weight = weight * weights[i]
    evaluator = Evaluator(ctx, values)
    columns = tuple(
        np.zeros(total, np.int64)
        if guard is None
        else _clipped(np.broadcast_to(evaluator.form(guard.uniform), (total,)), guard)
        for guard in guards
    )
    rows = Rows(
        weight,
        np.broadcast_to(evaluator.form(own) % modulus, (total,)),
        columns,
        {g: values[g] for g in kept},
    )
    return _reduced(rows)


def _axis(ctx: Context, g: int, count: int, own: Form | None, modulus: int) -> Axis | None:
    """The values of one generator and how often each stands for; None when there are too many.

    A generator that only adds to the address repeats with a period that divides the modulus.
    """
    period = count
    if own is not None and all(isinstance(ctx.generators[h], Symbol) for m in own.terms for h in m):
        divisor = gcd(modulus, *(c for m, c in own.terms.items() if g in m))
        period = min(count, modulus // divisor)
    if period > COMPONENT_LIMIT:
        return None
    values = np.arange(period, dtype=np.int64)
    return values, count // max(period, 1) + (values < count % max(period, 1))


def _product(left: Rows, right: Rows, modulus: int) -> Rows:
    """Every row of one with every row of the other."""
    i = np.repeat(np.arange(left.size), right.size)
    j = np.tile(np.arange(right.size), left.size)
    return Rows(
        left.weight[i] * right.weight[j],
        (left.shift[i] + right.shift[j]) % modulus,
        tuple(a[i] + b[j] for a, b in zip(left.switches, right.switches, strict=True)),
        {g: v[i] for g, v in left.raw.items()} | {g: v[j] for g, v in right.raw.items()},
    )


def _constant(ctx: Context, switch: Switch, ranges: Mapping[int, int]) -> int:
    """What a guard adds that no component does."""
    return 0 if ctx.leaves(switch.uniform) & ranges.keys() else switch.uniform.constant


def _clipped(column: Ints, switch: Switch) -> Ints:
    """Values of a guard's uniform part beyond the point where all lanes agree, put together."""
    if switch.low is None or switch.high is None:
        return column
    return np.clip(column, -switch.high - 1, -switch.low + 1)


def _reduced(rows: Rows) -> Rows:
    """Rows that cannot be told apart put together."""
    columns = rows.switches
    keys = [rows.shift, *columns, *rows.raw.values()]
    order = _groups(keys)
    if order is None:
        return rows
    first, group = order
    weight = np.zeros(len(first), np.int64)
    np.add.at(weight, group, rows.weight)
    return Rows(
        weight,
        rows.shift[first],
        tuple(c[first] for c in columns),
        {g: v[first] for g, v in rows.raw.items()},
    )


def _groups(keys: list[Ints]) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """First index and group number of equal key tuples; None when all may differ."""
    if len(keys[0]) < 2:
        return None
    combined = np.zeros(len(keys[0]), np.int64)
    span_product = 1
    for key in keys:
        low = int(key.min())
        span = int(key.max()) - low + 1
        span_product *= span
        if span_product > 1 << 62:
            table = np.stack(keys, axis=1)
            _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
            return first, group.reshape(-1)
        combined = combined * span + (key - low)
    _, first, group = np.unique(combined, return_index=True, return_inverse=True)
    return first, group
