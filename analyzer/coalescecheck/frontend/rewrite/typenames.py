"""From type syntax to C types, in an environment.

In: type nodes, declarators, template argument lists.  Out: types and template arguments.
Class templates are instantiated on the way.  It must not know about statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import groups, index, library, syntax, traits, types
from coalescecheck.frontend.rewrite.builtin_types import builtin_type
from coalescecheck.frontend.rewrite.deduction import has_placeholder
from coalescecheck.frontend.rewrite.emit import plain
from coalescecheck.frontend.rewrite.env import (
    Argument,
    Env,
    Found,
    Local,
    PackBound,
    TemplateBound,
    TypeBound,
    ValueBound,
)
from coalescecheck.frontend.rewrite.ex import integer
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_WORDS = {"signed", "unsigned", "long", "short", "int", "char", "double"}


class TypeNames:
    """Resolves type syntax."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._enums: dict[tuple[int, int], tuple[CType, Env]] = {}  # what they are made of, where

    def type(self, node: Node, env: Env) -> CType:
        """The type a type node (without declarator) names."""
        match node.type:
            case "primitive_type":
                return self._words(text(node).split(), node, env)
            case "sized_type_specifier":  # `unsigned short const` holds the qualifier
                inside = ("type_qualifier", "comment")
                words = [text(c) for c in node.children if c.type not in inside]
                return self._with_qualifiers(self._words(words, node, env), node)
            case "type_identifier" | "identifier" | "namespace_identifier" | "field_identifier":
                return self._named(text(node), node, env)
            case "qualified_identifier":
                return self.qualified(node, env)
            case "template_type" | "template_function":
                return self._template(node, env)
            case "type_descriptor":
                return self.descriptor(node, env)
            case "dependent_type":
                inner = syntax.operands(node)
                return self.type(inner[-1], env) if inner else types.UNKNOWN
            case "placeholder_type_specifier":
                return types.Auto(kept=text(node).startswith("decltype"))
            case "decltype":
                return self._decltype(node, env)
            case "struct_specifier" | "class_specifier" | "union_specifier":
                return self._s.records.in_place(node, env)
            case "enum_specifier":
                return self._enum(node, env)
            case _:
                return self._unknown(text(node), node, env)

    def descriptor(self, node: Node, env: Env) -> CType:
        """The type of a type_descriptor: ``const float *``."""
        type_ = node.child_by_field_name("type")
        if type_ is None:
            return self._unknown(text(node), node, env)
        base = self._with_qualifiers(self.type(type_, env), node)
        declarator = node.child_by_field_name("declarator")
        return base if declarator is None else self.apply(declarator, base, env)

    def declared(
        self, node: Node, declarator: Node | None, env: Env, known: CType | None = None
    ) -> CType:
        """The type that a declaration gives to one of its declarators, ``known`` if its type
        without their decoration is."""
        type_ = node.child_by_field_name("type")
        if known is not None:
            base: CType = known
        elif type_ is None:
            base = types.Auto() if syntax.has_word(node, "auto") else types.INT
        else:
            base = self.type(type_, env)
        base = self._with_qualifiers(base, node)
        if syntax.points_to_member(declarator):  # 8 bytes, 16 for a method
            return types.Unknown(self._s.output_unknown("pointer_to_member", ""))
        return base if declarator is None else self.apply(declarator, base, env)

    def apply(self, declarator: Node, base: CType, env: Env) -> CType:
        """Wraps ``base`` in what the declarator says, from the outside inwards."""
        at: Node | None = declarator
        while at is not None:
            kind = at.type.removeprefix("abstract_")
            if kind == "pointer_declarator":
                base = self._pointer(at, base)
            elif kind == "reference_declarator":
                rvalue = syntax.child(at, "&&") is not None
                if not isinstance(base, types.Reference):
                    base = types.Reference(base, rvalue)
                elif base.rvalue and not rvalue:
                    base = types.Reference(base.target)
            elif kind == "array_declarator":
                base = self._array(at, base, env)
            elif kind == "function_declarator":
                base = types.FunctionType(self._trailing(at, base, env), self._list(at, env))
            elif kind not in (
                "parenthesized_declarator",
                "init_declarator",
                "attributed_declarator",
                "variadic_declarator",
            ):
                break
            at = syntax.inner_declarator(at)
        return base

    @staticmethod
    def _pointer(node: Node, base: CType) -> CType:
        if isinstance(base, types.Reference):
            base = base.target
        words = text(node).split("*", 1)[-1]
        inner = syntax.inner_declarator(node)
        if inner is not None:
            words = words[: len(words) - (node.end_byte - inner.start_byte)]
        pointer = types.Pointer(base, "restrict" in words)
        return types.qualified(pointer, const="const" in words, volatile="volatile" in words)

    def _array(self, node: Node, base: CType, env: Env) -> CType:
        size = node.child_by_field_name("size")
        if size is None:
            return types.Array(base, None)
        constant, spelled = self._s.expressions.extent(size, env)
        return types.Array(base, constant, spelled)

    def _trailing(self, node: Node, base: CType, env: Env) -> CType:
        trailing = syntax.child(node, "trailing_return_type")
        if trailing is None:
            return base
        inner = syntax.operands(trailing)
        return self.type(inner[-1], env) if inner else base

    def _list(self, node: Node, env: Env) -> tuple[CType, ...]:
        out: list[CType] = []
        for parameter in syntax.operands(node.child_by_field_name("parameters")):
            named = parameter.child_by_field_name("type")
            if parameter.type == "variadic_parameter_declaration" and named is not None:
                found = self._s.names.find(env, text(named))
                pack = found.binding if found is not None else None
                items = pack.items if isinstance(pack, PackBound) else ()
                out += [item.type for item in items if isinstance(item, TypeBound)]
            if parameter.type in ("parameter_declaration", "optional_parameter_declaration"):
                declarator = parameter.child_by_field_name("declarator")
                type_ = types.unqualified(self.declared(parameter, declarator, env))
                if type_ != types.VOID:
                    array = isinstance(type_, types.Array)
                    out.append(types.decayed(type_) if array else type_)
        return tuple(out)

    @staticmethod
    def _with_qualifiers(base: CType, node: Node) -> CType:
        words = {text(c) for c in node.children if c.type == "type_qualifier"}
        if isinstance(base, types.Reference | types.Auto) and not isinstance(base, types.Auto):
            return base
        return types.qualified(base, const="const" in words, volatile="volatile" in words)

    def _words(self, words: list[str], node: Node, env: Env) -> CType:
        if len(words) == 1 and words[0] in ("int", "float", "double", "char", "bool", "void"):
            return types.Scalar(words[0])
        known = builtin_type(" ".join(words)) if len(words) < 3 else None
        if known is not None:
            return known
        if not set(words) <= _WORDS:
            return self._unknown(text(node), node, env)
        if words.count("double"):
            return types.DOUBLE if len(words) == 1 else types.LONG_DOUBLE
        unsigned = "unsigned " if "unsigned" in words else ""
        if "char" in words:
            prefix = unsigned or ("signed " if "signed" in words else "")
            return types.Scalar(prefix + "char")
        if "short" in words:
            return types.Scalar(unsigned + "short")
        longs = words.count("long")
        return types.Scalar(unsigned + ("int", "long", "long long")[min(longs, 2)])

    def _named(self, name: str, node: Node, env: Env) -> CType:
        found = self._s.names.find(env, name)
        if found is not None:
            type_ = self.of_found(found, env)
            if type_ is not None:
                return type_
        return self._builtin(name, node, env)

    def _builtin(self, path: str, node: Node, env: Env) -> CType:
        name = path.rsplit("::", 1)[-1]
        known = builtin_type(name) or groups.group_type(name) or library.member_type(name)
        if known is not None:
            return known
        if name in ("int", "float", "double", "char", "bool", "void", "long", "short"):
            return types.Scalar(name)
        return self._unknown(path, node, env)

    def of_found(self, found: Found, env: Env) -> CType | None:
        """The type that a name's meaning is; None if it is no type."""
        match found.binding:
            case TypeBound(type_):
                return type_
            case TemplateBound(index.RecordEntry() as entry, of_env):
                return self._s.records.instance(entry, {}, of_env)
            case None:
                pass
            case _:
                return None
        for known in found.entries:
            if isinstance(known, index.RecordEntry) and known.arguments is None:
                if known.head is None:
                    return self._s.records.instance(known, {}, found.env)
                injected = self.injected(known, env)
                if injected is not None:
                    return injected
                return self._s.specialisations.applied(known, [], found.env, env)
        for other in found.entries:
            if isinstance(other, index.AliasEntry):
                return self.alias(other, found.env)
            if isinstance(other, index.EnumEntry):
                return self.enum_type(other.node, found.env)
        return None

    def injected(self, entry: index.RecordEntry, env: Env) -> CType | None:
        """Inside a class template its own name means the current instance."""
        at: Env | None = env
        while at is not None:
            if at.record is not None and self._s.records.entry_of(at.record) is entry:
                return at.record
            at = at.parent
        return None

    def alias(self, entry: index.AliasEntry, env: Env) -> CType:
        """The type that a typedef or a using declaration names."""
        with self._s.reading(entry.type.parent):
            return self._aliased(entry, env)

    def _aliased(self, entry: index.AliasEntry, env: Env) -> CType:
        unnamed = entry.type.type in syntax.RECORDS and (
            entry.type.child_by_field_name("name") is None
        )
        if unnamed:
            base: CType = self._s.records.anonymous(entry.type, entry.name, env)
        else:
            base = self.type(entry.type, env)
        parent = entry.type.parent
        if parent is not None and parent.type == "type_definition":
            base = self._with_qualifiers(base, parent)
        return base if entry.declarator is None else self.apply(entry.declarator, base, env)

    def qualified(self, node: Node, env: Env) -> CType:
        """``A::B`` as a type."""
        found, name = self._s.qualified.resolve(node, env)
        if found is not None:
            if name.type in ("template_type", "template_function"):
                type_ = self.applied(found, name, env)
            else:
                type_ = self.of_found(found, env)
            if type_ is not None:
                return type_
        return self._foreign(node, name, env)

    def _foreign(self, node: Node, last: Node, env: Env) -> CType:
        """A type of a library whose headers are not here."""
        path = self._s.names.namespace_path(env, "".join(text(node).split()))
        known = traits.type_trait(self._s, node, env)
        if known is not None:
            return known
        if last.type in ("template_type", "template_function"):
            known = groups.tile_type(self._s, last, env) or self._library(last, env)
            if known is not None:
                return known
            return self._unknown(path, node, env)
        return self._builtin(path, node, env)

    def _template(self, node: Node, env: Env) -> CType:
        name = node.child_by_field_name("name")
        if name is None:
            return self._unknown(text(node), node, env)
        found = self._s.names.find(env, text(name))
        if found is not None:
            type_ = self.applied(found, node, env)
            if type_ is not None:
                return type_
        known = traits.type_trait(self._s, node, env) or groups.tile_type(self._s, node, env)
        known = known or self._library(node, env)
        return known if known is not None else self._unknown(text(node), node, env)

    def _library(self, node: Node, env: Env) -> CType | None:
        arguments = syntax.operands(node.child_by_field_name("arguments"))
        return library.class_of(self._s, base_name(node), arguments, env)

    def applied(self, found: Found, node: Node, env: Env) -> CType | None:
        """A class or alias template applied to arguments."""
        nodes = syntax.operands(node.child_by_field_name("arguments"))
        if isinstance(found.binding, TemplateBound):
            entry = found.binding.entry
            if isinstance(entry, index.RecordEntry):
                return self._s.specialisations.applied(entry, nodes, found.binding.env, env)
        if isinstance(found.binding, TypeBound):  # a class template named inside itself
            return self._reapplied(found.binding.type, nodes, env)
        for entry in found.entries:
            if isinstance(entry, index.RecordEntry) and entry.arguments is None:
                return self._s.specialisations.applied(entry, nodes, found.env, env)
            if isinstance(entry, index.AliasEntry) and entry.head is not None:
                bound = self.arguments(entry.head, nodes, env, found.env)
                if bound is not None:
                    return self.alias(entry, Env(found.env, dict(bound)))
        return None

    def _reapplied(self, type_: CType, nodes: Sequence[Node], env: Env) -> CType | None:
        entry = self._s.records.entry_of(type_) if isinstance(type_, types.Record) else None
        if entry is None:
            return None
        found = self._s.names.in_scope(entry.scope, entry.name)
        for primary in found.entries if found is not None else ():
            if isinstance(primary, index.RecordEntry) and primary.arguments is None and found:
                return self._s.specialisations.applied(primary, nodes, found.env, env)
        return None

    def arguments(
        self, head: Sequence[index.TemplateParameter], nodes: Sequence[Node], env: Env, home: Env
    ) -> dict[str, Argument] | None:
        """Template arguments by parameter name; ``home`` is where the template is declared.

        None if one is missing.
        """
        bound: dict[str, Argument] = {}
        given = self.expanded(nodes, env)
        inner = Env(home, {})
        for number, parameter in enumerate(head):
            name = parameter.name or f"unnamed__{number}"
            if parameter.pack:
                rest = tuple(self.given(parameter, *a, inner) for a in given[number:])
                bound[name] = PackBound(rest)
            elif number < len(given):
                bound[name] = self.given(parameter, *given[number], inner)
            elif parameter.default is not None:
                bound[name] = self.given(parameter, parameter.default, inner, inner)
            else:
                return None
            inner.names[name] = bound[name]
        return bound

    def expanded(self, nodes: Sequence[Node], env: Env) -> list[tuple[Argument | Node, Env]]:
        """Arguments with the packs among them written out, each with its environment."""
        out: list[tuple[Argument | Node, Env]] = []
        for node in nodes:
            pattern = node.child_by_field_name("pattern")
            if node.type != "parameter_pack_expansion" or pattern is None:
                out.append((node, env))
                continue
            found = self._s.names.find(env, text(pattern))
            if found is not None and isinstance(found.binding, PackBound):
                packed = found.binding.items
                out += [(i, env) for i in packed if isinstance(i, TypeBound | ValueBound)]
            elif self._s.expressions.packs(pattern, env):
                out += [(pattern, one) for one in self._s.expressions.pack_envs(pattern, env)]
            else:
                out.append((node, env))
        return out

    def given(
        self, parameter: index.TemplateParameter, given: Argument | Node, env: Env, home: Env
    ) -> Argument:
        """A template argument that may be written out from a pack already."""
        if not isinstance(given, Node):
            return given
        return self.argument(parameter, given, env, home)

    def argument(
        self, parameter: index.TemplateParameter, node: Node, env: Env, home: Env
    ) -> Argument:
        """One template argument, read as its parameter's kind demands; ``home`` is where the
        template is, with the arguments before this one."""
        if parameter.kind == "type":
            return TypeBound(self.type(node, env))
        if parameter.kind == "template":
            inner = node.child_by_field_name("type") or node
            name = text(inner).rsplit("::", 1)[-1]
            found = self._s.names.find(env, name)
            if found is not None:
                if isinstance(found.binding, TemplateBound):
                    return found.binding
                for entry in found.entries:
                    if isinstance(entry, index.RecordEntry):
                        return TemplateBound(entry, found.env)
            return TypeBound(types.Unknown(types.mangled([name])))
        return self._value(parameter, node, env, home)

    def _value(
        self, parameter: index.TemplateParameter, node: Node, env: Env, home: Env
    ) -> Argument:
        type_: CType = types.INT
        if parameter.declaration is not None:
            declarator = parameter.declaration.child_by_field_name("declarator")
            type_ = types.strip(self.declared(parameter.declaration, declarator, home))
        if has_placeholder(type_):  # `template <class T, T N>`: T is not known yet
            type_ = types.INT
        bound = self._s.expressions.template_value(node, type_, env)
        return bound

    def _decltype(self, node: Node, env: Env) -> CType:
        inner = syntax.operands(node)
        if not inner or inner[0].type == "auto":
            return types.Auto(kept=True)
        of_member = self._s.naming.type_of_member(inner[0], env)
        if of_member is not None:
            return of_member
        declared = self._declared_type(inner[0], env)
        if declared is not None:
            return declared
        ex = self._s.expressions.emit(inner[0], env)
        if self._s.is_free(plain(ex.piece)):
            return types.UNKNOWN  # made of names that nobody declares
        named = inner[0].type in ("identifier", "field_expression", "qualified_identifier")
        if ex.lvalue and not named and not isinstance(ex.type, types.Unknown):
            return types.Reference(ex.type, ex.moved)  # `decltype((x))`, `decltype(a[i])`
        return ex.type

    def _declared_type(self, node: Node, env: Env) -> CType | None:
        """The type of a name that is a reference."""
        found = self._s.names.find(env, text(node)) if node.type == "identifier" else None
        local = found.binding if found is not None else None
        if not isinstance(local, Local):
            return None
        if local.referring:
            return types.Reference(types.qualified(local.type, const=True))
        refers = isinstance(local.type, types.Reference) and not local.captured
        return local.type if refers else None

    def _enum(self, node: Node, env: Env) -> CType:
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is None and name is not None and node.child_by_field_name("base") is None:
            return self._declared_enum(name, env)
        if body is not None and env.function is not None:
            self._s.local_names.local_enum(node, env)
        return self.enum_type(node, env)

    def _declared_enum(self, name: Node, env: Env) -> CType:
        """The type of ``enum E`` where it is no definition; a variable hides it from all else."""
        if name.type != "type_identifier":
            return self.type(name, env)
        at: Env | None = env
        while at is not None and (found := self._s.names.find(at, text(name))) is not None:
            type_ = self.of_found(found, env)
            if type_ is not None:
                return type_
            at = at.parent
        return self._unknown(text(name), name, env)

    def enum_type(self, node: Node, env: Env) -> CType:
        """The type of an enumeration: an integer type that overloads tell from all others.

        Its values may name each other: until all are known, they are of type int.
        """
        key = (node.id, id(env))
        if key not in self._enums:
            self._enums[key] = (types.INT, env)
            self._enums[key] = (self._below(node, env), env)
        below = self._enums[key][0]
        if not isinstance(below, types.Scalar):
            return below
        return types.Scalar(below.name, self._s.enumeration(node, env))

    def _below(self, node: Node, env: Env) -> CType:
        base = node.child_by_field_name("base")
        if base is not None:
            return types.strip(self.type(base, env))
        return self._widest(self.enumerators(node, types.INT, env))

    def enumerators(self, node: Node, type_: CType, env: Env) -> dict[str, ValueBound]:
        """The enumerators of an enumeration whose values are known; they may name earlier ones."""
        known: dict[str, ValueBound] = {}
        inside = Env(env, {})
        number: int | None = -1
        for item in syntax.operands(node.child_by_field_name("body")):
            label, value = item.child_by_field_name("name"), item.child_by_field_name("value")
            if label is None:
                continue
            if value is not None:
                number = self._s.expressions.constant(value, inside)
            elif number is not None:
                number += 1
            if number is not None:
                ex = integer(number)
                known[text(label)] = ValueBound(plain(ex.piece), type_, ex.value)
                inside.names[text(label)] = known[text(label)]
        return known

    @staticmethod
    def _widest(known: dict[str, ValueBound]) -> CType:
        """The type of an enumeration that does not name it: int, or what holds its values."""
        numbers = [v.value.number for v in known.values() if v.value is not None]
        low, high = min(numbers, default=0), max(numbers, default=0)
        if low >= -(1 << 31) and high < 1 << 31:
            return types.INT
        return types.UINT if low >= 0 and high < 1 << 32 else types.LONG if low < 0 else types.ULONG

    def _unknown(self, path: str, node: Node, env: Env) -> CType:
        """A type nobody declared: it keeps its name, its size is not known."""
        name = types.mangled([p for p in "".join(path.split()).split("::") if p]) or "unknown_t"
        known = self._s.output_unknown(name, self._given_by(node, env))
        self._s.output.spellings.names[known] = " ".join(path.split())
        self._s.say(
            node,
            "warning",
            f"type `{syntax.flat(node)}` is not known: accesses of its size are unknown",
        )
        return types.Unknown(known)

    def _given_by(self, node: Node, env: Env) -> str:
        """The free template parameter that an unknown type's spelling names, or ""."""
        for part in syntax.walk(node):
            if part.type in ("type_identifier", "identifier", "namespace_identifier"):
                found = self._s.names.find(env, text(part))
                binding = found.binding if found is not None else None
                if isinstance(binding, TypeBound) and isinstance(binding.type, types.Unknown):
                    return text(part)
                if isinstance(binding, ValueBound) and binding.value is None:
                    return text(part)
        return ""
