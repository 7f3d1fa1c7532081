"""What barriers of some lanes of a warp order: ``__syncwarp(mask)``, ``sync()`` of a small tile.

In: the barriers, and times that grow with each of them.  Out: whether an earlier access of one lane
comes before what another one of its warp does now.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.simulate.values import Bools, Data

Ints = NDArray[np.int64]


class PartialBarriers:
    """For each lane and each one of its warp, the time before which all that the other did comes
    before what the lane does now: vector clocks."""

    def __init__(self, times: Ints) -> None:
        """``times`` per lane: whatever was before them is ordered among the lanes of a warp."""
        rows = times.reshape(-1, WARP_SIZE, 1)
        self._since = np.repeat(rows, WARP_SIZE, axis=2)  # warp, lane, other lane

    def passed(self, lanes: Bools, masks: Data | None, times: Ints) -> None:
        """These lanes have passed a barrier with those that they name, at ``times``."""
        since = self._since
        active = lanes.reshape(-1, WARP_SIZE)
        if masks is None:
            named = np.broadcast_to(active[:, :, None], since.shape)
        else:
            bits = masks.astype(np.int64)[:, None] >> np.arange(WARP_SIZE) & 1 != 0
            named = bits.reshape(since.shape) & active[:, :, None]
            named |= active[:, :, None] & np.eye(WARP_SIZE, dtype=np.bool_)
        # who is named by a lane waits with all that this one names
        together = (named.transpose(0, 2, 1).astype(np.int32) @ named.astype(np.int32)) > 0
        known = since.copy()
        for lane in range(WARP_SIZE):  # what one of a group knows, all of it know
            others = np.where(together[:, :, lane, None], since[:, None, lane, :], 0)
            np.maximum(known, others, out=known)
        now = times.reshape(-1, WARP_SIZE, 1)
        self._since = np.where(together, np.maximum(known, now), known)

    def unordered(self, earlier: Ints, then: Ints, mine: Ints) -> Bools:
        """Whether what the lanes ``earlier`` did ``then`` is not ordered before what ``mine``, of
        the same warps, do now."""
        since = self._since[mine // WARP_SIZE, mine % WARP_SIZE, earlier % WARP_SIZE]
        unordered: Bools = then >= since
        return unordered
