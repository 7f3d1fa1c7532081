"""Values of many lanes at once, with C's integer and float arithmetic.

In: NumPy arrays of one entry per lane, or a single scalar that all lanes share.  Out: the same.
Integers wrap at their width, division truncates, shift counts are masked; nothing here knows a
statement, a mask or memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.types import BOOL, ScalarType

Data = Any  # NDArray of one entry per lane, or a NumPy scalar: NumPy mixes both freely
Bools = NDArray[np.bool_]
Taint = int | NDArray[np.uint8]

CLEAN = 0
UNDEFINED = 1  # depends on a value the analysis does not know
MADE_UP = 2  # depends on memory whose contents the caller did not give

_FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}


class Value(NamedTuple):
    """One scalar per lane and, per lane, what it depends on."""

    data: Data
    taint: Taint = CLEAN


@lru_cache(maxsize=64)
def dtype_of(kind: ScalarType) -> np.dtype[Any]:
    """The NumPy type of a scalar; pointers are int64, an unknown type is taken as float."""
    if kind == BOOL:
        return np.dtype(np.bool_)
    match kind.kind:
        case "int":
            return np.dtype(f"i{kind.size}")
        case "uint":
            return np.dtype(f"u{kind.size}")
        case "float":
            return np.dtype(_FLOATS[kind.size])
        case "ptr":
            return np.dtype(np.int64)
    return np.dtype(np.float32)


def join(*taints: Taint) -> Taint:
    """The union of what several operands depend on."""
    if len(taints) == 2:
        one, other = taints
        if isinstance(other, int) and (other == CLEAN or isinstance(one, int)):
            return one | other if isinstance(one, int) else one
    result: Taint = CLEAN
    for taint in taints:
        if isinstance(result, int) and isinstance(taint, int):
            result |= taint
        elif isinstance(result, int) and result == CLEAN:
            result = taint
        elif not isinstance(taint, int) or taint != CLEAN:
            result = np.bitwise_or(result, taint, dtype=np.uint8)
    return result


def is_tainted(taint: Taint) -> bool:
    """Whether any lane depends on something unknown."""
    return bool(taint) if isinstance(taint, int) else bool(taint.any())


def where_taint(chosen: Data, then: Taint, otherwise: Taint) -> Taint:
    """Lane by lane ``then`` or ``otherwise``; stays a plain number where both are one."""
    if isinstance(then, int) and isinstance(otherwise, int) and then == otherwise:
        return then
    picked = np.where(chosen, then, otherwise).astype(np.uint8)
    return picked if picked.ndim else int(picked)


def convert(data: Data, to: ScalarType) -> Data:
    """C's conversion to ``to``; floats truncate and saturate, as ``cvt.rzi`` does on the GPU."""
    target = dtype_of(to)
    if data.dtype is target or data.dtype == target:
        return data
    if target == np.bool_:
        return data != 0
    if data.dtype.kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        wide = np.trunc(np.where(np.isnan(data), 0.0, data.astype(np.float64)))
        top = float(limits.max)  # 2**63 for int64: not representable, hence the step down
        inside = np.clip(wide, float(limits.min), np.nextafter(top, 0.0)).astype(target)
        return np.where(wide >= top, target.type(limits.max), inside)
    return data.astype(target)


def truncating_quotient(left: Data, right: Data) -> Data:
    """``left / right`` as C divides integers: towards zero.  ``right`` has no zero."""
    floor = left // right
    if left.dtype.kind == "u":
        return floor
    inexact = (floor * right != left) & ((left < 0) != (right < 0))
    return floor + inexact.astype(floor.dtype)


def _divide(left: Data, right: Data) -> Data:
    if left.dtype.kind == "f":
        return left / right
    zero = right == 0
    quotient = truncating_quotient(left, np.where(zero, right.dtype.type(1), right))
    return np.where(zero, left.dtype.type(0), quotient) if np.any(zero) else quotient


def _remainder(left: Data, right: Data) -> Data:
    if left.dtype.kind == "f":
        return np.fmod(left, right)
    return np.where(right == 0, left.dtype.type(0), left - _divide(left, right) * right)


def _shift_left(left: Data, right: Data) -> Data:
    """``<<``; counts beyond the width give 0 (PTX ISA, ``shl``: shift amounts are clamped)."""
    bits = right.dtype.type(8 * left.dtype.itemsize)
    inside = (right >= 0) & (right < bits)
    return np.where(inside, left << np.where(inside, right, 0), left.dtype.type(0))


def _shift_right(left: Data, right: Data) -> Data:
    """``>>``; counts beyond the width leave the sign (PTX ISA, ``shr``)."""
    most = right.dtype.type(8 * left.dtype.itemsize - 1)
    inside = (right >= 0) & (right <= most)
    shifted = left >> np.where(inside, right, most)
    return shifted if left.dtype.kind == "i" else np.where(inside, shifted, left.dtype.type(0))


def _smaller(left: Data, right: Data) -> Data:
    return np.fmin(left, right)


def _larger(left: Data, right: Data) -> Data:
    return np.fmax(left, right)


ARITHMETIC: dict[str, Callable[[Data, Data], Data]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "<<": _shift_left,
    ">>": _shift_right,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "min": _smaller,
    "max": _larger,
}

COMPARISON: dict[str, Callable[[Data, Data], Data]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

LOGIC: dict[str, Callable[[Data, Data], Data]] = {
    "&&": operator.and_,
    "||": operator.or_,
}


def scalar(value: int | float, kind: ScalarType) -> Data:
    """A constant of a type; integers wrap into it."""
    target = dtype_of(kind)
    if target == np.bool_:
        return np.bool_(bool(value))
    if target.kind == "f":
        return target.type(value)
    bits = 8 * target.itemsize
    wrapped = int(value) & ((1 << bits) - 1)
    if target.kind == "i" and wrapped >> (bits - 1):
        wrapped -= 1 << bits
    return target.type(wrapped)
