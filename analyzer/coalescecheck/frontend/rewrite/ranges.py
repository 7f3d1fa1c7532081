"""Range-based loops over objects that have ``begin()`` and ``end()`` (C++17 [stmt.ranged]).

In: the object.  Out: the head of a C loop with iterators, and the element of a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import (
    ASSIGN,
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    dereferenced,
)
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


def iterated(
    session: Session, over: Ex, node: Node, env: Env, writer: FunctionWriter
) -> tuple[Piece, Ex] | None:
    """What stands in ``for (…)`` and the element; None for an object without iterators.

    The range and its iterators are declared before the loop.
    """
    if not has_iterators(session, over.type):
        return None
    kept = _kept(session, over, node, writer)
    ends = []
    for name in ("begin", "end"):
        made = session.methods.named(kept, name, node, env)
        if made is None:
            return None
        ends.append(_variable(session, name, made, node, writer))
    first, last = ends
    test = session.operators.binary("!=", first, last, node, env)
    test = session.conversions.truth(test, node, env)
    if isinstance(first.type, types.Record):
        stepped = session.methods.operator("++", [first], node, env)
        step = stepped.piece if stepped is not None else ""
    else:
        step = ("++", first.at(UNARY))
    element = session.operators.dereference(first, Mark(node.start_byte), node, env)
    return ("; ", test.piece, "; ", step), element


def has_iterators(session: Session, over: CType) -> bool:
    """Whether a type has methods ``begin`` and ``end``."""
    if not isinstance(over, types.Record):
        return False
    found = [session.records.member(over, name) for name in ("begin", "end")]
    return all(f is not None and f.functions() for f in found)


def _kept(session: Session, over: Ex, node: Node, writer: FunctionWriter) -> Ex:
    """The range itself, found once; one without a place gets one."""
    name, mark = writer.fresh("range"), Mark(node.start_byte)
    session.output.need(over.type)
    if over.lvalue:
        declared = types.declare(types.Pointer(over.type), name)
        writer.line((mark, declared, " = ", address_of(over), ";"))
        return dereferenced(name, over.type)
    type_ = types.unqualified(over.type)
    writer.line((mark, types.declare(type_, name), " = ", over.at(ASSIGN), ";"))
    return Ex(name, type_, PRIMARY, lvalue=True)


def _variable(session: Session, stem: str, value: Ex, node: Node, writer: FunctionWriter) -> Ex:
    type_, name = types.unqualified(value.decayed), writer.fresh(stem)
    session.output.need(type_)
    mark = Mark(node.start_byte)
    writer.line((mark, types.declare(type_, name), " = ", value.at(ASSIGN), ";"))
    return Ex(name, type_, PRIMARY, lvalue=True)
