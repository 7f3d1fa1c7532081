"""``(n) - b * c``: a difference that the grammar takes for a cast of ``-b`` to a type ``n``.

Only a list of the types could tell the two apart, and a parser has none.  Taken for a cast, the
sign binds more tightly than it should (``x * (n) - b`` would be ``x * (n - b)``), so the tree is
mended before anybody reads it.  In: a unit.  Out: the unit with blanks for the parentheses around
names that are declared as values, at the same offsets.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cache

from tree_sitter import Node, Query, QueryCursor, Tree

from coalescecheck.frontend.patches import Edits, language
from coalescecheck.frontend.suspects import Suspects, suspects
from coalescecheck.frontend.unit import Unit

_ROUNDS = 64  # one misread expression may hide another
_SIGNS = ("-", "+", "*", "&")
_OPERATORS = frozenset(
    {"binary_expression", "unary_expression", "pointer_expression", "cast_expression"}
)
_SCOPES = frozenset(
    {
        "lambda_expression",
        "function_definition",
        "template_declaration",
        "struct_specifier",
        "class_specifier",
        "namespace_definition",
        "translation_unit",
    }
)


def with_casts_mended(unit: Unit) -> Unit:
    """``unit`` with its misread casts replaced."""
    edits, casts = Edits(unit.code, unit.tree), CastMender()
    for _ in range(_ROUNDS):
        casts.mend(edits, suspects(edits))
        if not edits.parsed():
            break
    return replace(unit, code=bytes(edits.code), tree=edits.tree)


def is_within_operator(cast: Node) -> bool:
    """Whether a cast that turns out to be a difference stands where its operands may belong to
    an operator around it, or holds another one."""
    value = cast.child_by_field_name("value")
    argument = value.child_by_field_name("argument") if value is not None else None
    parts = (cast.parent, argument)
    return any(part is not None and part.type in _OPERATORS for part in parts)


class CastMender:
    """Replaces misread casts; what is declared is looked up when the first one is met."""

    def __init__(self) -> None:
        self._names: _Names | None = None

    def mend(self, edits: Edits, found: Suspects) -> None:
        """Blanks for the parentheses of the misread casts among what was found in the tree."""
        for node, name in _suspects(found.get("cast", [])):
            if self._names is None:
                self._names = _declared(edits.tree)
            if self._names.is_value(name, node):
                for child in node.children:
                    if child.type in ("(", ")"):
                        edits.put(child.start_byte, b" ")


def _suspects(casts: list[Node]) -> list[tuple[Node, bytes]]:
    """Casts to a plain name of something with a sign that could be a binary operator."""
    found = []
    for node in casts:
        type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_ is None or value is None or type_.child_by_field_name("declarator") is not None:
            continue
        name = type_.child_by_field_name("type")
        while name is not None and name.type == "qualified_identifier":
            name = name.child_by_field_name("name")
        if name is None or name.type != "type_identifier" or name.text is None:
            continue
        if value.text is not None and value.text.decode("utf-8", "replace").startswith(_SIGNS):
            found.append((node, name.text))
    return found


@dataclass(slots=True)
class _Names:
    """Where names are declared, as values and as types (offsets in ascending order)."""

    values: dict[bytes, list[int]] = field(default_factory=dict)
    types: dict[bytes, list[int]] = field(default_factory=dict)

    def is_value(self, name: bytes, node: Node) -> bool:
        """Whether the innermost scope around ``node`` that declares ``name`` has a value of it,
        and no type."""
        at: Node | None = node.parent
        while at is not None:
            if at.type in _SCOPES:
                value, type_ = _inside(self.values, name, at), _inside(self.types, name, at)
                if value or type_:
                    return value and not type_
            at = at.parent
        return False


def _inside(places: dict[bytes, list[int]], name: bytes, scope: Node) -> bool:
    offsets = places.get(name, [])
    first = bisect_left(offsets, scope.start_byte)
    return first < len(offsets) and offsets[first] < scope.end_byte


def _declared(tree: Tree) -> _Names:
    captured = QueryCursor(_declarations()).captures(tree.root_node)
    names = _Names()
    for places, nodes in (
        (names.values, captured.get("value", [])),
        (names.types, captured.get("type", [])),
    ):
        for node in sorted(nodes, key=lambda n: n.start_byte):
            if node.text is not None:
                places.setdefault(node.text, []).append(node.start_byte)
    return names


@cache
def _declarations() -> Query:
    """Names where they are declared: ``value`` and ``type``."""
    values = "".join(
        f"({node} {label}({kind}) @value)\n"
        for node, label, kind in (
            ("declaration", "declarator: ", "identifier"),
            ("init_declarator", "declarator: ", "identifier"),
            ("parameter_declaration", "declarator: ", "identifier"),
            ("optional_parameter_declaration", "declarator: ", "identifier"),
            ("pointer_declarator", "declarator: ", "identifier"),
            ("reference_declarator", "", "identifier"),
            ("array_declarator", "declarator: ", "identifier"),
            ("for_range_loop", "declarator: ", "identifier"),
            ("structured_binding_declarator", "", "identifier"),
            ("lambda_capture_initializer", "left: ", "identifier"),
            ("enumerator", "name: ", "identifier"),
            ("field_declaration", "declarator: ", "field_identifier"),
            ("pointer_declarator", "declarator: ", "field_identifier"),
            ("reference_declarator", "", "field_identifier"),
            ("array_declarator", "declarator: ", "field_identifier"),
        )
    )
    types = "".join(
        f"({node} {label}(type_identifier) @type)\n"
        for node, label in (
            ("type_definition", "declarator: "),
            ("pointer_declarator", "declarator: "),
            ("array_declarator", "declarator: "),
            ("struct_specifier", "name: "),
            ("class_specifier", "name: "),
            ("union_specifier", "name: "),
            ("enum_specifier", "name: "),
            ("alias_declaration", "name: "),
            ("type_parameter_declaration", ""),
            ("optional_type_parameter_declaration", "name: "),
            ("variadic_type_parameter_declaration", ""),
        )
    )
    return Query(language(), values + types)
