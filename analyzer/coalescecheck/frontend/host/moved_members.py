"""Pointers in a struct that a launch passes by value, as far as they are moved from their base.

In: an argument of a launch.  Out: the names of its members that do not point to the start of an
allocation: ``q``, ``view.p``, ``parts[1]``.  It must not know kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.pointers import pointer_offset
from coalescecheck.frontend.host.scopes import Declaration, ancestors, expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_CLASSES = ("struct_specifier", "class_specifier")
_PATH = ("field_expression", "subscript_expression", "parenthesized_expression")


def moved_members(values: HostValues, node: Node) -> tuple[str, ...]:
    """The members of the object ``node`` that hold moved pointers."""
    if node.type in ("compound_literal_expression", "initializer_list"):
        class_name = node_text(node.child_by_field_name("type")) or ""
        listed = node.child_by_field_name("value") or node
        return tuple(dict.fromkeys(_listed(values, class_name, listed)))
    declared = values.scopes.resolve(node_text(node), node) if node.type == "identifier" else None
    if declared is None or declared.kind != "variable" or declared.shape:
        return ()
    found = list(_assigned(values, declared))
    init = declared.init
    if init is not None and init.type == "compound_literal_expression":
        init = init.child_by_field_name("value")
    if init is not None and init.type == "initializer_list":
        found += _listed(values, declared.type, init)
    return tuple(dict.fromkeys(found))


def _assigned(values: HostValues, declared: Declaration) -> Iterator[str]:
    """``object.path = moved``."""
    name = node_text(declared.name)
    for place in values.scopes.occurrences(name):
        path, target = _path(values, place)
        assigned = target.parent
        if not path or assigned is None or assigned.type != "assignment_expression":
            continue
        if assigned.child_by_field_name("left") != target:
            continue
        if values.scopes.resolve(name, place) != declared:
            continue
        value = assigned.child_by_field_name("right")
        plain = node_text(assigned.child_by_field_name("operator")) == "="
        if value is not None and (not plain or pointer_offset(values, value)[0]):
            yield path


def _path(values: HostValues, place: Node) -> tuple[str, Node]:
    """``q`` and the node of ``s.q``; an element nobody knows is the first."""
    path, node, parent = "", place, place.parent
    while parent is not None and parent.type in _PATH:
        if parent.type == "field_expression":
            if parent.child_by_field_name("argument") != node:
                break
            field = node_text(parent.child_by_field_name("field"))
            path = f"{path}.{field}" if path else field
        elif parent.type == "subscript_expression":
            if parent.child_by_field_name("argument") != node:
                break
            indices = expressions(parent.child_by_field_name("indices"))
            index = values.integer(indices[0]) if len(indices) == 1 else None
            path += f"[{index or 0}]"
        node, parent = parent, parent.parent
    return path, node


def _listed(values: HostValues, class_name: str, listed: Node) -> Iterator[str]:
    """``{base, base + 1}`` of a class in sight."""
    members = list(_members(values, class_name.rsplit("::", 1)[-1]))
    at = 0
    for given in expressions(listed):
        value: Node | None = given
        if given.type == "initializer_pair":
            named = given.child_by_field_name("designator")
            at = next((i for i, m in enumerate(members) if f".{m[0]}" == node_text(named)), at)
            value = given.child_by_field_name("value")
        if value is None or at >= len(members):
            return
        name, shape, inner = members[at]
        if value.type == "initializer_list" and "array_declarator" in shape:
            for index, element in enumerate(expressions(value)):
                if pointer_offset(values, element)[0]:
                    yield f"{name}[{index}]"
        elif value.type == "initializer_list":
            yield from (f"{name}.{member}" for member in _listed(values, inner, value))
        elif "pointer_declarator" in shape and pointer_offset(values, value)[0]:
            yield name
        at += 1


def _members(values: HostValues, class_name: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The data members of a class in order: name, declarators around it, and type."""
    for place in values.scopes.occurrences(class_name):
        body = place.parent.child_by_field_name("body") if place.parent is not None else None
        if body is None or place.parent is None or place.parent.type not in _CLASSES:
            continue
        for holder in body.named_children:
            if holder.type != "field_declaration":
                continue
            type_ = node_text(holder.child_by_field_name("type"))
            for declarator in holder.children_by_field_name("declarator"):
                yield from _member(declarator, type_)
        return


def _member(declarator: Node, type_: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    node: Node | None = declarator
    while node is not None and not node.type.endswith("identifier"):
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    if node is None:
        return
    shape = [a.type for a in ancestors(node) if a.start_byte >= declarator.start_byte]
    if "function_declarator" not in shape:
        yield node_text(node), tuple(shape), type_
