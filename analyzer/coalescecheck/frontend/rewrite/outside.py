"""Members of classes that are defined outside of them: ``template <class T> int A<T>::f() {…}``.

In: a class and a member's name.  Out: the definitions that belong to this class, which may be one
of several with its name, or one instance of a template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, syntax
from coalescecheck.frontend.rewrite.index import FunctionEntry, Scope, VariableEntry
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.records import RecordSource
    from coalescecheck.frontend.rewrite.session import Session


def functions(session: Session, source: RecordSource, name: str) -> list[FunctionEntry]:
    """The methods of a class defined outside of it, those of this very instance first."""
    at: Scope | None = source.entry.scope
    while at is not None:
        known = [e for e in at.members_elsewhere.get(name, ()) if e.owner is not None]
        mine = [e for e in known if e.owner is not None and _is_of(e.owner, at, source)]
        own = [e for e in mine if _is_special(e.heads) and _fits(session, e, source)]
        found = own or [e for e in mine if not _is_special(e.heads) and _fits(session, e, source)]
        if found:
            return found
        at = at.parent
    return []


def variables(source: RecordSource, name: str) -> list[VariableEntry]:
    """The definition of a static member with its value."""
    names = [p.name for p in source.entry.head or ()]
    at: Scope | None = source.entry.scope
    while at is not None:
        for entry in at.variables_elsewhere.get(name, ()):
            owner = _owner(entry)
            same = owner is not None and _is_of(owner, at, source)
            if same and [p.name for p in entry.head or ()] == names:
                return [entry]
        at = at.parent
    return []


def _owner(entry: VariableEntry) -> Node | None:
    at = syntax.declared_name(entry.declarator)
    owner = None
    while at is not None and at.type == "qualified_identifier":
        owner, at = at.child_by_field_name("scope"), at.child_by_field_name("name")
    return owner


def _is_of(owner: Node, scope: Scope, source: RecordSource) -> bool:
    """Whether a qualified name, written in ``scope``, names the class."""
    written: list[str] = []
    at = owner.parent
    while at is not None and at.type == "qualified_identifier":
        part = at.child_by_field_name("scope")
        written.insert(0, _plain(part) if part is not None else "")
        at = at.parent
    meant = (*source.entry.scope.path, source.entry.name)
    path = tuple(part for part in written if part)
    if (*scope.path, *path) == meant:
        return True
    # by another name: an inline namespace, an alias
    return path[-1:] == meant[-1:] and not _names_other(scope, path)


def _names_other(scope: Scope, path: tuple[str, ...]) -> bool:
    """Whether the path leads to a class when it is followed from ``scope``."""
    at: Scope | None = scope
    for part in path:
        entries = at.entries.get(part, ()) if at is not None else ()
        at = None
        for entry in entries:
            if isinstance(entry, index.NamespaceEntry):
                at = entry.inner
            elif isinstance(entry, index.RecordEntry):
                at = index.members(entry)
    return at is not None


def _plain(node: Node) -> str:
    name = node.child_by_field_name("name") if node.type == "template_type" else node
    return text(name).strip() if name is not None else ""


def _is_special(heads: tuple[index.Head, ...]) -> bool:
    """Whether a definition is of one instance (``template <>``)."""
    return bool(heads) and not heads[0]


def _fits(session: Session, entry: FunctionEntry, source: RecordSource) -> bool:
    """Whether a definition's arguments are those of the class: its parameters, what a
    specialisation is for, or one instance's."""
    owner = entry.owner
    if owner is None or owner.type != "template_type" or not source.arguments:
        return True
    nodes = syntax.operands(owner.child_by_field_name("arguments"))
    head = entry.heads[0] if entry.heads else None
    written = [text(n).replace("...", "").strip() for n in nodes]
    of_template = bool(head) and written == [p.name for p in head or ()]
    if of_template or (head and source.entry.arguments is None):
        return of_template and source.entry.arguments is None
    home = session.names.scope_env(entry.scope)
    template = source.template.head or ()
    return (
        session.specialisations.specialised(template, head, nodes, source.arguments, home)
        is not None
    )
