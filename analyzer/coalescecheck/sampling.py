"""Concrete launches that stand for one whose sizes are not all known, or take too long.

In: a kernel, a launch, what is known of the parameters.  Out: ``Sample``s to simulate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coalescecheck.facts import Fact
from coalescecheck.ir.constants import initial_values, scalars_of
from coalescecheck.ir.kernel import Kernel, Param
from coalescecheck.launch import Dim3, Launch

SAMPLE_BLOCK = Dim3(64)
SAMPLE_GRID = Dim3(3, 2, 2)
SAMPLE_VALUES = (40, 37)  # sizes that are and are not multiples of 8; both beyond a warp
UNKNOWN_SIZE = 8  # bytes of a type that is not known: a multiple of any scalar's alignment
MAX_BLOCKS = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """One concrete launch to simulate; ``reduced`` when sizes were made smaller than they are."""

    launch: Launch
    params: dict[str, int]
    blocks: tuple[tuple[int, int, int], ...]
    reduced: bool = False


def samples(
    kernel: Kernel,
    launch: Launch,
    params: Mapping[str, int],
    facts: Mapping[str, Fact],
    most: int | None,
    values: tuple[int, ...] = SAMPLE_VALUES,
) -> list[Sample]:
    """Concrete launches: two when sizes are free, so that both sides of an alignment are seen.

    ``most``: known sizes beyond it would take too long and are replaced by it.
    """
    block = launch.block or SAMPLE_BLOCK
    grid = launch.grid or SAMPLE_GRID
    concrete = replace(launch, block=block, grid=grid, shared_bytes=launch.shared_bytes or 16384)
    scalars = scalars_of(kernel).values()
    free = [p for p in scalars if p.name not in params and p.type.is_integer]
    blocks = _blocks(grid)
    choices = values if free else (0,)
    known = _cut(params, most)
    first = _cut(initial_values(kernel), most)
    return [
        Sample(
            concrete,
            known | {p.name: _value(p, first.get(p.name, value), facts) for p in free},
            blocks,
            reduced=known != dict(params),
        )
        for value in choices
    ]


def _cut(values: Mapping[str, int], most: int | None) -> dict[str, int]:
    return {name: v if most is None else min(v, most) for name, v in values.items()}


def _value(param: Param, value: int, facts: Mapping[str, Fact]) -> int:
    if param.name.startswith("sizeof("):
        return UNKNOWN_SIZE
    value = facts.get(param.name, Fact()).near(value)
    return 1 if param.type.name == "bool" else value


def _blocks(grid: Dim3) -> tuple[tuple[int, int, int], ...]:
    """The first, the last and a middle block."""
    last = (grid.x - 1, grid.y - 1, grid.z - 1)
    middle = (grid.x // 2, grid.y // 2, grid.z // 2)
    return tuple(dict.fromkeys(((0, 0, 0), middle, last)))[:MAX_BLOCKS]
