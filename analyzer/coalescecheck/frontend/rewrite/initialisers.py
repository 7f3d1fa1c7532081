"""Braced lists: values of aggregates, in C's order and with C's names.

In: initializer lists and the types they are for.  Out: initialiser text and :class:`Ex`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.emit import Mark, Piece, joined
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import ASSIGN, Ex
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.parameters import parameter_nodes
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType, Field, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

MOST_ELEMENTS = 64  # of an array of objects with constructors
_MOST_LISTED = 1024  # of such an array of which some are given


def _slots(layout: types.Layout) -> list[Field | None]:
    """What a braced list gives values to, in its order: bases (None for an empty one), members."""
    bases = getattr(layout.source, "bases", ())
    held = [layout.bases.get(b.cname) for b in bases]
    by_name: dict[str, Field] = {f.name: f for f in layout.fields}
    slots: list[Field | None] = [by_name.get(name) if name else None for name in held]
    rest = (f for f in layout.fields if f.name not in held and not f.name.startswith("pad__"))
    return [*slots, *rest]


def _takes_list(constructor: FunctionEntry) -> bool:
    """Whether a constructor takes ``std::initializer_list``, which goes before all others."""
    first = next(iter(parameter_nodes(constructor)), None)
    return first is not None and "initializer_list" in text(first)


def _scalars(type_: CType) -> int:
    """How many values an aggregate takes without inner braces."""
    if isinstance(type_, types.Array):
        return (type_.count or 1) * _scalars(type_.element)
    if not isinstance(type_, types.Record):
        return 1
    counts = [_scalars(f.type) for f in type_.layout.fields]
    return max([1, *counts[:1]]) if type_.layout.union else sum(counts)


def _after_designators(items: list[Node]) -> int:
    """The elements of a list of scalars; `[5] = x` says where it goes on."""
    at = last = 0
    for item in items:
        designator = item.child_by_field_name("designator")
        number = text(designator).strip("[] ") if designator is not None else ""
        at = int(number) + 1 if number.isdigit() else at + 1
        last = max(last, at)
    return last


class Initialisers:
    """Braced lists."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def value(self, node: Node, type_: CType, env: Env) -> Ex:
        """``T{…}`` as an expression."""
        items = syntax.operands(node)
        mark = Mark(node.start_byte)
        self._s.output.need(type_)
        if isinstance(type_, types.Record):
            designated = any(i.type == "initializer_pair" for i in items)
            records = self._s.records
            if not designated and (records.constructors(type_) or records.inherited(type_)):
                made = self._constructed(items, type_, node, env)
                if made is not None:
                    return made
            if not type_.layout.complete:
                exs = [self._s.expressions.emit(i, env) for i in items]
                return self._s.say_opaque(
                    f"construction of `{type_.layout.shown}`", exs, type_, node
                )
            if len(items) == 1 and items[0].type not in ("initializer_list", "initializer_pair"):
                only = self._s.expressions.emit(
                    items[0], env, type_.layout.fields[0].type if type_.layout.fields else None
                )
                if types.strip(only.type) == types.unqualified(type_):
                    return only
            return Ex((mark, f"({types.spell(type_)})", self.braces(node, type_, env)), type_)
        if isinstance(type_, types.Array):
            spelled = types.spell(type_)
            return Ex((mark, f"({spelled})", self.braces(node, type_, env)), type_, lvalue=True)
        if not items:
            return self._s.construction.zero(type_, mark)
        if len(items) == 1:
            return self._s.expressions.converted(items[0], env, type_)
        exs = [self._s.expressions.emit(i, env) for i in items]
        return self._s.say_opaque("a braced list", exs, type_, node)

    def _constructed(self, items: list[Node], record: Record, node: Node, env: Env) -> Ex | None:
        if items and any(_takes_list(e) for e in self._s.records.constructors(record)):
            listed = self._s.expressions.expand(items, env)
            parts = [self._s.expressions.emit(n, e) for n, e in listed]
            what = f"construction of `{record.layout.shown}` from a list"
            return self._s.say_opaque(what, parts, record, node)
        nodes = self._s.expressions.expand(items, env)
        exs = [self._s.expressions.emit(n, e) for n, e in nodes]
        made = self._s.construction.construct(record, exs, node, env)
        return made

    def braces(self, node: Node, type_: CType, env: Env) -> Piece:
        """C text of a braced initialiser for an aggregate."""
        items = self._s.expressions.expand(syntax.operands(node), env)
        parts: list[Piece] = []
        if not items:
            parts = self._rest(items, type_, node, env)
            return ("{", joined(parts), "}") if parts else "{0}"
        fields = _slots(type_.layout) if isinstance(type_, types.Record) else []
        named = isinstance(type_, types.Record) and fields != type_.layout.fields
        for number, (item, inner) in enumerate(items):
            if item.type == "initializer_pair":
                parts.append(self._designated(item, type_, inner))
                continue
            if isinstance(type_, types.Array):
                wanted: CType = type_.element
            else:
                slot = fields[number] if number < len(fields) else None
                if slot is None and number < len(fields):
                    continue  # an empty base
                wanted = slot.type if slot is not None else types.UNKNOWN
                if named and slot is not None:
                    parts.append((f".{slot.name} = ", self.item(item, wanted, inner)))
                    continue
            parts.append(self.item(item, wanted, inner))
        parts += self._rest(items, type_, node, env)
        return ("{", joined(parts), "}")

    def elements(self, node: Node, element: CType, env: Env) -> int | None:
        """How many elements a braced list or a string gives an array without a bound."""
        if node.type in syntax.STRINGS:
            return syntax.string_size(text(node)) if types.size_of(element) == 1 else None
        items = [i for i, _ in self._s.expressions.expand(syntax.operands(node), env)]
        if not isinstance(element, types.Array | types.Record):
            return _after_designators(items)
        room = max(1, _scalars(element))
        count, loose = 0, 0
        for item in items:
            if self._is_whole(item, element, env):
                count, loose = count + -(-loose // room) + 1, 0
            else:
                loose += 1  # elements without braces of their own
        return count + -(-loose // room)

    def _is_whole(self, item: Node, element: CType, env: Env) -> bool:
        """Whether an item of a braced list is a whole element."""
        if item.type in ("initializer_list", "initializer_pair"):
            return True
        if not isinstance(element, types.Record):
            return "string" in item.type
        if self._s.records.constructors(element) or item.type == "number_literal":
            return bool(self._s.records.constructors(element))
        type_ = self._s.expressions.type_only(item, env)
        return isinstance(types.strip(type_), types.Record | types.Unknown)

    def _rest(
        self, items: list[tuple[Node, Env]], aggregate: CType, node: Node, env: Env
    ) -> list[Piece]:
        """Members or elements with defaults that a braced list leaves out."""
        if isinstance(aggregate, types.Array):
            missing = max(0, (aggregate.count or 0) - len(items))
            value = self._s.construction.begun(aggregate.element, node, env) if missing else None
            if value is not None and missing > _MOST_LISTED:
                raise UnsupportedConstruct(f"an array of {aggregate.count} objects")
            return [] if value is None else [value] * missing
        if not isinstance(aggregate, types.Record):
            return []
        fields = _slots(aggregate.layout)
        given = {f.name for f in fields[: len(items)] if f is not None}
        if any(item.type == "initializer_pair" for item, _ in items):
            named = [item.child_by_field_name("designator") for item, _ in items]
            given = {c_name(text(n).lstrip(".").strip()) for n in named if n is not None}
        return self._s.construction.left_over(aggregate, frozenset(given), node, env)

    def item(self, node: Node, type_: CType, env: Env) -> Piece:
        """One element of a braced initialiser."""
        bare = types.unqualified(type_)
        if node.type == "initializer_list":
            if isinstance(bare, types.Array) or (
                isinstance(bare, types.Record) and not self._s.records.constructors(bare)
            ):
                return self.braces(node, bare, env)
            return self.value(node, bare, env).at(ASSIGN)
        if isinstance(bare, types.Array | types.Unknown):
            # elements without braces of their own
            return self._s.expressions.emit(node, env).at(ASSIGN)
        ex = self._s.expressions.emit(node, env, bare)
        if isinstance(ex.type, types.Closure):
            ex = self._s.closures.object_of(ex, node, env)
        if isinstance(bare, types.Reference):
            return self._s.conversions.bound(ex, bare, node, env)
        aggregate = isinstance(bare, types.Record) and not self._s.records.constructors(bare)
        if aggregate and not isinstance(ex.type, types.Record):
            return ex.at(ASSIGN)  # brace elision
        return self._s.conversions.coerce(ex, bare, node, env).at(ASSIGN)

    def _designated(self, node: Node, type_: CType, env: Env) -> Piece:
        designator, value = (
            node.child_by_field_name("designator"),
            node.child_by_field_name("value"),
        )
        if designator is None or value is None:
            return "0"
        name = text(designator).lstrip(".").strip()
        wanted: CType = types.UNKNOWN
        if isinstance(type_, types.Record):
            found = self._s.records.member(type_, name)
            if found is not None and found.member is not None:
                wanted = found.member.type
        elif isinstance(type_, types.Array):
            wanted = type_.element
            return (text(designator), " = ", self.item(value, wanted, env))
        return (f".{c_name(name)} = ", self.item(value, wanted, env))
