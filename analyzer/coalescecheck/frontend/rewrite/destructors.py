"""Whether something happens when an object of a class ends."""

from __future__ import annotations

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.index import FunctionEntry, RecordEntry, members
from coalescecheck.frontend.rewrite.types import CType, Record

_GIVEN = ("default_method_clause", "delete_method_clause")


def that_acts(type_: CType) -> str:
    """The class whose destructor does something, of a class, its bases and members; or empty."""
    if isinstance(type_, types.Array):
        return that_acts(type_.element)
    if not isinstance(type_, Record):
        return ""
    entry = getattr(type_.layout.source, "entry", None)
    if isinstance(entry, RecordEntry):
        for name, entries in members(entry).entries.items():
            if name.startswith("~") and any(map(_acts, entries)):
                return type_.layout.shown
    inside = (that_acts(field.type) for field in type_.layout.fields)
    return next((name for name in inside if name), "")


def _acts(entry: object) -> bool:
    if not isinstance(entry, FunctionEntry):
        return False
    if entry.body is not None:
        return any(child.type != "comment" for child in entry.body.named_children)
    return not any(_is_given(child) for child in entry.node.children)


def _is_given(node: Node) -> bool:
    return node.type in _GIVEN
