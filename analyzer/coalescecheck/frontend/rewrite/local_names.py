"""What functions declare besides variables: type names, enumerators, structured bindings.

In: declaration nodes.  Out: names in the environment, and the lines of structured bindings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env, Local, TypeBound
from coalescecheck.frontend.rewrite.ex import ASSIGN, Ex, integer
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.records import field_named
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


class LocalNames:
    """Enters names that are no ordinary variables."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def anonymous_union(
        self, node: Node, record: types.Record, env: Env, writer: FunctionWriter
    ) -> None:
        """``union { int all; char part[4]; };``: its members are names of the block."""
        holder = writer.fresh("anonymous")
        writer.line((Mark(node.start_byte), types.declare(record, holder), ";"))
        for name in _members(record):
            found = field_named(record.layout, name)
            if found is None:
                continue
            type_ = types.Reference(types.qualified(found.type, const=found.const))
            self._s.output.need(type_)
            c = c_name(name)
            writer.line((types.declare(type_, c), f" = &{holder}.{name};"))
            writer.references.add(c)
            env.names[name] = Local(c, type_)

    def structured(
        self, node: Node, declarator: Node, binding: Node, env: Env, writer: FunctionWriter
    ) -> None:
        """``auto [a, b] = record;``."""
        value = declarator.child_by_field_name("value")
        names = [text(n) for n in syntax.operands(binding)]
        if value is None:
            return
        ex = self._s.expressions.emit(value, env)
        reference = syntax.inner_declarator(declarator)
        by_address = reference is not None and reference.type == "reference_declarator"
        if isinstance(ex.type, types.Array) and ex.lvalue and ex.type.count == len(names):
            self._elements(ex, names, declarator, env, writer, by_address=by_address)
            return
        fields = ex.type.layout.fields if isinstance(ex.type, types.Record) else []
        if len(fields) != len(names):
            self._s.say(
                declarator,
                "warning",
                "a structured binding is not understood: its values are unknown",
            )
            for name in names:
                opaque = self._s.opaque_call([ex], types.UNKNOWN, Mark(declarator.start_byte))
                writer.line(("unknown_t ", c_name(name), " = ", opaque.at(ASSIGN), ";"))
                env.names[name] = Local(c_name(name), types.UNKNOWN)
            return
        holder = writer.fresh("bound")
        type_ = types.unqualified(ex.type)
        if by_address and ex.lvalue:
            spelled = types.declare(types.Pointer(type_), holder)
            writer.line((spelled, " = ", self._s.functions.receiver(ex, ()), ";"))
        else:
            writer.line((types.declare(type_, holder), " = ", ex.at(ASSIGN), ";"))
        arrow = "->" if by_address and ex.lvalue else "."
        for name, field in zip(names, fields, strict=True):
            env.names[name] = Local(f"{holder}{arrow}{field.name}", field.type, static=True)

    def _elements(
        self,
        array: Ex,
        names: list[str],
        node: Node,
        env: Env,
        writer: FunctionWriter,
        *,
        by_address: bool,
    ) -> None:
        """``auto [a, b] = array;``: a variable, or a reference, for each element."""
        mark = Mark(node.start_byte)
        for number, name in enumerate(names):
            element = self._s.operators.element(array, integer(number), node, env)
            type_: types.CType = types.unqualified(element.type)
            value: Piece = element.at(ASSIGN)
            if by_address:
                type_ = types.Reference(element.type)
                value = self._s.conversions.bound(element, type_, node, env)
            self._s.output.need(type_)
            writer.line((mark, types.declare(type_, c_name(name)), " = ", value, ";"))
            env.names[name] = Local(c_name(name), type_)

    def type_name(self, node: Node, env: Env) -> None:
        """A typedef or using declaration."""
        scope = index.Scope("", None)
        index.local_entries(node, scope)
        for name, entries in scope.entries.items():
            for entry in entries:
                if isinstance(entry, index.AliasEntry):
                    if entry.type.type in syntax.RECORDS and entry.type.child_by_field_name("name"):
                        self._s.records.in_place(entry.type, env)
                    type_ = self._s.typenames.alias(entry, env)
                    env.names[name] = TypeBound(type_)

    def using(self, node: Node, env: Env) -> None:
        """A using declaration, using directive or namespace alias in a block."""
        if env.scope is None:
            at: Env | None = env
            while at is not None and (at.scope is None or at.scope.kind != "namespace"):
                at = at.parent
            env.scope = index.Scope("", at.scope if at is not None else self._s.top)
        index.local_entries(node, env.scope)

    def local_enum(self, node: Node, env: Env) -> None:
        """The enumerators of an enum declared in a function."""
        type_ = self._s.typenames.enum_type(node, env)
        enum = types.enumeration(type_)
        inner = self._s.typenames.enumerators(node, type_, env)
        name = node.child_by_field_name("name")
        if enum is not None:
            self._s.local_enumerators[id(enum)] = inner
        if enum is None or not enum.scoped:
            env.names.update(inner)
        if name is not None:
            env.names[text(name)] = TypeBound(type_)


def _members(record: types.Record) -> Iterator[str]:
    """The names that an anonymous union adds, those of unions in it included."""
    for member in record.layout.fields:
        if member.name:
            yield member.name
        elif isinstance(member.type, types.Record):
            yield from _members(member.type)
