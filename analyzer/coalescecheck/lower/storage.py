"""Decides where declared objects live, and makes them: variables, parts, or memory.

In: a name and its C type.  Out: a place; arrays of the kernel are entered into the context.
Scalars and structs become variables; small arrays are taken apart until an index that is not
constant (or an escaping address) demotes them; unions and large arrays are memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypedDict

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import ArrayBase, Var
from coalescecheck.ir.kernel import Array, Assign, Space
from coalescecheck.lower import arith, ctypes
from coalescecheck.lower.constant_memory import integers_in
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import ArrayOf, CType, Number, Pointer, Record
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.member_names import inside
from coalescecheck.lower.values import (
    Fixed,
    Lent,
    Members,
    Memory,
    Parts,
    Place,
    Scalar,
    Value,
    Variable,
)

MAX_TAKEN_APART = 64  # scalars of an array that may live in registers; nvcc keeps more rarely


def make_local(
    cx: Context, name: str, declared: Declared, key: Hashable, node: c_ast.Node | None
) -> Place:
    """A place for a local object, without a value."""
    ctype = declared.type
    if key in cx.demoted or needs_memory(ctype):
        return allocate(cx, name, declared, Space.LOCAL, node=node)
    match ctype:
        case Record():
            members: dict[str | int, Place] = {
                m.name: _narrowed(
                    make_local(cx, inside(name, ctype, m), Declared(m.type), key, node), m.bits
                )
                for m in ctype.members
            }
            return Parts(ctype, members, key)
        case ArrayOf(length=int(length)):
            element = Declared(ctype.element)
            elements: dict[str | int, Place] = {
                i: make_local(cx, f"{name}[{i}]", element, key, node) for i in range(length)
            }
            return Parts(ctype, elements, key)
    scalar = ctypes.scalar_of(ctype)
    if scalar is None:
        raise cx.unsupported(node, f"`{name}` has the type {ctype}, which no object can have")
    return remembered(cx, Variable(ctype, Var(cx.unique(name), scalar), key, cx.path))


def remembered(cx: Context, variable: Variable) -> Variable:
    """A variable that a loop gives away after it has called others: given from the start."""
    if ("kept", variable.key) in cx.demoted:
        cx.given[id(variable)] = variable
    return variable


def _narrowed(place: Place, bits: tuple[int, int] | None) -> Place:
    """A bit-field's variable keeps only the field's width."""
    if bits is not None and isinstance(place, Variable):
        place.bit_width = bits[1]
    return place


def needs_memory(ctype: CType) -> bool:
    """Whether a local of this type cannot be taken apart into variables."""
    match ctype:
        case Record():
            return ctype.overlapping
        case ArrayOf(length=int()):
            _, element = ctypes.extents(ctype)
            if isinstance(element, Record) and element.overlapping:
                return True
            count = 0
            for count, _leaf in enumerate(ctypes.leaves(ctype), 1):
                if count > MAX_TAKEN_APART:
                    return True
            return count == 0
        case ArrayOf():
            return True
    return False


def allocate(
    cx: Context,
    name: str,
    declared: Declared,
    space: Space,
    *,
    node: c_ast.Node | None,
    align: int = 0,
    dynamic: bool = False,
    parameter: bool = False,
    values: tuple[int | float, ...] | None = None,
) -> Memory:
    """A new array of the kernel and the place that is all of it."""
    ctype = declared.type
    lengths, element = ctypes.extents(ctype)
    unique = cx.unique_array(name)
    pad = cx.pads.get(unique, 0)
    if pad and space == Space.SHARED and len(lengths) >= 2 and isinstance(lengths[-1], int):
        ctype = _padded(ctype, pad)
        lengths, element = ctypes.extents(ctype)
    size = ctypes.size_of(ctype)
    dims = tuple(n for n in lengths if isinstance(n, int))
    cx.arrays[unique] = Array(
        name=unique,
        space=space,
        size=None if dynamic or not isinstance(size, int) else size,
        dims=dims if len(dims) == len(lengths) else (),
        align=max(align, ctypes.align_of(ctype)),
        dynamic=dynamic,
        parameter=parameter,
        values=values,
        const=declared.const,
        integers=integers_in(ctype) if space == Space.CONSTANT else (),
        span=cx.span(node),
        **_element(element),
    )
    cx.array_align[unique] = max(align, ctypes.align_of(element))
    return Memory(ctype, ArrayBase(unique), declared.volatile, declared.const)


def _padded(ctype: CType, pad: int) -> CType:
    if not isinstance(ctype, ArrayOf):
        return ctype
    if isinstance(ctype.element, ArrayOf):
        return ArrayOf(_padded(ctype.element, pad), ctype.length)
    return ArrayOf(ctype.element, ctype.length + pad if isinstance(ctype.length, int) else None)


class _ElementFields(TypedDict):
    """The fields of ``Array`` that describe its elements."""

    element: str
    element_size: int
    element_kind: str
    element_align: int
    pointee: str


def _element(element: CType) -> _ElementFields:
    size = ctypes.size_of(element)
    kind = "unknown"
    match element:
        case Number(unknown=False):
            kind = element.scalar.kind
        case Pointer():
            kind = "ptr"
        case Record():
            kind = "struct"
    return {
        "element": str(element),
        "element_size": size if isinstance(size, int) else 4,
        "element_kind": kind,
        "element_align": ctypes.align_of(element),
        "pointee": str(element.target) if isinstance(element, Pointer) else "",
    }


def borrow(
    cx: Context, name: str, value: Members, key: Hashable, node: c_ast.Node | None
) -> Parts | None:
    """A struct passed by value whose arrays are read-only parameter memory: the scalars are
    copied, the arrays stay where they are.  None if it holds no such array."""
    if key in cx.demoted or not _has_lent(value) or not isinstance(value.type, Record):
        return None
    members: dict[str | int, Place] = {}
    for member, inner in value.members.items():
        if isinstance(inner, Lent):
            members[member] = inner.place
        elif isinstance(inner, Members) and _has_lent(inner):
            borrowed = borrow(cx, f"{name}.{member}", inner, key, node)
            members[member] = borrowed or Fixed(inner)
        elif isinstance(inner, Scalar):
            place = make_local(cx, f"{name}.{member}", Declared(inner.type), key, node)
            if isinstance(place, Variable):
                cx.emit(Assign(place.var, inner.expr))
                place.assigned = True
            members[member] = place
        else:
            members[member] = Fixed(inner)
    return Parts(value.type, members, key)


def _has_lent(value: Value) -> bool:
    if isinstance(value, Members):
        return any(_has_lent(inner) for inner in value.members.values())
    return isinstance(value, Lent)


# --- parameters of the kernel -----------------------------------------------------------------

GLOBAL_ALIGN = 256  # bytes: rule allocation-alignment of docs/memory_model.md


def pointer_parameter(
    cx: Context, name: str, pointer: Pointer, key: Hashable, node: c_ast.Node
) -> Variable:
    """A pointer that the kernel receives: an array of unknown size, and the variable."""
    base = pointed_to(cx, name, pointer, node)
    variable = Variable(pointer, Var(cx.unique(name), ir.PTR), key, cx.path, assigned=True)
    cx.emit(Assign(variable.var, arith.NULL if name in cx.nulls else base))
    return remembered(cx, variable)


def pointed_to(cx: Context, name: str, pointer: Pointer, node: c_ast.Node | None) -> ArrayBase:
    """The array of unknown size that a pointer in a parameter leads to."""
    _, element = ctypes.extents(pointer.target)
    unique = cx.unique_array(name)
    cx.arrays[unique] = Array(
        name=unique,
        space=Space.GLOBAL,
        align=GLOBAL_ALIGN,
        parameter=True,
        const=pointer.const,
        restrict=pointer.restrict,
        span=cx.span(node),
        **_element(element),
    )
    cx.array_align[unique] = ctypes.align_of(element)
    return ArrayBase(unique)


def followed(cx: Context, ctype: CType, node: c_ast.Node | None) -> None:
    """Give the kernel up where it handles a value that is too large to be taken apart."""
    if ctypes.is_too_large(ctype):
        raise cx.unsupported(node, f"a value of {ctypes.size_of(ctype)} bytes")


def zero_value(cx: Context, ctype: CType, node: c_ast.Node | None) -> Value:
    """What ``{}`` initialises an object to."""
    followed(cx, ctype, node)
    match ctype:
        case Record():
            return Members(ctype, {m.name: zero_value(cx, m.type, node) for m in ctype.members})
        case ArrayOf(length=int(length)):
            element = zero_value(cx, ctype.element, node)
            return Members(ctype, dict.fromkeys(range(length), element))
    scalar = ctypes.scalar_of(ctype)
    if scalar is None:
        return undefined_value(cx, ctype, "object", "part of an object of unknown size")
    return Scalar(ctype, arith.zero(scalar))


def undefined_value(
    cx: Context, ctype: CType, name: str, reason: str, uniform: bool = False
) -> Value:
    """A value of any type that is not known."""
    match ctype:
        case Record():
            return Members(
                ctype,
                {
                    m.name: undefined_value(cx, m.type, inside(name, ctype, m), reason, uniform)
                    for m in ctype.members
                },
            )
        case ArrayOf(length=int(length)):
            return Members(
                ctype,
                {
                    i: undefined_value(cx, ctype.element, f"{name}[{i}]", reason, uniform)
                    for i in range(length)
                },
            )
    return Scalar(ctype, cx.undefined(name, reason, ctypes.scalar_of(ctype) or ir.I32, uniform))
