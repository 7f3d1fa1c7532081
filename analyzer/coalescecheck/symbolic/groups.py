"""An upper bound of sectors where lanes are moved by unknown uniform factors.

In: the part of an address that differs between lanes, such as ``4*C*threadIdx.x + 4*threadIdx.y``
with an unknown ``C``.  Lanes with the same multiple of every unknown factor lie at known
distances; only where such a group lies is unknown, and groups may lie anywhere apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.memory.sectors import count_sectors
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import Context, Form
from coalescecheck.symbolic.numeric import Evaluator

SECTOR = 32

Ints = NDArray[np.int64]


def most_sectors(
    ctx: Context, counter: Counter, lanes: Form, ranges: Mapping[int, int], width: int
) -> int | None:
    """The most sectors one request can touch; None where the groups are not known."""
    factors = _factors(ctx, counter, lanes, ranges)
    if factors is None or SECTOR % max(width, 1):
        return None
    exists = counter.lanes.exists
    parts = {}
    for unknown, part in factors.items():
        values = Evaluator(ctx, counter.threads((part,))).form(part)
        parts[unknown] = np.broadcast_to(values, (1, *exists.shape)).reshape(-1, WARP_SIZE)
    offsets = parts.pop((), np.zeros(exists.shape, np.int64))
    same = exists[:, :, None] & exists[:, None, :]
    for multiples in parts.values():
        same = same & (multiples[:, :, None] == multiples[:, None, :])
    first = same.argmax(axis=2) == np.arange(WARP_SIZE)  # of its group
    warp, lane = np.nonzero(first & exists)
    groups, places = same[warp, lane], offsets[warp]
    counts = [count_sectors(places + at, groups, width) for at in range(0, SECTOR, width)]
    sums = np.bincount(warp, weights=np.max(counts, axis=0))
    return int(sums.max(initial=0)) or None


def _factors(
    ctx: Context, counter: Counter, lanes: Form, ranges: Mapping[int, int]
) -> dict[tuple[int, ...], Form] | None:
    """The unknown factors of the terms, each with the sum of what it multiplies."""
    terms: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for monomial, coefficient in lanes.terms.items():
        known = tuple(g for g in monomial if counter.knows(Form({(g,): 1}), ranges))
        unknown = tuple(g for g in monomial if g not in known)
        if any(ctx.generators[g].varying for g in unknown):
            return None
        terms.setdefault(unknown, {})[known] = coefficient
    factors = {unknown: Form(part) for unknown, part in terms.items()}
    if any(g in ranges for part in factors.values() for g in ctx.leaves(part)):
        return None
    return factors
