"""Virtual methods: where the class of an object decides at run time which one is called.

In: a chosen method and the object it is called on.  Out: whether another class of the program
may have another method in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.frontend.rewrite import index, syntax, types
from coalescecheck.frontend.rewrite.emit import plain
from coalescecheck.frontend.rewrite.ex import Ex
from coalescecheck.frontend.rewrite.index import FunctionEntry, RecordEntry
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import Record


class Virtual:
    """Answers for one program."""

    def __init__(self, top: index.Scope) -> None:
        self._top = top
        self._overriding: dict[str, set[str]] | None = None

    def decides(self, entry: FunctionEntry, owner: Record, receiver: Ex) -> bool:
        """Whether the object's class decides what a call of ``entry`` runs."""
        exact = receiver.address is None and plain(receiver.piece).isidentifier()
        if exact or (isinstance(receiver.type, types.Record) and not receiver.lvalue):
            return False
        source = owner.layout.source
        own = getattr(source, "entry", None)
        if not isinstance(own, RecordEntry) or not self._is_virtual(own, entry.name):
            return False
        final = (syntax.child(n, "virtual_specifier") for n in (own.node, entry.declarator))
        if any(f is not None and text(f) == "final" for f in final):
            return False
        return bool(self._overriders().get(entry.name, set()) - {own.name})

    def _is_virtual(self, record: RecordEntry, name: str) -> bool:
        for entry in index.members(record).entries.get(name, ()):
            if isinstance(entry, FunctionEntry):
                said = syntax.has_word(entry.node, "virtual")
                overrides = syntax.child(entry.declarator, "virtual_specifier") is not None
                if said or overrides:
                    return True
        return False

    def _overriders(self) -> dict[str, set[str]]:
        """The derived classes that have a method, by its name."""
        if self._overriding is None:
            self._overriding = {}
            for record in _records(self._top):
                if syntax.child(record.node, "base_class_clause") is None:
                    continue
                for name, entries in index.members(record).entries.items():
                    if any(isinstance(e, FunctionEntry) for e in entries):
                        self._overriding.setdefault(name, set()).add(record.name)
        return self._overriding


def _records(scope: index.Scope) -> Iterator[RecordEntry]:
    for entries in scope.entries.values():
        for entry in entries:
            if isinstance(entry, RecordEntry) and entry.node.child_by_field_name("body"):
                yield entry
            elif isinstance(entry, index.NamespaceEntry) and entry.inner not in (None, scope):
                yield from _records(entry.inner)
