"""Where the grammar may have misread something: one walk of the tree finds all that is looked for.

In: edits of a tree.  Out: nodes by kind.  It must not know which of them are misread.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TypeAlias

from tree_sitter import Node, Query, QueryCursor, Tree

from coalescecheck.frontend.patches import Edits, language

Suspects: TypeAlias = dict[str, list[Node]]
"""Nodes by kind: ``cast``, ``template``, ``prototype`` and ``pointed`` (the same behind ``*`` or
``&``) in functions, ``constant``, ``named`` (``T (x)``) and ``binding``."""

_DEEPEST = 1000  # the search takes time as the depth squared; what is deeper is not rewritten
_IN_FUNCTIONS = frozenset(
    {"compound_statement", "case_statement", "for_statement", "init_statement"}
)
# patterns of one node, or of two without field names: a query compiles in 10 ms then, in 70 ms with
# the ways from a statement down to what it declares, which are few and looked at here
_QUERY = """
(cast_expression) @cast
(template_function) @template
(function_declarator) @function
(structured_binding_declarator) @names
(expression_statement [(call_expression) (comma_expression)] @named)
"""


def suspects(edits: Edits) -> Suspects:
    """What may be misread: at first in the whole tree, then in what changed since the last call."""
    ranges = edits.news()
    if ranges is None:
        return _everywhere(edits.tree)
    found: dict[str, dict[int, Node]] = {}
    for start, end in ranges:
        cursor = _cursor()
        cursor.set_byte_range(start, end)
        for kind, nodes in cursor.captures(edits.tree.root_node).items():
            found.setdefault(kind, {}).update((node.id, node) for node in nodes)
    return _sorted({kind: list(nodes.values()) for kind, nodes in found.items()})


@lru_cache(maxsize=1)
def _everywhere(tree: Tree) -> Suspects:
    """Two readers begin with the same tree."""
    return _sorted(_cursor().captures(tree.root_node))


def _cursor() -> QueryCursor:
    cursor = QueryCursor(_query())
    cursor.set_max_start_depth(_DEEPEST)
    return cursor


@cache
def _query() -> Query:
    """Compiled once: that takes as long as parsing a file."""
    return Query(language(), _QUERY)


def _sorted(captured: Suspects) -> Suspects:
    """The nodes by what may be wrong with them."""
    found = {kind: captured.get(kind, []) for kind in ("cast", "template", "named")}
    for node in captured.get("function", []):
        for kind in _function_kinds(node):
            found.setdefault(kind, []).append(node)
    bindings = (_binding(node) for node in captured.get("names", []))
    found["binding"] = [node for node in bindings if node is not None]
    return found


def _function_kinds(node: Node) -> Iterator[str]:
    """What a function declarator may be instead, by what it stands in."""
    parent = node.parent
    if parent is None:
        return
    if parent.type == "declaration":
        if _has_word(parent, b"constexpr"):
            yield "constant"
        if parent.parent is not None and parent.parent.type in _IN_FUNCTIONS:
            yield "prototype"
    elif parent.type in ("pointer_declarator", "reference_declarator"):
        above = parent.parent
        if above is None or above.type != "declaration" or above.parent is None:
            return
        if above.parent.type == "compound_statement":
            yield "pointed"


def _has_word(declaration: Node, word: bytes) -> bool:
    return any(
        child.type == "type_qualifier" and child.text == word
        for child in declaration.named_children
    )


def _binding(names: Node) -> Node | None:
    """The declarator whose value or arguments ``[a, b]`` is taken apart from."""
    parent = names.parent
    if parent is not None and parent.type == "function_declarator":
        return parent
    if parent is not None and parent.type == "reference_declarator":
        parent = parent.parent
    if parent is None or parent.type != "init_declarator":
        return None
    value = parent.child_by_field_name("value")
    return parent if value is not None and value.type == "initializer_list" else None
