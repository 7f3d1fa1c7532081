"""What the lines of a source ask of memory when nvcc's code of them runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from property.hardware_in_python import moved_to_start, sectors, wavefronts

from .machine import Block, Dim, OutOfSteps
from .memory import Bits, Mask
from .text import Function, Module, Place
from .values import WARP_SIZE

_STEPS = 2500  # of one block
_LIBRARY = "__cudart_"  # begins the names of tables such as that of cos


class Line(NamedTuple):
    """A kind of request: ``file`` without its folders; ``op`` is load, store or atomic."""

    file: str
    line: int
    op: str
    space: str
    width: int


@dataclass
class Seen:
    """Sectors or wavefronts per request, of ``whole`` warps and of others."""

    whole: set[int] = field(default_factory=set)
    partial: set[int] = field(default_factory=set)


def requests(
    module: Module, kernel: Function, block: Dim, grid: Dim, parameters: Sequence[bytes], own: str
) -> dict[Line, Seen]:
    """The requests of the first blocks of a launch, as far as some steps go.  Those in files
    outside of the folder ``own`` are of the line in it that called there.  Unsupported."""
    found: defaultdict[Line, Seen] = defaultdict(Seen)
    live = np.arange(-(-int(np.prod(block)) // WARP_SIZE) * WARP_SIZE) < np.prod(block)

    def touch(
        space: str, op: str, width: int, addresses: Bits, active: Mask, places: Sequence[Place]
    ) -> None:
        inside = [p for p in places if module.files.get(p[0], "").startswith(own)]
        if space not in ("global", "shared") or not inside:
            return
        if any(int(addresses[active][0]) in table for table in tables):
            return
        file, line = inside[-1]
        seen = found[Line(PurePath(module.files[file]).name, line, op, space, width)]
        for warp in range(0, len(live), WARP_SIZE):
            running = np.nonzero(active[warp : warp + WARP_SIZE])[0].tolist()
            if running:
                lanes = moved_to_start(tuple((n, int(addresses[warp + n])) for n in running))
                units = sectors(lanes, width) if space == "global" else wavefronts(lanes, width, op)
                whole = len(running) == live[warp : warp + WARP_SIZE].sum()
                (seen.whole if whole else seen.partial).add(units)

    tables: list[range] = []
    second = tuple(min(size - 1, 1) for size in grid)
    for index in dict.fromkeys(((0, 0, 0), second)):
        running = Block(module, block, grid, index, touch, _STEPS)
        starts = {n: running.addresses[n] for n in module.statics if n.startswith(_LIBRARY)}
        tables[:] = [range(at, at + module.statics[name]) for name, at in starts.items()]
        try:
            running.run(kernel, parameters)
        except OutOfSteps:
            continue
    return dict(found)
