"""What a simulation tells: per access, what every warp-level request cost.

In: the addresses and masks of executed accesses, lane by lane.  Out: :class:`AccessTrace`
records.  Counting is left to ``memory``; this module knows no statement and no expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coalescecheck import memory
from coalescecheck.ir.kernel import Access, Op, Space
from coalescecheck.launch import WARP_SIZE
from coalescecheck.simulate.lanes import Requests
from coalescecheck.simulate.values import Bools, Taint, is_tainted

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

_NO_COUNTS = np.zeros((0, 8), np.int32)
_PENDING_LIMIT = 1 << 16  # requests: 16 MiB of addresses
_COLUMNS = (
    "sectors",
    "lines",
    "ideal_sectors",
    "wavefronts",
    "ideal_wavefronts",
    "degree",
    "active",
    "l1_data",
)


@dataclass(frozen=True, slots=True)
class AccessTrace:
    """All requests of one access: warp-level executions of one piece with an active lane.

    The arrays have one entry per request.  ``sectors``, ``lines`` and ``ideal_sectors`` are set
    for global and local memory, ``wavefronts``, ``ideal_wavefronts`` and ``degree`` for shared
    and constant memory; the others are 0.  ``l1_data`` counts passes over the banks of L1 for
    global loads it may serve.  ``active`` counts lanes; ``array`` indexes
    ``names`` (``""`` when the address lies in no object) and is the first active lane's.
    ``taint`` says on what address or mask depend: 0, or ``UNDEFINED`` and ``MADE_UP`` bits; such
    requests say nothing about real runs.  ``any_taint`` covers requests that might have been
    made as well.  ``warp`` numbers the warp in the launch.  ``addresses`` (bytes from the
    array's start) and ``masks`` are kept on demand, 32 per request.
    """

    names: tuple[str, ...]
    sectors: Counts
    lines: Counts
    ideal_sectors: Counts
    wavefronts: Counts
    ideal_wavefronts: Counts
    degree: Counts
    active: Counts
    l1_data: Counts
    array: Counts
    taint: NDArray[np.uint8]
    warp: Ints
    any_taint: int = 0
    addresses: Ints | None = None
    masks: Bools | None = None

    @property
    def requests(self) -> int:
        """The number of requests."""
        return len(self.active)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays that the access touched, in no special order."""
        return tuple(self.names[i] for i in np.unique(self.array))


@dataclass(slots=True)
class _Chunk:
    """The requests of one execution; ``waiting`` ones are counted later, many at once."""

    counts: NDArray[np.int32]
    array: Counts
    taint: NDArray[np.uint8]
    warp: Ints
    addresses: Ints | None
    masks: Bools | None
    waiting: _Waiting | None


@dataclass(slots=True)
class _Waiting:
    request: Request
    addresses: Ints
    masks: Bools


@dataclass(slots=True)
class _Log:
    chunks: list[_Chunk] = field(default_factory=list)
    any_taint: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One execution of a piece in one memory space: an address per lane."""

    access: Access
    width: int
    space: Space
    addresses: Ints
    taint: Taint
    array: int | Ints

    @property
    def kind(self) -> object:
        """All that its counts depend on but addresses and lanes."""
        access = self.access
        if self.space is Space.SHARED:
            return self.width, self.space, _bank_operation(access)
        return self.width, self.space, access.may_hit_l1


class Recorder:
    """Collects the requests of every access; ``reached`` is told of the first one of each."""

    def __init__(self, accesses: int, keep_addresses: bool, reached: Callable[[], None]) -> None:
        self._reached = reached
        self._logs = [_Log() for _ in range(accesses)]
        self._keep = keep_addresses
        self._pending = 0

    def is_tainted(self, access: int) -> bool:
        """Whether any request of the access depended on something unknown so far."""
        return self._logs[access].any_taint != 0

    def note_taint(self, access: int, taint: Taint) -> None:
        """Lanes might have executed the access, or executed it with an unknown address."""
        if is_tainted(taint):
            bits = np.bitwise_or.reduce(np.atleast_1d(np.asarray(taint)))
            self._logs[access].any_taint |= int(bits)

    def record(self, request: Request, warps: Requests, numbers: Ints, base_of: Ints) -> None:
        """``warps`` make the request, ``numbers`` are those of the batch's warps in the launch,
        ``base_of`` maps array numbers to addresses."""
        rows, masks = warps.rows, warps.masks
        addresses = request.addresses.reshape(-1, WARP_SIZE)[rows]
        array = _per_row(request.array, rows, warps.first)
        self._pending += len(rows)
        log = self._logs[request.access.id]
        if not log.chunks:
            self._reached()
        log.chunks.append(
            _Chunk(
                counts=_NO_COUNTS,
                array=array,
                taint=_taint_per_row(request.taint, rows),
                warp=numbers[rows],
                addresses=addresses - base_of[array][:, None] if self._keep else None,
                masks=masks if self._keep else None,
                waiting=_Waiting(request, addresses, masks),
            )
        )
        if self._pending > _PENDING_LIMIT:
            self._settle()

    def _settle(self) -> None:
        """Count what waits, requests of one kind at once: NumPy costs per call."""
        kinds: dict[object, list[_Chunk]] = {}
        for log in self._logs:
            for chunk in log.chunks:
                if chunk.waiting is not None:
                    kinds.setdefault(chunk.waiting.request.kind, []).append(chunk)
        for chunks in kinds.values():
            waiting = [chunk.waiting for chunk in chunks if chunk.waiting is not None]
            addresses = np.concatenate([w.addresses for w in waiting])
            masks = np.concatenate([w.masks for w in waiting])
            counts = _count(waiting[0].request, addresses, masks)
            start = 0
            for chunk, own in zip(chunks, waiting, strict=True):
                end = start + len(own.addresses)
                chunk.counts, chunk.waiting, start = counts[start:end], None, end
        self._pending = 0

    def finish(self, names: tuple[str, ...]) -> tuple[AccessTrace, ...]:
        """One trace per access, in the order of the kernel's accesses."""
        self._settle()
        return tuple(self._trace(log, names) for log in self._logs)

    def _trace(self, log: _Log, names: tuple[str, ...]) -> AccessTrace:
        chunks = log.chunks
        counts = np.concatenate([_NO_COUNTS, *(c.counts for c in chunks)])
        addresses = masks = None
        if self._keep:
            none = np.zeros((0, WARP_SIZE), np.int64)
            addresses = np.concatenate([none, *(_kept(c.addresses) for c in chunks)])
            masks = np.concatenate([none > 0, *(_kept(c.masks) for c in chunks)])
        return AccessTrace(
            names,
            **{name: counts[:, i] for i, name in enumerate(_COLUMNS)},
            array=np.concatenate([np.zeros(0, np.int32), *(c.array for c in chunks)]),
            taint=np.concatenate([np.zeros(0, np.uint8), *(c.taint for c in chunks)]),
            warp=np.concatenate([np.zeros(0, np.int64), *(c.warp for c in chunks)]),
            any_taint=log.any_taint,
            addresses=addresses,
            masks=masks,
        )


def _kept(array: NDArray[np.int64] | Bools | None) -> NDArray[np.int64] | Bools:
    return np.zeros((0, WARP_SIZE), np.int64) if array is None else array


def _per_row(array: int | Ints, rows: NDArray[np.intp], first: NDArray[np.intp]) -> Counts:
    if isinstance(array, int):
        return np.full(len(rows), array, dtype=np.int32)
    return array.reshape(-1, WARP_SIZE)[rows, first].astype(np.int32)


def _taint_per_row(taint: Taint, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    if isinstance(taint, int):
        return np.full(len(rows), taint, dtype=np.uint8)
    joined: NDArray[np.uint8] = np.bitwise_or.reduce(taint.reshape(-1, WARP_SIZE)[rows], axis=1)
    return joined


def _count(request: Request, addresses: Ints, masks: Bools) -> NDArray[np.int32]:
    """The counts of every request, one column for each name of ``_COLUMNS``."""
    width = request.width
    lanes = masks
    if request.space is Space.LOCAL:
        addresses, lanes, width = memory.interleave(addresses, masks, width)
    shapes = memory.distinct_shapes(addresses, lanes)
    counts = np.zeros((len(shapes.addresses), len(_COLUMNS)), dtype=np.int32)
    if request.space in (Space.GLOBAL, Space.LOCAL):
        touched = memory.footprint(shapes.addresses, shapes.active, width)
        counts[:, 0], counts[:, 1] = touched.sectors, touched.lines
        counts[:, 2] = touched.ideal_sectors
        if request.space is Space.GLOBAL and request.access.may_hit_l1:
            counts[:, 7] = memory.count_l1_data_wavefronts(shapes.addresses, shapes.active, width)
    elif request.space is Space.SHARED:
        op = _bank_operation(request.access)
        found = memory.count_wavefronts(shapes.addresses, shapes.active, width, op)
        counts[:, 3], counts[:, 4], counts[:, 5] = found.total, found.ideal, found.degree
    else:
        passes = memory.count_constant_passes(shapes.addresses, shapes.active)
        counts[:, 3], counts[:, 4], counts[:, 5] = passes, 1, passes
    spread = counts[shapes.of]
    spread[:, 6] = masks.sum(axis=1)
    return spread


def _bank_operation(access: Access) -> str:
    if access.kind == "ldmatrix":
        return "ldmatrix"
    return {Op.LOAD: "load", Op.STORE: "store", Op.ATOMIC: "atomic"}[access.op]
