"""Argument-dependent lookup: functions declared beside the classes of a call's arguments.

In: a function's name and the types it is called with.  Out: the functions that their namespaces
and classes (friends) declare.  It must not choose among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from coalescecheck.frontend.rewrite import index, types
from coalescecheck.frontend.rewrite.env import Env, Found, TypeBound, ValueBound
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.types import CType, Record
from coalescecheck.frontend.rewrite.visibility import is_friend

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

Candidate = tuple[FunctionEntry, Found]

_MAX_CLASSES = 60  # of one call, with bases and template arguments


def with_associated(
    session: Session, found: list[Candidate], name: str, arguments: Iterable[CType], env: Env
) -> list[Candidate]:
    """``found`` and the functions that argument-dependent lookup adds."""
    if any(f.record is not None for _, f in found):
        return found  # a method is no function that others overload
    limit = None if _in_template(env) else env.limit
    seen = {id(entry) for entry, _ in found}
    out = list(found)
    for entry, place in _associated(session, name, arguments, limit):
        if id(entry) not in seen:
            seen.add(id(entry))
            out.append((entry, place))
    return out


def _associated(
    session: Session, name: str, arguments: Iterable[CType], limit: int | None
) -> Iterator[Candidate]:
    scopes: dict[int, index.Scope] = {}
    for type_ in _classes(arguments):
        if isinstance(type_, types.Scalar):
            home = getattr(type_.enum, "scope", None)
            scope = home if isinstance(home, index.Scope) else None  # None: a header's type
        else:
            source = session.records.source(type_)
            scope = source.entry.scope if source is not None else session.top
            if source is not None:
                found = session.records.member(type_, name)
                entries = found.functions() if found is not None else []
                yield from ((e, f) for e, f in entries if is_friend(e))
        while scope is not None and scope.kind != "namespace":
            scope = scope.parent
        if scope is not None:
            scopes[id(scope)] = scope
    for scope in scopes.values():
        yield from session.names.declared(scope, name, limit)


def _classes(arguments: Iterable[CType]) -> list[Record | types.Scalar]:
    """The classes and enumerations that the types of arguments are made of."""
    todo, found = list(arguments), dict[str, Record | types.Scalar]()
    while todo and len(found) < _MAX_CLASSES:
        type_ = todo.pop()
        match type_:
            case types.Pointer() | types.Reference():
                todo.append(type_.target)
            case types.Array():
                todo.append(type_.element)
            case types.Scalar() if type_.enum is not None:
                found[f"enum {id(type_.enum)}"] = type_
            case Record() if type_.cname not in found:
                found[type_.cname] = type_
                source = type_.layout.source
                todo += getattr(source, "bases", [])
                given = getattr(source, "arguments", ())
                todo += [a.type for a in given if isinstance(a, TypeBound)]
            case _:
                pass
    return list(found.values())


def _in_template(env: Env) -> bool:
    """Whether code is inside a template, whose calls are looked up where it is instantiated."""
    at: Env | None = env
    while at is not None:
        bound = at.names.values() if at.function is None else ()
        if any(isinstance(b, TypeBound | ValueBound) for b in bound):
            return True
        at = at.parent
    return False
