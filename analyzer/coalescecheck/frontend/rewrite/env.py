"""What names mean at one place of one instance.

In: scopes of the index, template arguments, local declarations.  Out: :class:`Found` for a
name.  It must not know how anything is written in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.rewrite.emit import Piece
from coalescecheck.frontend.rewrite.index import (
    Entry,
    FunctionEntry,
    NamespaceEntry,
    Scope,
    UsingEntry,
)
from coalescecheck.frontend.rewrite.types import CType, Record
from coalescecheck.frontend.rewrite.visibility import is_friend, visible

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.body import FunctionWriter


@dataclass(slots=True, eq=False)
class Local:
    """A variable or parameter; ``c`` is its C name, ``value`` its constant if it has one.

    ``literal`` says that the constant is written instead of the name.  ``captures`` are the
    hidden arguments of a lambda held by the variable.  A ``fixed`` one is const or a
    parameter: no unknown function is expected to change it.  ``given`` says that it is a
    parameter, ``referring`` that it is a reference to a constant in C++, ``captured`` that it is
    none though a lambda is given its address.
    """

    c: str
    type: CType
    value: Value | None = None
    literal: bool = False
    captures: tuple[Piece, ...] = ()
    static: bool = False
    fixed: bool = False
    given: bool = False
    referring: bool = False
    captured: bool = False


@dataclass(frozen=True, slots=True)
class TypeBound:
    """A name that stands for a type."""

    type: CType


@dataclass(frozen=True, slots=True)
class ValueBound:
    """A template value: its C text, and its constant unless it is free or being deduced."""

    text: str
    type: CType = field(compare=False)
    value: Value | None = field(compare=False, default=None)


@dataclass(frozen=True, slots=True)
class TemplateBound:
    """A template template argument."""

    entry: Entry
    env: Env


@dataclass(frozen=True, slots=True)
class PackBound:
    """A parameter pack: template arguments, or the parameters made of them."""

    items: tuple[object, ...]


Argument: TypeAlias = "TypeBound | ValueBound | TemplateBound | PackBound"
Binding: TypeAlias = "Local | Argument"


@dataclass(slots=True)
class FieldPath:
    """A data member: the C names from the object to it, and its type as declared."""

    path: tuple[str, ...]
    type: CType
    mutable: bool = False


@dataclass(slots=True)
class Found:
    """What a name means: a binding, a data member of the current object, or entries.

    ``owner`` is the class that a member was asked of by name (``Base::x``).  ``also`` is what
    using declarations of a class add from its bases.
    """

    env: Env
    binding: Binding | None = None
    member: FieldPath | None = None
    entries: list[Entry] = field(default_factory=list)
    record: Record | None = None
    owner: Record | None = None
    also: list[Found] = field(default_factory=list)

    def functions(self) -> list[tuple[FunctionEntry, Found]]:
        """The functions among the entries, each with the class or namespace it belongs to."""
        found = [(e, self) for e in self.entries if isinstance(e, FunctionEntry)]
        for other in self.also:
            found += other.functions()
        return found


class Env:
    """One level of names.  ``record`` makes the members of a class visible.

    Code inside sees what namespaces declare before the byte ``limit``, everything if it is None.
    """

    __slots__ = ("function", "limit", "names", "parent", "record", "scope")

    def __init__(
        self,
        parent: Env | None,
        names: dict[str, Binding] | None = None,
        *,
        scope: Scope | None = None,
        record: Record | None = None,
        function: FunctionWriter | None = None,
        limit: int | None = None,
    ) -> None:
        self.parent = parent
        self.names: dict[str, Binding] = names if names is not None else {}
        self.scope = scope
        self.record = record
        inherited: FunctionWriter | None = parent.function if parent is not None else None
        self.function: FunctionWriter | None = function or inherited
        above = parent.limit if parent is not None else None
        self.limit: int | None = above if limit is None else limit

    def child(self, names: dict[str, Binding] | None = None) -> Env:
        """A nested block."""
        return Env(self, names)


MemberFinder: TypeAlias = "Callable[[Record, str], Found | None]"


class Names:
    """Looks names up.

    ``member`` finds what is inside a class; ``early`` does so for an unqualified name, which is
    not looked for in base classes that depend on template arguments.
    """

    def __init__(self, top: Scope, member: MemberFinder, early: MemberFinder) -> None:
        self._top = top
        self._member = member
        self._early = early
        self._envs: dict[int, Env] = {}

    def scope_env(self, scope: Scope) -> Env:
        """The environment of a namespace."""
        env = self._envs.get(id(scope))
        if env is None:
            parent = self.scope_env(scope.parent) if scope.parent is not None else None
            env = self._envs[id(scope)] = Env(parent, scope=scope)
        return env

    def find(self, env: Env, name: str) -> Found | None:
        """The innermost meaning of an unqualified name.

        What is declared later or in a dependent base is found where nothing else is: that
        program is none for a compiler, and for us what its author means.
        """
        if "::" in name:
            return self._joined(env, name)
        found = self._innermost(env, name, self._early, env.limit)
        return found or self._innermost(env, name, self._member, None)

    def _joined(self, env: Env, path: str) -> Found | None:
        """What a namespace that is declared here has under the name; see ``joined_names``."""
        at: Env | None = env
        while at is not None and at.scope is None:
            at = at.parent
        around, _, name = path.rpartition("::")
        inner = self.namespace(at.scope, around) if at is not None and at.scope else None
        return None if inner is None else self.in_scope(inner, name)

    def _innermost(
        self, env: Env, name: str, member: MemberFinder, limit: int | None
    ) -> Found | None:
        at: Env | None = env
        while at is not None:
            binding = at.names.get(name)
            if binding is not None:
                return Found(at, binding)
            found = member(at.record, name) if at.record is not None else None
            if found is None and at.scope is not None:
                found = self.in_scope(at.scope, name, limit)
                if found is not None and found.env.scope is at.scope:
                    found.env = at
            if found is not None:
                return found
            at = at.parent
        return None

    def in_scope(
        self, scope: Scope, name: str, limit: int | None = None, depth: int = 0
    ) -> Found | None:
        """The entries a namespace has under a name, its own first, then those it uses."""
        if depth > 8:
            return None
        entries = visible(scope, name, limit)
        if entries:
            using = [e for e in entries if isinstance(e, UsingEntry)]
            if len(using) == len(entries):
                return self._through_using(scope, using[0], depth)
            return Found(self.scope_env(scope), entries=entries)
        for inner in self._used(scope):
            found = self.in_scope(inner, name, limit, depth + 1)
            if found is not None:
                return found
        return None

    def _used(self, scope: Scope) -> list[Scope]:
        """The namespaces of the using directives in a scope."""
        found = [self.namespace(scope, path) for path in scope.using]
        return [inner for inner in found if inner is not None and inner is not scope]

    def _through_using(self, scope: Scope, entry: UsingEntry, depth: int) -> Found | None:
        path, _, name = entry.target.rpartition("::")
        inner = self.namespace(scope, path) if path else self._top
        return None if inner is None else self.in_scope(inner, name, None, depth + 1)

    def namespace(self, scope: Scope, path: str) -> Scope | None:
        """The namespace ``path`` names when written in ``scope``; None if it is not known."""
        parts = [p.strip() for p in path.split("::")]
        start: Scope | None = self._top if parts[0] == "" else scope
        parts = [p for p in parts if p]
        while start is not None:
            inner: Scope | None = start
            for part in parts:
                inner = self._step(inner, part) if inner is not None else None
            if inner is not None:
                return inner
            start = start.parent
        return None

    def _step(self, scope: Scope, part: str) -> Scope | None:
        for entry in scope.entries.get(part, ()):
            if isinstance(entry, NamespaceEntry):
                if entry.inner is not None:
                    return entry.inner
                return self.namespace(scope, entry.target) if entry.target != part else None
        return None

    def namespace_path(self, env: Env, path: str) -> str:
        """``path`` with a namespace alias at its head replaced (``cg`` by its target)."""
        head, _, rest = path.partition("::")
        found = self.find(env, head)
        if found is not None:
            for entry in found.entries:
                if isinstance(entry, NamespaceEntry) and entry.target:
                    return entry.target + ("::" + rest if rest else "")
        return path

    def functions(
        self, env: Env, name: str, *, methods: bool = True
    ) -> list[tuple[FunctionEntry, Found]]:
        """The functions an unqualified call may mean: those of the innermost scope with any.

        Without ``methods`` classes are passed over, as for operators.
        """
        early, member = (self._early, self._member) if methods else (_nothing, _nothing)
        found = self._innermost_functions(env, name, early, env.limit)
        return found or self._innermost_functions(env, name, member, None)

    def _innermost_functions(
        self, env: Env, name: str, member: MemberFinder, limit: int | None
    ) -> list[tuple[FunctionEntry, Found]]:
        used: list[tuple[Scope, Scope]] = []
        at: Env | None = env
        while at is not None:
            here = member(at.record, name) if at.record is not None else None
            own = here.functions() if here is not None else []
            if here is not None and not (own and all(is_friend(e) for e, _ in own)):
                return own
            if at.scope is not None:
                found = self._functions_at(at.scope, name, used, limit)
                if found:
                    return found
            at = at.parent
        return []

    def _functions_at(
        self, scope: Scope, name: str, used: list[tuple[Scope, Scope]], limit: int | None
    ) -> list[tuple[FunctionEntry, Found]]:
        """The functions of a scope, and of those that using directives make look like part of
        it: a directive's namespace counts as part of the nearest one around both.

        ``used`` holds the directives met so far with the scopes they are in.
        """
        used += [(scope, inner) for inner in self._used(scope)]
        found = self.declared(scope, name, limit)
        for place, inner in used:
            if scope is _around(place, inner):
                found += self.declared(inner, name, limit)
        return found

    def declared(
        self, scope: Scope, name: str, limit: int | None, depth: int = 0
    ) -> list[tuple[FunctionEntry, Found]]:
        """The functions a namespace declares itself or by using declarations."""
        found: list[tuple[FunctionEntry, Found]] = []
        for entry in visible(scope, name, limit):
            if isinstance(entry, FunctionEntry):
                found.append((entry, Found(self.scope_env(scope), entries=[entry])))
            elif isinstance(entry, UsingEntry) and depth < 8:
                path, _, last = entry.target.rpartition("::")
                inner = self.namespace(scope, path) if path else self._top
                if inner is not None and inner is not scope:
                    found += self.declared(inner, last, None, depth + 1)
                    for further in self._used(inner):
                        found += self.declared(further, last, None, depth + 1)
        return found


def _nothing(record: Record, name: str) -> Found | None:
    return None


def _around(place: Scope, inner: Scope) -> Scope | None:
    """The nearest namespace around a using directive and the namespace it names."""
    parents = []
    at: Scope | None = inner.parent
    while at is not None:
        parents.append(at)
        at = at.parent
    at = place
    while at is not None and not (at in parents or at is inner):
        at = at.parent
    return at
