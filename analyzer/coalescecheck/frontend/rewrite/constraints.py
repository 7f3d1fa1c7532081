"""C++20's constraints: whether types meet concepts, ``requires`` clauses and expressions.

In: constraints as written, and an environment with the template arguments.  Out: whether they
hold, None where that is not known, and what they are made of, by which C++ orders templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import deduction, syntax, traits, types
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Argument, Env, Found, Local, PackBound, TypeBound
from coalescecheck.frontend.rewrite.ex import Ex, literal
from coalescecheck.frontend.rewrite.index import (
    ConceptEntry,
    FunctionEntry,
    Head,
    RecordEntry,
    TemplateParameter,
)
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

Atoms = frozenset[tuple[object, ...]]
_STANDARD: dict[str, tuple[str, ...]] = {  # concepts of <concepts>, as traits that all hold
    "integral": ("is_integral",),
    "signed_integral": ("is_integral", "is_signed"),
    "unsigned_integral": ("is_integral", "is_unsigned"),
    "floating_point": ("is_floating_point",),
    "same_as": ("is_same",),
}
_AND = ("constraint_conjunction", "&&")
_OR = ("constraint_disjunction", "||")
_NAMED = ("template_type", "template_function", "qualified_identifier", "type_identifier")
_CONSTRAINED = re.compile(r"(?!class\b|typename\b|template\b)((?:\w+\s*::\s*)*\w+\s*(?:<.*>)?)")
_WORDS = re.compile(rb"\b(?:concept|requires|%s)\b" % "|".join(_STANDARD).encode())


@dataclass(frozen=True, slots=True)
class Met:
    """Whether the constraints of a template hold, and their parts."""

    holds: bool | None = True
    atoms: Atoms = frozenset()


class Constraints:
    """Judges the constraints of one session's templates."""

    def __init__(self, session: Session, code: bytes) -> None:
        self._s = session
        self._used = _WORDS.search(code) is not None

    def met(
        self,
        entry: FunctionEntry | RecordEntry,
        heads: Iterable[Head],
        env: Env,
        arguments: Sequence[tuple[Node, CType]] = (),
    ) -> Met:
        """Whether template arguments, and those for ``Big auto x``, meet what is asked of them."""
        if not self._used:
            return Met()
        answers: list[bool | None] = []
        atoms: set[tuple[object, ...]] = set()
        for parameter in (p for head in heads for p in head or ()):
            written = self._written(parameter)
            bound = env.names.get(parameter.name)
            if written is not None and bound is not None:
                items = bound.items if isinstance(bound, PackBound) else (bound,)
                answers += [self._named(written, env, item, atoms) for item in items]
        answers += [self._holds(clause, env, atoms) for clause in _clauses(entry)]
        for node, actual in arguments:
            type_ = node.child_by_field_name("type")
            concept = type_.child_by_field_name("constraint") if type_ is not None else None
            if concept is not None:
                given = TypeBound(types.decayed(types.strip_reference(actual)))
                answers.append(self._named(concept, env, given, atoms))
        return Met(_all(answers), frozenset(atoms))

    def value(self, node: Node, env: Env) -> Ex | None:
        """A concept or a ``requires`` expression as a value; None if it is not known."""
        holds = self._holds(node, env, set())
        if holds is None:
            return None
        return literal(ctypes_lp64.Value(int(holds), ctypes_lp64.BOOL), Mark(node.start_byte))

    def emit(self, node: Node, env: Env, _expected: CType | None) -> Ex:
        """The C of a ``requires`` expression."""
        known = self.value(node, env)
        if known is not None:
            return known
        message = f"`{syntax.flat(node)}` is not known"
        return self._s.expressions.opaque(node, env, message, types.BOOL, parts=[])

    def is_concept(self, node: Node, env: Env) -> bool:
        """Whether a name is a concept's."""
        return self._used and (self._concept(node, env) is not None or bool(_standard(node)))

    def _concept(self, node: Node, env: Env) -> Found | None:
        """What a name means if it is that of a concept in the code."""
        if node.type == "qualified_identifier":
            found, _ = self._s.qualified.resolve(node, env)
        else:
            found = self._s.names.find(env, base_name(node))
        if found is None or not any(isinstance(e, ConceptEntry) for e in found.entries):
            return None
        return found

    def _written(self, parameter: TemplateParameter) -> Node | None:
        """The concept in front of a template parameter (repairs may have put ``class`` there)."""
        if parameter.kind != "type" or parameter.node is None:
            return None
        match = _CONSTRAINED.match(self._s.original(parameter.node))
        if match is None:
            return None
        described = syntax.type_at(match[1], parameter.node.start_byte)
        return described.child_by_field_name("type") if described is not None else None

    def _holds(self, node: Node, env: Env, atoms: set[tuple[object, ...]]) -> bool | None:
        sign = node.child_by_field_name("operator")
        kind = syntax.text(sign) if node.type == "binary_expression" and sign else node.type
        inner = syntax.operands(node)
        if node.type in ("parenthesized_expression", "condition_clause") and len(inner) == 1:
            return self._holds(inner[0], env, atoms)
        if node.type == "unary_expression" and sign is not None and syntax.text(sign) == "!":
            negated = self._holds(inner[-1], env, set())
            atoms.add((node.start_byte, _told(env)))
            return None if negated is None else not negated
        if kind in _AND and len(inner) == 2:
            return _all([self._holds(part, env, atoms) for part in inner])
        if kind in _OR and len(inner) == 2:
            atoms.add((node.start_byte, _told(env)))
            parts = [self._holds(part, env, set()) for part in inner]
            return True if True in parts else None if None in parts else False
        if node.type == "requires_expression":
            atoms.add((node.start_byte, _told(env)))
            return self._required(node, env)
        if node.type in _NAMED and self.is_concept(node, env):
            return self._named(node, env, None, atoms)
        atoms.add((node.start_byte, _told(env)))
        return self._constant(node, env)

    def _constant(self, node: Node, env: Env) -> bool | None:
        with self._s.substitution.attempt(node.start_byte, node.end_byte) as attempt:
            value = self._s.expressions.constant(node, env)
        return None if attempt.failed or value is None else bool(value)

    def _named(
        self, node: Node, env: Env, first: object, atoms: set[tuple[object, ...]]
    ) -> bool | None:
        """Whether a concept holds for its arguments, ``first`` before them if it is given."""
        inner = syntax.unqualified(node)
        if inner is None:
            return None
        nodes = syntax.operands(inner.child_by_field_name("arguments"))
        found = self._concept(node, env)
        entries = found.entries if found is not None else []
        entry = next((e for e in entries if isinstance(e, ConceptEntry)), None)
        if found is None or entry is None:
            return self._of_library(node, nodes, first, env, atoms)
        bound = self._bound(entry, found, nodes, first, env)
        if bound is None or any(map(deduction.is_open, bound.values())):
            return None
        return self._holds(entry.condition, Env(found.env, dict(bound)), atoms)

    def _bound(
        self, entry: ConceptEntry, found: Found, nodes: list[Node], first: object, env: Env
    ) -> dict[str, Argument] | None:
        head = entry.head or ()
        if first is None:
            return self._s.typenames.arguments(head, nodes, env, found.env)
        if not head or head[0].pack or not isinstance(first, TypeBound):
            return None
        rest = self._s.typenames.arguments(head[1:], nodes, env, found.env)
        return None if rest is None else {head[0].name: first, **rest}

    def _of_library(
        self,
        node: Node,
        nodes: list[Node],
        first: object,
        env: Env,
        atoms: set[tuple[object, ...]],
    ) -> bool | None:
        wanted = _STANDARD.get(_standard(node), ())
        if first is None and nodes:
            first, nodes = TypeBound(self._s.typenames.type(nodes[0], env)), nodes[1:]
        if not wanted or not isinstance(first, TypeBound):
            return None
        others = [self._s.typenames.type(n, env) for n in nodes]
        for trait in wanted:
            atoms.add((trait, str(first), tuple(map(str, others))))
        return _all([traits.holds(trait, first.type, others) for trait in wanted])

    def _required(self, node: Node, env: Env) -> bool | None:
        """Whether all that a ``requires`` expression lists is there."""
        inside = env.child({})
        listed = node.child_by_field_name("parameters")
        for parameter in syntax.operands(listed) if listed is not None else ():
            declarator = parameter.child_by_field_name("declarator")
            name = syntax.declared_name(declarator) if declarator is not None else None
            if name is not None:
                type_ = self._s.typenames.declared(parameter, declarator, env)
                inside.names[syntax.text(name)] = Local(syntax.text(name), type_)
        listed = node.child_by_field_name("requirements")
        parts = syntax.operands(listed) if listed is not None else []
        return _all([self._requirement(part, inside) for part in parts])

    def _requirement(self, node: Node, env: Env) -> bool | None:
        inner = syntax.operands(node)
        if not inner:
            return True if node.text == b";" else None
        first = inner[0]
        if first.type == "requires_clause":
            return _all([self._holds(part, env, set()) for part in syntax.operands(first)])
        there = self._is_there(first, env) if node.type != "type_requirement" else None
        return None if there and len(inner) > 1 else there  # `{ f(x) } -> C`

    def _is_there(self, node: Node, env: Env) -> bool | None:
        """Whether an object has the member that is named: ``x.m`` and ``x.m()``."""
        calls = node.type == "call_expression"
        field = node.child_by_field_name("function") if calls else node
        if field is None or field.type != "field_expression":
            return None
        object_ = field.child_by_field_name("argument")
        name = field.child_by_field_name("field")
        if object_ is None or name is None or object_.type != "identifier":
            return None
        found = self._s.names.find(env, syntax.text(object_))
        local = found.binding if found is not None else None
        type_ = types.strip_reference(local.type) if isinstance(local, Local) else None
        if type_ is not None and types.is_arithmetic(type_):
            return False
        if not isinstance(type_, types.Record) or self._s.records.source(type_) is None:
            return None
        member = self._s.records.member(type_, syntax.text(name))
        if member is None:
            return None if self._may_hide(type_) else False
        if not calls:
            return True if member.member is not None else None
        count = len(syntax.operands(node.child_by_field_name("arguments")))
        plain = [e for e, _ in member.functions() if not e.heads]
        return True if count == 0 and any(self._s.overloads.takes(e, 0) for e in plain) else None

    def _may_hide(self, record: types.Record) -> bool:
        """Whether a class has a base that is not known."""
        source = self._s.records.source(record)
        if source is None:
            return True
        listed = syntax.operands(syntax.child(source.entry.node, "base_class_clause"))
        named = [base for base in listed if base.type not in ("access_specifier", "virtual")]
        return len(named) != len(source.bases) or any(map(self._may_hide, source.bases))


def _standard(node: Node) -> str:
    """The name of a concept of the standard library."""
    path = re.sub(r"<.*|\s", "", syntax.text(node), flags=re.DOTALL)
    for around in ("std::", "cuda::std::", "::std::", "::cuda::std::"):
        if path.startswith(around) and path.removeprefix(around) in _STANDARD:
            return path.removeprefix(around)
    return ""


def _clauses(entry: FunctionEntry | RecordEntry) -> list[Node]:
    """The conditions of the ``requires`` clauses of a template."""
    holders = [entry.declarator] if isinstance(entry, FunctionEntry) else []
    around = entry.node.parent
    while around is not None and around.type == "template_declaration":
        holders.append(around)
        around = around.parent
    found = [c for h in holders for c in h.children if c.type == "requires_clause"]
    return [part for clause in found for part in syntax.operands(clause)]


def _all(answers: Sequence[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _told(env: Env) -> str:
    """The template arguments, as far as they tell atoms of a concept apart."""
    return str(sorted((n, str(b)) for n, b in env.names.items()))
