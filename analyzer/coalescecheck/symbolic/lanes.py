"""Which thread each lane of each warp is, for a known block or the assumed one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE, Dim3

ASSUMED_MAX_THREADS = 1024  # CUDA C++ Programming Guide, "Features and Technical Specifications"


@dataclass(frozen=True, slots=True)
class Lanes:
    """Thread indices of every lane: arrays of shape (warps, 32).

    ``exists`` is False for the lanes that pad the last warp of a block.
    """

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    z: NDArray[np.int64]
    exists: NDArray[np.bool_]

    @property
    def warps(self) -> int:
        return len(self.x)


def lanes_of(block: Dim3 | None) -> Lanes:
    """The lanes of a block; None stands for "blockDim.x is a multiple of 32".

    For the assumed block a warp is 32 consecutive ``threadIdx.x``; y and z are the same for
    the whole warp and are left to symbols, so 0 here.
    """
    shape = block or Dim3(ASSUMED_MAX_THREADS)
    warps = -(-shape.size // WARP_SIZE)
    linear = np.arange(warps * WARP_SIZE, dtype=np.int64).reshape(warps, WARP_SIZE)
    return Lanes(
        x=linear % shape.x,
        y=linear // shape.x % shape.y,
        z=linear // (shape.x * shape.y),
        exists=linear < shape.size,
    )
