"""Which declarations code sees: those before it.

In: entries of the index and the byte where the code's own declaration ends.  Out: the entries
declared by then.  It must not know about types.
"""

from __future__ import annotations

from coalescecheck.frontend.rewrite import syntax
from coalescecheck.frontend.rewrite.index import (
    AliasEntry,
    Entry,
    EnumeratorEntry,
    FunctionEntry,
    NamespaceEntry,
    RecordEntry,
    Scope,
    UsingEntry,
    VariableEntry,
)


def visible(scope: Scope, name: str, limit: int | None) -> list[Entry]:
    """The entries of a name that a namespace declares before the byte ``limit``.

    One declaration is enough for a variable or class, and for a function with the same
    parameters; a specialisation is part of its template.
    """
    entries = scope.entries.get(name, [])
    if limit is None or all(_position(e) < limit for e in entries):
        return entries
    early = [e for e in entries if _position(e) < limit]
    if not all(isinstance(e, FunctionEntry | UsingEntry) for e in early):
        return entries
    special = any(isinstance(e, FunctionEntry) and e.head for e in early)
    announced = [e for e in early if isinstance(e, FunctionEntry) and e.body is None]
    late = [e for e in entries if isinstance(e, FunctionEntry) and e not in early]
    return early + [
        e
        for e in late
        if (special and () in e.heads) or any(_same_function(e, a) for a in announced)
    ]


def visible_end(entry: FunctionEntry | RecordEntry | VariableEntry) -> int | None:
    """The byte before which code inside an entry sees what is declared; None where the class
    around it decides (its members are compiled as if they stood behind it)."""
    return entry.node.end_byte if entry.scope.kind == "namespace" else None


def is_friend(entry: FunctionEntry) -> bool:
    """Whether a function defined in a class is a friend, and no method."""
    at = entry.node.parent
    if at is not None and at.type == "template_declaration":
        at = at.parent
    return at is not None and at.type == "friend_declaration"


def _position(entry: Entry) -> int:
    """The byte at which an entry is declared, 0 for a namespace (which may be reopened)."""
    match entry:
        case NamespaceEntry():
            return 0
        case UsingEntry():
            return entry.at
        case AliasEntry():
            return entry.type.start_byte
        case EnumeratorEntry():
            return entry.enum.node.start_byte
        case _:
            return entry.node.start_byte


def _same_function(a: FunctionEntry, b: FunctionEntry) -> bool:
    """Whether two declarations are of one function: as many parameters, written with the same
    words; what a template calls its parameters may differ."""
    left, right = _parameters(a), _parameters(b)
    if len(left) != len(right):
        return False
    return bool(a.head and b.head) or left == right


def _parameters(entry: FunctionEntry) -> list[str]:
    """The types of a function's parameters as written."""
    found = []
    for node in syntax.operands(entry.declarator.child_by_field_name("parameters")):
        shown = node.text or b""
        name = syntax.declared_name(node.child_by_field_name("declarator"))
        if name is not None:
            start, end = name.start_byte - node.start_byte, name.end_byte - node.start_byte
            shown = shown[:start] + shown[end:]
        words = shown.split(b"=")[0].decode("utf-8", "replace")
        found.append("".join(w for w in words.replace("*", " * ").split() if w != "const"))
    return [p for p in found if p != "void"]
