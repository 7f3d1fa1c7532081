"""Registers as the numbers that they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .memory import Bits, Mask
from .text import Instruction, bits

if TYPE_CHECKING:
    from .machine import Frame

Numbers = np.ndarray[Any, Any]
Operation = Callable[["Frame", Instruction, Mask], None]

WARP_SIZE = 32
PACKED = ("f16x2", "bf16x2", "bf16")
REALS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def ones(size: int) -> np.uint64:
    """So many bits, all set."""
    return np.uint64((1 << size) - 1)


def extended(value: Bits, type_: str) -> Bits:
    """The value with the sign of its type in all bits."""
    unused = 64 - bits(type_)
    if type_[0] != "s" or not unused:
        return value
    return (value << np.uint64(unused)).view(np.int64) >> np.int64(unused)


def wrapped(value: Numbers, type_: str) -> Bits:
    """What is left of a number in as many bits as the type has."""
    whole = value if value.dtype == np.uint64 else value.astype(np.int64).view(np.uint64)
    return whole if bits(type_) == 64 else whole & ones(bits(type_))
