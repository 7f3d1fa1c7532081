"""``V v(a[i], b * c);``: a variable that the grammar takes for the prototype of a function.

Its arguments look like parameters of types ``a`` and ``b``.  In: a tree's edits.  Out: the same
with braces for the parentheses.
"""

from __future__ import annotations

from tree_sitter import Node

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.suspects import Suspects

_NAMED = ("type_identifier", "qualified_identifier")


def mend_prototypes(edits: Edits, found: Suspects, names: DeclaredNames) -> None:
    """Braces for the parentheses of the misread variables among what was found in the tree."""
    for kind in ("prototype", "pointed"):
        for node in found.get(kind, []):
            _mend(edits, node, names, pointed=kind == "pointed")


def _mend(edits: Edits, node: Node, names: DeclaredNames, *, pointed: bool) -> None:
    parameters = node.child_by_field_name("parameters")
    if parameters is not None and _are_values(parameters, names, plain=pointed):
        edits.put(parameters.start_byte, b"{")
        edits.put(parameters.end_byte - 1, b"}")


def _are_values(parameters: Node, names: DeclaredNames, *, plain: bool) -> bool:
    """Whether some parameter is no plain name (or may be ``plain``), and its "type" no type."""
    found = False
    for parameter in parameters.named_children:
        type_ = parameter.child_by_field_name("type")
        if parameter.type == "comment":
            continue
        if type_ is None or type_.type not in _NAMED:
            return False
        declarator = parameter.child_by_field_name("declarator")
        if declarator is None and not plain:
            continue
        lone = parameters.named_child_count == 1
        # `int x(a[i]);`
        element = lone and declarator is not None and declarator.type == "abstract_array_declarator"
        if not element and not names.is_value(type_, parameters):
            return False
        found = True
    return found
