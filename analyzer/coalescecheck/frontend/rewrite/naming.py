"""Names as expressions: variables, constants, members of ``this``, builtins, the unknown.

In: identifiers and qualified names.  Out: :class:`Ex`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import deduction, index, intrinsics, syntax, traits, types
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Argument, Env, Found, Local, PackBound, ValueBound
from coalescecheck.frontend.rewrite.ex import PRIMARY, Ex, constant, dereferenced, integer, literal
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


class Naming:
    """Emits names."""

    def __init__(self, session: Session) -> None:
        self._s = session
        for node_type in (
            "identifier",
            "type_identifier",
            "namespace_identifier",
            "field_identifier",
            "primitive_type",
        ):
            session.expressions.register(node_type, self._identifier)
        session.expressions.register("qualified_identifier", self._qualified)
        session.expressions.register("template_function", self._template)
        session.expressions.register("template_type", self._template)
        session.expressions.register("this", self._this)

    def _identifier(self, node: Node, env: Env, expected: CType | None) -> Ex:
        name = text(node)
        found = self._s.names.find(env, name)
        if found is not None:
            ex = self.of_found(found, node, env, expected)
            if ex is not None:
                return ex
        return self.builtin(name, node, env)

    def _qualified(self, node: Node, env: Env, expected: CType | None) -> Ex:
        found, last = self._s.qualified.resolve(node, env)
        if found is not None:
            ex = self.of_found(found, node, env, expected)
            if ex is not None:
                return ex
        known = traits.value_trait(self._s, node, env) or self._concept(node, env)
        if known is not None:
            return known
        path = self._s.names.namespace_path(env, "".join(text(node).split()))
        if "<" in path:  # `std::is_abstract<T>::value` differs from instance to instance
            if path.startswith(("std::", "cuda::std::")):
                self._s.substitution.doubt()
            return self._s.expressions.opaque(
                node, env, f"`{syntax.flat(node)}` is not known", types.UNKNOWN, []
            )
        if path.startswith(("std::", "cuda::", "::")) or found is not None:
            return self.builtin(base_name(last), node, env)
        return self._s.free_name(types.mangled(path.split("::")), node)

    def _template(self, node: Node, env: Env, expected: CType | None) -> Ex:
        known = traits.value_trait(self._s, node, env) or self._concept(node, env)
        if known is not None:
            return known
        found = self._s.names.find(env, base_name(node))
        for entry in found.entries if found is not None else ():
            if isinstance(entry, index.VariableEntry) and entry.head is not None and found:
                nodes = syntax.operands(node.child_by_field_name("arguments"))
                bound = self._s.typenames.arguments(entry.head, nodes, env, found.env)
                if bound is not None:
                    chosen, bound = self._specialised(entry, bound, found.env)
                    inner = Env(found.env, dict(bound))
                    return self._s.globals.use(chosen, inner, node)
            if isinstance(entry, index.FunctionEntry) and found is not None:
                value = self._s.functions.as_value(node, env, expected)
                if value is not None:
                    return value
        self._s.substitution.doubt()
        return self._s.expressions.opaque(
            node, env, f"`{syntax.flat(node)}` is not known", parts=[]
        )

    def _concept(self, node: Node, env: Env) -> Ex | None:
        """The value of a concept's name with arguments."""
        constraints = self._s.constraints
        return constraints.value(node, env) if constraints.is_concept(node, env) else None

    def _specialised(
        self, entry: index.VariableEntry, bound: dict[str, Argument], home: Env
    ) -> tuple[index.VariableEntry, dict[str, Argument]]:
        """The variable template or its specialisation for these arguments; those are entered
        under a name that includes what they are for."""
        fitting = []
        for name, entries in entry.scope.entries.items():
            for other in entries if name.startswith(f"{entry.name}<") else ():
                if not isinstance(other, index.VariableEntry):
                    continue
                named = syntax.declared_name(other.declarator)
                if named is None:
                    continue
                nodes = syntax.operands(named.child_by_field_name("arguments"))
                special = self._s.specialisations.specialised(
                    entry.head, other.head, nodes, tuple(bound.values()), home
                )
                if special is not None:
                    fitting.append((other, special))
        if not fitting:
            return entry, bound
        return min(fitting, key=lambda one: deduction.freedom(one[1]))

    def _this(self, node: Node, env: Env, expected: CType | None) -> Ex:
        record = self._s.self_record(env)
        mark = Mark(node.start_byte)
        if record is None:
            return self._s.expressions.opaque(node, env, "`this` outside of a class", parts=[])
        return Ex(
            (mark, self._s.self_name(env)),
            types.Pointer(self._s.self_object(env, record)),
            pure=True,
        )

    def of_found(self, found: Found, node: Node, env: Env, expected: CType | None) -> Ex | None:
        """The expression a name's meaning is; None if it is a type or namespace."""
        mark = Mark(node.start_byte)
        match found.binding:
            case Local():
                if isinstance(found.binding.type, types.Reference):
                    self._s.note_reference(found.binding.c)
                return self.local(_seen_from(env, found, found.binding), mark)
            case ValueBound(spelled, type_, value):
                if value is not None:
                    return constant(value, type_, mark)
                return Ex((mark, spelled), type_, PRIMARY, pure=True)
            case PackBound(items) if len(items) == 1 and isinstance(items[0], Local):
                return self.local(items[0], mark)
            case _:
                pass
        if found.member is not None:
            return self._own_member(found, mark, env)
        for entry in found.entries:
            match entry:
                case index.VariableEntry():
                    return self._s.globals.use(entry, found.env, node)
                case index.EnumeratorEntry():
                    return self._enumerator(entry, found.env, mark, node)
                case index.FunctionEntry():
                    return self._s.functions.as_value(node, env, expected)
                case _:
                    pass
        return None

    def type_of_value(self, node: Node, env: Env) -> CType | None:
        """The type of ``A::x``, which the grammar takes for a type where one may stand."""
        inner = node.child_by_field_name("type")
        if inner is None or inner.type != "qualified_identifier" or node.named_child_count != 1:
            return None
        found, _ = self._s.qualified.resolve(inner, env)
        if found is None or (found.member is None and not found.entries):
            return None
        if found.member is not None:
            return found.member.type
        values = (index.VariableEntry, index.EnumeratorEntry)
        if not isinstance(found.entries[0], values):
            return None
        return self._s.expressions.emit(inner, env).type

    def type_of_member(self, node: Node, env: Env) -> CType | None:
        """The type of ``A::x`` where no object is needed."""
        if node.type != "qualified_identifier":
            return None
        found, _ = self._s.qualified.resolve(node, env)
        return found.member.type if found is not None and found.member is not None else None

    @staticmethod
    def local(local: Local, mark: Mark) -> Ex:
        """A local variable or parameter."""
        if local.value is not None and local.literal:
            ex = replace(literal(local.value, mark), named=True)
            known = types.is_arithmetic(local.type)
            return replace(ex, type=types.unqualified(local.type)) if known else ex
        if isinstance(local.type, types.Reference):
            return dereferenced((mark, local.c), local.type.target)
        register = not isinstance(local.type, types.Array | types.Record) and not local.static
        return Ex(
            (mark, local.c),
            local.type,
            PRIMARY,
            local.value,
            lvalue=local.value is None,
            pure=register,
            captures=local.captures,
            named=local.value is not None,
        )

    def _own_member(self, found: Found, mark: Mark, env: Env) -> Ex | None:
        member = found.member
        if member is None or env.function is None:
            return None
        if self._s.self_record(env) is None:  # `&S::x`: no object
            return self._s.opaque_call([], types.UNKNOWN, mark)
        name = self._s.self_name(env)
        path, record = member.path, self._s.self_record(env)
        if found.owner is not None and record is not None:  # `Base::x`
            path = (*(self._s.records.base_path(record, found.owner.cname) or ()), *path)
        piece = (mark, f"{name}->{'.'.join(path)}")
        if isinstance(member.type, types.Reference):
            return dereferenced(piece, member.type.target)
        type_: CType = member.type
        if not member.mutable and not isinstance(type_, types.Array):
            type_ = self._s.self_object(env, type_)
        return Ex(piece, type_, PRIMARY, lvalue=True)

    def _enumerator(
        self, entry: index.EnumeratorEntry, env: Env, mark: Mark, node: Node
    ) -> Ex | None:
        number = self._s.enumerator(entry, env)
        if number is None:
            return self._s.free_name(entry.name, node)
        ex = integer(number)
        type_ = self._s.typenames.enum_type(entry.enum.node, env)
        return Ex((mark, ex.piece), type_, ex.precedence, ex.value, pure=True)

    def builtin(self, name: str, node: Node, env: Env) -> Ex:
        """A name CUDA or a standard header defines, or one nobody defines."""
        mark = Mark(node.start_byte)
        if name in intrinsics.BUILTIN_VARIABLES:
            type_ = self._s.builtin_variable(name)
            return Ex((mark, name), type_, lvalue=True, pure=True)
        if name == "warpSize":
            return Ex((mark, "32"), types.INT, PRIMARY, integer(32).value, pure=True)
        constant = intrinsics.CONSTANTS.get(name)
        if constant is not None:
            spelled, constant_type = constant
            return Ex((mark, spelled), constant_type, pure=True)
        if self._s.type_if_named(node, env) is not None:
            return self._s.expressions.opaque(
                node, env, f"`{name}` is a type where a value is wanted", parts=[]
            )
        return self._s.free_name(c_name(types.mangled(name.split("::"))), node)


def _seen_from(env: Env, found: Found, local: Local) -> Local:
    """A constant of the function around is no name in the C function of a lambda or method."""
    elsewhere = local.value is not None and found.env.function is not env.function
    return replace(local, literal=True) if elsewhere else local
