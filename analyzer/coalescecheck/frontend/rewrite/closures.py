"""Lambdas as objects: what a function returns or a class holds keeps its captures in a struct.

In: a lambda value, whose captures are names of the function around it.  Out: an object that can go
anywhere, and the lambda again where it is called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Piece, joined
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import ASSIGN, UNARY, Ex
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.types import Closure, CType, Field, Layout, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


@dataclass(frozen=True, slots=True)
class Held:
    """What the struct of a lambda came from; ``copied`` has the fields that are captured by copy
    and passed by their address."""

    closure: Closure
    copied: frozenset[str]


class Closures:
    """Turns lambdas into objects and back."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[str, Record] = {}

    def held_type(self, type_: CType) -> CType:
        """The struct of a lambda; any other type as it is, and a lambda that holds an array."""
        bare = types.strip(type_)
        if not isinstance(bare, Closure):
            return type_
        known = self._known.get(bare.cname)
        if known is not None:
            return known
        parts = self._s.lambdas.parts(bare)
        if any(isinstance(t, types.Reference) and _is_array(t) for _, t, _ in parts):
            return type_
        fields, copied = [], set()
        for name, part, by_copy in parts:
            kept = part
            if isinstance(part, types.Reference):
                kept = types.unqualified(part.target) if by_copy else types.Pointer(part.target)
                copied |= {c_name(name)} if by_copy else set()
            fields.append(Field(c_name(name), kept))
        cname = self._s.output.unique(f"held__{bare.cname.rsplit('__', 1)[0]}")
        layout = Layout(cname, fields=fields, source=Held(bare, frozenset(copied)), shown="lambda")
        self._s.output.define_record(layout)
        record = self._known[bare.cname] = Record(cname, layout)
        return record

    def object_of(self, ex: Ex, node: Node, env: Env) -> Ex:
        """A lambda as an object; any other value as it is."""
        record = self.held_type(ex.type)
        if not isinstance(ex.type, Closure) or not isinstance(record, Record):
            return ex
        held = record.layout.source
        if not isinstance(held, Held) or len(ex.captures) != len(record.layout.fields):
            return ex
        parts: list[Piece] = []
        for field, capture in zip(record.layout.fields, ex.captures, strict=True):
            piece: Piece = capture
            if field.name in held.copied:
                value = Ex(("*(", capture, ")"), field.type, UNARY, lvalue=True)
                piece = self._s.conversions.coerce(value, field.type, node, env).at(ASSIGN)
            parts.append((f".{field.name} = ", piece))
        return Ex((f"({record.spelled}){{", joined(parts or ["0"]), "}"), record)

    def opened(self, ex: Ex) -> Ex | None:
        """The lambda that an object is; None for any other object."""
        record = ex.decayed
        held = record.layout.source if isinstance(record, Record) else None
        if not isinstance(held, Held) or not isinstance(record, Record):
            return None
        first: Piece = ""
        if not record.layout.fields:
            return replace(ex, type=held.closure)
        if not ex.lvalue:
            name = self._s.temporary(record)
            first = (name, " = ", ex.at(ASSIGN), ", ")
            ex = Ex(name, record, lvalue=True)
        captures: list[Piece] = []
        for field in record.layout.fields:
            piece = self._s.methods.inside(ex, (field.name,))
            captures.append(("&", piece) if field.name in held.copied else piece)
        if first:
            captures[0] = ("(", first, captures[0], ")")
        return Ex("0", held.closure, pure=True, captures=tuple(captures))


def _is_array(type_: types.Reference) -> bool:
    return isinstance(type_.target, types.Array)
