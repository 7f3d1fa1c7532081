"""Where the grammar may have misread something: one walk of the tree finds all that is looked for.

In: edits of a tree.  Out: nodes by kind.  It must not know which of them are misread.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TypeAlias

from tree_sitter import Node, Query, QueryCursor, Tree

from coalescecheck.frontend.patches import Edits, language

Suspects: TypeAlias = dict[str, list[Node]]
"""Nodes by kind: ``cast``, ``template``, ``prototype`` and ``pointed`` (the same behind ``*`` or
``&``) in functions, ``constant``, ``named`` (``T (x)``) and ``binding``."""

_DEEPEST = 1000  # the search takes time as the depth squared; what is deeper is not rewritten


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
    return {kind: list(nodes.values()) for kind, nodes in found.items()}


@lru_cache(maxsize=1)
def _everywhere(tree: Tree) -> Suspects:
    """Two readers begin with the same tree."""
    return _cursor().captures(tree.root_node)


def _cursor() -> QueryCursor:
    cursor = QueryCursor(_query())
    cursor.set_max_start_depth(_DEEPEST)
    return cursor


@cache
def _query() -> Query:
    """Compiled once: that takes as long as parsing a large file."""
    return Query(
        language(),
        "(cast_expression) @cast (template_function) @template "
        "(compound_statement (declaration declarator: (function_declarator) @prototype))"
        "(case_statement (declaration declarator: (function_declarator) @prototype))"
        "(for_statement initializer: (declaration declarator: (function_declarator) @prototype))"
        "(init_statement (declaration declarator: (function_declarator) @prototype))"
        "(compound_statement (declaration declarator:"
        " (pointer_declarator declarator: (function_declarator) @pointed)))"
        "(compound_statement (declaration declarator:"
        " (reference_declarator (function_declarator) @pointed)))"
        "(function_declarator (structured_binding_declarator)) @binding"
        "(init_declarator declarator: [(structured_binding_declarator)"
        " (reference_declarator (structured_binding_declarator))]"
        " value: (initializer_list)) @binding"
        "(expression_statement [(call_expression) (comma_expression)] @named)"
        "(declaration (type_qualifier) @word declarator: (function_declarator) @constant"
        ' (#eq? @word "constexpr"))',
    )
