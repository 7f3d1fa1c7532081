"""``int (x)(a[i]);`` and ``auto [a, b](record);``: declarations that the grammar takes for calls
and for prototypes.

In: a tree's edits.  Out: the same with blanks for the parentheses around names, and with an equals
sign before what structured bindings name.
"""

from __future__ import annotations

from tree_sitter import Node

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.suspects import Suspects

_AROUND = ("comma_expression", "assignment_expression")
_BUILTIN = ("primitive_type", "sized_type_specifier")


def mend_names(edits: Edits, found: Suspects, names: DeclaredNames) -> None:
    """``T (x)(a);`` and ``T (x), y = a;``: a statement that may be a declaration is one."""
    for node in found.get("named", []):
        call: Node | None = node
        while call is not None and call.type in _AROUND:
            call = call.child_by_field_name("left")
        function = call.child_by_field_name("function") if call is not None else None
        if function is not None and function.type == "call_expression":
            call = function
        if call is not None and call.type == "call_expression" and _declares(call, names):
            arguments = call.child_by_field_name("arguments")
            if arguments is not None:
                edits.put(arguments.start_byte, b" ")
                edits.put(arguments.end_byte - 1, b" ")


def _declares(call: Node, names: DeclaredNames) -> bool:
    """Whether what looks like a call is a type with a name in parentheses."""
    function, arguments = (call.child_by_field_name(n) for n in ("function", "arguments"))
    if function is None or arguments is None or arguments.named_child_count != 1:
        return False
    if arguments.named_children[0].type != "identifier":
        return False
    return function.type in _BUILTIN or names.is_type(function, call)


def mend_bindings(edits: Edits, found: Suspects) -> None:
    """``auto [a, b](record)`` and ``auto [a, b]{record}`` say ``= record``."""
    for node in found.get("binding", []):
        value = node.child_by_field_name("parameters") or node.child_by_field_name("value")
        if value is not None and value.named_child_count == 1:
            edits.put(value.start_byte, b"=")
            edits.put(value.end_byte - 1, b" ")
