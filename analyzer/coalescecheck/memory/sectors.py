"""Global memory: which 32-byte sectors, 64-byte pairs and 128-byte lines a request touches.

In: addresses and active masks ``[w, lanes]`` and one width in bytes.  Out: counts ``[w]``.
Only the set of bytes matters (CUDA C++ Best Practices Guide, "Coalesced Access to Global
Memory"), so every count comes from the sorted start addresses of the active lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import LINE_BYTES, PAIR_BYTES, SECTOR_BYTES, TAGS_PER_CYCLE, Arch

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_SIZES = (SECTOR_BYTES, LINE_BYTES, 1)  # of what a Footprint counts


@dataclass(frozen=True, slots=True)
class Footprint:
    """What each request touches: counts per request, ``[w]``, of what ``_SIZES`` gives."""

    sectors: Ints
    lines: Ints
    unique_bytes: Ints

    @property
    def ideal_sectors(self) -> Ints:
        """The fewest sectors that the distinct bytes could occupy."""
        return _ceil_div(self.unique_bytes, SECTOR_BYTES)

    @property
    def tag_wavefronts(self) -> Ints:
        """Cycles of the L1 tag stage, four lines a cycle."""
        return _ceil_div(self.lines, TAGS_PER_CYCLE)


def footprint(addresses: Ints, active: Bools, width: int) -> Footprint:
    """All counts of global requests at once, from one sort."""
    return Footprint(*_granules(*_ends(addresses, active, width), _SIZES))


def count_sectors(addresses: Ints, active: Bools, width: int) -> Ints:
    """Distinct 32-byte sectors over all bytes that the active lanes touch."""
    return _distinct(addresses, active, width, SECTOR_BYTES)


def count_pairs(addresses: Ints, active: Bools, width: int) -> Ints:
    """Distinct aligned 64-byte pairs of sectors."""
    return _distinct(addresses, active, width, PAIR_BYTES)


def count_tag_wavefronts(addresses: Ints, active: Bools, width: int) -> Ints:
    """Cycles of the L1 tag stage, four lines a cycle."""
    return _ceil_div(_distinct(addresses, active, width, LINE_BYTES), TAGS_PER_CYCLE)


def count_requests(active: Bools, width: int, arch: Arch) -> Ints:
    """Requests that one global load makes on ``arch``: 1 from sm_70 on, up to 16 before."""
    if arch.lanes_per_request is None:
        lanes = active.shape[1]
    else:
        lanes = dict(arch.lanes_per_request).get(width, 1)
    groups = active.reshape(len(active), -1, lanes).any(axis=2)
    requests: Ints = groups.sum(axis=1, dtype=np.int64)
    return requests


def _distinct(addresses: Ints, active: Bools, width: int, size: int) -> Ints:
    result: Ints = _granules(*_ends(addresses, active, width), (size,))[0]
    return result


def _ceil_div(value: Ints, by: int) -> Ints:
    result: Ints = (value + (by - 1)) // by
    return result


def _ends(addresses: Ints, active: Bools, width: int) -> tuple[Ints, Ints, Bools]:
    """First and last byte of every lane in ascending order, and which requests have any lane.

    Inactive lanes repeat the last active one, so that they add nothing.
    """
    nowhere = np.iinfo(np.int64).min
    greatest = np.where(active, addresses, nowhere).max(axis=1)
    first = np.sort(np.where(active, addresses, greatest[:, None]), axis=1)
    return first, first + (width - 1), greatest != nowhere


def _granules(first: Ints, last: Ints, runs: Bools, sizes: tuple[int, ...]) -> Ints:
    """Distinct granules of the intervals from ``first`` to ``last``, ``[size, w]``.

    Intervals ascend, so what is touched is all from the first granule to the last one, without
    the gaps between an interval and its predecessor.
    """
    shifts = _shifts(sizes)
    first, last = first >> shifts, last >> shifts
    gaps = np.maximum(first[..., 1:] - last[..., :-1] - 1, 0).sum(axis=2)
    result: Ints = np.where(runs, last[..., -1] - first[..., 0] + 1 - gaps, 0)
    return result


@lru_cache
def _shifts(sizes: tuple[int, ...]) -> Ints:
    """Sizes are powers of two: shifting floors, like the hardware."""
    return np.array([size.bit_length() - 1 for size in sizes], np.int64)[:, None, None]
