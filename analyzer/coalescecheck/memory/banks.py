"""Shared memory banks: how many wavefronts a request takes.

In: addresses and active masks ``[w, 32]``, the width in bytes and the kind of operation.
Out: counts ``[w]``.  A phase is the group of lanes that is served together; a wavefront is one
pass over the 32 banks.  The sources of the rules are in ``arch.RULES`` (shared-*, ldmatrix-*,
l1-data-wavefronts, constant-passes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import BANK_BYTES, BANKS, WARP_SIZE

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_ROW_BYTES = BANKS * BANK_BYTES


@dataclass(frozen=True, slots=True)
class Wavefronts:
    """Per request: wavefronts, the phases that are left (no conflict can be below it), and the
    worst number of distinct words one bank must serve in one phase."""

    total: Ints
    ideal: Ints
    degree: Ints


def count_wavefronts(addresses: Ints, active: Bools, width: int, op: str) -> Wavefronts:
    """Wavefronts of shared requests; ``op`` is load, store, atomic or ldmatrix.

    Only loads merge phases.  Lanes of an atomic that meet in a bank serialise even on one word.
    """
    lanes = _lanes_per_phase(width)
    atomic = op == "atomic"
    result = _count(addresses, active, width, lanes, atomic)
    if op != "load" or lanes == WARP_SIZE:
        return result
    merges = _pairs_agree(addresses, active)
    if not merges.any():
        return result
    merged = _count(addresses[merges], active[merges], width, 2 * lanes, atomic)
    for kept, better in (
        (result.total, merged.total),
        (result.ideal, merged.ideal),
        (result.degree, merged.degree),
    ):
        kept[merges] = better
    return result


def count_l1_data_wavefronts(addresses: Ints, active: Bools, width: int) -> Ints:
    """Cycles of the L1 data stage for a global load that hits: phases without merging."""
    return _count(addresses, active, width, _lanes_per_phase(width), atomic=False).total


def count_constant_passes(addresses: Ints, active: Bools) -> Ints:
    """Passes of a constant load: one per distinct address."""
    ordered = np.sort(np.where(active, addresses, np.iinfo(np.int64).max), axis=1)
    fresh = np.ones(ordered.shape, dtype=np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    entries = np.arange(ordered.shape[1]) < np.count_nonzero(active, axis=1)[:, None]
    passes: Ints = (fresh & entries).sum(axis=1, dtype=np.int64)
    return passes


def count_lanes_per_word(addresses: Ints, active: Bools) -> Ints:
    """The most lanes of a request that start in one word: updates of it that must wait."""
    far = np.iinfo(np.int64).max
    words = np.sort(np.where(active, addresses // BANK_BYTES, far), axis=1)
    running = words != far
    most = np.zeros(len(words), np.int64)
    most[running.any(axis=1)] = 1
    for lanes in range(2, words.shape[1] + 1):
        met = (words[:, lanes - 1 :] == words[:, : 1 - lanes]) & running[:, lanes - 1 :]
        if not met.any():
            break
        most[met.any(axis=1)] = lanes
    return most


def _lanes_per_phase(width: int) -> int:
    """32 lanes up to 4 bytes, then as many as fill one row of banks."""
    return WARP_SIZE if width <= BANK_BYTES else max(1, _ROW_BYTES // width)


def _pairs_agree(addresses: Ints, active: Bools) -> Bools:
    """Whether, for x = 1 or x = 2, every lane n has lane n^x inactive or at its address."""
    lane = np.arange(addresses.shape[1])
    agrees = np.zeros(len(addresses), dtype=np.bool_)
    for x in (1, 2):
        partner = lane ^ x
        same = addresses == addresses[:, partner]
        agrees |= (same | ~active | ~active[:, partner]).all(axis=1)
    return agrees


def _count(addresses: Ints, active: Bools, width: int, lanes: int, atomic: bool) -> Wavefronts:
    """Sum and maximum over phases of the most loaded bank."""
    requests = len(addresses)
    phases = max(1, addresses.shape[1] // lanes)
    words, wanted = _words(addresses, active, width)
    words = words.reshape(requests * phases, -1)
    wanted = wanted.reshape(requests * phases, -1)
    order = np.sort(np.where(wanted, words, np.iinfo(np.int64).max), axis=1)
    counted = np.arange(order.shape[1]) < np.count_nonzero(wanted, axis=1)[:, None]
    if not atomic:
        counted[:, 1:] &= order[:, 1:] != order[:, :-1]
    slot = np.arange(len(order))[:, None] * BANKS + order % BANKS
    loads = np.bincount(slot[counted], minlength=len(order) * BANKS)
    worst = loads.reshape(requests, phases, BANKS).max(axis=2)
    return Wavefronts(
        total=worst.sum(axis=1),
        ideal=(worst > 0).sum(axis=1, dtype=np.int64),
        degree=worst.max(axis=1),
    )


def _words(addresses: Ints, active: Bools, width: int) -> tuple[Ints, Bools]:
    """The 32-bit words of every lane, ``[w, lanes, words]``, and which of them are wanted."""
    first = addresses // BANK_BYTES
    last = (addresses + (width - 1)) // BANK_BYTES
    most = int((last - first).max(initial=0)) + 1
    words = first[:, :, None] + np.arange(most)
    wanted = active[:, :, None] & (words <= last[:, :, None])
    return words, wanted
