"""Reading, writing and naming places: variables, members, elements, memory.

In: places and values.  Out: values, and statements in the context.  What is written is
converted to the place's type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pycparser import c_ast

from coalescecheck.ir.expr import ArrayBase, Expr
from coalescecheck.ir.kernel import Assign, Space
from coalescecheck.ir.mentions import mentioned
from coalescecheck.lower import (
    accesses,
    arith,
    bulk,
    conversions,
    ctypes,
    parameter_arrays,
    storage,
)
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import INT, ArrayOf, Pointer, Record
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.values import (
    Chosen,
    Fixed,
    Lent,
    Members,
    Memory,
    Parts,
    Place,
    Reference,
    Scalar,
    Value,
    Variable,
)

MAX_CHOSEN = 8  # pointers in an array that is indexed by a variable without being memory

Node: TypeAlias = c_ast.Node | None


# --- reading ----------------------------------------------------------------------------------


def read(cx: Context, place: Place, node: Node) -> Value:
    """The value of an lvalue; arrays decay to the address of their first element."""
    match place:
        case Memory(type=ArrayOf() as array):
            pointer = Pointer(array.element, place.const, place.volatile)
            return Scalar(pointer, place.address)
        case Parts(type=ArrayOf() as array):
            return Reference(Pointer(array.element), place.members[0], place, 0)
    return read_object(cx, place, node)


def read_object(cx: Context, place: Place, node: Node) -> Value:
    """The whole object as a value: one access where it is in memory."""
    match place:
        case Variable():
            return place.alias or Scalar(place.type, place.var)
        case Parts():
            members = {name: read_object(cx, p, node) for name, p in place.members.items()}
            return Members(place.type, members)
        case Memory():
            if _is_parameter(cx, place):
                return Lent(place.type, place)
            known = parameter_arrays.element(cx, place, node)
            return known if known is not None else accesses.load(cx, place, node)
        case Fixed():
            return place.value
        case Chosen():
            return _read_chosen(cx, place, node)


def _read_chosen(cx: Context, place: Chosen, node: Node) -> Value:
    result: Value | None = None
    for number, element in reversed(place.array.members.items()):
        value = read(cx, element, node)
        if isinstance(value, Reference):
            conversions.demote(cx, value.place)
        if not isinstance(value, Scalar):
            value = Scalar(place.type, conversions.nowhere(cx))
        if isinstance(result, Scalar):
            here = arith.select(_is_index(place, number), value.expr, result.expr)
            value = Scalar(place.type, here)
        result = value
    return result or Scalar(place.type, conversions.nowhere(cx))


def _is_index(place: Chosen, number: str | int) -> Expr:
    return arith.binary("==", place.index, arith.integer(int(number)))


def _is_parameter(cx: Context, place: Memory) -> bool:
    """Arrays in by-value parameters are read-only memory: passing them on copies nothing."""
    base = arith.root(place.address)
    if not (isinstance(base, ArrayBase) and isinstance(place.type, ArrayOf | Record)):
        return False
    array = cx.arrays[base.array]
    return array.parameter and array.space == Space.CONSTANT


def materialise(cx: Context, value: Value, node: Node) -> Value:
    """``value`` with everything that was only lent now loaded."""
    match value:
        case Lent():
            return accesses.load(cx, value.place, node)
        case Members():
            members = {name: materialise(cx, v, node) for name, v in value.members.items()}
            return Members(value.type, members)
    return value


# --- writing ----------------------------------------------------------------------------------


def write(cx: Context, place: Place, value: Value, node: Node) -> Value:
    """Assign ``value``, converted to the place's type; gives the converted value."""
    converted = conversions.convert(cx, value, conversions.type_of(place), node)
    match place:
        case Variable():
            _write_variable(cx, place, converted)
        case Parts():
            _write_parts(cx, place, converted, node)
        case Memory():
            _write_memory(cx, place, converted, node)
        case Fixed():
            cx.warn(node, "an assignment to something that is not a variable is ignored")
        case Chosen():
            _write_chosen(cx, place, converted, node)
    return converted


def _write_chosen(cx: Context, place: Chosen, value: Value, node: Node) -> None:
    if not isinstance(value, Scalar):
        conversions.demote(cx, place)
        return
    for number, element in place.array.members.items():
        old = read(cx, element, node)
        if isinstance(old, Scalar):
            new = arith.select(_is_index(place, number), value.expr, old.expr)
            write(cx, element, Scalar(place.type, new), node)


def _write_variable(cx: Context, place: Variable, value: Value) -> None:
    if isinstance(value, Reference):
        if place.alias == value:
            return
        if place.assigned or place.alias is not None or place.path != cx.path:
            conversions.demote(
                cx, value.place
            )  # not the only value: the pointer must be a real address
        else:
            place.alias = value
            return
    if place.alias is not None:
        conversions.demote(cx, place.alias.place)
        place.alias = None
    place.assigned = True
    if isinstance(value, Scalar):
        expr = value.expr
        if place.bit_width:
            expr = accesses.extract_bits(expr, (0, place.bit_width))
        cx.emit(Assign(place.var, expr))


def _write_parts(cx: Context, place: Parts, value: Value, node: Node) -> None:
    if isinstance(value, Lent):
        value = accesses.load(cx, value.place, node)
    if not isinstance(value, Members):
        return
    targets = {v.var.name for v in variables_of(place)}
    read_names = [mentioned(expr).variables for expr in accesses.flatten(cx, value)]
    if len(read_names) > 1 and any(targets & names for names in read_names):
        value = Members(value.type, _snapshots(cx, value))  # v = (float2){v.y, v.x}
    for name, member in place.members.items():
        if name in value.members:
            write(cx, member, value.members[name], node)


def _snapshots(cx: Context, value: Members) -> dict[str | int, Value]:
    return {name: _snapshot(cx, inner) for name, inner in value.members.items()}


def _snapshot(cx: Context, value: Value) -> Value:
    match value:
        case Scalar():
            return Scalar(value.type, cx.keep(value.expr))
        case Members():
            return Members(value.type, _snapshots(cx, value))
    return value


def _write_memory(cx: Context, place: Memory, value: Value, node: Node) -> None:
    base = arith.root(place.address)
    if isinstance(base, ArrayBase):
        array = cx.arrays[base.array]
        if array.parameter and array.space == Space.CONSTANT:
            cx.demote.add(parameter_arrays.demoted(base.array))
    if bulk.is_long(place.type):
        same = bulk.common_element(value)
        if same is not None:
            bulk.fill(cx, place, same, node)
            return
        if isinstance(value, Lent):
            bulk.copy(cx, place, value.place, node, node)
            return
    value = materialise(cx, value, node)
    if place.bits is not None and isinstance(value, Scalar):
        value = _insert_bits(cx, place, value, node)
    for reference in references_in(value):
        conversions.demote(cx, reference.place)
    accesses.store(cx, place, value, node)


def _insert_bits(cx: Context, place: Memory, value: Scalar, node: Node) -> Value:
    """A bit-field's unit with the field replaced: a read, then a write of the whole unit."""
    whole = Memory(place.type, place.address, place.volatile, packed=place.packed)
    unit = accesses.load(cx, whole, node)
    if not isinstance(unit, Scalar) or place.bits is None:
        return value
    first, width = place.bits
    type_ = unit.expr.type
    mask = arith.integer(((1 << width) - 1) << first, type_)
    kept = arith.binary("&", unit.expr, arith.unary("~", mask))
    field = arith.binary("<<", value.expr, arith.integer(first, type_))
    return Scalar(place.type, arith.binary("|", kept, arith.binary("&", field, mask)))


def references_in(value: Value) -> Iterator[Reference]:
    """The addresses of variables that are not in memory inside a value."""
    match value:
        case Reference():
            yield value
        case Members():
            for member in value.members.values():
                yield from references_in(member)


def variables_of(place: Place) -> Iterator[Variable]:
    """The scalar variables that make up a place."""
    match place:
        case Variable():
            yield place
        case Parts():
            for member in place.members.values():
                yield from variables_of(member)
        case Chosen():
            yield from variables_of(place.array)


def _arrays_of(place: Place) -> Iterator[str]:
    """The arrays in memory that are parts of a struct which is not."""
    match place:
        case Memory():
            base = arith.root(place.address)
            if isinstance(base, ArrayBase):
                yield base.array
        case Parts():
            for member in place.members.values():
                yield from _arrays_of(member)


def forget(cx: Context, place: Place, reason: str) -> None:
    """An unknown function may have written to the place."""
    cx.poisoned.update(_arrays_of(place))
    for variable in variables_of(place):
        if variable.alias is not None:
            conversions.demote(cx, variable.alias.place)
        unknown = cx.undefined(variable.var.name, reason, variable.var.type)
        variable.assigned = True
        cx.emit(Assign(variable.var, unknown))


# --- parts of places --------------------------------------------------------------------------


def member(cx: Context, place: Place, name: str, node: Node) -> Place:
    """The member ``name`` of a struct's place."""
    match place:
        case Parts() if name in place.members:
            return place.members[name]
        case Memory(type=Record() as record):
            found = record.find(name)
            if found is not None:
                address = arith.offset(place.address, ctypes.as_expr(found.offset))
                volatile = place.volatile or found.volatile
                packed = place.packed or record.unknown == ctypes.PACKED
                return Memory(found.type, address, volatile, place.const, found.bits, packed)
        case Fixed(value=Members() as value) if name in value.members:
            inner = value.members[name]
            return inner.place if isinstance(inner, Lent) else Fixed(inner)
        case Fixed(value=Lent() as lent):
            return member(cx, lent.place, name, node)
    cx.warn(
        node,
        f"the member `{name}` of {conversions.type_of(place)} is not known: its value is unknown",
    )
    return Fixed(storage.undefined_value(cx, INT, name, "unknown member"))


def address_of(cx: Context, place: Place, node: Node) -> Value:
    """``&place``."""
    match place:
        case Memory():
            pointer = Pointer(place.type, place.const, place.volatile)
            return Scalar(pointer, place.address)
        case Variable() | Parts() | Chosen():
            return Reference(Pointer(place.type), place)
        case Fixed(value=Lent() as lent):
            return address_of(cx, lent.place, node)
    holder = storage.make_local(
        cx, "temporary", Declared(conversions.type_of(place)), id(node), node
    )
    write(cx, holder, read_object(cx, place, node), node)
    return address_of(cx, holder, node)


def dereference(cx: Context, value: Value, node: Node) -> Place:
    """``*value``."""
    match value:
        case Reference():
            target = value.type.target
            if ctypes.same_shape(target, conversions.type_of(value.place)):
                return value.place
            conversions.demote(cx, value.place)
            return Memory(target, conversions.nowhere(cx))
        case Scalar(type=Pointer() as pointer):
            return Memory(pointer.target, value.expr, pointer.volatile, pointer.const)
    cx.warn(node, f"`*` of the type {value.type}: the address is unknown")
    return Memory(INT, conversions.nowhere(cx))


def advance(cx: Context, value: Value, index: Expr, node: Node) -> Value:
    """Pointer arithmetic: ``value`` plus ``index`` (i64) elements."""
    match value:
        case Reference():
            return _advance_reference(cx, value, index)
        case Scalar(type=Pointer() as pointer):
            step = ctypes.as_expr(ctypes.size_of(pointer.target))
            return Scalar(pointer, arith.offset(value.expr, arith.binary("*", index, step)))
    cx.warn(node, f"pointer arithmetic on the type {value.type}: the address is unknown")
    return Scalar(Pointer(INT), conversions.nowhere(cx))


def _advance_reference(cx: Context, value: Reference, index: Expr) -> Value:
    step = arith.constant_int(index)
    if step == 0:
        return value
    if step is not None and value.array is not None:
        at = value.index + step
        if at in value.array.members:
            return Reference(value.type, value.array.members[at], value.array, at)
    if step is None and value.array is not None and _may_choose(value.array):
        at_index = arith.binary("+", arith.integer(value.index), index)
        return Reference(value.type, Chosen(value.type.target, value.array, at_index))
    conversions.demote(cx, value.place)
    return Scalar(value.type, conversions.nowhere(cx))


def _may_choose(array: Parts) -> bool:
    element = array.type.element if isinstance(array.type, ArrayOf) else None
    return isinstance(element, Pointer) and len(array.members) <= MAX_CHOSEN
