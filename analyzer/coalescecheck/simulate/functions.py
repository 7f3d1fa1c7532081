"""Pure functions of kernels: bit counting, wide products, and C's floating-point functions.

In: a function's C name and the values of its arguments.  Out: its value per lane, or None for
a function that is not known here (its result is then an unknown value).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from inspect import signature

import numpy as np

from coalescecheck.simulate.values import Data

# SWAR constants for 64 bits: alternating groups of 1, 2 and 4 bits.
_ONES = np.uint64(0x5555555555555555)
_TWOS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def call(name: str, args: list[Data]) -> Data | None:
    """The value of ``name(*args)``; None when the function is not known."""
    function = _INTEGER.get(name)
    if function is not None and (args[0].dtype.kind in "iu" or name not in _FLOAT):
        return _applied(function, args)
    for candidate in (name, name.removeprefix("__"), _stem(name)):
        floating = _FLOAT.get(candidate)
        if floating is not None:
            return _applied(floating, args)
    return None


def _applied(function: Callable[..., Data | None], args: list[Data]) -> Data | None:
    """None where the source gives it another number of arguments than it takes."""
    return function(*args) if len(args) == _operands(function) else None


@cache
def _operands(function: Callable[..., Data | None]) -> int:
    return function.nin if isinstance(function, np.ufunc) else len(signature(function).parameters)


def popc(data: Data) -> Data:
    """The number of set bits, of 1- to 8-byte integers."""
    bits = _unsigned(data).astype(np.uint64)
    bits = bits - ((bits >> np.uint64(1)) & _ONES)
    bits = (bits & _TWOS) + ((bits >> np.uint64(2)) & _TWOS)
    bits = (bits + (bits >> np.uint64(4))) & _FOURS
    return ((bits * _BYTES) >> np.uint64(56)).astype(np.int32)


def _stem(name: str) -> str:
    """``__sinf`` -> ``sin``, ``expf`` -> ``exp``, ``hsqrt`` stays."""
    return name.removeprefix("__").removesuffix("f")


def _unsigned(data: Data) -> Data:
    return data.astype(np.dtype(f"u{data.dtype.itemsize}"))


def _clz(data: Data) -> Data:
    bits = _unsigned(data)
    width = 8 * bits.dtype.itemsize
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < width:
            bits = bits | (bits >> bits.dtype.type(shift))
    return (width - popc(bits)).astype(np.int32)


def _ffs(data: Data) -> Data:
    bits = _unsigned(data)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, popc(lowest - bits.dtype.type(1)) + 1).astype(np.int32)


def _brev(data: Data) -> Data:
    bits = _unsigned(data)
    result = np.zeros_like(bits)
    for position in range(8 * bits.dtype.itemsize):
        bit = (bits >> bits.dtype.type(position)) & bits.dtype.type(1)
        result = result | (bit << bits.dtype.type(8 * bits.dtype.itemsize - 1 - position))
    return result.astype(data.dtype)


def _high_product(left: Data, right: Data) -> Data:
    """The upper half of the exact product."""
    if left.dtype.itemsize < 8:
        bits = 8 * left.dtype.itemsize
        wide = np.int64 if left.dtype.kind == "i" else np.uint64
        product = left.astype(wide) * right.astype(wide)
        return (product >> wide(bits)).astype(left.dtype)
    high = _unsigned_high(_unsigned(left), _unsigned(right))
    if left.dtype.kind == "u":
        return high
    # signed from unsigned: subtract the other factor for every negative one
    fix = np.where(left < 0, right, 0) + np.where(right < 0, left, 0)
    return high.astype(left.dtype) - fix


def _unsigned_high(left: Data, right: Data) -> Data:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = left >> half, left & low, right >> half, right & low
    middle = ((b * d) >> half) + ((a * d) & low) + ((b * c) & low)
    return a * c + ((a * d) >> half) + ((b * c) >> half) + (middle >> half)


def _mul24(left: Data, right: Data) -> Data:
    """The low 32 bits of the product of the low 24 bits, sign-extended for signed types."""
    if left.dtype.kind == "u":
        mask = left.dtype.type(0xFFFFFF)
        return (left & mask) * (right & mask)
    eight = left.dtype.type(8)
    return ((left << eight) >> eight) * ((right << eight) >> eight)


def _funnel_shift(left: bool, clamped: bool) -> Callable[[Data, Data, Data], Data]:
    """The upper half of ``high:low`` shifted to the left, or the lower half of it shifted to the
    right; by the shift modulo 32, or by 32 at most."""

    def shifted(low: Data, high: Data, shift: Data) -> Data:
        both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
        by = np.minimum(shift, 32) if clamped else shift & np.uint32(31)
        by = by.astype(np.uint64)
        return ((both << by) >> np.uint64(32) if left else both >> by).astype(np.uint32)

    return shifted


def _byte_perm(low: Data, high: Data, selector: Data) -> Data | None:
    """Four of the eight bytes of ``high:low``; unknown where a selector has more than 3 bits."""
    if (selector & np.uint32(0x8888)).any():
        return None
    both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    result = np.uint64(0)
    for byte in range(4):
        source = selector.astype(np.uint64) >> np.uint64(4 * byte) & np.uint64(7)
        value = both >> source * np.uint64(8) & np.uint64(0xFF)
        result = result | value << np.uint64(8 * byte)
    return result.astype(np.uint32)


def _each(function: Callable[[float], float]) -> Callable[[Data], Data]:
    vector = np.vectorize(function, otypes=[np.float64])
    return lambda x: vector(x).astype(x.dtype)


def _power(base: Data, exponent: Data) -> Data:
    return np.power(base, exponent.astype(base.dtype))


_INTEGER: dict[str, Callable[..., Data | None]] = {
    "popc": popc,
    "clz": _clz,
    "ffs": _ffs,
    "brev": _brev,
    "mulhi": _high_product,
    "umulhi": _high_product,
    "mul24": _mul24,
    "funnelshift_l": _funnel_shift(left=True, clamped=False),
    "funnelshift_r": _funnel_shift(left=False, clamped=False),
    "funnelshift_lc": _funnel_shift(left=True, clamped=True),
    "funnelshift_rc": _funnel_shift(left=False, clamped=True),
    "byte_perm": _byte_perm,
    "abs": np.abs,
}

_FLOAT: dict[str, Callable[..., Data]] = {
    "abs": np.abs,
    "fabs": np.abs,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "frsqrt_rn": lambda x: 1 / np.sqrt(x),
    "frcp_rn": lambda x: 1 / x,
    "cbrt": np.cbrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "pow": _power,
    "hypot": np.hypot,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x),
    "fmod": np.fmod,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "fma": lambda x, y, z: x * y + z,
    "mad": lambda x, y, z: x * y + z,
    "fmaf_rn": lambda x, y, z: x * y + z,
    "fdivide": lambda x, y: x / y,
    "fdim": lambda x, y: np.fmax(x - y, x.dtype.type(0)),
    "copysign": np.copysign,
    "saturate": lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(1)),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
