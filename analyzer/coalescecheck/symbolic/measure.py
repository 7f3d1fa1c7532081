"""What the hardware model says of many requests at once, request by request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.kernel import Op, Space
from coalescecheck.memory.banks import (
    count_constant_passes,
    count_l1_data_wavefronts,
    count_lanes_per_word,
    count_wavefronts,
)
from coalescecheck.memory.local import interleave
from coalescecheck.memory.sectors import footprint
from coalescecheck.memory.shapes import distinct_shapes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Target:
    """The hardware question: which space, operation and width (bytes per lane) a request has,
    and whether the L1 cache may serve it."""

    space: Space
    op: Op
    width: int
    kind: str = "plain"
    may_hit_l1: bool = False

    @property
    def has_l1(self) -> bool:
        """Whether the stages of an L1 hit are counted."""
        return self.may_hit_l1 and self.space is Space.GLOBAL

    @property
    def modulus(self) -> int:
        """Moving all lanes by this many bytes changes no count: lines, words, local words."""
        return {Space.GLOBAL: 128, Space.SHARED: 4}.get(self.space, 4)

    @property
    def bank_op(self) -> str:
        """The operation as ``memory.banks`` names it."""
        return "ldmatrix" if self.kind == "ldmatrix" else self.op.value


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts per request; ``units`` are sectors (global, local) or wavefronts, ``l1_data`` the
    passes over the banks of L1 (0 where they are not counted), ``together`` the most lanes of a
    shared atomic on one word (0 for anything else).  ``asked`` counts the bytes of every lane,
    ``distinct`` those of several lanes once (0 where no sectors are counted)."""

    units: Ints
    ideal: Ints
    lines: Ints
    degree: Ints
    asked: Ints  # bytes
    l1_data: Ints
    together: Ints
    distinct: Ints

    def parts(self) -> tuple[Ints, ...]:
        """All columns, in the order of the fields."""
        counts = (self.units, self.ideal, self.lines, self.degree)
        return (*counts, self.asked, self.l1_data, self.together, self.distinct)

    def at(self, chosen: NDArray[np.intp] | Bools | slice) -> Measures:
        """The requests chosen by a mask, by numbers or as a slice."""
        return Measures(*(column[chosen] for column in self.parts()))


def nothing() -> Measures:
    """The measures of no request."""
    return Measures(*([np.zeros(0, np.int64)] * 8))


def measure(addresses: Ints, active: Bools, target: Target) -> Measures:
    """Counts for requests ``[n, 32]``, each with at least one active lane."""
    if not len(addresses):
        return nothing()
    shapes = distinct_shapes(addresses, active)
    return _measure(shapes.addresses, shapes.active, target).at(shapes.of)


def _measure(addresses: Ints, active: Bools, target: Target) -> Measures:
    asked = active.sum(axis=1, dtype=np.int64) * target.width
    zeros = np.zeros(len(addresses), np.int64)
    if target.space is Space.SHARED:
        banks = count_wavefronts(addresses, active, target.width, target.bank_op)
        atomic = target.op is Op.ATOMIC
        together = count_lanes_per_word(addresses, active) if atomic else zeros
        counts = (banks.total, banks.ideal, zeros, banks.degree)
        return Measures(*counts, asked, zeros, together, zeros)
    if target.space is Space.CONSTANT:
        passes = count_constant_passes(addresses, active)
        return Measures(passes, np.minimum(passes, 1), zeros, passes, asked, zeros, zeros, zeros)
    width = target.width
    if target.space is Space.LOCAL:
        addresses, active, width = interleave(addresses, active, width)
    touched = footprint(addresses, active, width)
    data = count_l1_data_wavefronts(addresses, active, width) if target.has_l1 else zeros
    counts = (touched.sectors, touched.ideal_sectors, touched.lines, zeros)
    return Measures(*counts, asked, data, zeros, touched.unique_bytes)
