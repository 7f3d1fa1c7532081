"""What the hardware model says of many requests at once, request by request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.kernel import Op, Space
from coalescecheck.memory.banks import count_constant_passes, count_wavefronts
from coalescecheck.memory.local import interleave
from coalescecheck.memory.sectors import footprint
from coalescecheck.memory.shapes import distinct_shapes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Target:
    """The hardware question: which space, operation and width (bytes per lane) a request has."""

    space: Space
    op: Op
    width: int
    kind: str = "plain"

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
    """Counts per request; ``units`` are sectors (global, local) or wavefronts."""

    units: Ints
    ideal: Ints
    lines: Ints
    degree: Ints
    asked: Ints  # bytes


def measure(addresses: Ints, active: Bools, target: Target) -> Measures:
    """Counts for requests ``[n, 32]``, each with at least one active lane."""
    if not len(addresses):
        empty = np.zeros(0, np.int64)
        return Measures(empty, empty, empty, empty, empty)
    shapes = distinct_shapes(addresses, active)
    one = _measure(shapes.addresses, shapes.active, target)
    of = shapes.of
    return Measures(one.units[of], one.ideal[of], one.lines[of], one.degree[of], one.asked[of])


def _measure(addresses: Ints, active: Bools, target: Target) -> Measures:
    asked = active.sum(axis=1, dtype=np.int64) * target.width
    zeros = np.zeros(len(addresses), np.int64)
    if target.space is Space.SHARED:
        banks = count_wavefronts(addresses, active, target.width, target.bank_op)
        return Measures(banks.total, banks.ideal, zeros, banks.degree, asked)
    if target.space is Space.CONSTANT:
        passes = count_constant_passes(addresses, active)
        return Measures(passes, np.minimum(passes, 1), zeros, passes, asked)
    width = target.width
    if target.space is Space.LOCAL:
        addresses, active, width = interleave(addresses, active, width)
    touched = footprint(addresses, active, width)
    return Measures(touched.sectors, touched.ideal_sectors, touched.lines, zeros, asked)
