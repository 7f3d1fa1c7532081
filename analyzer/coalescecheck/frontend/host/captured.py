"""What a lambda that a launch passes has captured, as far as it is known.

In: an argument of a launch.  Out: the integers, and the names of pointers that were moved from
their base.  Lambdas of another function than the launch's are left alone: names there mean other
things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host.object_members import Held, members_of
from coalescecheck.frontend.host.pointers import is_misaligned
from coalescecheck.frontend.host.scopes import ancestors, expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues


def captured(values: HostValues, node: Node) -> Held:
    """What the lambda that ``node`` is, or names, holds."""
    lambda_ = node
    if node.type == "identifier":
        declared = values.scopes.resolve(node_text(node), node)
        if declared is None or declared.init is None:
            return Held()
        lambda_ = declared.init
    if lambda_.type != "lambda_expression" or _function(lambda_) != _function(node):
        return Held()
    found = _uses(values, lambda_)
    integers = [(name, values.integer(value)) for name, value in found.items()]
    moved = [name for name, value in found.items() if is_misaligned(values, value)]
    for name, value in found.items():
        inner = members_of(values, value)
        integers += [(f"{name}.{member}", number) for member, number in inner.integers]
        moved += [f"{name}.{member}" for member in inner.moved]
    return Held(tuple((n, v) for n, v in integers if v is not None), tuple(moved))


def _uses(values: HostValues, lambda_: Node) -> dict[str, Node]:
    """An expression for what each name captured is."""
    found: dict[str, Node] = {}
    for item in expressions(lambda_.child_by_field_name("captures")):
        left, right = item.child_by_field_name("left"), item.child_by_field_name("right")
        if item.type == "lambda_capture_initializer" and left is not None and right is not None:
            found[node_text(left)] = right
    body = lambda_.child_by_field_name("body")
    for node in _identifiers(body) if body is not None else ():
        name = node_text(node)
        declared = values.scopes.resolve(name, node) if name not in found else None
        if declared is None or declared.kind not in ("variable", "parameter"):
            continue
        outside = declared.name.start_byte < lambda_.start_byte
        if outside and declared.scope.type not in ("translation_unit", "namespace_definition"):
            found[name] = node
    return found


def _identifiers(node: Node) -> list[Node]:
    if node.type == "identifier":
        return [node]
    return [found for child in node.named_children for found in _identifiers(child)]


def _function(node: Node) -> Node | None:
    return next((a for a in ancestors(node) if a.type == "function_definition"), None)
