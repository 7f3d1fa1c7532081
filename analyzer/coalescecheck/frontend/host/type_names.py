"""Where the types of host code get their names: aliases, classes and enumerations by name.

In: the occurrences of a name.  Out: what declares it as a type.  Each name is looked through once,
however often a type that mentions it is read.  It must not know values.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import Scopes, node_text, scope_path

_ALIASES = ("type_definition", "alias_declaration")
_CLASSES = ("struct_specifier", "class_specifier")
_RECORDS = (*_CLASSES, "union_specifier", "enum_specifier")


@dataclass(frozen=True, slots=True)
class Alias:
    """A typedef or alias: the offset of its name, the node around it, the source it stands for."""

    start: int
    scope: Node
    source: str


class TypeNames:
    """What the names of one unit mean where they name types."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._aliases: dict[str, tuple[Alias, ...]] = {}
        self._paths: dict[str, tuple[list[str], ...]] = {}
        self._classes: dict[str, bool] = {}

    def aliases(self, name: str) -> tuple[Alias, ...]:
        """The typedefs and aliases called ``name``, in the order of the text."""
        if name not in self._aliases:
            found = (_alias(node) for node in self._scopes.occurrences(name))
            self._aliases[name] = tuple(alias for alias in found if alias is not None)
        return self._aliases[name]

    def paths(self, name: str) -> tuple[list[str], ...]:
        """The namespaces and classes around each class, enumeration and alias called ``name``."""
        if name not in self._paths:
            self._paths[name] = tuple(
                scope_path(node.parent.parent)
                for node in self._scopes.occurrences(name)
                if node.parent is not None and node.parent.parent is not None and _declares(node)
            )
        return self._paths[name]

    def is_class(self, name: str) -> bool:
        """Whether a class of that name is in sight."""
        if name not in self._classes:
            self._classes[name] = any(
                node.parent is not None and node.parent.type in _CLASSES and _declares(node)
                for node in self._scopes.occurrences(name)
            )
        return self._classes[name]


def _alias(name: Node) -> Alias | None:
    holder = name.parent
    if holder is None or holder.parent is None or holder.type not in _ALIASES:
        return None
    if not _declares(name):
        return None
    source = " ".join(node_text(holder.child_by_field_name("type")).split())
    return Alias(name.start_byte, holder.parent, source)


def _declares(name: Node) -> bool:
    """Whether a name is where a class, an enumeration or an alias is declared."""
    holder = name.parent
    if holder is None or holder.type not in (*_ALIASES, *_RECORDS):
        return False
    role = "declarator" if holder.type == "type_definition" else "name"
    return holder.child_by_field_name(role) == name
