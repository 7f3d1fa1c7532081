"""What the hardware model says of many requests at once, request by request."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.kernel import Op, Space
from coalescecheck.launch import WARP_SIZE
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
    whether the L1 cache may serve it, and how many lanes' addresses count."""

    space: Space
    op: Op
    width: int
    kind: str = "plain"
    may_hit_l1: bool = False
    lanes: int = WARP_SIZE

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


LANES_AT_ONCE = 1 << 16  # what fits into a processor's cache
FEW = 16  # requests whose counts are kept: 4 KiB of addresses
COLUMNS = (
    "units",
    "ideal",
    "lines",
    "degree",
    "asked",
    "l1_data",
    "l1_tag",
    "together",
    "distinct",
)


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts per request, ``table[column, request]``, with a row for each name of ``COLUMNS``.

    ``units`` are sectors (global, local) or wavefronts, ``l1_data`` and ``l1_tag`` cycles of L1's
    stages (0 where they are not counted), ``together`` the most lanes of a shared atomic on one
    word (0 for anything else).  ``asked`` counts the bytes of every lane, ``distinct`` those of
    several lanes once (0 where no sectors are counted).
    """

    table: Ints

    @property
    def units(self) -> Ints:
        """Sectors or wavefronts."""
        column: Ints = self.table[COLUMNS.index("units")]
        return column

    @property
    def ideal(self) -> Ints:
        """The fewest units that the request could take."""
        column: Ints = self.table[COLUMNS.index("ideal")]
        return column

    @property
    def asked(self) -> Ints:
        """Bytes, those of several lanes as often as they are asked for."""
        column: Ints = self.table[COLUMNS.index("asked")]
        return column

    def at(self, chosen: NDArray[np.intp] | slice) -> Measures:
        """The requests chosen by numbers or as a slice."""
        return Measures(self.table[:, chosen])


def nothing() -> Measures:
    """The measures of no request."""
    return Measures(np.zeros((len(COLUMNS), 0), np.int64))


def measure(
    addresses: Ints, active: Bools, target: Target, shifts: tuple[int, ...] = (0,)
) -> Measures:
    """Counts for requests ``[n, 32]``, each with at least one active lane: all of them moved by
    the first of ``shifts`` (bytes), then all moved by the next.

    A request is a shape that is moved by a multiple of what divides all shifts, of which only the
    residue matters: each shape is counted once at each residue that occurs.
    """
    if not len(addresses):
        return nothing()
    step = gcd(target.modulus, *shifts)
    shapes = distinct_shapes(addresses, active, step)
    residues = target.modulus // step
    moved = np.asarray(shifts, np.int64)[:, None] + shapes.start
    wanted = (shapes.of * residues + moved // step % residues).reshape(-1)
    used = np.zeros(len(shapes.addresses) * residues, np.bool_)
    used[wanted] = True
    number = np.cumsum(used) - 1
    shape, residue = np.divmod(np.flatnonzero(used), residues)
    together = LANES_AT_ONCE // WARP_SIZE
    tables = []
    for start in range(0, len(shape), together):
        some = slice(start, start + together)
        places = shapes.addresses[shape[some]] + step * residue[some, None]
        tables.append(_measured_once(places, shapes.active[shape[some]], target))
    return Measures(np.concatenate(tables, axis=1)[:, number[wanted]])


def _measured_once(addresses: Ints, active: Bools, target: Target) -> Ints:
    """A few requests are often those of another access."""
    if len(addresses) > FEW:
        return _measured(addresses, active, target)
    return _known(addresses.tobytes(), active.tobytes(), target)


@lru_cache(maxsize=4096)
def _known(addresses: bytes, active: bytes, target: Target) -> Ints:
    lanes = np.frombuffer(addresses, np.int64).reshape(-1, WARP_SIZE)
    return _measured(lanes, np.frombuffer(active, np.bool_).reshape(-1, WARP_SIZE), target)


def _measured(addresses: Ints, active: Bools, target: Target) -> Ints:
    table = np.zeros((len(COLUMNS), len(addresses)), np.int64)
    active = active & (np.arange(WARP_SIZE) < target.lanes)
    units, ideal, lines, degree, asked, l1_data, l1_tag, together, distinct = table
    asked[:] = active.sum(axis=1, dtype=np.int64) * target.width
    if target.space is Space.SHARED:
        banks = count_wavefronts(addresses, active, target.width, target.bank_op)
        units[:], ideal[:], degree[:] = banks.total, banks.ideal, banks.degree
        if target.op is Op.ATOMIC:
            together[:] = count_lanes_per_word(addresses, active)
        return table
    if target.space is Space.CONSTANT:
        units[:] = degree[:] = count_constant_passes(addresses, active)
        ideal[:] = np.minimum(units, 1)
        return table
    width = target.width
    if target.space is Space.LOCAL:
        addresses, active, width = interleave(addresses, active, width)
    touched = footprint(addresses, active, width)
    units[:], ideal[:], lines[:] = touched.sectors, touched.ideal_sectors, touched.lines
    l1_tag[:], distinct[:] = touched.tag_wavefronts, touched.unique_bytes
    if target.has_l1:
        l1_data[:] = count_l1_data_wavefronts(addresses, active, width)
    return table
