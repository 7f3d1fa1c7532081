"""Arithmetic C types as the constant evaluator sees them: width, signedness, conversions.

In: spellings of types.  Out: :class:`CType` and converted :class:`Value`.  It must not know
about syntax trees.  Sizes are those of LP64 (64-bit Linux), which CUDA device code shares
with its host.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class CType:
    """An arithmetic type; ``kind`` is ``int``, ``uint``, ``float`` or ``bool``."""

    kind: str
    bits: int

    @property
    def is_float(self) -> bool:
        return self.kind == "float"


BOOL = CType("bool", 8)
INT = CType("int", 32)
UINT = CType("uint", 32)
LONG = CType("int", 64)
ULONG = CType("uint", 64)
FLOAT = CType("float", 32)
DOUBLE = CType("float", 64)
_CHAR = CType("int", 8)
_UCHAR = CType("uint", 8)
_SHORT = CType("int", 16)
_USHORT = CType("uint", 16)

_NAMED = {
    "bool": BOOL,
    "float": FLOAT,
    "double": DOUBLE,
    "uchar": _UCHAR,
    "ushort": _USHORT,
    "uint": UINT,
    "ulong": ULONG,
    "size_t": ULONG,
    "ssize_t": LONG,
    "ptrdiff_t": LONG,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "int8_t": _CHAR,
    "uint8_t": _UCHAR,
    "int16_t": _SHORT,
    "uint16_t": _USHORT,
    "int32_t": INT,
    "uint32_t": UINT,
    "int64_t": LONG,
    "uint64_t": ULONG,
    "__int64": LONG,
    "char8_t": _UCHAR,
    "char16_t": _USHORT,
    "char32_t": UINT,
    "wchar_t": INT,
}
# cuda_fp8.h, cuda_fp6.h and cuda_fp4.h: bytes that hold one number, two or four
_FORMS = {"fp8": ("e4m3", "e5m2", "e8m0"), "fp6": ("e2m3", "e3m2"), "fp4": ("e2m1",)}
SMALL_FLOATS = {
    f"__nv_{kind}{count}_{form}": max(1, numbers // 2) if kind == "fp4" else numbers
    for kind, forms in _FORMS.items()
    for count, numbers in (("", 1), ("x2", 2), ("x4", 4))
    for form in (*forms, "storage_t")
}
# Names whose size alone is known; they are no arithmetic types of the evaluator.
_OTHER_SIZES = {
    **SMALL_FLOATS,
    "half": 2,
    "__half": 2,
    "nv_bfloat16": 2,
    "__nv_bfloat16": 2,
    "half2": 4,
    "__half2": 4,
    "nv_bfloat162": 4,
    "__nv_bfloat162": 4,
    "dim3": 12,
}
_VECTOR_BASES = {
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "int": 4,
    "uint": 4,
    "float": 4,
    "long": 8,
    "ulong": 8,
    "longlong": 8,
    "ulonglong": 8,
    "double": 8,
}
_INTEGER_WORDS = frozenset({"signed", "unsigned", "int", "long", "short", "char"})
_QUALIFIERS = frozenset({"const", "volatile", "constexpr", "static", "register", "std", "inline"})


@dataclass(frozen=True, slots=True)
class Value:
    """A constant and its C type; ``number`` always fits ``type``."""

    number: int | float
    type: CType


@lru_cache(maxsize=4096)
def parse_type(spelling: str) -> CType | None:
    """The arithmetic type a spelling such as ``unsigned long`` or ``std::size_t`` names."""
    words = [w for w in spelling.replace("::", " ").split() if w not in _QUALIFIERS]
    if len(words) == 1 and words[0] in _NAMED:
        return _NAMED[words[0]]
    if words in (["long", "double"], []) or not all(w in _INTEGER_WORDS for w in words):
        return None
    unsigned = "unsigned" in words
    if "char" in words:
        return _UCHAR if unsigned else _CHAR
    if "short" in words:
        return _USHORT if unsigned else _SHORT
    if "long" in words:
        return ULONG if unsigned else LONG
    return UINT if unsigned else INT


def size_of_type(spelling: str) -> int | None:
    """Size in bytes of a builtin type, a CUDA vector type or any pointer; None if unknown."""
    spelling = spelling.strip()
    if spelling.endswith("*"):
        return 8
    known = parse_type(spelling)
    if known is not None:
        return known.bits // 8
    name = " ".join(w for w in spelling.split() if w not in _QUALIFIERS)
    if name in _OTHER_SIZES:
        return _OTHER_SIZES[name]
    if name[-1:] in ("1", "2", "3", "4") and name[:-1] in _VECTOR_BASES:
        return _VECTOR_BASES[name[:-1]] * int(name[-1])
    return None


def convert(number: int | float, to: CType) -> Value | None:
    """``number`` converted to ``to`` as C does; None where C leaves it undefined."""
    if to.kind == "bool":
        return Value(int(number != 0), to)
    if to.is_float:
        return _to_float(number, to)
    if isinstance(number, float):
        if number != number or number in (float("inf"), float("-inf")):
            return None
        number = int(number)  # C truncates towards zero
        low, high = limits(to)
        return Value(number, to) if low <= number <= high else None
    number &= (1 << to.bits) - 1
    if to.kind == "int" and number >> (to.bits - 1):
        number -= 1 << to.bits
    return Value(number, to)


def limits(of: CType) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if of.kind == "int":
        return -(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1
    return 0, (1 << of.bits) - 1


def promote(value: Value) -> Value:
    """The integer promotions: what is narrower than int becomes int."""
    if value.type.is_float or value.type.bits >= 32:
        return value
    return Value(int(value.number), INT)


def common_type(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions, for promoted types."""
    if a.is_float or b.is_float:
        return DOUBLE if DOUBLE in (a, b) else FLOAT
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "uint" else b


def plain(number: int) -> Value:
    """An integer of unknown declaration: int where it fits, else long."""
    low, high = limits(INT)
    return Value(number, INT if low <= number <= high else LONG)


def _to_float(number: int | float, to: CType) -> Value | None:
    try:
        wide = float(number)
        if to.bits == 32:
            wide = struct.unpack("f", struct.pack("f", wide))[0]
    except OverflowError:
        return None
    return Value(wide, to)
