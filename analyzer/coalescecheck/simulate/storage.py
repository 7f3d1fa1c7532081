"""Bytes behind arrays: what a kernel reads and writes.

In: byte offsets per lane, already inside the object.  Out: typed values.  Four kinds: contents
the caller gave, contents nobody gave (made up on reading), one copy per block (shared) and one
per thread (local).  It knows no address, array name or mask beyond the offsets it is handed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalescecheck.simulate.values import CLEAN, MADE_UP, Data

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_MOST_SPARSE_BYTES = 1 << 26  # written contents beyond this offset are forgotten
_MADE_UP_VALUES = 64  # small and non-negative, so that they are plausible indices


class Storage(Protocol):
    """``lane`` selects the lanes that the entries of ``offsets`` belong to."""

    def read(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> Data: ...

    def write(self, offsets: Ints, lane: Ints, values: Data) -> None: ...

    def cells(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> tuple[Data, Ints]:
        """A typed view of all bytes and the element of every offset, for atomics."""
        ...

    def taint_of(self, offsets: Ints, dtype: np.dtype[Any]) -> int:
        """The taint of what is read there as this type."""
        ...


class Copies:
    """Real bytes: ``copies`` times ``stride`` bytes, ``copy_of[lane]`` says which copy is whose.

    With one copy it is an ordinary buffer.
    """

    def __init__(self, stride: int, copies: int = 1, copy_of: Ints | None = None) -> None:
        self.data: Bytes = np.zeros(_padded(stride) * copies, dtype=np.uint8)
        self._copies = copies
        self._first = None if copy_of is None else copy_of * _padded(stride)

    def taint_of(self, offsets: Ints, dtype: np.dtype[Any]) -> int:
        return CLEAN

    def fill(self, contents: Bytes) -> None:
        """Initialise the first bytes of the first copy."""
        self.data[: len(contents)] = contents

    def fill_each(self, start: int, contents: Bytes) -> None:
        """Initialise the same bytes of every copy, from ``start`` on."""
        if len(self.data):
            rows = self.data.reshape(self._copies, -1)
            rows[:, start : start + len(contents)] = contents

    def read(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> Data:
        return gather(self.data, self.places(offsets, lane), dtype)

    def write(self, offsets: Ints, lane: Ints, values: Data) -> None:
        scatter(self.data, self.places(offsets, lane), values)

    def cells(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> tuple[Data, Ints]:
        return self.data.view(dtype), self.places(offsets, lane) // dtype.itemsize

    def places(self, offsets: Ints, lane: Ints) -> Ints:
        """The index of every offset's byte in ``data``."""
        return offsets if self._first is None else offsets + self._first[lane]


class MadeUp:
    """Contents nobody gave: reads are small numbers that depend on the offset only.

    Integers are 0 … 63, floats are multiples of 1/64 in [0, 1).  What the kernel wrote is read
    back.  ``keeps`` is False for arrays the kernel never reads, whose stores need no memory.
    """

    def __init__(self, salt: int, keeps: bool) -> None:
        self._salt = np.int64(salt)
        self._keeps = keeps
        self._data: Bytes = np.zeros(0, dtype=np.uint8)
        self._written = np.zeros(0, dtype=np.bool_)

    def taint_of(self, offsets: Ints, dtype: np.dtype[Any]) -> int:
        return MADE_UP

    def read(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> Data:
        values = self._invent(offsets, dtype)
        known = (offsets >= 0) & (offsets + dtype.itemsize <= len(self._data))
        if not known.any():
            return values
        at = np.where(known, offsets, 0)
        return np.where(known & self._written[at], gather(self._data, at, dtype), values)

    def write(self, offsets: Ints, lane: Ints, values: Data) -> None:
        if not self._keeps or not len(offsets):
            return
        width = values.dtype.itemsize
        inside = (offsets >= 0) & (offsets + width <= _MOST_SPARSE_BYTES)
        offsets, values = offsets[inside], values[inside]
        self._reserve(int(offsets.max(initial=-width)) + width)
        scatter(self._data, offsets, values)
        for byte in range(width):
            self._written[offsets + byte] = True

    def cells(self, offsets: Ints, lane: Ints, dtype: np.dtype[Any]) -> tuple[Data, Ints]:
        kept = np.clip(offsets, 0, _MOST_SPARSE_BYTES - dtype.itemsize)
        self._keeps = True  # an atomic reads what it changes
        self.write(kept, lane, self.read(kept, lane, dtype))
        return self._data.view(dtype), kept // dtype.itemsize

    def _reserve(self, size: int) -> None:
        if size <= len(self._data):
            return
        room = min(_MOST_SPARSE_BYTES, max(4096, 1 << (size - 1).bit_length()))
        data, written = np.zeros(room, dtype=np.uint8), np.zeros(room, dtype=np.bool_)
        data[: len(self._data)], written[: len(self._written)] = self._data, self._written
        self._data, self._written = data, written

    def _invent(self, offsets: Ints, dtype: np.dtype[Any]) -> Data:
        mixed = (offsets // dtype.itemsize + self._salt) * np.int64(-7046029254386353131)
        small = (mixed >> np.int64(40)) & np.int64(_MADE_UP_VALUES - 1)
        if dtype.kind == "f":
            return (small / _MADE_UP_VALUES).astype(dtype)
        return (small & 1).astype(dtype) if dtype.kind == "b" else small.astype(dtype)


class Numbered(MadeUp):
    """Constant memory whose integers the launch gives, by their offset; the rest is made up."""

    def __init__(self, salt: int, numbers: Mapping[int, Data]) -> None:
        super().__init__(salt, keeps=True)
        for offset, number in numbers.items():
            self.write(np.array([offset]), np.zeros(1, np.int64), np.atleast_1d(number))

    def taint_of(self, offsets: Ints, dtype: np.dtype[Any]) -> int:
        bytes_ = offsets[:, None] + np.arange(dtype.itemsize)
        given = (bytes_ >= 0) & (bytes_ < len(self._written))
        given &= self._written[np.where(given, bytes_, 0)]
        return CLEAN if given.all() else MADE_UP


def gather(data: Bytes, places: Ints, dtype: np.dtype[Any]) -> Data:
    """Typed values at byte positions; misaligned ones are put together byte by byte."""
    width = dtype.itemsize
    if not (places & (width - 1)).any():
        return data.view(dtype)[places // width]
    raw = data[places[..., None] + np.arange(width)]
    return np.ascontiguousarray(raw).view(dtype)[..., 0]


def scatter(data: Bytes, places: Ints, values: Data) -> None:
    """Store values at byte positions; where two lanes meet the last one wins."""
    width = values.dtype.itemsize
    if not (places & (width - 1)).any():
        data.view(values.dtype)[places // width] = values
        return
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width)
    data[places[..., None] + np.arange(width)] = raw


def _padded(size: int) -> int:
    """Room for any scalar at the end, and copies that keep 256-byte alignment."""
    return (size + 8 + 255) // 256 * 256
