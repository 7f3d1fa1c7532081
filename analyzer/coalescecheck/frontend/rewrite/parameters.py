"""The parameters that a function declares.

In: an entry.  Out: its parameter declarations, and what can be said of them without types.
"""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax
from coalescecheck.frontend.rewrite.index import FunctionEntry


def parameter_nodes(entry: FunctionEntry) -> list[Node]:
    """The parameter declarations of a function (``void`` is none)."""
    holder = entry.declarator
    if holder.type == "operator_cast":
        return []
    out = []
    parameters = holder.child_by_field_name("parameters")
    for node in parameters.children if parameters is not None else ():
        if node.type == "...":
            out.append(node)
        if "parameter" not in node.type:
            continue
        type_ = node.child_by_field_name("type")
        lone_void = (
            type_ is not None
            and syntax.text(type_) == "void"
            and node.child_by_field_name("declarator") is None
        )
        if not lone_void:
            out.append(node)
    return out


def mention(parameters: Sequence[Node], name: str) -> bool:
    """Whether some parameter mentions a template parameter."""
    return any(
        part.type in ("identifier", "type_identifier") and syntax.text(part) == name
        for parameter in parameters
        for part in syntax.walk(parameter)
    )


def is_pack(parameter: Node) -> bool:
    """Whether a parameter is a pack (or C's ``...``)."""
    return parameter.type in ("variadic_parameter_declaration", "...")


def can_be_given(parameters: Sequence[Node], count: int) -> bool:
    """Whether so many arguments can be given."""
    if any(is_pack(p) for p in parameters):
        return count >= len(parameters) - 1
    needed = sum(p.child_by_field_name("default_value") is None for p in parameters)
    return needed <= count <= len(parameters)
