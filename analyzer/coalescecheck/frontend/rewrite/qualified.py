"""Qualified names: ``ns::f``, ``Class<T>::value``, ``Enum::A``.

In: a qualified_identifier.  Out: what it means, and the node of its last part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, types
from coalescecheck.frontend.rewrite.env import Env, Found, TypeBound
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_TEMPLATES = ("template_type", "template_function", "template_method")


class QualifiedNames:
    """Resolves ``A::B::c`` from left to right."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def resolve(self, node: Node, env: Env) -> tuple[Found | None, Node]:
        """The meaning of a qualified name (None if it is not known) and its last node."""
        around, name = self._around(node, env)
        return (None if around is None else self._inside(around, base_name(name), env)), name

    def in_object(self, node: Node, record: types.Record, env: Env) -> tuple[object, Node]:
        """The class that ``B::x`` in ``object.B::x`` is in, and the node of the last name."""
        around, name = self._around(node, env)
        if around is None:  # a name of the object's own class
            source = self._s.records.source(record)
            around, name = self._around(node, source.env if source is not None else env)
        return around, name

    def _around(self, node: Node, env: Env) -> tuple[object, Node]:
        """What a qualified name is in (None if that is not known), and its last node."""
        scope = node.child_by_field_name("scope")
        name = node.child_by_field_name("name") or node
        around: object = self._s.top if scope is None else self._first(scope, env)
        while name.type == "qualified_identifier":
            scope = name.child_by_field_name("scope")
            following = name.child_by_field_name("name")
            if following is None:
                break
            if around is not None and scope is not None:
                around = self._step(around, scope, env)
            if around is None and scope is not None and scope.type in _TEMPLATES:
                trait = self._s.trait(scope, env)  # `std::decay_t<T>::type`
                around = self._record(None if trait is None else types.strip(trait))
            name = following
        return around, _without_keyword(name)

    def functions(self, node: Node, env: Env) -> list[tuple[index.FunctionEntry, Found]]:
        """The functions a qualified name may mean."""
        found, last = self.resolve(node, env)
        if found is None:
            return []
        scope = found.env.scope
        if found.record is not None or scope is None or scope.kind != "namespace":
            return found.functions()
        return self._s.names.declared(scope, base_name(last), env.limit) or found.functions()

    def _first(self, node: Node, env: Env) -> object:
        if node.type in _TEMPLATES or node.type in ("decltype", "dependent_type"):
            return self._record(types.strip(self._s.typenames.type(node, env)))
        found = self._s.names.find(env, text(node))
        return None if found is None else self._context(found, env)

    def _step(self, around: object, node: Node, env: Env) -> object:
        node = _without_keyword(node)
        found = self._inside(around, base_name(node), env)
        if found is None:
            return None
        if node.type in _TEMPLATES:
            return self._record(self._s.typenames.applied(found, node, env))
        return self._context(found, env)

    def _context(self, found: Found, env: Env) -> object:
        for entry in found.entries:
            match entry:
                case index.NamespaceEntry(inner=index.Scope() as inner):
                    return inner
                case index.NamespaceEntry(target=target) if target and found.env.scope:
                    return self._s.names.namespace(found.env.scope, target)
                case index.EnumEntry():
                    return entry, found.env
                case _:
                    pass
        if isinstance(found.binding, TypeBound):
            enum = types.enumeration(found.binding.type)
            local = self._s.local_enumerators.get(id(enum))
            return self._record(found.binding.type) if local is None else local
        return self._record(self._s.typenames.of_found(found, env))

    @staticmethod
    def _record(type_: types.CType | None) -> object:
        return type_ if isinstance(type_, types.Record) else None

    def _inside(self, around: object, name: str, env: Env) -> Found | None:
        match around:
            case index.Scope():
                return self._s.names.in_scope(around, name, env.limit) or self._s.names.in_scope(
                    around, name
                )
            case types.Record():
                found = self._s.records.member(around, name)
                if found is not None and found.member is not None:
                    found.owner = around
                return found
            case dict():  # a local enumeration
                bound = around.get(name)
                return None if bound is None else Found(env, binding=bound)
            case (index.EnumEntry() as enum, Env() as home):
                entries = enum.inner.entries.get(name)
                return Found(home, entries=entries) if entries else None
            case _:
                return None


def _without_keyword(node: Node) -> Node:
    """``f<3>`` of ``template f<3>``."""
    is_marked = node.type == "dependent_name" and node.named_children
    return node.named_children[-1] if is_marked else node


def base_name(node: Node) -> str:
    """The name without template arguments."""
    if node.type in _TEMPLATES:
        inner = node.child_by_field_name("name")
        return text(inner) if inner is not None else text(node)
    if node.type == "dependent_name":
        inner = node.named_children[-1] if node.named_children else None
        return base_name(inner) if inner is not None else text(node)
    return "".join(text(node).split())
