"""The lanes of a batch of blocks: who they are, and which of them run.

In: a launch and some of its blocks.  Out: the builtin variables as one entry per lane, and
masks.  Lanes are ordered by block, then by linear thread index; the last warp of every block is
padded to 32 lanes that never run (CUDA C++ Programming Guide, "Thread Hierarchy").
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE, Dim3
from coalescecheck.simulate.values import CLEAN, Bools, Data, Taint, is_tainted

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Requests:
    """Warps that execute an access together: their rows in the batch, the active lanes of each
    ``[n, 32]``, and the first one of these."""

    rows: NDArray[np.intp]
    masks: Bools
    first: NDArray[np.intp]


def requests_of(lanes: Bools) -> Requests:
    """The warps with at least one of these lanes."""
    by_warp = lanes.reshape(-1, WARP_SIZE)
    rows = np.flatnonzero(by_warp.any(axis=1))
    masks = by_warp[rows]
    return Requests(rows, masks, masks.argmax(axis=1))


@dataclass(eq=False, slots=True)
class Mask:
    """The lanes that run a statement.

    ``taint`` is set for lanes whose running (or not running) depends on something unknown.
    ``alive`` says whether any lane runs.  Masks are compared by identity: the same object means
    the same lanes.
    """

    lanes: Bools
    taint: Taint = CLEAN
    alive: bool = field(init=False)
    _index: NDArray[np.intp] | None = field(init=False, default=None)
    _requests: Requests | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.alive = bool(np.count_nonzero(self.lanes))

    @property
    def index(self) -> NDArray[np.intp]:
        """The numbers of my lanes."""
        if self._index is None:
            self._index = self.lanes.nonzero()[0]
        return self._index

    @property
    def requests(self) -> Requests:
        """The warps with one of my lanes."""
        if self._requests is None:
            self._requests = requests_of(self.lanes)
        return self._requests

    def nobody(self, taint: Taint = CLEAN) -> Mask:
        """No lane, in the same batch."""
        return Mask(np.zeros_like(self.lanes), taint)

    def narrowed(self, lanes: Bools, taint: Taint = CLEAN) -> Mask:
        """These of my lanes; myself when nothing changes."""
        if isinstance(taint, int) and taint == CLEAN and _same(lanes, self.lanes):
            return self
        return Mask(lanes, taint)

    def possible(self) -> Bools:
        """Lanes that run or might run."""
        if not is_tainted(self.taint):
            return self.lanes
        doubted: Bools = self.lanes | (np.asarray(self.taint) != 0)
        return doubted


def _same(one: Bools, other: Bools) -> bool:
    return not np.count_nonzero(one ^ other)


class Batch:
    """Some blocks of a launch, laid out as one vector of lanes."""

    def __init__(self, block: Dim3, grid: Dim3, blocks: list[tuple[int, int, int]]) -> None:
        self.block = block
        self.grid = grid
        self.warps_per_block = -(-block.size // WARP_SIZE)
        self.lanes_per_block = self.warps_per_block * WARP_SIZE
        self.blocks = len(blocks)
        self.size = self.blocks * self.lanes_per_block
        thread = np.arange(self.size, dtype=np.int64) % self.lanes_per_block
        self.block_of: Ints = np.arange(self.size, dtype=np.int64) // self.lanes_per_block
        self.exists: Bools = thread < block.size
        where = np.array(blocks, dtype=np.int64).reshape(-1, 3)
        self.linear_block: Ints = where[:, 0] + grid.x * (where[:, 1] + grid.y * where[:, 2])
        self._builtins = self._make_builtins(np.minimum(thread, block.size - 1), where)

    def builtin(self, name: str) -> Data | None:
        """A builtin variable as u32, None when there is no such variable."""
        return self._builtins.get(name)

    def _make_builtins(self, thread: Ints, blocks: Ints) -> dict[str, Data]:
        index = (
            thread % self.block.x,
            thread // self.block.x % self.block.y,
            thread // (self.block.x * self.block.y),
        )
        found: dict[str, Data] = {
            "laneid": (np.arange(self.size) % WARP_SIZE).astype(np.uint32),
            "warpid": (thread // WARP_SIZE).astype(np.uint32),
        }
        for axis, name in enumerate("xyz"):
            found[f"threadIdx.{name}"] = index[axis].astype(np.uint32)
            found[f"blockIdx.{name}"] = _one_if_uniform(blocks[self.block_of, axis])
            found[f"blockDim.{name}"] = np.uint32(self.block[axis])
            found[f"gridDim.{name}"] = np.uint32(self.grid[axis])
        return found


def _one_if_uniform(data: Ints) -> Data:
    values = data.astype(np.uint32)
    return values[0] if (values == values[0]).all() else values
