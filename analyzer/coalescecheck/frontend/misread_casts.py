"""``(n) - b * c``: a difference that the grammar takes for a cast of ``-b`` to a type ``n``.

Only a list of the types could tell the two apart, and a parser has none.  Taken for a cast, the
sign binds more tightly than it should (``x * (n) - b`` would be ``x * (n - b)``).  In: a tree's
edits.  Out: the same with blanks for the parentheses around names that are declared as values.
"""

from __future__ import annotations

from tree_sitter import Node

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.suspects import Suspects

_SIGNS = ("-", "+", "*", "&")
_OPERATORS = frozenset(
    {"binary_expression", "unary_expression", "pointer_expression", "cast_expression"}
)


def is_within_operator(cast: Node) -> bool:
    """Whether a cast that turns out to be a difference stands where its operands may belong to
    an operator around it, or holds another one."""
    value = cast.child_by_field_name("value")
    argument = value.child_by_field_name("argument") if value is not None else None
    parts = (cast.parent, argument)
    return any(part is not None and part.type in _OPERATORS for part in parts)


def mend_casts(edits: Edits, found: Suspects, names: DeclaredNames) -> None:
    """Blanks for the parentheses of the misread casts among what was found in the tree."""
    for node in found.get("cast", []):
        type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_ is None or value is None or type_.child_by_field_name("declarator") is not None:
            continue
        if value.text is None or not value.text.decode("utf-8", "replace").startswith(_SIGNS):
            continue  # nothing with a sign that could be a binary operator
        if names.is_value(type_.child_by_field_name("type"), node):
            for child in node.children:
                if child.type in ("(", ")"):
                    edits.put(child.start_byte, b" ")
