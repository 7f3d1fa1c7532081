"""Copies of objects whose classes or members say how they are copied.

In: an object and its class.  Out: :class:`Ex` in which each member is copied as its class says; a
value that is not known where that cannot be followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Mark, Piece, joined, plain
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import ASSIGN, COMMA, PRIMARY, Ex, address_of, dereferenced
from coalescecheck.frontend.rewrite.types import CType, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MOST_ELEMENTS = 64  # of a member that is an array, copied one by one


class Copying:
    """Copies objects."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def copied(self, value: Ex, record: Record, node: Node, env: Env) -> Ex:
        """A new object that is made of another one: as C copies, or by a copy constructor."""
        if not value.lvalue:
            return value
        if self._s.records.copies(record, record.layout.shown):
            made = self._s.construction.by_constructor(record, [value], node, env)
            return value if made is None else made
        if not self._s.records.parts_say_how(record):
            return value
        if not _has_known_parts(record):
            return self._unknown(value, record, node)
        self._s.output.need(record)
        first, value = self._named(value)
        parts: list[Piece] = []
        for each in record.layout.fields:
            part = Ex((value.at(PRIMARY), ".", each.name), each.type, lvalue=True)
            parts.append((f".{each.name} = ", self._copied_part(part, node, env)))
        made = Ex((f"({record.spelled}){{", joined(parts), "}"), types.unqualified(record))
        return made if first is None else self._s.expressions.sequence(first, made)

    def _copied_part(self, part: Ex, node: Node, env: Env) -> Piece:
        """The initialiser of a member that is a copy of ``part``, an array element by element."""
        type_ = types.unqualified(part.type)
        if isinstance(type_, types.Array):
            return ("{", joined([self._copied_part(e, node, env) for e in _elements(part)]), "}")
        if isinstance(type_, Record):
            part = self.copied(part, type_, node, env)
        return part.at(ASSIGN)

    def assigned(self, target: Ex, value: Ex, node: Node, env: Env) -> Ex | None:
        """``target = value`` member by member; None where it is as in C."""
        record = target.type
        if not isinstance(record, Record) or not self._s.records.parts_say_how(record, "operator="):
            return None
        if not _has_known_parts(record) or not value.lvalue:
            value = self._unknown(value, record, node)
            return Ex((target.at(PRIMARY), " = ", value.at(ASSIGN)), record, ASSIGN)
        steps: list[Ex] = []
        first, target = self._named(target)
        second, value = self._named(value)
        steps += [step for step in (first, second) if step is not None]
        steps += self._member_steps(target, value, node, env)
        total = steps[0]
        for step in steps[1:]:
            total = self._s.expressions.sequence(total, step)
        if node.parent is not None and node.parent.type == "expression_statement":
            return total
        return dereferenced(("(", total.at(COMMA), ", ", address_of(target), ")"), record)

    def _member_steps(self, target: Ex, value: Ex, node: Node, env: Env) -> list[Ex]:
        type_ = types.unqualified(target.type)
        if isinstance(type_, types.Array):
            pairs = zip(_elements(target), _elements(value), strict=True)
            return [s for a, b in pairs for s in self._member_steps(a, b, node, env)]
        if not isinstance(type_, Record):
            return [Ex((target.at(PRIMARY), " = ", value.at(ASSIGN)), type_, ASSIGN)]
        own = self._s.methods.assignment("=", target, value, node, env)
        if own is not None:
            return [own]
        if not self._s.records.parts_say_how(type_, "operator="):
            return [Ex((target.at(PRIMARY), " = ", value.at(ASSIGN)), type_, ASSIGN)]
        steps = []
        for each in type_.layout.fields:
            here, there = (
                Ex((ex.at(PRIMARY), ".", each.name), each.type, lvalue=True)
                for ex in (target, value)
            )
            steps += self._member_steps(here, there, node, env)
        return steps

    def _named(self, value: Ex) -> tuple[Ex | None, Ex]:
        """An object that can be read as often as one likes, and what finds it first."""
        if plain(value.piece).replace(".", "").isidentifier():
            return None, value
        pointer = types.Pointer(types.unqualified(value.type))
        name = self._s.temporary(pointer)
        found = Ex((name, " = ", f"({types.spell(pointer)})", address_of(value)), pointer, ASSIGN)
        return found, dereferenced(name, value.type)

    def _unknown(self, value: Ex, record: Record, node: Node) -> Ex:
        """A copy that nobody knows."""
        shown = record.layout.shown or "a class without a name"
        what = f"`{shown}` has members that say how they are copied, which is not followed"
        self._s.say(node, "warning", f"{what}: its value is unknown", hides=True)
        given = [Ex(address_of(value), types.Pointer(value.type))] if value.lvalue else [value]
        return self._s.opaque_call(given, types.unqualified(record), Mark(node.start_byte))


def _elements(array: Ex) -> list[Ex]:
    """The elements of an array member."""
    type_ = types.unqualified(array.type)
    if not isinstance(type_, types.Array):
        return []
    count = type_.count or 0
    return [Ex((array.at(PRIMARY), f"[{i}]"), type_.element, lvalue=True) for i in range(count)]


def _has_known_parts(record: Record) -> bool:
    """Whether all members can be written down one by one."""
    fields = record.layout.fields
    return not record.layout.union and all(f.name and _count(f.type) is not None for f in fields)


def _count(type_: CType) -> int | None:
    """How many values a copy of a member lists; None for too many or not known."""
    if not isinstance(type_, types.Array):
        return 1
    each = _count(type_.element)
    count = None if each is None or type_.count is None else each * type_.count
    return count if count is not None and 0 < count <= _MOST_ELEMENTS else None
