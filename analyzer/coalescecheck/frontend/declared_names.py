"""Which names a unit declares as values, and which as types.

In: a tree.  Out: :class:`DeclaredNames`.  A parser has no list of types; where the grammar takes a
value for one (``(n) - b``, ``T x(a * b)``) what is declared tells.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Node, Query, QueryCursor, Tree

from coalescecheck.frontend.patches import Edits, language

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


class DeclaredNames:
    """The names of one unit; they are looked up when the first one is asked for."""

    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self._places: _Places | None = None

    def is_value(self, type_: Node | None, node: Node) -> bool:
        """Whether what the grammar takes for the type ``type_`` is a value where ``node`` is."""
        while type_ is not None and type_.type == "qualified_identifier":
            type_ = type_.child_by_field_name("name")
        if type_ is None or type_.type != "type_identifier" or type_.text is None:
            return False
        return self._known().is_value(type_.text, node)

    def is_type(self, name: Node, node: Node) -> bool:
        """Whether an identifier is a type where ``node`` is."""
        if name.type != "identifier" or name.text is None:
            return False
        return self._known().is_type(name.text, node)

    def is_variable(self, name: Node, node: Node) -> bool:
        """Whether an identifier is a variable of the function that ``node`` is in."""
        at = node.parent
        while at is not None and at.type != "function_definition":
            at = at.parent
        if at is None or name.text is None or name.type != "identifier":
            return False
        places = self._known()
        return _inside(places.values, name.text, at) and not _inside(places.types, name.text, at)

    def _known(self) -> _Places:
        if self._places is None:
            self._places = _declared(self._edits.tree)
        return self._places


@dataclass(slots=True)
class _Places:
    """Where names are declared, as values and as types (offsets in ascending order)."""

    values: dict[bytes, list[int]] = field(default_factory=dict)
    types: dict[bytes, list[int]] = field(default_factory=dict)

    def is_value(self, name: bytes, node: Node) -> bool:
        """Whether the innermost scope around ``node`` that declares ``name`` has a value of it,
        and no type."""
        return self._in_scope(name, node) == (True, False)

    def is_type(self, name: bytes, node: Node) -> bool:
        """The same for a type, and no value."""
        return self._in_scope(name, node) == (False, True)

    def _in_scope(self, name: bytes, node: Node) -> tuple[bool, bool]:
        at: Node | None = node.parent
        while at is not None:
            if at.type in _SCOPES:
                value, type_ = _inside(self.values, name, at), _inside(self.types, name, at)
                if value or type_:
                    return value, type_
            at = at.parent
        return False, False


def _inside(places: dict[bytes, list[int]], name: bytes, scope: Node) -> bool:
    offsets = places.get(name, [])
    first = bisect_left(offsets, scope.start_byte)
    return first < len(offsets) and offsets[first] < scope.end_byte


def _declared(tree: Tree) -> _Places:
    captured = QueryCursor(_declarations()).captures(tree.root_node)
    names = _Places()
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
