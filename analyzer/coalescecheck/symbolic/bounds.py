"""Safe bounds for addresses that depend on data or on more than one unknown.

Each active lane touches at least one sector (or word) and lanes may all agree or all differ.
Where the unknown part is a multiple of 128 bytes the bank of every lane is known, and a bank
cannot be asked for more distinct words than it has lanes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import BANK_BYTES, TAGS_PER_CYCLE
from coalescecheck.ir.kernel import Space
from coalescecheck.launch import WARP_SIZE
from coalescecheck.memory.banks import count_wavefronts
from coalescecheck.symbolic.measure import Target

BANK_ROW = 128  # bytes: 32 banks of 4
SECTOR = 32


def lanes_range(lanes: int, target: Target) -> tuple[int, int]:
    """Least and greatest count of a request with ``lanes`` active lanes anywhere in memory."""
    if target.space is Space.SHARED:
        agree = np.zeros((1, WARP_SIZE), np.int64)
        active = np.arange(WARP_SIZE)[None, :] < lanes
        least = count_wavefronts(agree, active, target.width, target.bank_op)
        return int(least.ideal[0]) if target.op != "atomic" else 1, max(1, lanes)
    if target.space is Space.LOCAL:
        words = max(1, target.width // 4)
        return words, lanes * words
    return 1, lanes * max(1, target.width // SECTOR)


def l1_range(
    fewest: int, lanes: int, lines: int, target: Target
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Least and greatest cycles of L1's data and tag stages for requests with ``fewest`` to
    ``lanes`` active lanes that touch up to ``lines`` lines.

    Every phase with an active lane takes a cycle, and no bank is wanted by more than its lanes.
    """
    if not target.has_l1:
        return (0, 0), (0, 0)
    least = -(-fewest * phases(target.width) // WARP_SIZE)
    return (least, lanes), (1, -(-lines // TAGS_PER_CYCLE))


def phases(width: int) -> int:
    """Groups of lanes that a whole warp's access of this width (bytes) is served in."""
    return max(1, width // BANK_BYTES)


def reachable_banks(
    addresses: NDArray[np.int64],
    active: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    target: Target,
) -> tuple[int, int] | None:
    """Bounds when lane l reads a word at ``addresses[l]`` plus one of ``offsets`` plus any
    number of bank rows; None for wide accesses.

    A bank serves at most as many distinct words as lanes can reach it.
    """
    if target.space is not Space.SHARED or target.width > 4:
        return None
    worst = 1
    for row, mask in zip(addresses, active, strict=True):
        if mask.any():
            banks = (row[mask][:, None] + offsets[None, :]) // 4 % WARP_SIZE
            reached = np.zeros((len(banks), WARP_SIZE), np.bool_)
            reached[np.arange(len(banks))[:, None], banks] = True
            worst = max(worst, int(reached.sum(axis=0).max()))
    return 1, worst
