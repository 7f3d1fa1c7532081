"""What template parameters are in one instance, and types as seen from outside of it.

In: template arguments and types at a place of host code.  Out: source text that a kernel's own
scope can read, None where it is not known.  It must not know calls or launches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.host.deduction import WORD, substituted
from coalescecheck.frontend.host.scopes import (
    declared_name,
    expressions,
    node_text,
    scope_path,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_AROUND_NAMES = ("qualified_identifier", "field_expression", "dependent_name")
_DECLTYPE = re.compile(r"\bdecltype\s*\(\s*([A-Za-z_]\w*)\s*\)")
_MAX_ALIASES = 4  # local aliases of one another
_OPEN_SCOPES = ("translation_unit", "linkage_specification", "template_declaration")


@dataclass(frozen=True, slots=True)
class Bound:
    """A template argument: its source, None when unknown, and its value where it has one."""

    source: str | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """An instance of ``function``: its template arguments and those of the templates around it,
    and the calls that have them.  ``passed`` are what one call gives parameters, by their name and
    for a dim3 its component: known where the caller is another instance."""

    function: Node | None = None
    bound: Mapping[str, Bound] = field(default_factory=dict)
    calls: tuple[Node, ...] = ()
    passed: Mapping[tuple[str, str | None], Value | None] = field(default_factory=dict)


def template_arguments(function: Node | None) -> list[Node]:
    """The explicit template arguments of a called function or kernel."""
    while function is not None and function.type in _AROUND_NAMES:
        inner = function.child_by_field_name("name") or function.child_by_field_name("field")
        if function.type == "dependent_name":
            inner = next(reversed(function.named_children), None)
        function = inner
    if function is None or function.type not in ("template_function", "template_method"):
        return []
    return expressions(function.child_by_field_name("arguments"))


def argument_of(values: HostValues, argument: Node, context: Context) -> Bound:
    """A template argument seen from ``context``, which ``values`` is bound to."""
    source = plain_uses(node_text(argument), context)
    if source in context.bound:
        return context.bound[source]
    value = values.value(argument)
    if argument.type in ("number_literal", "true", "false", "char_literal"):
        return Bound(source, value)
    if value is not None and not value.type.is_float:
        return Bound(str(int(value.number)), value)
    return Bound(spelled(values, argument, context))


def plain_uses(text: str, context: Context) -> str:
    """Source in which ``d`` stands for its value ``d()``, ``d.value`` or ``decltype(d)::value``,
    and its type is written out, where ``d`` is an ``auto`` parameter of a lambda around."""
    source = " ".join(text.split())
    for key, bound in context.bound.items():
        name = key.removeprefix("decltype(").removesuffix(")")
        if name != key and name in source:
            used = rf"decltype\s*\(\s*{name}\s*\)"
            source = re.sub(rf"{used}\s*::\s*value\b", name, source)
            source = re.sub(rf"\b{name}\s*(?:\.\s*value\b|\(\s*\))", name, source)
            source = re.sub(used, bound.source or used, source)
    return source


def spelled(
    values: HostValues, type_: Node, context: Context, source: str | None = None
) -> str | None:
    """Source of a type or template argument that means the same outside of the function around
    it: template parameters and local aliases are replaced, types of the namespaces around are
    qualified.  None if one is not known.  ``source`` is read instead where something in it has
    been replaced before."""
    source = plain_uses(node_text(type_), context) if source is None else source
    source = _DECLTYPE.sub(lambda d: values.type_of(d[1], type_, context) or d[0], source)
    if "decltype" in source:
        return None  # it speaks of variables around it
    names: dict[str, str | None] = {name: b.source for name, b in context.bound.items()}
    for around in values.scopes.around(type_):
        if around.type == "template_declaration":
            for parameter in expressions(around.child_by_field_name("parameters")):
                names.setdefault(declared_name(parameter), None)
    names.pop("", None)
    for _ in range(_MAX_ALIASES):
        local = _local_aliases(values, source, type_, names, context)
        if not local:
            break
        source = substituted(source, local) or source
        if "decltype" in source:
            return None
    source = substituted(source, _qualified(values, source, type_, names)) or source
    return substituted(source, names)


def _local_aliases(
    values: HostValues, source: str, use: Node, names: Mapping[str, str | None], context: Context
) -> dict[str, str | None]:
    """What the local type names in a type stand for."""
    found: dict[str, str | None] = {}
    around: set[int] | None = None
    for name in dict.fromkeys(WORD.findall(source)):
        for alias in values.types.aliases(name) if name not in names else ():
            if alias.scope.type in _OPEN_SCOPES or alias.start >= use.start_byte:
                continue
            around = around or {a.id for a in values.scopes.around(use)}
            if alias.scope.id in around:
                found[name] = plain_uses(alias.source, context)
        if name not in found and name not in names and _is_of_classes(values, name):
            owner = _class_around(values, use)
            if owner:
                found[name] = f"typename {owner}::{name}"
    return found


def _is_of_classes(values: HostValues, name: str) -> bool:
    """Whether only classes give the name to types, and by aliases."""
    aliases = values.types.aliases(name)
    inside = all(alias.scope.type == "field_declaration_list" for alias in aliases)
    return bool(aliases) and inside and not values.types.is_class(name)


def _class_around(values: HostValues, use: Node) -> str:
    """The class whose member function ``use`` is in, as its own code calls it: of
    ``void Map<K>::run()`` it is ``Map<K>``.  Empty if its types can only be lexically around."""
    for around in values.scopes.around(use):
        if around.type == "function_definition":
            declarator = around.child_by_field_name("declarator")
            named = declarator.child_by_field_name("declarator") if declarator else None
            if named is not None and named.type == "qualified_identifier":
                return node_text(named).rpartition("::")[0]
        elif around.type in ("struct_specifier", "class_specifier"):
            bases = [child for child in around.children if child.type == "base_class_clause"]
            name, holder = node_text(around.child_by_field_name("name")), around.parent
            if not bases or holder is None:
                return ""
            if holder.type != "template_declaration":
                return name
            parameters = expressions(holder.child_by_field_name("parameters"))
            return f"{name}<{', '.join(map(declared_name, parameters))}>"
    return ""


def _qualified(
    values: HostValues, source: str, use: Node, names: Mapping[str, str | None]
) -> dict[str, str | None]:
    """The types in a source that are declared in a namespace around ``use``, with its name."""
    found: dict[str, str | None] = {}
    here: list[str] | None = None
    for name in dict.fromkeys(WORD.findall(source)):
        paths = values.types.paths(name) if name not in names else ()
        if not any(paths):
            continue
        here = scope_path(use) if here is None else here
        around = [path for path in paths if path and path == here[: len(path)]]
        if around:
            found[name] = "::".join([*max(around, key=len), name])
        elif all(path == paths[0] for path in paths) and _is_used(values, paths[0], use):
            found[name] = "::".join([*paths[0], name])
    return found


def _is_used(values: HostValues, path: list[str], use: Node) -> bool:
    """Whether a ``using namespace`` around ``use`` names the namespace."""
    around: set[int] | None = None
    for node in values.scopes.occurrences(path[-1]):
        directive = node.parent
        while directive is not None and directive.type == "qualified_identifier":
            directive = directive.parent
        if directive is None or directive.type != "using_declaration":
            continue
        if directive.start_byte > use.start_byte or "namespace" not in node_text(directive):
            continue
        around = around or {a.id for a in values.scopes.around(use)}
        if directive.parent is not None and directive.parent.id in around:
            return True
    return False
