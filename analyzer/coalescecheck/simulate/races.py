"""Races in shared memory: two threads, one place, one writes, and no barrier is between.

In: the shared accesses of a batch in the order they run, and the barriers.  Out: distinct
(array, earlier access, later access, kind).  Places are bytes, or 4-byte words where the kernel
accesses nothing smaller.

Policy: two writes race only if they write *different* values (several threads setting one flag
to the same value is harmless); that holds within one request as well.  Two atomics never race.
``__syncwarp`` orders the threads of a warp that its mask names among each other.  Lanes of one
warp are not assumed to run in lockstep: from sm_70 on they need not (CUDA C++ Programming Guide,
"Independent Thread Scheduling"); ``same_warp`` tells such races apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.simulate.lanes import Batch
from coalescecheck.simulate.partial_barriers import PartialBarriers
from coalescecheck.simulate.values import Bools, Data

Ints = NDArray[np.int64]

# A stamp packs when and who: block epoch, warp epoch, lane.  0 is "never".
_LANE_BITS = 20
_WARP_EPOCH_BITS = 20
_EPOCH_SHIFT = _LANE_BITS + _WARP_EPOCH_BITS
_LANE_MASK = (1 << _LANE_BITS) - 1
_WARP_MASK = _LANE_MASK - (WARP_SIZE - 1)

BYTES_PER_PLACE = 48  # two writers and two readers: a stamp of 8 bytes, an access of 4


@dataclass(frozen=True, slots=True, order=True)
class Race:
    """``first`` and ``second`` are access ids, the earlier one first; ``kind`` is RAW (a read
    after another thread's write), WAR or WAW.  ``same_warp`` when only lanes of one warp meet
    (harmless where the warp runs in lockstep).  ``certain`` is False where an access involved
    depends on values the simulation had to make up."""

    array: str
    first: int
    second: int
    kind: str
    same_warp: bool
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Touch:
    """One execution of a shared access: the byte places in shared storage per lane, which
    lanes, and who it is."""

    access: int
    width: int
    places: Ints
    lanes: Bools
    arrays: int | Ints
    atomic: bool = False


class _Two:
    """For every place, two threads that touched it last: of different warps where there are, so
    that no later thread is taken for the only one before it.  Stamps and the accesses."""

    def __init__(self, places: int) -> None:
        self.last = np.zeros(places, dtype=np.int64)
        self.last_access = np.zeros(places, dtype=np.int32)
        self.other = np.zeros(places, dtype=np.int64)
        self.other_access = np.zeros(places, dtype=np.int32)

    def at(self, place: Ints) -> tuple[tuple[Ints, NDArray[np.int32]], ...]:
        """Stamp and access of both, for each of the places."""
        return (
            (self.last[place], self.last_access[place]),
            (self.other[place], self.other_access[place]),
        )

    def remember(self, place: Ints, mine: Ints, access: int) -> None:
        """One execution of ``access`` by the threads with these stamps, each at its place."""
        (one, one_by), (two, two_by) = self.at(place)
        first, second = _standing(one, mine), _standing(two, mine)
        takes = first & (_another_warp(one, mine) | ~(second & _another_warp(two, mine)))
        drops = ~takes & ~second
        self.other[place] = np.where(takes, one, np.where(drops, 0, two))
        self.other_access[place] = np.where(takes, one_by, two_by)
        self.last[place] = mine
        self.last_access[place] = access
        last = self.last[place]
        lost = last != mine  # several lanes touch the place in this very execution
        if lost.any():
            kept = self.other[place]
            apart = lost & _another_warp(last, mine)
            near = lost & ~apart & ~_standing(kept, last)
            for some in (near, apart):  # a thread of another warp replaces one of the same
                # the first of them, as `last` is the last: barriers of few lanes order neighbours
                self.other[place[some][::-1]] = mine[some][::-1]
                self.other_access[place[some]] = access


class RaceDetector:
    """Remembers, per place, two writers and two readers since the last barrier."""

    def __init__(self, batch: Batch, shared_bytes: int, granule: int, atomics: Bools) -> None:
        places = -(-shared_bytes // granule)
        self._granule = granule
        self._atomics = atomics  # per access id
        self._writers = _Two(places)
        self._readers = _Two(places)
        lane = np.arange(batch.size, dtype=np.int64)
        self._stamp = lane + (1 << _LANE_BITS) + (1 << _EPOCH_SHIFT)
        self._block_of = batch.block_of
        self._partial: PartialBarriers | None = None  # where some did not order whole warps
        self.found: set[tuple[int, int, int, str, bool]] = set()

    def block_barrier(self, lanes: Bools) -> None:
        """Every block with one of these lanes has passed a barrier."""
        blocks = np.zeros(int(self._block_of[-1]) + 1, dtype=np.bool_)
        blocks[self._block_of[lanes]] = True
        self._stamp += blocks[self._block_of] * np.int64(1 << _EPOCH_SHIFT)

    def warp_barrier(self, lanes: Bools, masks: Data | None = None) -> None:
        """Every warp with one of these lanes has passed a __syncwarp: all of its lanes, or those
        that are in the masks of these."""
        warps = np.repeat(lanes.reshape(-1, WARP_SIZE).any(axis=1), WARP_SIZE)
        before = self._stamp >> _LANE_BITS
        self._stamp += warps * np.int64(1 << _LANE_BITS)
        if self._partial is None and masks is not None:
            self._partial = PartialBarriers(before)
        if self._partial is not None:
            self._partial.passed(lanes, masks, self._stamp >> _LANE_BITS)

    def read(self, touch: Touch) -> None:
        """A plain load."""
        lanes = np.flatnonzero(touch.lanes)
        mine = self._stamp[lanes]
        for place in self._places(touch, lanes):
            for writer, by in self._writers.at(place):
                self._report(touch, lanes, "RAW", self._unordered(writer, mine), writer, by)
            self._readers.remember(place, mine, touch.access)

    def write(self, touch: Touch, changes: Bools, lost: Bools) -> None:
        """A store or atomic.  ``changes`` are the lanes whose value differs from what the place
        held before, ``lost`` those whose value another lane of the same execution replaced."""
        lanes = np.flatnonzero(touch.lanes)
        mine, differs = self._stamp[lanes], (changes | lost)[lanes]
        for place in self._places(touch, lanes):
            for writer, by in self._writers.at(place):
                clash = self._unordered(writer, mine) & differs
                if touch.atomic:
                    clash &= ~self._atomics[by]
                self._report(touch, lanes, "WAW", clash, writer, by)
            for reader, by in self._readers.at(place):
                self._report(touch, lanes, "WAR", self._unordered(reader, mine), reader, by)
            self._writers.remember(place, mine, touch.access)
            if not touch.atomic:
                (winner, by), _ = self._writers.at(place)
                beaten = (winner != mine) & lost[lanes]
                self._report(touch, lanes, "WAW", beaten, winner, by)

    def _places(self, touch: Touch, lanes: Ints | NDArray[np.intp]) -> list[Ints]:
        first = touch.places[lanes] // self._granule
        return [first + k for k in range(max(1, touch.width // self._granule))]

    def _unordered(self, earlier: Ints, mine: Ints) -> Bools:
        """Another thread's access since the block's last barrier, and since the warp's last one
        if it is of the same warp."""
        if self._partial is None:
            near = (earlier >> _LANE_BITS) == (mine >> _LANE_BITS)
        else:
            one, two = earlier & _LANE_MASK, mine & _LANE_MASK
            near = self._partial.unordered(one, earlier >> _LANE_BITS, two)
        unordered: Bools = _standing(earlier, mine) & (near | _another_warp(earlier, mine))
        return unordered

    def _report(
        self,
        touch: Touch,
        lanes: NDArray[np.intp],
        kind: str,
        clash: Bools,
        other: Ints,
        by: NDArray[np.int32],
    ) -> None:
        if not clash.any():
            return
        who = lanes[clash]
        array = np.asarray(touch.arrays)
        arrays = array[who] if array.ndim else np.full(len(who), array)
        same = (other[clash] & _LANE_MASK) // WARP_SIZE == who // WARP_SIZE
        keys = (arrays.astype(np.int64) << 32) | (by[clash].astype(np.int64) << 1) | same
        for key in np.unique(keys).tolist():
            access = (key & 0xFFFFFFFF) >> 1
            self.found.add((key >> 32, access, touch.access, kind, bool(key & 1)))


def _standing(earlier: Ints, mine: Ints) -> Bools:
    """Made by another lane since the block's last barrier."""
    now = (earlier >> _EPOCH_SHIFT) == (mine >> _EPOCH_SHIFT)
    standing: Bools = now & ((earlier & _LANE_MASK) != (mine & _LANE_MASK))
    return standing


def _another_warp(one: Ints, two: Ints) -> Bools:
    apart: Bools = ((one ^ two) & _WARP_MASK) != 0
    return apart
