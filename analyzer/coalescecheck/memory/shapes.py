"""Requests of the same shape, so that each shape is counted once.

In: addresses and active masks ``[w, lanes]``.  Out: one representative request per shape and
the way back.  Moving a whole request by a multiple of 128 bytes changes no sector, line or
bank count, so requests that differ only by such a move have the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import LINE_BYTES

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shapes:
    """``addresses``/``active`` hold one request per shape; request ``i`` has shape ``of[i]``, moved
    by ``start[i]``."""

    addresses: Ints
    active: Bools
    of: NDArray[np.intp]
    start: Ints


def distinct_shapes(addresses: Ints, active: Bools, step: int = LINE_BYTES) -> Shapes:
    """The shapes among the requests.  Every request needs an active lane; those that differ by a
    move by a multiple of ``step`` bytes, a power of two, have one shape."""
    far = np.iinfo(np.int64).max
    start = np.where(active, addresses, far).min(axis=1) & -step
    relative = np.where(active, addresses - start[:, None], -1)
    if len(relative) == 1:
        return Shapes(np.maximum(relative, 0), active, np.zeros(1, np.intp), start)
    keys = (relative * _weights(addresses.shape[1])).sum(axis=1)
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if (relative != relative[first[of]]).any():  # two shapes share a key
        first = of = np.arange(len(addresses))
    chosen = relative[first]
    return Shapes(np.maximum(chosen, 0), chosen >= 0, of, start)


@lru_cache
def _weights(lanes: int) -> Ints:
    """Odd multipliers that differ in all bits (splitmix64), one per lane."""
    state = np.arange(1, lanes + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state | np.uint64(1)).view(np.int64)
