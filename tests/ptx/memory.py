"""The memory of one block: generic addresses with a window for each state space.

Global memory holds small numbers where nothing was written, whatever they are read as, so that
indices taken from it stay near and loops over them end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]  # one register of each lane
Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]  # [lanes, bytes]

WINDOW = 44  # bits of an address below the number of its window
SHARED, LOCAL, STATIC, PARAM = (n << WINDOW for n in (1, 2, 3, 4))
_WINDOWS = {"shared": 1, "local": 2, "param": 4}
_SHARED_BYTES, _LOCAL_BYTES, PAGE = 1 << 18, 1 << 15, 1 << 12
_INSIDE = np.uint64((1 << WINDOW) - 1)


def _small_numbers(page: int) -> npt.NDArray[np.uint8]:
    words = np.arange(PAGE // 4, dtype=np.uint64) + np.uint64(page * (PAGE // 4) % (1 << 32))
    mixed = words * np.uint64(2654435761) >> np.uint64(13)
    return (mixed & np.uint64(31)).astype(np.uint32).view(np.uint8).copy()


class Memory:
    """``parameters`` are the bytes of the kernel's parameters, ``initial`` those at addresses."""

    def __init__(self, lanes: int, parameters: bytes, initial: Mapping[int, bytes]) -> None:
        self._pages: dict[int, npt.NDArray[np.uint8]] = {}
        words = np.arange(_SHARED_BYTES) // 4
        self._shared = np.where(np.arange(_SHARED_BYTES) % 4 == 0, words * 7 % 32, 0).astype("u1")
        self._local = np.zeros((lanes, _LOCAL_BYTES), np.uint8)
        self._parameters = np.frombuffer(parameters + bytes(64), np.uint8).copy()
        for start, content in initial.items():
            for at in range(0, len(content), PAGE):
                part = np.frombuffer(content[at : at + PAGE], np.uint8)
                self._page((start + at) // PAGE)[: len(part)] = part

    def spaces(self, addresses: Bits, active: Mask, space: str) -> Iterator[tuple[str, Mask]]:
        """The lanes by the state space they touch; an empty ``space`` is the generic one."""
        if space in ("shared", "local"):
            yield space, active
            return
        window = addresses >> np.uint64(WINDOW)
        rest = active
        for name, number in _WINDOWS.items():
            here = active & (window == np.uint64(number))
            if here.any():
                yield name, here
            rest = rest & ~here
        if rest.any():
            yield "global", rest

    def load(self, addresses: Bits, active: Mask, width: int, space: str) -> Bytes:
        """``width`` bytes of every active lane."""
        loaded = np.zeros((len(addresses), width), np.uint8)
        for held, at, lanes in self._parts(addresses, active, width, space):
            loaded[lanes] = held[at]
        return loaded

    def store(self, addresses: Bits, active: Mask, data: Bytes, space: str) -> None:
        """Write one row of ``data`` for every active lane."""
        for held, at, lanes in self._parts(addresses, active, data.shape[1], space):
            held[at] = data[lanes]

    def _parts(
        self, addresses: Bits, active: Mask, width: int, space: str
    ) -> Iterator[tuple[npt.NDArray[np.uint8], Any, npt.NDArray[np.intp]]]:
        """Arrays of bytes, the places in them, and the lanes that touch them."""
        for name, mask in self.spaces(addresses, active, space):
            lanes = np.nonzero(mask)[0]
            at = (addresses[lanes] & _INSIDE).astype(np.int64)[:, None] + np.arange(width)
            if name == "shared":
                yield self._shared, at % _SHARED_BYTES, lanes
            elif name == "local":
                yield self._local, (lanes[:, None], at % _LOCAL_BYTES), lanes
            elif name == "param":
                yield self._parameters, at % len(self._parameters), lanes
            else:
                pages = addresses[lanes] // np.uint64(PAGE)
                for number in np.unique(pages):
                    here = pages == number
                    start = addresses[lanes[here]] % np.uint64(PAGE)
                    inside = start.astype(np.int64)[:, None] + np.arange(width)
                    yield self._page(int(number)), np.minimum(inside, PAGE - 1), lanes[here]

    def _page(self, number: int) -> npt.NDArray[np.uint8]:
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = _small_numbers(number)
        return page
