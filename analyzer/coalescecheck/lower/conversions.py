"""C's conversions between types, and what a variable's address forces.

In: a value and the type it is assigned, passed or cast to.  Out: the value with that type; the
casts are explicit in the IR.  An address used as something else than a pointer to its own type
demotes its variable to memory.
"""

from __future__ import annotations

from typing import TypeAlias

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import TRUE, Expr
from coalescecheck.lower import arith, ctypes, storage
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import VOID, ArrayOf, CType, Number, Pointer, Record
from coalescecheck.lower.values import (
    Chosen,
    Fixed,
    Lent,
    Members,
    Parts,
    Place,
    Reference,
    Scalar,
    Value,
    Variable,
)

Node: TypeAlias = c_ast.Node | None


def type_of(place: Place) -> CType:
    """The C type of the object at a place."""
    return place.value.type if isinstance(place, Fixed) else place.type


def demote(cx: Context, place: Place) -> None:
    """This variable must be memory: lower the kernel again with it there."""
    if isinstance(place, Chosen):
        place = place.array
    if isinstance(place, Variable | Parts):
        cx.demote.add(place.key)


def nowhere(cx: Context) -> Expr:
    """An address that is not known."""
    return cx.undefined("address", "not an address", ir.PTR)


def convert(cx: Context, value: Value, ctype: CType, node: Node) -> Value:
    """``value`` as the type ``ctype``, as by assignment or a cast."""
    if ctype == VOID:
        return Scalar(VOID, arith.zero(ir.I32))
    match value, ctype:
        case Scalar(), Number() | Pointer():
            return Scalar(ctype, _convert_scalar(cx, value, ctype))
        case Reference(), Pointer():
            return _convert_reference(cx, value, ctype)
        case Reference(), Number() if ctype.scalar == ir.BOOL:
            return Scalar(ctype, TRUE)
        case Reference(), Number():
            demote(cx, value.place)
            return storage.undefined_value(cx, ctype, "address", "the address of a variable")
        case Members() | Lent(), Record() | ArrayOf() if ctypes.same_shape(value.type, ctype):
            return value
    cx.warn(node, f"a value of the type {value.type} used as {ctype} is unknown")
    return storage.undefined_value(cx, ctype, "value", f"{value.type} used as {ctype}")


def _convert_scalar(cx: Context, value: Scalar, ctype: Number | Pointer) -> Expr:
    source = value.type
    to = ctypes.scalar_of(ctype) or ir.PTR
    if isinstance(source, Number) and source.unknown and not _is_unknown(ctype):
        # a number of an unknown type: float and int versions round differently
        whole = source.name.removesuffix(ir.PART)
        what = "a part" if whole != source.name else "a value"
        unnamed = source.name == ir.UNNAMED
        of = "that is not understood" if unnamed else f"of the unknown type {whole}"
        return cx.undefined("converted", f"{what} {of}", to)
    expr = value.expr
    if expr.type == ir.PTR and to.is_integer and to.size < 8 and to != ir.BOOL:
        expr = arith.cast(expr, ir.U64)
    if to == ir.PTR and expr.type.is_integer:
        expr = arith.cast(expr, ir.I64 if expr.type.kind == "int" else ir.U64)
    return arith.cast(expr, to)


def _is_unknown(ctype: CType) -> bool:
    return isinstance(ctype, Number) and ctype.unknown


def _convert_reference(cx: Context, value: Reference, ctype: Pointer) -> Value:
    held = type_of(value.place)
    if isinstance(ctype.target, ctypes.Void) or ctypes.same_shape(ctype.target, held):
        return Reference(ctype, value.place, value.array, value.index)
    if isinstance(held, ArrayOf) and isinstance(value.place, Parts):
        first = value.place.members[0]
        if ctypes.same_shape(ctype.target, type_of(first)):  # (float *)&row
            return Reference(ctype, first, value.place, 0)
    demote(cx, value.place)
    return Scalar(ctype, nowhere(cx))
