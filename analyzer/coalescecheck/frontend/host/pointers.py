"""Pointer arguments that do not point to the start of an allocation.

In: an argument of a launch.  Out: whether it is a pointer plus something, and how many
elements of the type that the argument points to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import size_of_type
from coalescecheck.frontend.host.argument_types import argument_type
from coalescecheck.frontend.host.callers import calls_of
from coalescecheck.frontend.host.scopes import declared_name, expressions, node_text, parameters
from coalescecheck.frontend.host.stored_pointers import (
    has_rows,
    of_elements,
    of_member,
    of_result,
    range_of,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

Moved = tuple[bool, "int | None"]
Seen = tuple[object, ...]  # variables on the way here
_BASE: Moved = (False, 0)
_UNKNOWN: Moved = (True, None)
POINTER_BYTES = 8
ALLOCATION_BYTES = 256  # rule allocation-alignment of docs/memory_model.md
_MAX_DEPTH = 6  # pointers copied from one another


def pointer_offset(values: HostValues, node: Node, seen: Seen = ()) -> Moved:
    """Whether a pointer is moved from its base, and by how many elements (None: unknown).

    Scalars may be passed as well; for them the answer has no meaning.
    """
    if len(seen) > _MAX_DEPTH:
        return _UNKNOWN
    match node.type:
        case "parenthesized_expression" if len(expressions(node)) == 1:
            return pointer_offset(values, expressions(node)[0], seen)
        case "cast_expression" | "call_expression":
            return _through_cast(values, node, seen)
        case "binary_expression":
            return _sum(values, node, seen)
        case "pointer_expression" if node_text(node)[:1] == "&":
            return _element(values, node.child_by_field_name("argument"), seen)
        case "identifier":
            return _variable(values, node, seen)
        case "pointer_expression" | "subscript_expression":
            return _pointed_to(values, node, seen)
        case "field_expression":
            return _stored(values, of_member(values, node), seen)
        case "assignment_expression" if node_text(node.child_by_field_name("operator")) == "=":
            value = node.child_by_field_name("right")
            return _UNKNOWN if value is None else pointer_offset(values, value, seen)
        case "update_expression" | "assignment_expression":
            return _UNKNOWN
        case "conditional_expression":
            sides = [pointer_offset(values, side, seen) for side in expressions(node)[1:]]
            return sides[0] if sides and all(s == sides[0] for s in sides) else _UNKNOWN
    return _BASE


def _argument(node: Node) -> Node:
    return node.child_by_field_name("argument") or node


def _stored(values: HostValues, sources: Iterable[Node], seen: Seen) -> Moved:
    """A pointer that was read from somewhere: moved, nobody knows how far, when anything is that is
    stored there or in another object's like; by a multiple of an allocation's alignment is not."""
    found = {source.id: source for source in sources if source.id not in seen}
    strays = (is_misaligned(values, source, (*seen, g)) for g, source in found.items())
    return _UNKNOWN if any(strays) else _BASE


def is_misaligned(values: HostValues, node: Node, seen: Seen = ()) -> bool:
    """Whether a pointer may be moved by other than a multiple of what allocations begin at."""
    moved, offset = pointer_offset(values, node, seen)
    if not moved or offset == 0:
        return False
    size = None if offset is None else _element_size(values, node)
    return offset is None or size is None or offset * size % ALLOCATION_BYTES != 0


def _pointed_to(values: HostValues, node: Node, seen: Seen) -> Moved:
    """``q[i]`` and ``*q``: a pointer in an array, or a row of what ``float (*m)[10]`` points to."""
    array = first = _argument(node)
    while array.type in ("parenthesized_expression", "binary_expression"):
        array = array.child_by_field_name("left") or expressions(array)[0]
    if (array != first or node.type == "subscript_expression") and has_rows(values, array):
        return _UNKNOWN
    return _stored(values, of_elements(values, array), seen)


def _through_cast(values: HostValues, node: Node, seen: Seen) -> Moved:
    """A cast may change the element size, by which an offset is divided anew."""
    inner = node.child_by_field_name("value")
    if node.type == "call_expression":
        function = node_text(node.child_by_field_name("function"))
        if not function.endswith("_cast>") and "_cast<" not in function:
            return _stored(values, of_result(values, node), seen)  # none of v.data()
        inner = next(iter(expressions(node.child_by_field_name("arguments"))), None)
    if inner is None:
        return _BASE
    moved, offset = pointer_offset(values, inner, seen)
    if offset == 0:
        return moved, 0
    before, after = _element_size(values, inner), _element_size(values, node)
    if offset is None or before is None:
        return _UNKNOWN
    moved_by = offset * before
    if after is None and moved_by % ALLOCATION_BYTES == 0:
        return True, 0  # as good as not moved
    return _UNKNOWN if after is None or moved_by % after else (True, moved_by // after)


def _element_size(values: HostValues, pointer: Node) -> int | None:
    """Bytes of what a pointer points to."""
    type_ = argument_type(values, pointer, values.context)
    if type_ is None or not type_.depth:
        return None
    return POINTER_BYTES if type_.depth > 1 else size_of_type(type_.base)


def _sum(values: HostValues, node: Node, seen: Seen) -> Moved:
    operator = node_text(node.child_by_field_name("operator"))
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator not in ("+", "-") or left is None or right is None:
        return _BASE
    base, step = (left, right)
    change = values.integer(step)
    if change is None and operator == "+" and values.integer(left) is not None:
        base, change = right, values.integer(left)
    if change is None:
        return _UNKNOWN
    _, before = pointer_offset(values, base, seen)
    if before is None:
        return _UNKNOWN
    return True, before + change if operator == "+" else before - change


def _element(values: HostValues, target: Node | None, seen: Seen) -> Moved:
    """``&p[k]``, and ``&x`` of anything else, which is taken for a base of its own."""
    if target is None or target.type != "subscript_expression":
        return _BASE
    array = target.child_by_field_name("argument")
    indices = expressions(target.child_by_field_name("indices"))
    if array is None or len(indices) != 1:
        return _UNKNOWN
    index = values.integer(indices[0])
    _, before = pointer_offset(values, array, seen)
    return (True, None if index is None or before is None else before + index)


def _variable(values: HostValues, node: Node, seen: Seen) -> Moved:
    """A pointer variable is moved when anything ever assigned to it is."""
    declaration = values.scopes.resolve(node_text(node), node)
    if declaration is not None and declaration.kind == "member":
        return _stored(values, of_member(values, node), seen)
    if declaration is not None and declaration.kind == "range":
        through = range_of(declaration)
        return _BASE if through is None else _stored(values, of_elements(values, through), seen)
    if declaration is None or declaration.kind not in ("variable", "parameter"):
        return _BASE
    if "pointer_declarator" not in declaration.shape and declaration.type != "auto":
        return _BASE
    if any(declaration is other for other in seen):
        return _BASE  # pointers exchanged in a loop: what enters the circle decides
    seen = (*seen, declaration)
    sources = [declaration.init] if declaration.init is not None else []
    for write in values.writes.of(declaration):
        if write.operator in ("+=", "-=", "++", "--"):
            return _UNKNOWN
        if write.value is not None:
            sources.append(write.value)
    if declaration.kind == "parameter":
        sources += passed(values, declaration.holder, declaration.scope)
    found = [pointer_offset(values, s, seen) for s in sources]
    moved = [f for f in found if f[0]]
    if not moved:
        return _BASE
    return moved[0] if len(found) == 1 else _UNKNOWN


def passed(values: HostValues, holder: Node, function: Node) -> list[Node]:
    """What the visible calls of a function pass for one parameter."""
    if function.type != "function_definition":
        return []
    index = next((i for i, p in enumerate(parameters(function)) if p == holder), None)
    if index is None or not declared_name(holder):
        return []
    calls = calls_of(values.scopes, function) or []
    listed = [expressions(call.child_by_field_name("arguments")) for call in calls]
    return [arguments[index] for arguments in listed if index < len(arguments)]
