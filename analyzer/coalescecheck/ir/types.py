"""Scalar types of the IR.  Aggregates do not exist here: lowering has taken them apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A machine scalar under the LP64 CUDA ABI.

    ``kind``: ``int`` (signed), ``uint``, ``float``, ``ptr`` (a 64-bit address) or
    ``unknown`` (an uninstantiated template type; its ``size`` is meaningless).
    ``size`` is in bytes.
    """

    name: str
    kind: str
    size: int

    @property
    def bits(self) -> int:
        return 8 * self.size

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    def __str__(self) -> str:
        return self.name


BOOL = ScalarType("bool", "uint", 1)
I8 = ScalarType("i8", "int", 1)
U8 = ScalarType("u8", "uint", 1)
I16 = ScalarType("i16", "int", 2)
U16 = ScalarType("u16", "uint", 2)
I32 = ScalarType("i32", "int", 4)
U32 = ScalarType("u32", "uint", 4)
I64 = ScalarType("i64", "int", 8)
U64 = ScalarType("u64", "uint", 8)
F16 = ScalarType("f16", "float", 2)  # half and bfloat16: same width, value never matters
F32 = ScalarType("f32", "float", 4)
F64 = ScalarType("f64", "float", 8)
PTR = ScalarType("ptr", "ptr", 8)
UNKNOWN = ScalarType("unknown", "unknown", 0)
PART = "__part"  # behind the name of an unknown type: of a part of it
UNNAMED = "unknown_t"  # the type of an expression that the front end does not understand
SCALARS = {
    each.name: each
    for each in (BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, F32, F64, PTR, UNKNOWN)
}
