"""What the branches around a place say of variables.

In: a place in host code.  Out: the values of variables there: ``case 256:`` of
``switch (threads)``, ``if (threads == 256)``.  It must not know launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import Value, convert
from coalescecheck.frontend.host.scopes import ancestors, expressions, node_text

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_LEAVING = ("break_statement", "return_statement", "continue_statement", "throw_statement")


def suppositions(values: HostValues, place: Node) -> dict[int, Value] | None:
    """What variables are where the branches around ``place`` lead there, by the name's node in the
    declaration; None where they are not.  A variable that is written to after it was declared may
    have been another before.
    """
    found: dict[int, Value] = {}
    if _is_excluded(values, place):
        return None
    for name, known in _equalities(place):
        declaration = values.scopes.resolve(node_text(name), name)
        value = values.value(known)
        if value is None or declaration is None or values.writes.of(declaration):
            continue
        to = values.declared_type(declaration)
        converted = convert(value.number, to) if to is not None else None
        if declaration.kind in ("variable", "parameter") and converted is not None:
            found[declaration.name.id] = converted
            if values.value(name) not in (None, converted):
                return None
    return found


def _is_excluded(values: HostValues, place: Node) -> bool:
    """Whether a constant condition leads to the other branch."""
    inner = place
    for around in ancestors(place):
        if around.type == "function_definition":
            return False
        if around.type == "if_statement" and around.child_by_field_name("condition") != inner:
            truth = values.truth(around.child_by_field_name("condition"))
            if truth is (around.child_by_field_name("alternative") == inner):
                return True
        inner = around
    return False


def _equalities(place: Node) -> Iterator[tuple[Node, Node]]:
    """The names and values of variables that are compared on the way to ``place``."""
    inner = place
    for around in ancestors(place):
        if around.type == "function_definition":
            return
        if around.type == "case_statement":
            yield from _of_case(around, inner)
        elif around.type == "if_statement" and around.child_by_field_name("consequence") == inner:
            yield from _of_condition(around.child_by_field_name("condition"))
        inner = around


def _of_case(case: Node, inner: Node) -> Iterator[tuple[Node, Node]]:
    label = case.child_by_field_name("value")
    switch = next((a for a in ancestors(case) if a.type == "switch_statement"), None)
    if label is None or label == inner or switch is None or _is_fallen_into(case):
        return
    switched = _plain(switch.child_by_field_name("condition"))
    if switched is not None and switched.type == "identifier":
        yield switched, label


def _is_fallen_into(case: Node) -> bool:
    """Whether the case before may go on in this one."""
    before = case.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None:
        return False
    last: Node | None = before
    while last is not None and last.type in ("case_statement", "compound_statement"):
        last = next((n for n in reversed(last.named_children) if n.type != "comment"), None)
    return last is None or last.type not in _LEAVING


def _of_condition(condition: Node | None) -> Iterator[tuple[Node, Node]]:
    """``x == 3``, also as a part of a conjunction."""
    condition = _plain(condition)
    if condition is None or condition.type != "binary_expression":
        return
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    operator = node_text(condition.child_by_field_name("operator"))
    if operator in ("&&", "and"):
        yield from _of_condition(left)
        yield from _of_condition(right)
    elif operator == "==" and left is not None and right is not None:
        for name, value in ((left, right), (right, left)):
            if name.type == "identifier":
                yield name, value


def _plain(node: Node | None) -> Node | None:
    while node is not None and node.type in ("condition_clause", "parenthesized_expression"):
        inner = expressions(node)
        node = inner[0] if len(inner) == 1 else None
    return node
