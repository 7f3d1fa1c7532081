"""What the operations of atoms do to numbers, over NumPy arrays.

C's truncating division is spelled out because NumPy's floors.  Shift counts that C leaves
undefined, negative ones too, are beyond the width: the PTX ISA clamps them (``shl``, ``shr``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int64]


def apply(op: str, args: Sequence[Values], data: tuple[int, ...]) -> Values:
    """The values of an atom (``form.Atom``) whose arguments have these values."""
    match op:
        case "all" | "any":
            combine = np.logical_and if op == "all" else np.logical_or
            result: Values = combine.reduce(np.broadcast_arrays(*args)).astype(np.int64)
            return result
        case "wrap":
            return _wrapped(args[0], *data)
        case "table":
            table = np.asarray(data, dtype=np.int64)
            entry: Values = table[np.clip(args[0], 0, len(table) - 1)]
            return entry
    if len(args) == 1:
        return _UNARY[op](args[0]).astype(np.int64)
    return _BINARY[op](args[0], args[1])


def in_64_bits(value: int) -> int:
    """The integer as NumPy's int64 holds it: modulo 2**64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _wrapped(value: Values, bits: int, signed: int) -> Values:
    value = value & ((1 << bits) - 1)
    return np.where(value >> (bits - 1), value - (1 << bits), value) if signed else value


def _truncated_quotient(left: Values, right: Values) -> Values:
    safe = np.where(right == 0, 1, right)
    quotient = np.abs(left) // np.abs(safe)
    return np.where((left < 0) == (safe < 0), quotient, -quotient)


def _truncated_remainder(left: Values, right: Values) -> Values:
    safe = np.where(right == 0, 1, right)
    return left - _truncated_quotient(left, safe) * safe


def _bit_length(value: Values) -> Values:
    """Position of the highest set bit, counted from 1; 0 for 0 (32-bit values)."""
    return np.ceil(np.log2((value & 0xFFFFFFFF).astype(np.float64) + 1)).astype(np.int64)


def _reversed_bits(value: Values) -> Values:
    """The 32 bits of a value in the opposite order."""
    value = value & 0xFFFFFFFF
    for width, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        value = (value >> width) & mask | (value & mask) << width
    return value >> 16 | (value & 0xFFFF) << 16


_BINARY: dict[str, Callable[[Values, Values], Values]] = {
    "fdiv": lambda a, b: a // np.where(b == 0, 1, b),
    "fmod": lambda a, b: a % np.where(b == 0, 1, b),
    "cdiv": _truncated_quotient,
    "cmod": _truncated_remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": lambda a, b: np.where((b < 0) | (b > 63), 0, np.left_shift(a, np.clip(b, 0, 63))),
    "shr": lambda a, b: np.right_shift(a, np.where(b < 0, 63, np.minimum(b, 63))),
    "min": np.minimum,
    "max": np.maximum,
}

_UNARY: dict[str, Callable[[Values], NDArray[Any]]] = {
    "lt0": lambda a: a < 0,
    "eq0": lambda a: a == 0,
    "abs": np.abs,
    "popc": lambda a: np.bitwise_count(a & 0xFFFFFFFF),
    "clz": lambda a: 32 - _bit_length(a),
    "ffs": lambda a: _bit_length(a & -a),
    "brev": _reversed_bits,
}
