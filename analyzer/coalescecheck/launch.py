"""Launch configurations and how a block's threads form warps.

The linear thread index is ``x + y*Dx + z*Dx*Dy``; warp ``w`` holds threads ``32w .. 32w+31``
(CUDA C++ Programming Guide, "Thread Hierarchy").  The last warp of a block is padded with
lanes that never run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

WARP_SIZE = 32


class Dim3(NamedTuple):
    """Three dimensions, in threads (a block) or blocks (a grid)."""

    x: int
    y: int = 1
    z: int = 1

    @property
    def size(self) -> int:
        return self.x * self.y * self.z


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch configuration of a kernel.

    ``block`` or ``grid`` is None when it is not known.  ``args`` maps the kernel's integer
    parameters to the constants passed at the launch (struct members as ``"s.n"``).
    ``offsets`` maps pointer parameters launched as ``ptr + k`` to what is known of ``k``:
    the byte offset, or None when it is unknown (such a pointer is not 256-byte aligned).
    ``shared_bytes`` is the dynamic shared memory, None when unknown.  ``nulls`` are the pointer
    parameters that are null, ``assumed`` the axes of ``block`` that the source leaves open.
    ``source`` is one of cli, comment, config, host, bounds, assumed; ``file``, ``line`` and
    ``column`` say where.  ``impossible`` says why the one that is written there fails.
    """

    block: Dim3 | None
    grid: Dim3 | None
    source: str
    args: tuple[tuple[str, int], ...] = ()
    offsets: tuple[tuple[str, int | None], ...] = ()
    shared_bytes: int | None = None
    file: str = ""
    line: int = 0
    column: int = field(default=1, compare=False)
    nulls: tuple[str, ...] = ()
    assumed: str = ""
    impossible: str = ""
