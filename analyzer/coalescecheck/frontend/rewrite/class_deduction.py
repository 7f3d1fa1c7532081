"""Class template argument deduction: ``Box b(p);``, ``Box{p}``.

In: what a class template's name was found to be, and the types of the initialiser's values.
Out: the class, by its deduction guides, its constructors or its members.  It must not emit
anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import deduction, index, syntax, types
from coalescecheck.frontend.rewrite.env import Argument, Env, Found
from coalescecheck.frontend.rewrite.index import FunctionEntry, RecordEntry
from coalescecheck.frontend.rewrite.records import defined
from coalescecheck.frontend.rewrite.types import CType, Record

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


def template_named(session: Session, node: Node, env: Env) -> tuple[RecordEntry, Found] | None:
    """The class template that a type without arguments names; None for any other name."""
    if node.type not in ("type_identifier", "identifier", "qualified_identifier"):
        return None
    if node.type == "qualified_identifier":
        found, last = session.qualified.resolve(node, env)
        if last.type not in ("type_identifier", "identifier"):
            return None
    else:
        found = session.names.find(env, syntax.text(node))
    if found is None or found.binding is not None or found.member is not None:
        return None
    for entry in found.entries:
        if isinstance(entry, RecordEntry) and entry.arguments is None and entry.head is not None:
            inside = session.typenames.injected(entry, env) is not None
            return None if inside else (defined(entry), found)
    return None


def deduced(session: Session, node: Node, arguments: Sequence[CType], env: Env) -> Record | None:
    """The class that ``node`` names with these initialisers; None if it names no template or
    its arguments cannot be told."""
    named = template_named(session, node, env)
    if named is None or not arguments:
        return None
    entry, found = named
    only = types.strip(arguments[0])
    if len(arguments) == 1 and isinstance(only, Record):
        source = session.records.source(only)
        if source is not None and source.template is entry:
            return types.unqualified(only)  # a copy
    home = Env(found.env)
    guides = [e for e in found.entries if isinstance(e, FunctionEntry)]
    inside = index.members(entry).entries.get(entry.name, ())
    constructors = [
        replace(e, heads=((*(entry.head or ()), *(e.head or ())),), scope=entry.scope)
        for e in inside
        if isinstance(e, FunctionEntry)
    ]
    candidates = [(e, Found(home)) for e in (*guides, *constructors)]
    choice = session.overloads.choose(candidates, arguments, [], env)
    if choice is not None and choice.entry in guides:
        made = session.functions.result_type(choice.entry, choice.env)
        return made if isinstance(made, Record) else None
    bound = choice.bound if choice is not None else None
    if choice is None and not constructors:
        bound = _by_members(session, entry, home, arguments)
    return None if bound is None else _applied(session, entry, bound, home)


def _applied(
    session: Session, entry: RecordEntry, bound: dict[str, Argument], home: Env
) -> Record | None:
    head = entry.head or ()
    if any(p.name not in bound for p in head):
        return None
    made = session.specialisations.with_arguments(
        entry, {p.name: bound[p.name] for p in head}, home
    )
    return made if isinstance(made, Record) else None


def _by_members(
    session: Session, entry: RecordEntry, home: Env, arguments: Sequence[CType]
) -> dict[str, Argument] | None:
    """An aggregate's template arguments from the values of its members in order."""
    head = entry.head or ()
    holes = Env(home, dict(deduction.placeholders(head)))
    patterns: list[CType] = []
    for member in syntax.operands(entry.node.child_by_field_name("body")):
        if member.type != "field_declaration" or syntax.has_word(member, "static", "constexpr"):
            continue
        for declarator in syntax.declarators(member):
            if syntax.function_declarator(declarator) is None:
                patterns.append(session.typenames.declared(member, declarator, holes))
    if len(arguments) > len(patterns) or syntax.child(entry.node, "base_class_clause"):
        return None
    found: dict[str, Argument] = {}
    for pattern, actual in zip(patterns, arguments, strict=False):
        if deduction.has_placeholder(pattern) and not deduction.unify(
            pattern, types.decayed(actual), found
        ):
            return None
    return session.overloads.with_defaults(head, found, home)
