"""Objects of class type that are constants: ``constexpr Shape s{4, 5};``, ``template <Shape s>``.

In: an initialiser.  Out: the object as a C literal, and its members as constants.  Device code has
no memory for them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.emit import plain
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import PRIMARY, Ex, constant, folded_cast

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_LITERAL = re.compile(r"\(\w+\)\{(?:[-{}, ]|\d[\w.]*|true|false)*\}")  # made of numbers alone
_LISTS = ("initializer_list", "compound_literal_expression")


class ConstantObjects:
    """Answers for one session."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._members: dict[str, dict[str, Value]] = {}  # by the literal

    def of(self, node: Node, type_: types.CType, env: Env) -> Ex | None:
        """The object of type ``type_`` that a braced list makes, if it is a constant."""
        record = types.unqualified(types.strip(type_))
        if node.type not in _LISTS or not isinstance(record, types.Record):
            return None
        if (
            not record.layout.complete
            or not _is_plain(record)
            or self._s.records.constructors(record)
        ):
            return None
        return self.known(self._s.expressions.emit(node, env, record), record, node, env)

    def known(self, ex: Ex, record: types.Record, node: Node, env: Env) -> Ex | None:
        """``ex`` as such an object, if it is one."""
        shown, record = plain(ex.piece), types.unqualified(record)
        if types.unqualified(ex.type) != record or _LITERAL.fullmatch(shown) is None:
            return None
        if not _is_plain(record):
            return None
        if shown not in self._members and node.type in _LISTS:
            self._members[shown] = self._values(node, record, env)
        return Ex(shown, types.qualified(record, const=True), PRIMARY, pure=True, named=True)

    def member(self, base: Ex, name: str) -> Ex | None:
        """A member of such an object."""
        record = types.strip(base.type)
        value = self._members.get(plain(base.piece), {}).get(name)
        if value is None or not isinstance(record, types.Record):
            return None
        field = next(f for f in record.layout.fields if f.name == name)
        return constant(value, field.type)

    def _values(self, node: Node, record: types.Record, env: Env) -> dict[str, Value]:
        listed = node.child_by_field_name("value") if node.type != "initializer_list" else node
        items, fields = syntax.operands(listed), record.layout.fields
        if len(items) != len(fields) or any(i.type == "initializer_pair" for i in items):
            return {}
        found: dict[str, Value] = {}
        for item, field in zip(items, fields, strict=True):
            type_ = types.strip(field.type)
            if isinstance(type_, types.Record) and item.type not in _LISTS:
                return {}  # braces are left out: it gives a member of the member
            if not types.is_arithmetic(type_) or field.bits is not None:
                continue
            value = folded_cast(self._s.expressions.emit(item, env, type_).value, type_)
            if value is not None:
                found[field.name] = value
        return found


def _is_plain(record: types.Record) -> bool:
    """Whether all members are numbers, or made of such: elements of arrays lie in memory where
    their number is not known."""
    members = [types.strip(field.type) for field in record.layout.fields]
    return not record.layout.union and all(
        types.is_arithmetic(m) or (isinstance(m, types.Record) and _is_plain(m)) for m in members
    )
