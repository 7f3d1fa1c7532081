"""Code that could not be read: the statements it is in, what it may declare and what it may change.

In: statements with syntax errors, which most often are macros that nothing defines.  Out: names.
What the readable rest of such a statement says need not hold; ``lower/unread.py`` takes it for
unknown between the attributes ``BEGIN`` and ``END``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax
from coalescecheck.frontend.rewrite.syntax import text

BEGIN, END = "[[cuda::unread]];", "[[cuda::read]];"

_WORD = re.compile(r"[^\W\d]\w*")
_CHANGED = re.compile(
    r"(?:\+\+|--|(?<!&)&)\s*([^\W\d]\w*)"
    r"|\b([^\W\d]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
)
_SPECIFIERS = frozenset(
    "__device__ __host__ __forceinline__ __noinline__ __inline__ inline static constexpr".split()
)
_BODIES = ("body", "consequence", "alternative")
_HOLDERS = ("case_statement", "labeled_statement", "attributed_statement")


def only_specifiers(fault: Node) -> bool:
    """Whether all that is lost says how a function is compiled: ``T const & __device__ f()``."""
    found = text(fault).split()
    return bool(found) and not fault.is_missing and _SPECIFIERS.issuperset(found)


def is_faulty(statement: Node) -> bool:
    """Whether part of a statement, those inside of it apart, could not be read."""
    return any(True for _ in faults_in(statement))


def changed_names(statement: Node) -> list[str]:
    """The variables that the unread part of a statement seems to change."""
    found: dict[str, None] = {}
    for fault in faults_in(statement):
        for match in _CHANGED.finditer(text(fault)):
            found[match[1] or match[2]] = None
    return list(found)


def words(node: Node) -> list[str]:
    """The names and words in a piece of code."""
    return list(dict.fromkeys(_WORD.findall(text(node))))


def faults_in(statement: Node) -> Iterator[Node]:
    """What could not be read of a statement or member, the statements inside of it apart."""
    stack = [statement]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            if not only_specifiers(node):
                yield node
        else:
            inside = [node.child_by_field_name(name) for name in _BODIES]
            parts = syntax.unreadable(node)
            stack += [c for c in parts if c not in inside and not _is_nested(c, node)]
            if node.type == "switch_statement":
                stack += _labels(node)


def _labels(switch: Node) -> Iterator[Node]:
    """What stands in the labels of a switch, which decide who runs its other cases, too."""
    for part in syntax.walk(switch):
        if part.type == "case_statement" and part.has_error:
            yield from takewhile(lambda child: child.type != ":", part.children)


def _is_nested(node: Node, parent: Node) -> bool:
    if parent.type in _HOLDERS:
        return node.type.endswith("_statement") or node.type == "declaration"
    return node.type in ("compound_statement", "field_declaration_list", "else_clause")


def function_around(node: Node) -> Node:
    """The outermost function that holds ``node``; the node itself outside of functions."""
    function = node
    at: Node | None = node
    while at is not None:
        function = at if at.type == "function_definition" else function
        at = at.parent
    return function


@dataclass(frozen=True, slots=True)
class Hidden:
    """The names that code in a function which could not be read may declare; any variable where
    it does not say which: ``DECLARE_INDEX;``."""

    names: frozenset[str]
    any_variable: bool

    def __contains__(self, name: str) -> bool:
        return name in self.names or (self.any_variable and not name.isupper())


def hidden_names(function: Node) -> Hidden:
    """What such code may declare: ``FOR_EACH(i, n) { … }``, ``DECLARE_INDEX(i);``, ``SET_UP();``.
    Names in capitals are constants."""
    names: set[str] = set()
    any_variable = False
    for part in syntax.walk(function):
        if part.is_error:
            names.update(_WORD.findall(text(part)))
        elif part.type == "function_definition" and is_macro_block(part):
            names.update(_WORD.findall(text(part.child_by_field_name("declarator") or part)))
            any_variable = True
        elif part.type == "expression_statement":
            whole = next(iter(syntax.operands(part)), None)
            if whole is None:
                continue
            any_variable |= whole.type == "identifier"  # of no use but as a macro
            if whole.type == "call_expression":
                arguments = syntax.operands(whole.child_by_field_name("arguments"))
                names.update(text(each) for each in arguments if each.type == "identifier")
                any_variable |= text(whole.child_by_field_name("function") or whole).isupper()
    return Hidden(frozenset(names), any_variable)


def is_macro_block(node: Node) -> bool:
    """Whether a function inside another is none: ``FOR_EACH(i, n) { … }``."""
    return node.parent is not None and node.parent.type == "compound_statement"


def macro_head(items: Sequence[Node], at: int) -> Node | None:
    """The call ``FOR_EACH(i, n)`` of the statement ``items[at]`` if no semicolon keeps it from the
    statement behind it."""
    if at + 1 >= len(items) or items[at].type != "expression_statement":
        return None
    if not any(child.is_missing for child in items[at].children):
        return None
    call = next(iter(syntax.operands(items[at])), None)
    if call is None or call.type != "call_expression":
        return None
    function = call.child_by_field_name("function")
    return call if function is not None and function.type == "identifier" else None
