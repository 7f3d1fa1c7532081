"""The address space: where every array of a kernel lies, and which array an address belongs to.

In: the kernel's arrays, the launch and the caller's buffers.  Out: base addresses for the
environment and, for the addresses of an access, the regions they fall into.  Every global array
has a region of its own, far from the others; shared arrays are packed into one window that each
block sees its own copy of, local arrays into one window per thread.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalescecheck.arch import STATIC_SHARED_BYTES
from coalescecheck.ir.kernel import Array, Kernel, Space
from coalescecheck.launch import Launch
from coalescecheck.simulate.lanes import Batch, Mask, Requests, requests_of
from coalescecheck.simulate.storage import Copies, MadeUp, Numbered, Storage
from coalescecheck.simulate.values import UNDEFINED, Bools, Data, Value

Ints = NDArray[np.int64]

_REGION_BITS = 40  # a terabyte of addresses each, so that wild indices stay in their region
_MIDDLE = 1 << (_REGION_BITS - 1)  # bases lie here: negative indices too
_SHARED_WINDOW = 1 << 30  # PTX keeps shared addresses in 32 bits, so they must fit
_SLOT_BITS = 28  # made-up pointers point this far apart
_SLOTS = 1 << (_REGION_BITS - 2 - _SLOT_BITS)
_WIDE_ALIGN = 16  # the compiler declares extern __shared__ so; local arrays start whole words
_UNKNOWN_DYNAMIC_BYTES = 227 * 1024  # the most any architecture has
# of an array whose size is not known, so that it does not reach into the next: the most that can be
# declared, and what a thread may well have
_UNKNOWN_BYTES = {Space.SHARED: STATIC_SHARED_BYTES, Space.LOCAL: 1024}


@dataclass(slots=True)
class Region:
    """A range of addresses that holds one array, or the packed arrays of a window.

    ``starts`` are the arrays' offsets in ascending order, ``ids`` their numbers in
    ``AddressSpace.names``.  ``size`` is None where any offset is allowed.  ``taints`` collects
    what was stored in each array.
    """

    space: Space
    base: int
    starts: Ints
    ids: Ints
    size: int | None
    storage: Storage
    taints: dict[int, int] = field(default_factory=dict)

    def taint_of(self, array: int | Ints) -> int:
        """What the contents of an array (of any array, if several are meant) depend on."""
        if isinstance(array, int):
            return self.taints.get(array, 0)
        return functools.reduce(operator.or_, self.taints.values(), 0)

    def add_taint(self, array: int | Ints, taint: int) -> None:
        """Something that depends on ``taint`` was stored."""
        if taint:
            for number in [array] if isinstance(array, int) else np.unique(array).tolist():
                self.taints[number] = self.taints.get(number, 0) | taint

    def array_between(self, offsets: Ints, least: int, most: int) -> int | Ints:
        """The number of the array that every offset, from ``least`` to ``most``, lies in."""
        if len(self.ids) == 1:
            return int(self.ids[0])
        low, high = np.searchsorted(self.starts, (least, most), side="right")
        if low == high:
            return int(self.ids[max(low - 1, 0)])
        found = np.searchsorted(self.starts, offsets, side="right") - 1
        numbers: Ints = self.ids[np.maximum(found, 0)]
        return numbers


@dataclass(slots=True)
class Part:
    """The lanes of an access that fall into one region.

    ``lanes`` are those of them inside the object, ``outside`` those beyond its bounds (None:
    nobody); ``offsets`` are bytes from the region's base, for all other lanes those of one of
    mine.  ``array`` is the number of the array that holds them.  ``whole`` is the mask of the
    access if all of its lanes are here.
    """

    region: Region
    lanes: Bools
    outside: Bools | None
    offsets: Ints
    array: int | Ints
    whole: Mask | None = None

    @property
    def index(self) -> NDArray[np.intp]:
        """The numbers of the lanes inside."""
        return self.lanes.nonzero()[0] if self.whole is None else self.whole.index

    @property
    def requests(self) -> Requests:
        """The warps with a lane inside."""
        return requests_of(self.lanes) if self.whole is None else self.whole.requests


class AddressSpace:
    """All regions of one kernel under one launch."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        buffers: Mapping[str, NDArray[Any]],
        numbers: Mapping[str, Mapping[int, Data]],
        readable: frozenset[str] | None,
    ) -> None:
        """``numbers`` are the integers of constant memory by array and offset.  Stores to arrays
        that are not ``readable`` (None: all are) need not be remembered."""
        self.names: list[str] = [""]
        self.bases: dict[str, Value] = {}
        self._launch = launch
        self._regions: dict[int, Region] = {}
        self._pointees: dict[int, Region] = {}
        self._array_bases: list[int] = [0]  # like names
        self._bases = np.zeros(0, dtype=np.int64)  # the same as an array
        self._frames: dict[Space, list[Array]] = {Space.SHARED: [], Space.LOCAL: []}
        self._given = {name: _bytes_of(buffer) for name, buffer in buffers.items()}
        self._numbers = numbers
        self._global_regions: dict[str, Region] = {}
        for array in kernel.arrays.values():
            if array.space in self._frames:
                self._frames[array.space].append(array)
            else:
                self._add_global(array, readable)
        self.dynamic_bytes = launch.shared_bytes or 0
        self._shared = self._add_frame(Space.SHARED)
        self._local = self._add_frame(Space.LOCAL)
        self._local_contents = [
            (int(self.bases[array.name].data) - self._local.base, _initial(array))
            for array in self._frames[Space.LOCAL]
            if array.values is not None
        ]

    def start(self, batch: Batch) -> None:
        """Fresh shared memory for the batch's blocks, fresh local memory for its threads."""
        self._shared.storage = Copies(self.shared_bytes, batch.blocks, batch.block_of)
        own = np.arange(batch.size, dtype=np.int64)
        local = Copies(self._local.size or 0, batch.size, own)
        for start, contents in self._local_contents:
            local.fill_each(start, contents)
        self._local.storage = local

    def bytes_per_block(self, threads: int) -> int:
        """Real memory that one block of so many threads needs."""
        return self.shared_bytes + threads * (self._local.size or 0)

    def shared_storage(self) -> Copies:
        """This batch's shared memory."""
        storage = self._shared.storage
        if not isinstance(storage, Copies):
            raise TypeError("shared memory has real bytes")
        return storage

    def locate(self, addresses: Ints, mask: Mask, width: int) -> Iterator[Part]:
        """The regions that an access of ``width`` bytes per lane touches."""
        part = self._all_inside(addresses, mask, width)
        return self._by_region(addresses, mask.lanes, width) if part is None else iter((part,))

    def _all_inside(self, addresses: Ints, mask: Mask, width: int) -> Part | None:
        """The usual case: all lanes inside one region; None otherwise."""
        index = mask.index
        if not len(index):
            return None
        first = int(addresses[index[0]])
        region = self._regions.get(first >> _REGION_BITS)
        if region is None:
            return None
        if len(index) < len(addresses):
            addresses = np.where(mask.lanes, addresses, first)
        offsets = addresses - region.base
        low, high = int(offsets.min()), int(offsets.max())
        if (low + region.base) >> _REGION_BITS != (high + region.base) >> _REGION_BITS:
            return None
        if region.size is not None and (low < 0 or high > region.size - width):
            return None
        array = region.array_between(offsets, low, high)
        return Part(region, mask.lanes, None, offsets, array, mask)

    def _by_region(self, addresses: Ints, lanes: Bools, width: int) -> Iterator[Part]:
        ids = addresses >> _REGION_BITS
        rest = lanes
        while rest.any():
            first = int(np.argmax(rest))
            number = int(ids[first])
            mine = rest & (ids == number)
            region = self._regions.get(number) or self._nowhere()
            offsets = np.where(mine, addresses, addresses[first]) - region.base
            if region.size is None:
                outside = np.zeros_like(mine)
            else:
                outside = mine & ((offsets < 0) | (offsets > region.size - width))
            inside = mine & ~outside if outside.any() else mine
            array = region.array_between(offsets, int(offsets.min()), int(offsets.max()))
            yield Part(region, inside, outside if outside.any() else None, offsets, array)
            rest = rest & ~mine

    def pointers_at(self, region: Region, offsets: Ints) -> Ints:
        """Made-up pointers: the address that the pointer stored at each offset holds."""
        target = self._pointees.get(region.base)
        if target is None:
            name = "*" + self.names[int(region.ids[0])]
            target = self._new_region(name, Space.GLOBAL, None, keeps=True)
            self._pointees[region.base] = target
        slot = offsets // 8 % _SLOTS
        pointers: Ints = target.base + (slot << _SLOT_BITS)
        return pointers

    @property
    def array_bases(self) -> Ints:
        """The address of every array's first byte, by its number."""
        if len(self._bases) < len(self._array_bases):  # made-up pointers add arrays on the way
            self._bases = np.array(self._array_bases, dtype=np.int64)
        return self._bases

    @property
    def shared_bytes(self) -> int:
        """Shared memory of one block."""
        return self._shared.size or 0

    def add_taint(self, array: str, taint: int) -> None:
        """Contents of an array might be other than they are."""
        base = int(self.bases[array].data)
        self._regions[base >> _REGION_BITS].add_taint(self.names.index(array), taint)

    def contents(self, name: str, like: NDArray[Any]) -> NDArray[Any]:
        """What the caller's buffer ``name`` holds now, in its own type and shape."""
        region = self._global_regions.get(name)
        if region is None or not isinstance(region.storage, Copies):
            return like.copy()
        raw = region.storage.data[: like.nbytes]
        return raw.view(like.dtype).reshape(like.shape).copy()

    def _add_global(self, array: Array, readable: frozenset[str] | None) -> None:
        keeps = readable is None or array.name in readable
        region = self._new_region(array.name, array.space, array.size, keeps)
        self._global_regions[array.name] = region
        contents = self._given.get(array.name)
        numbers = self._numbers.get(array.name)
        if contents is None and numbers is not None:
            region.storage = Numbered(int(region.base), numbers)
        elif contents is None and array.values is not None:
            contents = _initial(array)
        if contents is not None:
            region.size = max(len(contents), array.size or 0)
            region.storage = Copies(region.size)
            region.storage.fill(contents)
        offset = dict(self._launch.offsets).get(array.name, 0)
        taint = UNDEFINED if offset is None else 0
        self.bases[array.name] = Value(np.int64(region.base + (offset or 0)), taint)

    def _new_region(self, name: str, space: Space, size: int | None, keeps: bool) -> Region:
        number = len(self._regions) + 1
        base = (number << _REGION_BITS) + _MIDDLE
        index = len(self.names)
        self.names.append(name)
        self._array_bases.append(base)
        region = Region(
            space,
            base,
            np.zeros(1, dtype=np.int64),
            np.array([index], dtype=np.int64),
            size,
            MadeUp(salt=number << 20, keeps=keeps),
        )
        self._regions[number] = region
        return region

    def _add_frame(self, space: Space) -> Region:
        """Pack arrays in the order of declaration at their natural alignment, dynamic last."""
        shared = space is Space.SHARED
        number = 0 if shared else len(self._regions) + 1
        base = _SHARED_WINDOW if shared else (number << _REGION_BITS) + _MIDDLE
        arrays = sorted(self._frames[space], key=lambda a: a.dynamic)
        starts, ids, end = [], [], 0
        for array in arrays:
            wide = array.dynamic or space is Space.LOCAL
            align = max(array.align, _WIDE_ALIGN if wide else 1)
            start = -(-end // align) * align
            if not array.dynamic:  # all extern __shared__ arrays are the same memory
                end = start + (_UNKNOWN_BYTES[space] if array.size is None else array.size)
            starts.append(start)
            ids.append(len(self.names))
            self._array_bases.append(base + start)
            self.names.append(array.name)
            self.bases[array.name] = Value(np.int64(base + start))
        if arrays and arrays[-1].dynamic:
            known = self._launch.shared_bytes
            self.dynamic_bytes = _UNKNOWN_DYNAMIC_BYTES if known is None else known
            end = starts[-1] + self.dynamic_bytes
        region = Region(
            space,
            base,
            np.array(starts or [0], dtype=np.int64),
            np.array(ids or [0], dtype=np.int64),
            end,
            Copies(0),
        )
        self._regions[number] = region
        return region

    def _nowhere(self) -> Region:
        """Where wild pointers lead: every access is out of bounds."""
        none = np.zeros(1, dtype=np.int64)
        return Region(Space.GLOBAL, 0, none, none, 0, Copies(0))


def _bytes_of(buffer: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(buffer).reshape(-1).view(np.uint8).copy()


def _initial(array: Array) -> NDArray[np.uint8]:
    """The bytes of an array's initialisers."""
    values = array.values or ()
    code = {"float": "f", "int": "i", "uint": "u"}.get(array.element_kind, "i")
    target = np.dtype(f"{code}{array.element_size}")
    if target.kind == "f":
        return _bytes_of(np.array(values, dtype=target))
    mask = (1 << (8 * array.element_size)) - 1
    raw = b"".join((int(v) & mask).to_bytes(array.element_size, "little") for v in values)
    return np.frombuffer(raw, dtype=np.uint8).copy()
