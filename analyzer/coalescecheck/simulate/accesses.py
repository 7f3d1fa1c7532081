"""Loads, stores and atomics of all lanes at once.

In: an access statement, the lanes that run it.  Out: variables and memory changed; every request
recorded, out-of-bounds and misaligned accesses noted, shared accesses handed to the race
detector.  It knows no control flow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.expr import Expr, Var
from coalescecheck.ir.kernel import Access, Atomic, Kernel, Load, Space, Store
from coalescecheck.ir.types import PTR
from coalescecheck.launch import WARP_SIZE
from coalescecheck.simulate import atomics
from coalescecheck.simulate.course import Course
from coalescecheck.simulate.environment import Environment
from coalescecheck.simulate.lanes import Batch, Mask, requests_of
from coalescecheck.simulate.memory_map import AddressSpace, Part
from coalescecheck.simulate.races import RaceDetector, Touch
from coalescecheck.simulate.storage import Copies
from coalescecheck.simulate.trace import Recorder, Request
from coalescecheck.simulate.values import (
    CLEAN,
    MADE_UP,
    UNDEFINED,
    Bools,
    Data,
    Taint,
    Value,
    convert,
    dtype_of,
    is_tainted,
    join,
)

Ints = NDArray[np.int64]


FARTHEST = 1 << 32  # bytes: an unsigned 32-bit index that wrapped lies further away


@dataclass(frozen=True, slots=True)
class Hazard:
    """Lanes of an access that CUDA does not allow: how many, and the first one.

    ``offset`` is in bytes from the start of ``array`` (``""`` when the address belongs to no
    array); ``block`` and ``thread`` are linear.
    """

    access: int
    count: int
    array: str
    offset: int
    block: int
    thread: int


@dataclass(slots=True)
class Hazards:
    """Hazards by access id; ``invalid`` are accesses whose address no program may use, whatever
    the value it came from: misaligned, outside every object, or gigabytes from where it began."""

    out_of_bounds: dict[int, Hazard] = field(default_factory=dict)
    misaligned: dict[int, Hazard] = field(default_factory=dict)
    invalid: set[int] = field(default_factory=set)


class AccessUnit:
    """Executes memory statements over one batch."""

    def __init__(
        self,
        kernel: Kernel,
        space: AddressSpace,
        batch: Batch,
        environment: Environment,
        recorder: Recorder,
        races: RaceDetector | None,
        hazards: Hazards,
        course: Course | None,
    ) -> None:
        self._accesses = kernel.accesses
        self._space = space
        self._batch = batch
        self._environment = environment
        self._recorder = recorder
        self._races = races
        self._hazards = hazards
        self._course = course
        per_block = np.arange(batch.warps_per_block)
        self._warps = (batch.linear_block[:, None] * batch.warps_per_block + per_block).reshape(-1)
        self._every = np.arange(batch.size, dtype=np.int64)

    def load(self, stmt: Load, mask: Mask) -> None:
        """``var = *address`` and the further scalars of the piece."""
        access = self._accesses[stmt.access]
        width = access.pieces[stmt.piece].width
        address = self._environment.evaluate(stmt.address)
        parts = self._touch(access, width, address, mask)
        if self._races is not None:
            for part in parts:
                if part.region.space is Space.SHARED:
                    self._races.read(self._race_touch(access, width, part))
        for delta, var in ((0, stmt.var), *stmt.more):
            if self._course is None or var.name in self._course.variables:
                value = self._read(access, parts, delta, var, address)
                self._environment.assign(var.name, value, mask)

    def store(self, stmt: Store, mask: Mask) -> None:
        """``*address = value`` and the further scalars of the piece."""
        access = self._accesses[stmt.access]
        width = access.pieces[stmt.piece].width
        address = self._environment.evaluate(stmt.address)
        if self._course is not None and id(stmt) not in self._course.stores:
            self._touch(access, width, address, mask)
            return
        scalars = [
            (delta, expr, self._environment.evaluate(expr))
            for delta, expr in ((0, stmt.value), *stmt.more)
        ]
        taint = join(address.taint, mask.taint, *(value.taint for _, _, value in scalars))
        for part in self._touch(access, width, address, mask):
            part.region.add_taint(part.array, _all_bits(taint))
            if self._races is None or part.region.space is not Space.SHARED:
                for delta, expr, value in scalars:
                    self._write(part, delta, self._stored(part, expr, value))
                continue
            changes = np.zeros((2, self._batch.size), dtype=np.bool_)
            for delta, expr, value in scalars:
                changes |= self._write_watched(part, delta, self._stored(part, expr, value))
            self._races.write(self._race_touch(access, width, part), *changes)

    def atomic(self, stmt: Atomic, mask: Mask) -> None:
        """``var = atomic op``; the old value depends on an order the hardware chooses."""
        access = self._accesses[stmt.access]
        address = self._environment.evaluate(stmt.address)
        if self._course is not None and id(stmt) not in self._course.stores:
            self._touch(access, access.pieces[0].width, address, mask)
            return
        operands = [self._environment.evaluate(expr) for expr in stmt.operands]
        kind = stmt.var.type if stmt.var is not None else stmt.operands[0].type
        taint = join(address.taint, mask.taint, *(operand.taint for operand in operands))
        old = np.zeros(self._batch.size, dtype=dtype_of(kind))
        result: Taint = join(taint, MADE_UP)
        for part in self._touch(access, access.pieces[0].width, address, mask):
            part.region.add_taint(part.array, _all_bits(taint))
            if not atomics.is_known(stmt.op):
                part.region.add_taint(part.array, UNDEFINED)
                result = join(result, UNDEFINED)
                continue
            self._apply(stmt, part, operands, old)
            if self._races is not None and part.region.space is Space.SHARED:
                touch = self._race_touch(access, access.pieces[0].width, part, atomic=True)
                self._races.write(touch, part.lanes, np.zeros_like(part.lanes))
        if stmt.var is not None:
            self._environment.assign(stmt.var.name, Value(old, result), mask)

    def _apply(self, stmt: Atomic, part: Part, operands: list[Value], old: Data) -> None:
        lane = part.index
        if not len(lane):
            return
        kind = stmt.var.type if stmt.var is not None else stmt.operands[0].type
        values = [self._environment.full(convert(v.data, kind))[lane] for v in operands]
        each = atomics.operand_count(stmt.op)
        for position in range(0, len(values), each):  # several: one atomic on a vector
            offsets = part.offsets[lane] + position // each * old.dtype.itemsize
            view, cells = part.region.storage.cells(offsets, lane, old.dtype)
            some = values[position : position + each]
            found = atomics.apply(view, cells, stmt.op, some, stmt.var is not None)
            if found is not None and not position:
                old[lane] = found

    def _touch(self, access: Access, width: int, address: Value, mask: Mask) -> list[Part]:
        """Record one execution of a piece; its parts by region."""
        addresses = self._environment.full(address.data)
        if addresses.dtype != np.int64:
            addresses = addresses.astype(np.int64)
        taint = join(address.taint, mask.taint)
        if access.unknown_width:
            taint = join(taint, UNDEFINED)
        if is_tainted(taint) and access.kind != "texture":
            relevant: Taint = taint
            if not isinstance(taint, int) or is_tainted(mask.taint):
                relevant = _among(mask.possible(), taint)
            self._recorder.note_taint(access.id, relevant)
            taint = relevant
        parts = list(self._space.locate(addresses, mask, width))
        if access.kind != "texture":
            self._record(access, width, addresses, taint, parts)
            self._note_hazards(access, width, addresses, taint, parts)
        return parts

    def _note_hazards(
        self, access: Access, width: int, addresses: Ints, taint: Taint, parts: list[Part]
    ) -> None:
        """Only lanes whose address and execution are certain can be said to be wrong."""
        rest = addresses & (width - 1) if width > 1 else np.zeros(1, np.int64)
        misaligned = rest.any()
        for part in parts:
            odd_lanes = misaligned and bool(((rest != 0) & part.lanes).any())
            far = bool((np.abs(part.offsets) > FARTHEST)[part.lanes].any())
            if odd_lanes or far or part.outside is not None:
                self._hazards.invalid.add(access.id)
            if part.outside is not None:
                certain = np.asarray(taint) == 0
                self._note(self._hazards.out_of_bounds, access, part, part.outside & certain)
            if misaligned:
                odd = (rest != 0) & part.lanes & (np.asarray(taint) == 0)
                self._note(self._hazards.misaligned, access, part, odd)

    def _record(
        self, access: Access, width: int, addresses: Ints, taint: Taint, parts: list[Part]
    ) -> None:
        """One request per warp and memory space."""
        if len(parts) == 1 and parts[0].whole is not None and access.kind != "ldmatrix":
            (part,) = parts
            where = part.offsets if part.region.space is Space.LOCAL else addresses
            request = Request(access, width, part.region.space, where, taint, part.array)
            self._recorder.record(request, part.requests, self._warps, self._space.array_bases)
            return
        spaces: dict[Space, list[Part]] = {}
        for part in parts:
            spaces.setdefault(part.region.space, []).append(part)
        for space, members in spaces.items():
            lanes, array = _lanes_and_arrays(members)
            where = addresses
            if space is Space.LOCAL:
                where = members[0].offsets
            elif space is Space.SHARED and access.kind == "ldmatrix":
                lanes = lanes & (self._every % WARP_SIZE < access.lanes_asked)
            request = Request(access, width, space, where, taint, array)
            self._recorder.record(request, requests_of(lanes), self._warps, self._space.array_bases)

    def _read(
        self, access: Access, parts: list[Part], delta: int, var: Var, address: Value
    ) -> Value:
        """The scalar ``delta`` bytes into the piece, for every lane."""
        dtype = dtype_of(var.type)
        one_for_all = np.ndim(address.data) == 0 and len(parts) == 1
        if one_for_all and parts[0].region.space in (Space.GLOBAL, Space.CONSTANT):
            lane = parts[0].index[:1]
            data = self._contents(parts[0], lane, delta, var, dtype)
            result = data[0] if len(lane) else dtype.type(0)
        else:
            result = np.zeros(self._batch.size, dtype=dtype)
            for part in parts:
                lane = part.index
                result[lane] = self._contents(part, lane, delta, var, dtype)
        taint: Taint = join(address.taint, UNDEFINED if access.kind == "texture" else CLEAN)
        for part in parts:
            read = part.region.storage.taint_of(part.offsets + delta, dtype)
            bits = part.region.taint_of(part.array) | read
            if _is_pointer_of_host(part, var):
                bits |= MADE_UP
            if part.outside is not None:
                bits |= UNDEFINED
            taint = join(taint, bits if len(parts) == 1 else _where(part, bits))
        return Value(result, taint)

    def _contents(
        self, part: Part, lane: NDArray[np.intp], delta: int, var: Var, dtype: np.dtype[Any]
    ) -> Data:
        offsets = part.offsets[lane] + delta
        if _is_pointer_of_host(part, var):
            return self._space.pointers_at(part.region, offsets)
        return part.region.storage.read(offsets, lane, dtype)

    def _stored(self, part: Part, expr: Expr, value: Value) -> Data:
        """What every lane of ``part`` stores."""
        data = self._environment.full(convert(value.data, expr.type))[part.index]
        return np.ascontiguousarray(data)

    def _write(self, part: Part, delta: int, data: Data) -> None:
        """Store one scalar."""
        part.region.storage.write(part.offsets[part.index] + delta, part.index, data)

    def _write_watched(self, part: Part, delta: int, data: Data) -> Bools:
        """Store one scalar; the lanes whose value is new, and those whose value got lost."""
        changes = np.zeros((2, self._batch.size), dtype=np.bool_)
        lane = part.index
        offsets = part.offsets[lane] + delta
        storage = part.region.storage
        raw = data.view(np.dtype(f"u{data.dtype.itemsize}"))
        before = storage.read(offsets, lane, raw.dtype)
        storage.write(offsets, lane, data)
        after = storage.read(offsets, lane, raw.dtype)
        changes[0, lane], changes[1, lane] = before != raw, after != raw
        return changes

    def _race_touch(self, access: Access, width: int, part: Part, atomic: bool = False) -> Touch:
        storage = part.region.storage
        if not isinstance(storage, Copies):
            raise TypeError("shared memory has real bytes")
        places = storage.places(part.offsets, self._every)
        return Touch(access.id, width, places, part.lanes, part.array, atomic)

    def _note(self, hazards: dict[int, Hazard], access: Access, part: Part, lanes: Bools) -> None:
        """Count the lanes under the access; the first one ever stays the example."""
        count = int(lanes.sum())
        if not count:
            return
        known = hazards.get(access.id)
        if known is not None:
            hazards[access.id] = Hazard(
                access.id, known.count + count, known.array, known.offset, known.block, known.thread
            )
            return
        lane = int(np.argmax(lanes))
        number = np.asarray(part.array)
        array = int(number[lane] if number.ndim else number)
        start = int(self._space.array_bases[array]) - part.region.base
        hazards[access.id] = Hazard(
            access.id,
            count,
            self._space.names[array],
            int(part.offsets[lane]) - start,
            int(self._batch.linear_block[self._batch.block_of[lane]]),
            lane % self._batch.lanes_per_block,
        )


def _is_pointer_of_host(part: Part, var: Var) -> bool:
    """Whether a pointer is read that somebody put there before the launch."""
    return var.type == PTR and part.region.space in (Space.GLOBAL, Space.CONSTANT)


def _lanes_and_arrays(parts: list[Part]) -> tuple[Bools, int | Ints]:
    """The lanes of all parts, and the array of every lane (0 outside every object)."""
    if len(parts) == 1 and parts[0].outside is None:
        return parts[0].lanes, parts[0].array
    lanes = np.zeros_like(parts[0].lanes)
    arrays = np.zeros(len(lanes), dtype=np.int64)
    for part in parts:
        lanes = lanes | _touched(part)
        arrays = np.where(part.lanes, part.array, arrays)
    return lanes, arrays


def _where(part: Part, bits: int) -> Taint:
    if not bits:
        return CLEAN
    return (_touched(part) * np.uint8(bits)).astype(np.uint8)


def _touched(part: Part) -> Bools:
    return part.lanes if part.outside is None else part.lanes | part.outside


def _among(lanes: Bools, taint: Taint) -> NDArray[np.uint8]:
    return np.where(lanes, np.asarray(taint, dtype=np.uint8), np.uint8(0))


def _all_bits(taint: Taint) -> int:
    return taint if isinstance(taint, int) else int(np.bitwise_or.reduce(taint))
