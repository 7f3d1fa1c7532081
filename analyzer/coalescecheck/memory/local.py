"""Local memory: where a thread's private bytes lie.

In: byte offsets into each thread's own local memory, ``[w, 32]``.  Out: the device addresses of
the 32-bit words behind them, to be counted like global addresses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import BANK_BYTES, WARP_SIZE

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def interleave(offsets: Ints, active: Bools, width: int) -> tuple[Ints, Bools, int]:
    """Device addresses, mask and width of the parts of local accesses.

    Word ``i`` of lane ``l`` lies at ``128*i + 4*l`` (CUDA C++ Programming Guide, "Local
    Memory"), so an access wider than 4 bytes falls into 4-byte parts 128 bytes apart: the
    result has ``max(1, width/4)`` columns per lane.
    """
    lane = np.arange(offsets.shape[1], dtype=np.int64) % WARP_SIZE
    part = min(width, BANK_BYTES)
    starts = offsets[:, :, None] + np.arange(0, width, part)
    word, byte = starts // BANK_BYTES, starts % BANK_BYTES
    addresses = word * (BANK_BYTES * WARP_SIZE) + (BANK_BYTES * lane)[:, None] + byte
    shape = (len(offsets), -1)
    mask = np.broadcast_to(active[:, :, None], starts.shape)
    return addresses.reshape(shape), mask.reshape(shape), part
