"""Class templates whose methods launch kernels: their parameters and where they are named.

In: a place in host code.  Out: the template of the class around it and its uses elsewhere.
It must not know values.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import (
    Scopes,
    ancestors,
    declared_name,
    expressions,
    function_declarator,
    node_text,
)

_CLASSES = ("struct_specifier", "class_specifier")


@dataclass(frozen=True, slots=True)
class ClassTemplate:
    """``parameters`` of the head; ``uses``: the names with arguments outside of the class."""

    parameters: list[Node]
    uses: list[Node]


def is_method_head(function: Node) -> bool:
    """Whether the template head at a function is that of a class: ``void S<T>::run()``."""
    head = function.parent
    if _owner_name(function) is None or head is None or head.parent is None:
        return False
    return head.parent.type != "template_declaration"


def template_around(scopes: Scopes, function: Node | None, node: Node) -> ClassTemplate | None:
    """The class template that ``node`` is in, or that ``function`` is a method of."""
    name = _owner_name(function) if function is not None else None
    if function is not None and name is not None:
        heads = [a for a in ancestors(function) if a.type == "template_declaration"]
        if not heads:
            return None
        listed = _parameters(heads[-1])
        names = [declared_name(p) for p in listed]
        known = _definition(scopes, name)
        if known is not None and [declared_name(p) for p in _parameters(known)] != names:
            return ClassTemplate(listed, [])  # members are declared under other names
        return ClassTemplate(listed, _uses(scopes, name))
    for around in ancestors(node):
        head = around.parent
        if around.type in _CLASSES and head is not None and head.type == "template_declaration":
            if not _parameters(head):
                return None
            called = node_text(around.child_by_field_name("name"))
            return ClassTemplate(_parameters(head), _uses(scopes, called))
    return None


def _parameters(head: Node) -> list[Node]:
    return expressions(head.child_by_field_name("parameters"))


def _owner_name(function: Node) -> str | None:
    """``S`` of ``void ns::S<T>::run()``."""
    declarator = function_declarator(function)
    named = declarator.child_by_field_name("declarator") if declarator is not None else None
    owner: Node | None = None
    while named is not None and named.type == "qualified_identifier":
        owner, named = named.child_by_field_name("scope"), named.child_by_field_name("name")
    if owner is None or owner.type != "template_type":
        return None
    return node_text(owner.child_by_field_name("name"))


def _definition(scopes: Scopes, name: str) -> Node | None:
    """The template head of a class."""
    for node in scopes.occurrences(name):
        specifier = node.parent
        if specifier is None or specifier.type not in _CLASSES or specifier.parent is None:
            continue
        if _body(specifier):
            head = specifier.parent
            return head if head.type == "template_declaration" else None
    return None


def _body(specifier: Node) -> Node | None:
    return specifier.child_by_field_name("body")


def _uses(scopes: Scopes, name: str) -> list[Node]:
    """Where the class is named with arguments, except in itself and in specialisations."""
    found: list[Node] = []
    special: set[str] = set()
    for node in scopes.occurrences(name):
        use = node.parent
        if use is None or use.type not in ("template_type", "template_function"):
            continue
        if use.child_by_field_name("name") != node or _is_inside(use, name):
            continue
        specifier = use.parent
        if specifier is not None and specifier.type in _CLASSES and _body(specifier):
            special.add("".join(node_text(use).split()))
        else:
            found.append(use)
    return [use for use in found if "".join(node_text(use).split()) not in special]


def _is_inside(use: Node, name: str) -> bool:
    for around in ancestors(use):
        if around.type in _CLASSES and node_text(around.child_by_field_name("name")) == name:
            return True
        if around.type == "function_definition" and _owner_name(around) == name:
            return True
    return False
