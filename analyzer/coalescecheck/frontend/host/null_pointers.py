"""Pointer arguments that are null at a launch.

In: an argument of a launch.  Out: whether it is a null pointer for certain.  What is not certain
is no answer: the analysis then takes the pointer for one to an array and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.pointers import passed
from coalescecheck.frontend.host.scopes import Declaration, expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MAX_DEPTH = 6  # pointers copied from one another


def is_null(values: HostValues, node: Node, depth: int = 0) -> bool:
    """Whether a pointer argument is always null: ``nullptr``, ``NULL``, ``0``, a cast of one, a
    variable or parameter that is never anything else.

    Scalars may be passed as well; for them the answer has no meaning.
    """
    if depth > _MAX_DEPTH:
        return False
    match node.type:
        case "null":
            return True
        case "parenthesized_expression" if len(expressions(node)) == 1:
            return is_null(values, expressions(node)[0], depth + 1)
        case "cast_expression" | "call_expression":
            inner = _cast(node)
            return inner is not None and is_null(values, inner, depth + 1)
        case "conditional_expression":
            return _chosen(values, node, depth)
        case "number_literal":
            return values.integer(node) == 0
        case "identifier":
            return _variable(values, node, depth)
    return False


def _cast(node: Node) -> Node | None:
    """What is converted; None for a call that is no cast."""
    if node.type == "cast_expression":
        return node.child_by_field_name("value")
    if "_cast<" not in node_text(node.child_by_field_name("function")):
        return None
    return next(iter(expressions(node.child_by_field_name("arguments"))), None)


def _chosen(values: HostValues, node: Node, depth: int) -> bool:
    sides = expressions(node)
    if len(sides) != 3:
        return False
    condition = values.integer(sides[0])
    possible = sides[1:] if condition is None else [sides[1 if condition else 2]]
    return all(is_null(values, side, depth + 1) for side in possible)


def _variable(values: HostValues, node: Node, depth: int) -> bool:
    """Whether a pointer is null from its declaration on, or wherever its function is called."""
    declaration = values.scopes.resolve(node_text(node), node)
    if declaration is None or "pointer_declarator" not in declaration.shape:
        return False
    if not _is_seen_whole(declaration) or values.writes.of(declaration):
        return False
    if declaration.holder.type == "optional_parameter_declaration":
        return False  # calls may leave it out
    if declaration.kind == "parameter":
        given = passed(values, declaration.holder, declaration.scope)
    else:
        given = [declaration.init] if declaration.init is not None else []
    return bool(given) and all(is_null(values, each, depth + 1) for each in given)


def _is_seen_whole(declaration: Declaration) -> bool:
    """Whether nobody elsewhere can set it: members and globals may be set in other files."""
    if declaration.kind == "parameter":
        return True
    outside = ("translation_unit", "namespace_definition", "declaration_list")
    if declaration.kind != "variable" or declaration.scope.type == "linkage_specification":
        return False
    return declaration.scope.type not in outside or "static" in declaration.qualifiers
