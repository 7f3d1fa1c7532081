"""Constant memory that keeps its initial value: internal, and named by no code of the host.

In: a variable of a file.  Out: whether any code may copy something else to it.  It must not know
types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.index import VariableEntry

_MOST_USES = 400


def keeps_its_value(entry: VariableEntry) -> bool:
    """Whether a ``static __constant__`` variable is used by device code only, which cannot write
    it; others may be reached from other files by their name."""
    if not (syntax.has_word(entry.node, "__constant__") and _is_internal(entry.node)):
        return False
    root = entry.node
    while root.parent is not None:
        root = root.parent
    code = root.text or b""
    uses = [m.start() for m in re.finditer(rb"\b%s\b" % re.escape(entry.name.encode()), code)]
    places = (root.descendant_for_byte_range(at, at + 1) for at in uses)
    return len(uses) <= _MOST_USES and all(
        place is not None and (_is_within(place, entry.node) or _in_device_code(place))
        for place in places
    )


def _is_internal(node: Node) -> bool:
    if syntax.has_word(node, "static"):
        return True
    at = node.parent
    while at is not None:
        if at.type == "namespace_definition" and at.child_by_field_name("name") is None:
            return True
        at = at.parent
    return False


def _is_within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _in_device_code(place: Node) -> bool:
    """Whether a name stands in a function of the device, or in a comment."""
    at: Node | None = place
    while at is not None:
        if at.type == "comment":
            return True
        if at.type == "function_definition":
            return syntax.has_word(at, "__device__", "__global__") and not syntax.has_word(
                at, "__host__"
            )
        at = at.parent
    return False
