"""Initialiser lists to values (C11 6.7.9): designators, brace elision, zero filling.

In: a type and the syntax of its initialiser.  Out: the whole object as a value; the caller
writes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from coalescecheck.ir.expr import Const
from coalescecheck.lower import (
    arith,
    constants,
    conversions,
    ctypes,
    declarations,
    sequence,
    storage,
)
from coalescecheck.lower.accesses import flatten
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import ArrayOf, CType, Number, Record
from coalescecheck.lower.values import Members, Scalar, Value


def initial_value(cx: Context, ctype: CType, node: c_ast.Node) -> Value:
    """The value ``node`` initialises an object of type ``ctype`` to; a ``[]`` gets its length
    from the initialiser (the value's type says it)."""
    if isinstance(node, c_ast.InitList):
        if isinstance(ctype, ArrayOf | Record):
            return _Filler(cx, node.exprs or []).aggregate(ctype, node, braced=True)
        if not node.exprs:
            return storage.zero_value(cx, ctype, node)
        return initial_value(cx, ctype, node.exprs[0])
    if isinstance(ctype, ArrayOf) and isinstance(node, c_ast.Constant):
        characters = constants.string_bytes(node.value)
        if characters is not None and isinstance(ctype.element, Number):
            return _characters(ctype, ctype.element, characters)
    return conversions.convert(cx, cx.evaluate(cx, node), ctype, node)


def _characters(ctype: ArrayOf, element: Number, values: tuple[int, ...]) -> Value:
    """``char s[4] = "abc"``: zeros fill up, and a final zero may not fit (C11 6.7.9p14)."""
    length = ctype.length if isinstance(ctype.length, int) else len(values)
    filled = [*values[:length], *[0] * (length - len(values))]
    members: dict[str | int, Value] = {
        i: Scalar(element, arith.integer(value, element.scalar)) for i, value in enumerate(filled)
    }
    return Members(ArrayOf(element, length), members)


def constant_values(cx: Context, value: Value) -> tuple[int | float, ...] | None:
    """The scalars of a value when all of them are constants."""
    scalars = list(flatten(cx, value))
    constants = [expr.value for expr in scalars if isinstance(expr, Const)]
    return tuple(constants) if len(constants) == len(scalars) else None


@dataclass(slots=True)
class _Filler:
    """Walks one brace-enclosed list; ``pending`` is an item that was evaluated too early."""

    cx: Context
    items: list[c_ast.Node]
    at: int = 0
    pending: Value | None = None
    changing: bool = False  # an item sets a variable that another one may read

    def __post_init__(self) -> None:
        self.changing = any(sequence.has_effect(item) for item in self.items)

    def _value(self, item: c_ast.Node) -> Value:
        """An item that was evaluated too early, or the next one."""
        if self.pending is not None:
            return self.pending
        value = self.cx.evaluate(self.cx, item)
        return sequence.read_now(self.cx, value) if self.changing else value

    def aggregate(self, ctype: ArrayOf | Record, node: c_ast.Node, *, braced: bool) -> Value:
        """One struct or array from the items that are left; ``braced`` allows designators."""
        storage.followed(self.cx, ctype, node)
        found: dict[str | int, Value] = {}
        slots = _slots(ctype)
        position = 0
        while self.at < len(self.items):
            item = self.items[self.at]
            if isinstance(item, c_ast.NamedInitializer):
                if not braced:
                    break
                position = self._designated(ctype, item, found, slots)
                continue
            if slots is not None and position >= len(slots):
                break
            name, inner = _slot(ctype, slots, position)
            found[name] = self._element(inner, item)
            position += 1
        return self._complete(ctype, found, node)

    def _element(self, ctype: CType, item: c_ast.Node) -> Value:
        if isinstance(item, c_ast.InitList):
            self.at += 1
            return initial_value(self.cx, ctype, item)
        if isinstance(ctype, ArrayOf | Record):
            value = self._value(item)
            if ctypes.same_shape(value.type, ctype):
                self.at, self.pending = self.at + 1, None
                return value
            self.pending = value
            return self.aggregate(ctype, item, braced=False)
        value = self._value(item)
        self.at, self.pending = self.at + 1, None
        return conversions.convert(self.cx, value, ctype, item)

    def _designated(
        self,
        ctype: ArrayOf | Record,
        item: c_ast.NamedInitializer,
        found: dict[str | int, Value],
        slots: list[tuple[str | int, CType]] | None,
    ) -> int:
        """``.x = v`` or ``[3] = v``; gives the position after it."""
        self.at += 1
        designator = item.name[0]
        name: str | int | None
        if isinstance(designator, c_ast.ID):
            name = designator.name
        else:
            inner = getattr(designator, "expr", designator)
            name = declarations.constant_int(self.cx, inner)
        position = _position(slots, name)
        if name is None or position is None or len(item.name) > 1:
            self.cx.warn(item, "a designator that is not understood: its value is ignored")
            return len(found)
        _, inner_type = _slot(ctype, slots, position)
        found[name] = initial_value(self.cx, inner_type, item.expr)
        return position + 1

    def _complete(
        self, ctype: ArrayOf | Record, found: dict[str | int, Value], node: c_ast.Node
    ) -> Value:
        if isinstance(ctype, ArrayOf) and not isinstance(ctype.length, int):
            highest = max((n for n in found if isinstance(n, int)), default=-1)
            ctype = ArrayOf(ctype.element, highest + 1)
        members: dict[str | int, Value] = {}
        for name, inner in _slots(ctype) or []:
            given = found.get(name)
            members[name] = storage.zero_value(self.cx, inner, node) if given is None else given
        return Members(ctype, members)


def _slots(ctype: ArrayOf | Record) -> list[tuple[str | int, CType]] | None:
    """Names and types of the members; None for an array of open length."""
    if isinstance(ctype, Record):
        return [(m.name, m.type) for m in ctype.members]
    if isinstance(ctype.length, int):
        return [(i, ctype.element) for i in range(ctype.length)]
    return None


def _position(slots: list[tuple[str | int, CType]] | None, name: str | int | None) -> int | None:
    """Where the member or index ``name`` stands in the order of initialisation."""
    if slots is None:
        return name if isinstance(name, int) and name >= 0 else None
    return next((at for at, (slot, _) in enumerate(slots) if slot == name), None)


def _slot(
    ctype: ArrayOf | Record, slots: list[tuple[str | int, CType]] | None, position: int
) -> tuple[str | int, CType]:
    if slots is not None:
        return slots[position]
    return position, ctype.element if isinstance(ctype, ArrayOf) else ctypes.VOID
