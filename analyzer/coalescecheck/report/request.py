"""One request of a warp taken apart for pictures: its sectors, and its passes through the banks.

In: the byte offsets of 32 lanes and the width of the access.  Out: what to draw.  The numbers a
report prints never come from here; the pictures illustrate them (tests compare the two).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SECTOR_BYTES = 32
BANKS = 32
WORD_BYTES = 4
WARP_SIZE = 32

Offsets = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Sector:
    """A 32-byte sector: ``number`` is its offset over 32, ``used`` are the bytes asked for and
    ``lanes`` those that ask."""

    number: int
    used: tuple[int, ...]
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Served:
    """What one bank delivers in one wavefront: a word (offset over 4), and to which lanes."""

    word: int
    lanes: tuple[int, ...]

    @property
    def bank(self) -> int:
        return self.word % BANKS


@dataclass(frozen=True, slots=True)
class Phase:
    """Lanes that are served together, and the wavefronts that takes, each as its banks."""

    lanes: tuple[int, ...]
    wavefronts: tuple[tuple[Served, ...], ...]


def sectors_of(offsets: Offsets, width: int) -> tuple[Sector, ...]:
    """The sectors a request touches, in the order of their addresses."""
    used: dict[int, set[int]] = {}
    lanes: dict[int, list[int]] = {}
    for lane, offset in enumerate(offsets):
        if offset is None:
            continue
        for byte in range(offset, offset + width):
            number = byte // SECTOR_BYTES
            used.setdefault(number, set()).add(byte % SECTOR_BYTES)
            if lane not in lanes.setdefault(number, []):
                lanes[number].append(lane)
    return tuple(Sector(n, tuple(sorted(used[n])), tuple(lanes[n])) for n in sorted(used))


def phases_of(offsets: Offsets, width: int, op: str) -> tuple[Phase, ...]:
    """The phases of a shared request that have an active lane.

    Up to 4 bytes all lanes are served together, wider accesses as many lanes as fill the banks
    once; loads merge two such groups where lanes that differ in one of the two lowest bits agree
    (docs/memory_model.md).
    """
    together = WARP_SIZE if width <= WORD_BYTES else max(1, BANKS * WORD_BYTES // width)
    if op == "load" and together < WARP_SIZE and _neighbours_agree(offsets):
        together *= 2
    groups = [range(first, first + together) for first in range(0, WARP_SIZE, together)]
    phases = (_phase(offsets, width, group, atomic=op == "atomic") for group in groups)
    return tuple(phase for phase in phases if phase.lanes)


def _neighbours_agree(offsets: Offsets) -> bool:
    return any(
        all(
            offset is None or offsets[lane ^ bit] in (None, offset)
            for lane, offset in enumerate(offsets)
        )
        for bit in (1, 2)
    )


def _phase(offsets: Offsets, width: int, group: Iterable[int], *, atomic: bool) -> Phase:
    """Every bank serves its words one after the other, in the order the lanes ask for them.

    Lanes of an atomic do not share a word: each waits for the one before it.
    """
    queues: dict[int, dict[tuple[int, int], list[int]]] = {}
    active = []
    for lane in group:
        offset = offsets[lane]
        if offset is None:
            continue
        active.append(lane)
        for word in range(offset // WORD_BYTES, (offset + width - 1) // WORD_BYTES + 1):
            key = (word, lane if atomic else 0)
            queues.setdefault(word % BANKS, {}).setdefault(key, []).append(lane)
    depth = max(map(len, queues.values()), default=0)
    rows: list[list[Served]] = [[] for _ in range(depth)]
    for bank in sorted(queues):
        for row, ((word, _), lanes) in zip(rows, queues[bank].items(), strict=False):
            row.append(Served(word, tuple(lanes)))
    return Phase(tuple(active), tuple(map(tuple, rows)))
