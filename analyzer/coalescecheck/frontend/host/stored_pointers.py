"""What may have been stored where a launch takes a pointer from: members, elements, results.

In: ``s.p``, ``p[i]``, ``*p``, ``f(x)`` or the name of a member.  Out: the expressions whose values
it may have, none where no text in sight stores anything there.  Objects of one class are not told
apart.  It must not know values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import (
    Declaration,
    ancestors,
    expressions,
    node_text,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_ADDED = frozenset({"push_back", "emplace_back"})
_MISREAD_ROWS = ["pointer_expression", "argument_list", "call_expression", "subscript_expression"]
_WRAPPED = ("field_expression", "parenthesized_expression")


def of_member(values: HostValues, node: Node) -> Iterator[Node]:
    """What is stored in ``object.member``, or in the member that a name in a method means."""
    field = node.child_by_field_name("field") if node.type == "field_expression" else node
    name = node_text(field)
    for place in values.scopes.occurrences(name):
        yield from _written(values, place, name)
    owner = node.child_by_field_name("argument") if node.type == "field_expression" else None
    if owner is not None and owner.type == "identifier":
        declared = values.scopes.resolve(node_text(owner), owner)
        if declared is not None:
            yield from _aggregate(values, declared, name)


def _written(values: HostValues, place: Node, name: str) -> Iterator[Node]:
    """What one use of the name stores in a member."""
    parent = place.parent
    if parent is None:
        return
    if parent.type in ("field_initializer", "field_designator", "initializer_pair"):
        around = parent.parent if parent.type == "field_designator" else parent
        value = around.child_by_field_name("value") if around is not None else None
        inner = [
            c for c in parent.named_children if c.type in ("argument_list", "initializer_list")
        ]
        yield from [value] if value is not None else [e for c in inner for e in expressions(c)]
        return
    if parent.type == "field_expression" and parent.child_by_field_name("field") == place:
        place, parent = parent, parent.parent
    else:
        meant = values.scopes.resolve(name, place)
        if meant is None or meant.kind != "member":
            return
        if meant.name == place and meant.init is not None:
            yield meant.init
    if parent is not None and parent.type in ("assignment_expression", "update_expression"):
        if parent.type == "update_expression":
            yield parent
        elif parent.child_by_field_name("left") == place:
            is_plain = node_text(parent.child_by_field_name("operator")) == "="
            value = parent.child_by_field_name("right") if is_plain else parent
            yield from [value] if value is not None else []


def _aggregate(values: HostValues, declared: Declaration, name: str) -> Iterator[Node]:
    """What ``P p{a, b}`` gives to the member called ``name``."""
    listed = declared.init
    if listed is None or listed.type != "initializer_list":
        return
    given = expressions(listed)
    for member in values.scopes.declarations(name):
        if member.kind == "member":
            index = _index(member)
            yield from given[index : index + 1]


def _index(member: Declaration) -> int:
    """How many data members stand before one in its class."""
    index = 0
    body = member.scope.child_by_field_name("body") or member.scope
    for holder in body.named_children:
        if holder.type != "field_declaration":
            continue
        for declarator in holder.children_by_field_name("declarator"):
            if declarator.start_byte <= member.name.start_byte < declarator.end_byte:
                return index
            index += declarator.type != "function_declarator"
    return index


def of_elements(values: HostValues, node: Node) -> Iterator[Node]:
    """What is stored in the elements of an array, a container or what a pointer points to."""
    if node.type == "field_expression":
        for place in values.scopes.occurrences(node_text(node.child_by_field_name("field"))):
            yield from _into_elements(place)
        return
    declared = values.scopes.resolve(node_text(node), node) if node.type == "identifier" else None
    if declared is None:
        return
    init = declared.init
    if init is not None and init.type == "initializer_list":
        yield from expressions(init)
    elif init is not None and init.type == "identifier" and init != node:
        yield from of_elements(values, init)
    for place in values.scopes.occurrences(node_text(declared.name)):
        if values.scopes.resolve(node_text(place), place) == declared:
            yield from _into_elements(place)


def _into_elements(place: Node) -> Iterator[Node]:
    """What ``p[i] = x`` or ``p.push_back(x)`` stores."""
    node, parent = place, place.parent
    while parent is not None and parent.type in _WRAPPED:
        if parent.child_by_field_name("argument") == node and parent.type == "field_expression":
            call = parent.parent
            added = node_text(parent.child_by_field_name("field")) in _ADDED
            if added and call is not None and call.type == "call_expression":
                yield from expressions(call.child_by_field_name("arguments"))
            return
        node, parent = parent, parent.parent
    if parent is None or parent.type != "subscript_expression":
        return
    if parent.child_by_field_name("argument") != node or parent.parent is None:
        return
    assigned = parent.parent
    if assigned.type == "assignment_expression" and assigned.child_by_field_name("left") == parent:
        value = assigned.child_by_field_name("right")
        yield from [value] if value is not None else []


def of_result(values: HostValues, call: Node) -> Iterator[Node]:
    """What the functions of the called name that are in sight return."""
    function = call.child_by_field_name("function")
    if function is not None and function.type == "field_expression":
        function = function.child_by_field_name("field")
    if function is None:
        return
    name = node_text(function).split("<")[0].rsplit("::", 1)[-1].strip()
    for holder in values.scopes.functions(name):
        yield from _returned(holder)
    declared = values.scopes.resolve(name, function) if function.type == "identifier" else None
    init = declared.init if declared is not None else None
    if init is not None and init.type == "lambda_expression":
        yield from _returned(init)


def _returned(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "return_statement":
            yield from expressions(child)
        elif child.type != "lambda_expression":
            yield from _returned(child)


def has_rows(values: HostValues, pointer: Node) -> bool:
    """Whether a pointer is one to rows, ``float (*m)[10]``, which the parser takes for a cast of
    ``*m`` and one of its elements."""
    if pointer.type != "identifier":
        return False
    declared = values.scopes.resolve(node_text(pointer), pointer)
    if declared is not None:
        shape = declared.shape
        return bool(shape) and shape[0] == "pointer_declarator" and "array_declarator" in shape
    around = (list(ancestors(p))[:4] for p in values.scopes.occurrences(node_text(pointer)))
    return any([a.type for a in chain] == _MISREAD_ROWS for chain in around)


def range_of(declared: Declaration) -> Node | None:
    """What a range-based ``for`` goes through."""
    loop = next((a for a in (declared.holder, *ancestors(declared.name)) if _is_range(a)), None)
    return loop.child_by_field_name("right") if loop is not None else None


def _is_range(node: Node) -> bool:
    return node.type == "for_range_loop"
