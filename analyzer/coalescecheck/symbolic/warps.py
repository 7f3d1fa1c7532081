"""Warps of a block that behave alike, so that one of them is counted for all.

Two warps are alike when every part of the address has the same distances between lanes, begins
at the same place modulo what the hardware sees, and the guards see the same values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.symbolic.form import Atom, Context, Form, Monomial
from coalescecheck.symbolic.lanes import Lanes
from coalescecheck.symbolic.numeric import Evaluator

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alike:
    """``first`` are the numbers of one warp of each kind, ``count`` how many it stands for."""

    first: NDArray[np.intp]
    count: Ints


def alike(
    ctx: Context, lanes: Lanes, address: Form, guards: tuple[Form, ...], modulus: int
) -> Alike:
    """The kinds of warps for an address and the lane parts of guards.

    All warps are kinds of their own where thread indices are mixed with other unknowns inside
    one operation.
    """
    every = Alike(np.arange(lanes.warps), np.ones(lanes.warps, np.int64))
    parts = _by_other_factors(ctx, address)
    if lanes.warps == 1 or parts is None or not all(_threads_only(ctx, g) for g in guards):
        return every
    columns: list[Ints] = [lanes.exists.astype(np.int64)]
    for part in parts:
        values = _values(ctx, lanes, part)
        columns += [values - values[:, :1], values[:, :1] % modulus]
    columns += [_values(ctx, lanes, guard) for guard in guards]
    table = np.concatenate(columns, axis=1)
    kinds: dict[bytes, list[int]] = {}
    for warp, row in enumerate(table):  # at most 32; np.unique would sort them column by column
        kinds.setdefault(row.tobytes(), []).append(warp)
    warps = kinds.values()
    return Alike(
        np.array([same[0] for same in warps], np.intp), np.array([len(same) for same in warps])
    )


def _by_other_factors(ctx: Context, address: Form) -> list[Form] | None:
    """The polynomials in thread indices by which other factors are multiplied."""
    parts: dict[Monomial, dict[Monomial, int]] = {}
    for monomial, coefficient in address.terms.items():
        mine: list[int] = []
        others: list[int] = []
        for g in monomial:
            alone = Form({(g,): 1})
            if _threads_only(ctx, alone):
                mine.append(g)
            elif isinstance(ctx.generators[g], Atom) and _has_thread(ctx, alone):
                return None
            else:
                others.append(g)
        parts.setdefault(tuple(others), {})[tuple(mine)] = coefficient
    return [Form(terms) for terms in parts.values()]


def _threads_only(ctx: Context, form: Form) -> bool:
    return all(s.kind == "tid" for _, s in ctx.symbols(form))


def _has_thread(ctx: Context, form: Form) -> bool:
    return any(s.kind == "tid" for _, s in ctx.symbols(form))


def _values(ctx: Context, lanes: Lanes, form: Form) -> Ints:
    threads = {g: getattr(lanes, s.name[-1]) for g, s in ctx.symbols(form)}
    values = Evaluator(ctx, threads).form(form)
    return np.broadcast_to(values, lanes.exists.shape).astype(np.int64, copy=False)
