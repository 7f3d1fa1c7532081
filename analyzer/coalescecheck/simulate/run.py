"""The simulation of one launch, batch by batch.

In: a kernel, a launch with known block and grid, parameters and buffers.  Out: a
:class:`Simulation`.  Blocks run in launch order; the blocks of a batch run together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalescecheck.errors import UsageError
from coalescecheck.ir.constants import constants_of
from coalescecheck.ir.kernel import Kernel, Op
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.simulate.accesses import AccessUnit, Hazard, Hazards
from coalescecheck.simulate.compiled import Compiler
from coalescecheck.simulate.course import Course
from coalescecheck.simulate.environment import Environment
from coalescecheck.simulate.execute import Budget, Machine, StepLimitError
from coalescecheck.simulate.lanes import Batch, Mask
from coalescecheck.simulate.memory_map import AddressSpace
from coalescecheck.simulate.races import BYTES_PER_PLACE, Race, RaceDetector
from coalescecheck.simulate.trace import AccessTrace, Recorder
from coalescecheck.simulate.values import MADE_UP, UNDEFINED, Value, scalar

MAX_STEPS = 100_000
_BATCH_LANES = 1 << 16  # vectors of 256 KiB: large enough for NumPy, small enough for the cache
_BATCH_BYTES = 1 << 28
_BLOCK_BYTES = 1 << 30  # of one block, which is simulated as a whole


@dataclass(frozen=True, slots=True)
class Simulation:
    """What one launch did.

    ``buffers`` are the caller's arrays after the launch, ``traces`` one record per access id.
    ``complete`` is False where the run stopped early or something unknown decided its course;
    ``reason`` then says what.  ``blocks`` counts the blocks that ran to their end.
    ``out_of_bounds`` and ``misaligned`` hold only what is certain: made-up or unknown values
    have no part in it.
    """

    buffers: dict[str, NDArray[Any]]
    traces: tuple[AccessTrace, ...]
    races: tuple[Race, ...]
    out_of_bounds: tuple[Hazard, ...]
    misaligned: tuple[Hazard, ...]
    blocks: int
    complete: bool
    reason: str = ""
    steps: int = 0
    invalid: frozenset[int] = frozenset()


def simulate(
    kernel: Kernel,
    launch: Launch,
    *,
    params: Mapping[str, int | float] | None = None,
    buffers: Mapping[str, NDArray[Any]] | None = None,
    blocks: Sequence[tuple[int, int, int]] | None = None,
    max_steps: int = MAX_STEPS,
    patience: int = MAX_STEPS,
    keep_addresses: bool = False,
    detect_races: bool = True,
    course: Course | None = None,
) -> Simulation:
    """Run ``kernel`` under ``launch``: all blocks, or the ``blocks`` given as (x, y, z).

    ``params`` are scalar parameters by name (the launch's arguments are the default),
    ``buffers`` the contents of arrays by name; arrays without contents read as small made-up
    numbers.  ``max_steps`` bounds the statements executed, each for a whole batch of blocks, and
    ``patience`` those that reach no access for the first time.
    With a ``course`` only the traces and races are right, not the buffers.
    """
    return _Run(
        kernel,
        launch,
        params or {},
        buffers or {},
        Budget(max_steps, patience),
        keep_addresses,
        detect_races,
        course,
    ).all_of(blocks)


class _Run:
    """One call of :func:`simulate`."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        params: Mapping[str, int | float],
        buffers: Mapping[str, NDArray[Any]],
        budget: Budget,
        keep_addresses: bool,
        detect_races: bool,
        course: Course | None,
    ) -> None:
        if launch.block is None or launch.grid is None:
            raise UsageError("a simulation needs the block and the grid")
        self._kernel = kernel
        self._block, self._grid = launch.block, launch.grid
        self._buffers = buffers
        self._course = course
        readable = None if course is None else course.read
        numbers = _constants(kernel, dict(launch.args) | dict(params))
        self._space = AddressSpace(kernel, launch, buffers, numbers, readable)
        self._budget = budget
        self._recorder = Recorder(len(kernel.accesses), keep_addresses, budget.progress)
        self._hazards = Hazards()
        self._compiler = Compiler() if course is None else course.compiler
        self._given = self._parameters(dict(launch.args) | dict(params))
        self._races: set[tuple[int, int, int, str, bool]] | None = set() if detect_races else None
        widths = [piece.width for access in kernel.accesses for piece in access.pieces]
        self._granule = min([4, *widths])
        # of shared memory in one block, where races are looked for
        self._places = -(-self._space.shared_bytes // self._granule) if detect_races else 0

    def all_of(self, blocks: Sequence[tuple[int, int, int]] | None) -> Simulation:
        """Run these blocks, or all."""
        done = 0
        with np.errstate(all="ignore"):
            try:
                for some in self._batches(blocks):
                    self._run(Batch(self._block, self._grid, some))
                    done += len(some)
            except StepLimitError as limit:
                self._budget.note(str(limit) or "the limit of simulated steps was reached")
        traces = self._recorder.finish(tuple(self._space.names))
        unknown = sum(trace.any_taint & UNDEFINED for trace in traces)
        if unknown:
            self._budget.note(f"unknown values decide the addresses or lanes of {unknown} accesses")
        reasons = self._budget.reasons
        return Simulation(
            {name: self._space.contents(name, like) for name, like in self._buffers.items()},
            traces,
            self._race_records(),
            tuple(self._hazards.out_of_bounds.values()),
            tuple(self._hazards.misaligned.values()),
            done,
            not reasons,
            "; ".join(reasons),
            self._budget.spent,
            frozenset(self._hazards.invalid),
        )

    def _batches(
        self, blocks: Sequence[tuple[int, int, int]] | None
    ) -> list[list[tuple[int, int, int]]]:
        chosen = list(blocks) if blocks is not None else _all_blocks(self._grid)
        lanes = -(-self._block.size // WARP_SIZE) * WARP_SIZE
        size = max(1, _BATCH_LANES // lanes)
        need = max(1, self._space.bytes_per_block(lanes) + self._places * BYTES_PER_PLACE)
        if need > _BLOCK_BYTES:
            raise StepLimitError("a block needs too much memory")
        size = max(1, min(size, _BATCH_BYTES // need))
        return [chosen[i : i + size] for i in range(0, len(chosen), size)]

    def _run(self, batch: Batch) -> None:
        self._space.start(batch)
        everyone = Mask(batch.exists)
        environment = Environment(
            batch,
            everyone,
            self._given,
            self._space.bases,
            self._space.dynamic_bytes,
            self._compiler,
        )
        detector = self._detector(batch)
        unit = AccessUnit(
            self._kernel,
            self._space,
            batch,
            environment,
            self._recorder,
            detector,
            self._hazards,
            self._course,
        )
        machine = Machine(
            batch,
            environment,
            unit,
            detector,
            self._space,
            self._recorder,
            self._budget,
            self._course,
        )
        try:
            machine.run(self._kernel.body, everyone)
        finally:
            if detector is not None and self._races is not None:
                self._races |= detector.found

    def _detector(self, batch: Batch) -> RaceDetector | None:
        size = len(self._space.shared_storage().data)
        if self._races is None or not self._space.shared_bytes:
            return None
        atomic = np.array([a.op is Op.ATOMIC for a in self._kernel.accesses] or [False])
        return RaceDetector(batch, size, self._granule, atomic)

    def _parameters(self, given: Mapping[str, int | float]) -> dict[str, Value]:
        """Every scalar parameter.  Without a value, a float is 1 and counts as made-up data
        (addresses rarely hang on it), an integer is 0 and unknown."""
        values = {}
        for param in self._kernel.params:
            if param.name in given:
                values[param.name] = Value(scalar(given[param.name], param.type))
            elif param.type.kind == "float":
                values[param.name] = Value(scalar(1, param.type), MADE_UP)
            else:
                values[param.name] = Value(scalar(0, param.type), UNDEFINED)
        return values

    def _race_records(self) -> tuple[Race, ...]:
        tainted = self._recorder.is_tainted
        return tuple(
            sorted(
                Race(
                    self._space.names[array],
                    first,
                    second,
                    kind,
                    same_warp,
                    not (tainted(first) or tainted(second)),
                )
                for array, first, second, kind, same_warp in self._races or ()
            )
        )


def _constants(
    kernel: Kernel, given: Mapping[str, int | float]
) -> dict[str, dict[int, NDArray[Any]]]:
    """The integers of constant memory by array and offset, where all of an array are given."""
    return {
        name: {at: scalar(given[number.name], number.type) for at, number in numbers.items()}
        for name, numbers in constants_of(kernel).items()
        if all(number.name in given for number in numbers.values())
    }


def _all_blocks(grid: Dim3) -> list[tuple[int, int, int]]:
    return [(x, y, z) for z in range(grid.z) for y in range(grid.y) for x in range(grid.x)]
