"""Types of launch arguments, as far as declarations say them.

In: an argument.  Out: its base type's source and how many pointers are around it.  Casts,
``&``, ``*``, ``[]`` and sums with a pointer are followed; calls and members are not.
It must not know kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.contexts import Context
from coalescecheck.frontend.host.scopes import expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_POINTERS = ("pointer_declarator", "array_declarator", "abstract_pointer_declarator")


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """``base`` as written, behind ``depth`` pointers."""

    base: str
    depth: int


def argument_type(values: HostValues, node: Node, context: Context) -> ArgumentType | None:
    """The type of an argument, None where no declaration in sight says it."""
    match node.type:
        case "parenthesized_expression" if len(expressions(node)) == 1:
            return argument_type(values, expressions(node)[0], context)
        case "identifier":
            return _of_variable(values, node, context)
        case "cast_expression":
            return _of_descriptor(node.child_by_field_name("type"), context)
        case "call_expression":
            function = node.child_by_field_name("function")
            return _of_cast(function, context) or _of_construction(values, function, context)
        case "compound_literal_expression":
            return _of_construction(values, node.child_by_field_name("type"), context)
        case "pointer_expression" | "subscript_expression":
            inner = node.child_by_field_name("argument")
            found = argument_type(values, inner, context) if inner is not None else None
            change = 1 if node_text(node)[:1] == "&" else -1
            if found is None or found.depth + change < 0:
                return None
            return ArgumentType(found.base, found.depth + change)
        case "binary_expression":
            left = node.child_by_field_name("left")
            found = argument_type(values, left, context) if left is not None else None
            return found if found is not None and found.depth else None
    return None


def _of_variable(values: HostValues, node: Node, context: Context) -> ArgumentType | None:
    declaration = values.scopes.resolve(node_text(node), node)
    if declaration is None or declaration.kind not in ("variable", "parameter"):
        return None
    depth = sum(shape in _POINTERS for shape in declaration.shape)
    return _named(declaration.type, depth, context)


def _of_descriptor(descriptor: Node | None, context: Context) -> ArgumentType | None:
    if descriptor is None:
        return None
    depth = 0
    declarator = descriptor.child_by_field_name("declarator")
    while declarator is not None:
        if declarator.type not in _POINTERS:
            return None
        depth += 1
        declarator = declarator.child_by_field_name("declarator")
    return _named(node_text(descriptor.child_by_field_name("type")), depth, context)


def _of_cast(function: Node | None, context: Context) -> ArgumentType | None:
    """``reinterpret_cast<float *>(p)``."""
    if function is None or function.type != "template_function":
        return None
    if not node_text(function.child_by_field_name("name")).endswith("_cast"):
        return None
    given = expressions(function.child_by_field_name("arguments"))
    return _of_descriptor(given[0], context) if len(given) == 1 else None


def _of_construction(
    values: HostValues, named: Node | None, context: Context
) -> ArgumentType | None:
    """``Functor<float>()`` and ``Functor{}`` of a class in sight."""
    if named is None:
        return None
    class_name = named
    while class_name.type in ("template_type", "template_function", "qualified_identifier"):
        inner = class_name.child_by_field_name("name")
        if inner is None:
            return None
        class_name = inner
    if not any(_names_class(node) for node in values.scopes.occurrences(node_text(class_name))):
        return None
    used = {node_text(n) for n in _identifiers(named)}
    return None if used & context.bound.keys() else _named(node_text(named), 0, context)


def _names_class(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type in ("struct_specifier", "class_specifier")
        and parent.child_by_field_name("name") == node
    )


def _identifiers(node: Node) -> Iterator[Node]:
    if node.type in ("identifier", "type_identifier"):
        yield node
    for child in node.named_children:
        yield from _identifiers(child)


def _named(base: str, depth: int, context: Context) -> ArgumentType | None:
    base = " ".join(base.split())
    if base in context.bound:
        source = context.bound[base].source
        if source is None or "*" in source:
            return None
        base = source
    return None if base in ("", "auto", "void") else ArgumentType(base, depth)
