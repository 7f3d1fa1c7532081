"""Declared alignments: ``alignas(16)``, ``__attribute__((aligned(16)))``, ``[[gnu::aligned(16)]]``.

In: a declaration's syntax node, one of its declarators.  Out: bytes.  What stands before the first
declarator is meant for all of them, what stands behind one for that alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.unread import faults_in

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.env import Env
    from coalescecheck.frontend.rewrite.session import Session

_HOLDERS = ("type_qualifier", "attribute_declaration")
_GREATEST = 16  # bytes: what `aligned` alone means


class Alignments:
    """Answers for one session."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def of(self, node: Node, env: Env) -> int:
        """The alignment of a class or of all that a declaration declares, 0 if there is none."""
        first = next(iter(syntax.declarators(node)), None)
        end = first.start_byte if first is not None else node.end_byte
        parts = (c for c in node.children if c.start_byte < end)
        return self._greatest((p for part in parts for p in _parts(part)), env)

    def of_declared(self, node: Node, declarator: Node, env: Env) -> int:
        """The alignment of what one declarator of ``node`` declares, 0 if there is none."""
        behind = []
        for child in node.children:
            if child.start_byte >= declarator.end_byte:
                if child.type == ",":
                    break
                behind += _parts(child)
        at: Node | None = declarator
        while at is not None:
            if at.type == "attributed_declarator":
                behind += [p for child in at.named_children[1:] for p in _parts(child)]
            at = syntax.inner_declarator(at)
        return max(self.of(node, env), self._greatest(behind, env))

    def _greatest(self, parts: Iterator[Node] | list[Node], env: Env) -> int:
        return max((self._said(part, env) for part in parts), default=0)

    def _said(self, part: Node, env: Env) -> int:
        inner = syntax.operands(part)
        if part.type == "alignas_qualifier":
            return self._bytes(inner[0], env) if inner else 0
        if part.type == "attribute":
            name = part.child_by_field_name("name")
            if name is None or "aligned" not in syntax.text(name):
                return 0
            given = [a for n in inner if n.type == "argument_list" for a in syntax.operands(n)]
            return self._bytes(given[0], env) if given else _GREATEST
        return self._attribute(part, env) if "aligned" in syntax.text(part) else 0

    def _attribute(self, node: Node, env: Env) -> int:
        for part in syntax.walk(node):
            if part.type == "call_expression":
                inner = syntax.operands(part.child_by_field_name("arguments"))
                return self._bytes(inner[0], env) if inner else 0
        return _GREATEST

    def _bytes(self, node: Node, env: Env) -> int:
        type_ = self._s.type_if_named(node, env)
        if node.type == "type_descriptor" and type_ is None:
            inner = node.child_by_field_name("type")
            type_ = self._s.type_if_named(inner, env) if inner is not None else None
        if type_ is not None:
            return types.align_of(type_) or 0
        return self._s.expressions.constant(node, env) or 0


def _parts(node: Node) -> list[Node]:
    """The specifiers at ``node`` that may name an alignment; the grammar has no attribute behind
    any declarator but the last, where it takes one for an error."""
    if node.type in ("alignas_qualifier", "attribute_specifier", "attribute"):
        return [node]
    if node.type in _HOLDERS or is_attribute(node):
        return [part for child in node.named_children for part in _parts(child)]
    return []


def is_attribute(node: Node) -> bool:
    """Whether an error of the parser is nothing but attributes, which it has no place for."""
    parts = node.children
    return node.is_error and bool(parts) and all(p.type == "attribute_specifier" for p in parts)


def unnamed_record(member: Node) -> Node | None:
    """The class of a member that has no name, whose members are those of the class around it."""
    type_ = member.child_by_field_name("type")
    if syntax.declarators(member) or type_ is None or type_.type not in syntax.RECORDS:
        return None
    return type_ if type_.child_by_field_name("name") is None else None


def is_unread(member: Node) -> bool:
    """Whether what a class declares at ``member`` is not understood, and may take any room."""
    if member.type == "declaration":
        return _is_macro(member)
    if member.type != "field_declaration":
        return member.is_error and not _is_function(member.next_named_sibling)
    if _is_function(member):
        return False
    declared = syntax.declarators(member)
    unnamed = unnamed_record(member)
    inner = unnamed.child_by_field_name("body") if unnamed is not None else None
    return (
        any(syntax.points_to_member(d) for d in declared)
        or any(map(_is_lost, faults_in(member)))
        or _is_name_alone(member)
        or any(is_unread(m) for m in syntax.operands(inner))
    )


def _is_macro(member: Node) -> bool:
    """``MEMBER(float, x);``, which only a constructor looks like."""
    function = member.child_by_field_name("declarator")
    if member.child_by_field_name("type") is not None or function is None:
        return False
    called = function.child_by_field_name("declarator")
    around = member.parent.parent if member.parent is not None else None
    own = around.child_by_field_name("name") if around is not None else None
    if function.type != "function_declarator" or called is None or called.type != "identifier":
        return False
    return own is None or syntax.text(called) != base_name(own)


def _is_name_alone(member: Node) -> bool:
    """``MEMBERS;``, which declares nothing in C++."""
    type_ = member.child_by_field_name("type")
    alone = type_ is not None and type_.type == "type_identifier"
    return alone and not syntax.declarators(member)


def _is_function(member: Node | None) -> bool:
    """Whether a member is a function, before which stand words that say nothing of places."""
    if member is None or member.type == "function_definition":
        return member is not None
    declared = syntax.declarators(member)
    return bool(declared) and all(syntax.function_declarator(d) is not None for d in declared)


def _is_lost(fault: Node) -> bool:
    """Whether a fault of a member may be anything; a bit-field without a name is taken for one."""
    if fault.is_missing:
        return fault.type not in ("identifier", "field_identifier")
    return not is_attribute(fault)
