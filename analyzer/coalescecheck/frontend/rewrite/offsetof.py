"""``offsetof(T, a.b[2])``.

In: the expression, or a call of the compiler's builtin.  Out: the place as a constant, where the
layout is known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import Ex, literal
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

BUILTIN = "__builtin_offsetof"

_STEP = re.compile(r"\.?(\w+)|\[(\d+)\]")


class OffsetOf:
    """Emits places of members."""

    def __init__(self, session: Session) -> None:
        self._s = session
        session.expressions.register("offsetof_expression", self._expression)

    def _expression(self, node: Node, env: Env, expected: CType | None) -> Ex:
        named = node.child_by_field_name("type")
        if named is None or any(part.is_missing for part in node.children):
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}`", parts=[])
        # the grammar knows one name here: of `a.b` it sees `b`
        path = text(node)[named.end_byte - node.start_byte :].strip().strip(",)")
        return self._place(self._s.typenames.type(named, env), path, node)

    def call(self, nodes: list[tuple[Node, Env]], node: Node, env: Env) -> Ex:
        """``__builtin_offsetof(T, member)``, as the grammar reads it."""
        if len(nodes) != 2:
            return self._s.expressions.opaque(node, env, f"`{syntax.flat(node)}` is no place")
        type_ = self._s.type_if_named(nodes[0][0], env)
        return self._place(type_ or types.UNKNOWN, text(nodes[1][0]), node)

    def _place(self, type_: CType, path: str, node: Node) -> Ex:
        place = self._offset(types.strip(type_), "".join(path.split()))
        if place is None:
            why = f"the place `{syntax.flat(node)}`"
            return self._s.say_opaque(why, [], types.ULONG, node)
        return literal(ctypes_lp64.Value(place, ctypes_lp64.ULONG), Mark(node.start_byte))

    def _offset(self, type_: CType, path: str) -> int | None:
        """The bytes from the begin of an object to what a path leads to."""
        total, at = 0, 0
        while at < len(path):
            step = _STEP.match(path, at)
            if step is None:
                return None
            at = step.end()
            if step[2] is not None:
                size = types.size_of(type_.element) if isinstance(type_, types.Array) else None
                if size is None or not isinstance(type_, types.Array):
                    return None
                total, type_ = total + int(step[2]) * size, type_.element
                continue
            if not isinstance(type_, types.Record):
                return None
            found = self._s.records.member(type_, step[1])
            member = found.member if found is not None else None
            place = None if member is None else self._through(type_, member.path)
            if place is None or member is None:
                return None
            total, type_ = total + place, types.strip(member.type)
        return total if path else None

    @staticmethod
    def _through(record: types.Record, path: tuple[str, ...]) -> int | None:
        """The place of a member of a class or of its bases."""
        before = types.offset_of(record, path[:-1])
        for name in path[:-1]:
            record = next(
                f.type for f in record.layout.fields
                if f.name == name and isinstance(f.type, types.Record)
            )  # fmt: skip
        last = types.offset_in(record.layout, path[-1])
        return None if before is None or last is None else before + last
