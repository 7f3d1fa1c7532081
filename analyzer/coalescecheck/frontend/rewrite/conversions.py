"""Conversions that C++ does silently and C does not: operators, bases, references, pointers.

In: emitted expressions and wanted types.  Out: expressions C accepts with those types.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import (
    PRIMARY,
    UNARY,
    Ex,
    address_of,
    cast,
    dereferenced,
    folded_cast,
)
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


class Conversions:
    """Implicit and explicit conversions."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def coerce(self, ex: Ex, to: CType, node: Node, env: Env) -> Ex:
        """``ex`` where a value of type ``to`` is wanted."""
        to, source = types.strip(to), ex.decayed
        if source == to and isinstance(to, types.Record):
            return self._s.copying.copied(ex, to, node, env)
        if source == to or isinstance(to, types.Auto | types.Placeholder | types.Array):
            return ex
        match to:
            case types.GroupType():
                return ex
            case types.Pointer():
                return self._to_pointer(ex, source, to, node, env)
            case types.Record():
                return self._to_record(ex, source, to, node, env)
            case _:
                return self._to_scalar(ex, source, to, node, env)

    def _to_scalar(self, ex: Ex, source: CType, to: CType, node: Node, env: Env) -> Ex:
        if isinstance(source, types.Record | types.Closure | types.GroupType):
            converted = self._by_operator(ex, to, node, env)
            if converted is not None:
                return converted
            return self._unknown(ex, to, node)
        if source == types.VOID and to != types.VOID:
            return self._unknown(ex, to, node)
        if isinstance(source, types.Pointer) and to != types.BOOL:
            return cast(ex, to)
        if types.is_arithmetic(source) or isinstance(source, types.Unknown):
            return replace(ex, type=to, value=folded_cast(ex.value, to), lvalue=False)
        return ex

    def _to_pointer(self, ex: Ex, source: CType, to: types.Pointer, node: Node, env: Env) -> Ex:
        if isinstance(source, types.Pointer):
            if types.unqualified(source.target) == types.unqualified(to.target):
                return replace(ex, type=to) if not isinstance(ex.type, types.Array) else ex
            if types.VOID in (types.unqualified(source.target), types.unqualified(to.target)):
                return ex
            base = self._base_pointer(ex, source, to)
            return base if base is not None else cast(ex, to)
        if isinstance(source, types.Record):
            converted = self._by_operator(ex, to, node, env)
            return converted if converted is not None else self._unknown(ex, to, node)
        if isinstance(source, types.Closure):
            return self._unknown(ex, to, node)
        if ex.value is not None and not ex.value.number:
            return Ex("((void*)0)", to, PRIMARY, pure=True)
        return cast(ex, to) if source != types.VOID else self._unknown(ex, to, node)

    def _base_pointer(self, ex: Ex, source: types.Pointer, to: types.Pointer) -> Ex | None:
        derived, base = source.target, to.target
        if not (isinstance(derived, types.Record) and isinstance(base, types.Record)):
            return None
        path = self._s.records.base_path(derived, base.cname)
        if path is None:
            return None
        if not (path and base.layout.fields):
            return cast(ex, to)
        return Ex(("&", ex.at(PRIMARY), "->", ".".join(path)), to, UNARY, pure=ex.pure)

    def _to_record(self, ex: Ex, source: CType, to: types.Record, node: Node, env: Env) -> Ex:
        if isinstance(source, types.Record):
            path = self._s.records.base_path(source, to.cname)
            if path is not None and to.layout.fields:
                part = Ex(self._s.methods.inside(ex, path), to, lvalue=ex.lvalue, moved=ex.moved)
                return self._s.copying.copied(part, to, node, env)
            if path is not None:
                self._s.output.need(to)
                nothing = Ex(f"({to.spelled}){{0}}", types.unqualified(to))
                return nothing if ex.pure else self._s.expressions.sequence(ex, nothing)
            converted = self._by_operator(ex, to, node, env)
            if converted is not None:
                return converted
        if isinstance(source, types.Unknown) or source == types.VOID:
            return self._unknown(ex, to, node)
        return self._s.construction.construct(to, [ex], node, env)

    def _by_operator(self, ex: Ex, to: CType, node: Node, env: Env) -> Ex | None:
        """A conversion operator of the source's class."""
        if not isinstance(ex.type, types.Record):
            return None
        return self._s.methods.conversion(ex, to, node, env)

    def _unknown(self, ex: Ex, to: CType, node: Node) -> Ex:
        """A value of type ``to`` nobody knows, made of ``ex``."""
        self._s.say(
            node, "note", f"conversion to `{types.spell(to)}` is not known: its value is unknown"
        )
        arguments = [] if ex.type == types.VOID else [ex]
        made = self._s.opaque_call(arguments, to, Mark(node.start_byte))
        if ex.type == types.VOID:
            return self._s.expressions.sequence(ex, made)
        return made

    def truth(self, ex: Ex, node: Node, env: Env) -> Ex:
        """``ex`` as a condition."""
        by_operator = self._explicitly(ex, types.BOOL, node, env)
        if by_operator is not None:
            return by_operator
        if isinstance(ex.type, types.Record | types.Closure | types.GroupType) or (
            ex.type == types.VOID
        ):
            return self._to_scalar(ex, ex.type, types.BOOL, node, env)
        return ex

    def explicit(self, ex: Ex, to: CType, node: Node, env: Env) -> Ex:
        """A cast written by the user."""
        mark = Mark(node.start_byte)
        self._s.output.need(to)
        if to == types.VOID and ex.lvalue and ex.address is not None and not ex.type.volatile:
            return Ex((mark, "(void)", ex.address), to, UNARY)  # nothing is read
        if isinstance(to, types.Reference):
            pointer = types.Pointer(to.target)
            address = ex if ex.lvalue else self.materialised(ex)
            place = Ex(address_of(address), types.Pointer(address.type), UNARY)
            related = self._between_classes(place, pointer, node)
            if related is not None:
                found = dereferenced(related.at(UNARY), to.target, mark)
            elif types.unqualified(address.type) == types.unqualified(to.target):
                found = replace(address, type=to.target)
            else:
                piece: Piece = (f"({types.spell(pointer)})", address_of(address))
                found = dereferenced(piece, to.target, mark)
            return replace(found, moved=to.rvalue)
        if isinstance(to, types.Record | types.Auto):
            return self.coerce(ex, to, node, env)
        if to == types.VOID:
            return Ex((mark, "(void)", ex.at(UNARY)), to, UNARY)
        by_operator = self._explicitly(ex, to, node, env)
        if by_operator is not None:
            return by_operator
        if isinstance(ex.type, types.Record) or ex.type == types.VOID:
            return self.coerce(ex, to, node, env)
        if isinstance(ex.type, types.Closure | types.GroupType):
            return self._unknown(ex, to, node)
        related = self._between_classes(ex, to, node)
        return cast(ex, to, mark) if related is None else related

    def _explicitly(self, ex: Ex, to: CType, node: Node, env: Env) -> Ex | None:
        """An object converted to a scalar by an operator of its class, ``explicit`` or not."""
        if not isinstance(ex.type, types.Record):
            return None
        made = self._s.methods.conversion(ex, to, node, env, explicit=True)
        return None if made is None else self.coerce(made, to, node, env)

    def _between_classes(self, ex: Ex, to: CType, node: Node) -> Ex | None:
        """A cast of a pointer to a base or derived class that begins at another byte."""
        source = ex.decayed
        if not isinstance(to, types.Pointer) or not isinstance(source, types.Pointer):
            return None
        here, there = types.unqualified(source.target), types.unqualified(to.target)
        if not isinstance(here, types.Record) or not isinstance(there, types.Record):
            return None
        up = self._base_pointer(ex, source, to)
        if up is not None:
            return up
        path = self._s.records.base_path(there, here.cname)
        if not path or not here.layout.fields:
            return None
        place = types.offset_of(there, path)
        if place == 0:
            return None
        if place is None:
            return self._s.opaque_call([ex], to, Mark(node.start_byte))
        spelled = types.spell(types.unqualified(to))
        return Ex((f"({spelled})((char *)", ex.at(UNARY), f" - {place})"), to, UNARY, pure=ex.pure)

    def bound(self, ex: Ex, to: types.Reference, node: Node, env: Env) -> Piece:
        """C text for the pointer that a reference of type ``to`` becomes when bound to ``ex``."""
        target = to.target
        bare, source = types.unqualified(target), types.unqualified(ex.type)
        if ex.lvalue and (source == bare or isinstance(target, types.Auto)):
            return address_of(ex)
        if ex.lvalue and isinstance(bare, types.Array) and isinstance(source, types.Array):
            return self._cast_address(ex, target)
        if ex.lvalue and isinstance(source, types.Record) and isinstance(bare, types.Record):
            path = self._s.records.base_path(source, bare.cname)
            if path is not None:
                if not bare.layout.fields:
                    return self._cast_address(ex, target)
                return ("&", self._s.methods.inside(ex, path))
        if ex.lvalue and isinstance(bare, types.Unknown):
            return self._cast_address(ex, target)
        if refers_to_unknown(ex, to):
            self._s.output.need(target)
            return self._s.opaque_call([ex], types.Pointer(target), Mark(node.start_byte)).piece
        value = ex if isinstance(target, types.Auto) else self.coerce(ex, target, node, env)
        return address_of(self.materialised(value))

    def _cast_address(self, ex: Ex, target: CType) -> Piece:
        self._s.output.need(target)
        return (f"({types.spell(types.Pointer(target))})", address_of(ex))

    def materialised(self, ex: Ex) -> Ex:
        """An rvalue given a place in memory, so that it has an address."""
        type_ = ex.decayed
        name = self._s.temporary(type_)
        address: Piece = ("(", name, " = ", ex.at(2), ", &", name, ")")
        return Ex(("*", address), type_, UNARY, lvalue=True, address=address)


def refers_to_unknown(ex: Ex, to: types.Reference) -> bool:
    """Whether a reference is bound to what nobody knows, which is taken for memory of somebody's: a
    local copy would show accesses that there are not."""
    place = not to.rvalue and (isinstance(to.target, types.Record) or not to.target.const)
    return place and not ex.lvalue and isinstance(types.unqualified(ex.type), types.Unknown)
