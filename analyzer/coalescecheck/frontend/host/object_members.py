"""What an object holds that a launch passes by value, as far as its list and assignments tell.

In: an argument of a launch.  Out: its integers by the names of members (``n``, ``view.n``,
``strides[1]``), and the pointers that do not point to the start of an allocation.  It must not know
kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node

from coalescecheck.frontend.host.pointers import is_misaligned
from coalescecheck.frontend.host.scopes import (
    Declaration,
    ancestors,
    expressions,
    node_text,
    parameters,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_CLASSES = ("struct_specifier", "class_specifier")
_PATH = ("field_expression", "subscript_expression", "parenthesized_expression")
MOST_ELEMENTS = 16  # of arrays of pointers in objects
_FILE = ("translation_unit", "namespace_definition")
# CUDA's vector types, and the functions that make them
_VECTOR = re.compile(r"(?:make_)?(?:u?(?:char|short|int|long|longlong)|dim)([1-4])")
# what may change an operand, or an array that it is
_IN_PLACE = ("pointer_expression", "update_expression", "argument_list", "init_declarator", "ERROR")
_LISTS = ("initializer_list", "argument_list")


@dataclass(frozen=True, slots=True)
class Held:
    """``moved`` are members that hold pointers which are moved from their base."""

    integers: tuple[tuple[str, int], ...] = ()
    moved: tuple[str, ...] = ()


class _Member(NamedTuple):
    name: str
    shape: tuple[str, ...]
    type: str


class _Class(NamedTuple):
    members: tuple[_Member, ...]
    plain: bool  # no bases, constructors or specialisations: a list gives the members in order


def members_of(values: HostValues, node: Node) -> Held:
    """What the object ``node`` holds."""
    declared = values.scopes.resolve(node_text(node), node) if node.type == "identifier" else None
    if declared is None:
        return _held(_made(values, node), values)
    if declared.kind != "variable" or declared.shape:
        return Held()
    assigned = dict(_assigned(values, declared))
    given: list[tuple[str, Node | None]] = []
    if declared.init is not None and declared.init.type in _LISTS:
        given = list(_listed(values, declared.type, declared.init))
    elif declared.init is not None:
        given = list(_made(values, declared.init))
    moved = _held([*given, *assigned.items()], values).moved
    writes = values.writes.of(declared)
    touched = {w.component: None for w in writes if w.component and w.operator != "init"}
    changed = {**dict.fromkeys(_used_in_place(values, declared)), **touched, **assigned}
    integers = _held([g for g in given if not _changes(g[0], changed)], values).integers
    stepped = {w.component for w in writes if w.operator in ("++", "--")}
    moved += tuple(n for n in _pointers(values, declared.type) if n in stepped and n not in moved)
    moved = tuple(name.replace("[?]", f"[{i}]") for name in moved for i in _places(name))
    local = declared.is_constant or declared.scope.type not in _FILE
    if not local or any(w.component is None and w.operator != "init" for w in writes):
        return Held((), moved)
    for name, value in assigned.items():
        reaching = values.writes.reaching(declared, node, name)
        if reaching is not None and len(reaching) == 1 and reaching[0].value == value:
            integers += _held([(name, value)], values).integers
    return Held(integers, moved)


def _places(name: str) -> range:
    """The elements that one may be of which nobody knows which it is."""
    return range(MOST_ELEMENTS if "[?]" in name else 1)


def _changes(name: str, assigned: dict[str, Node | None]) -> bool:
    """Whether a member, what it is a part of or a part of it is assigned."""
    return any(_within(name, a.split("[?]")[0]) or _within(a, name) for a in assigned)


def _within(name: str, whole: str) -> bool:
    return name == whole or name.startswith((f"{whole}.", f"{whole}["))


def _held(
    given: Iterator[tuple[str, Node | None]] | list[tuple[str, Node | None]], values: HostValues
) -> Held:
    integers: dict[str, int] = {}
    moved: dict[str, None] = {}
    for name, value in given:
        if value is None or is_misaligned(values, value):
            moved[name] = None
        number = None if value is None else values.integer(value)
        if number is not None:
            integers[name] = number
    return Held(tuple(integers.items()), tuple(moved))


def _made(values: HostValues, node: Node) -> Iterator[tuple[str, Node | None]]:
    """``Pair{3, p}`` and ``Pair(3, p)``, and ``{3, p}`` for a parameter of that class."""
    if node.type == "initializer_list":
        for class_name in _taken(values, node):
            yield from _listed(values, class_name, node)
        return
    if node.type == "compound_literal_expression":
        listed, of = node.child_by_field_name("value"), node.child_by_field_name("type")
    elif node.type == "call_expression":
        listed, of = node.child_by_field_name("arguments"), node.child_by_field_name("function")
    else:
        return
    if listed is not None and of is not None:
        yield from _listed(values, node_text(of), listed)


def _taken(values: HostValues, argument: Node) -> dict[str, None]:
    """The types of the parameter that an argument is for, in all functions of the called name."""
    listed = argument.parent
    call = listed.parent if listed is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    if listed is None or function is None:
        return {}
    index = next(i for i, e in enumerate(expressions(listed)) if e == argument)
    name = node_text(function).split("<")[0].rsplit("::", 1)[-1].strip()
    found = (parameters(holder)[index : index + 1] for holder in values.scopes.functions(name))
    return {node_text(p.child_by_field_name("type")): None for each in found for p in each}


def _assigned(values: HostValues, declared: Declaration) -> Iterator[tuple[str, Node | None]]:
    """``object.path = value``; None for a value that is only changed."""
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
        plain = node_text(assigned.child_by_field_name("operator")) == "="
        yield path, assigned.child_by_field_name("right") if plain else None


def _used_in_place(values: HostValues, declared: Declaration) -> Iterator[str]:
    """Elements and whole arrays of the object that other code may change: ``memcpy(s.n, …)``."""
    name = node_text(declared.name)
    for place in values.scopes.occurrences(name):
        path, target = _path(values, place)
        parent = target.parent
        if path and parent is not None and parent.type in _IN_PLACE:
            if values.scopes.resolve(name, place) != declared:
                continue
            yield path.replace("[?]", "")


def _path(values: HostValues, place: Node) -> tuple[str, Node]:
    """``q`` and the node of ``s.q``; ``q[?]`` for an element nobody knows."""
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
            path += "[?]" if index is None else f"[{index}]"
        node, parent = parent, parent.parent
    return path, node


def _listed(values: HostValues, class_name: str, listed: Node) -> Iterator[tuple[str, Node | None]]:
    """What a list gives to the members of a class in sight; what a constructor makes of moved
    pointers may be in any of its pointers."""
    name = class_name.split("<")[0].rsplit("::", 1)[-1]
    class_, given = _class(values, name), expressions(listed)
    vector = _VECTOR.fullmatch(name)
    if class_ is None and vector is not None:
        if all(item.type != "initializer_pair" for item in given):
            yield from zip("xyzw"[: int(vector[1])], given, strict=False)
        return
    if class_ is None:
        return
    if not class_.plain or listed.type == "argument_list":
        if any(is_misaligned(values, value) for value in given):
            yield from ((member, None) for member in _pointers(values, name))
        return
    at = 0
    for item in given:
        value: Node | None = item
        if item.type == "initializer_pair":
            named = node_text(item.child_by_field_name("designator"))
            at = next((i for i, m in enumerate(class_.members) if f".{m.name}" == named), at)
            value = item.child_by_field_name("value")
        if value is None or at >= len(class_.members):
            return
        yield from _given(values, class_.members[at], value)
        at += 1


def _given(values: HostValues, member: _Member, value: Node) -> Iterator[tuple[str, Node | None]]:
    if value.type != "initializer_list":
        yield member.name, value
    elif "array_declarator" in member.shape:
        for index, element in enumerate(expressions(value)):
            yield f"{member.name}[{index}]", element
    else:
        for name, inner in _listed(values, member.type, value):
            yield f"{member.name}.{name}", inner


def _pointers(values: HostValues, class_name: str) -> list[str]:
    """The members of a class in sight that are pointers."""
    class_ = _class(values, class_name.split("<")[0].rsplit("::", 1)[-1])
    members = () if class_ is None else class_.members
    return [member.name for member in members if "pointer_declarator" in member.shape]


def _class(values: HostValues, name: str) -> _Class | None:
    for place in values.scopes.occurrences(name):
        of = place.parent
        body = of.child_by_field_name("body") if of is not None and of.type in _CLASSES else None
        if of is None or body is None or of.child_by_field_name("name") != place:
            continue
        members: list[_Member] = []
        plain = all(child.type != "base_class_clause" for child in of.children)
        plain &= not any(map(_specialises, values.scopes.occurrences(name)))
        for holder in body.named_children:
            declarators = holder.children_by_field_name("declarator")
            found = [_member(d, node_text(holder.child_by_field_name("type"))) for d in declarators]
            plain &= all(m.name != name for m in found)
            if holder.type != "field_declaration" or _is_static(holder):
                continue
            plain &= bool(found)  # an anonymous union is one of the list's parts
            members += [m for m in found if "function_declarator" not in m.shape]
        return _Class(tuple(members), plain)
    return None


def _specialises(place: Node) -> bool:
    """Whether a name is that of another body of the class template."""
    of = place.parent
    outer = of.parent if of is not None and of.type == "template_type" else None
    return outer is not None and outer.type in _CLASSES and outer.child_by_field_name("name") == of


def _is_static(holder: Node) -> bool:
    return any(node_text(child) == "static" for child in holder.children)


def _member(declarator: Node, type_: str) -> _Member:
    node = declarator
    while not node.type.endswith("identifier"):
        inner = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
        if inner is None:
            return _Member("", ("function_declarator",), type_)
        node = inner
    around = [a.type for a in ancestors(node) if a.start_byte >= declarator.start_byte]
    shape = around[: around.index("field_declaration")] if "field_declaration" in around else around
    return _Member(node_text(node), tuple(shape), type_)
