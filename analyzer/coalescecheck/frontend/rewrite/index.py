"""The declarations of one file, by scope.

In: a syntax tree.  Out: :class:`Scope` trees of entries.  Members of a class are entered when
they are first asked for.  It must not know about types or instances; entries only point at
the syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax
from coalescecheck.frontend.rewrite.syntax import text


@dataclass(frozen=True, slots=True, eq=False)
class TemplateParameter:
    """``kind`` is ``type``, ``value`` or ``template``; ``declaration`` that of a value."""

    kind: str
    name: str
    pack: bool = False
    default: Node | None = None
    declaration: Node | None = None
    node: Node | None = None  # of a type


Head: TypeAlias = "tuple[TemplateParameter, ...] | None"


@dataclass(slots=True, eq=False)
class Scope:
    """A namespace (``kind`` namespace) or the inside of a class (``kind`` record)."""

    name: str
    parent: Scope | None
    kind: str = "namespace"
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    using: list[str] = field(default_factory=list)
    members_elsewhere: dict[str, list[FunctionEntry]] = field(default_factory=dict)
    variables_elsewhere: dict[str, list[VariableEntry]] = field(default_factory=dict)

    @property
    def path(self) -> tuple[str, ...]:
        above = self.parent.path if self.parent is not None else ()
        return (*above, self.name) if self.name else above

    def add(self, name: str, entry: Entry) -> None:
        self.entries.setdefault(name, []).append(entry)


@dataclass(slots=True, eq=False)
class FunctionEntry:
    """A function, method or operator.  ``declarator`` is its function declarator.

    ``heads`` are the template heads around it, outermost first (a method of a class template
    defined outside of it has the class's head first).  ``owner`` is the class's name as
    written for such a definition.
    """

    name: str
    scope: Scope
    node: Node
    declarator: Node
    heads: tuple[Head, ...] = ()
    body: Node | None = None
    owner: Node | None = None
    arguments: Node | None = None  # of a specialisation or explicit instantiation

    @property
    def head(self) -> Head:
        return self.heads[-1] if self.heads and self.heads[-1] else None


@dataclass(slots=True, eq=False)
class RecordEntry:
    """A struct, class or union; ``arguments`` of a specialisation."""

    name: str
    scope: Scope
    node: Node
    head: Head = None
    arguments: Node | None = None
    members: Scope | None = None


@dataclass(slots=True, eq=False)
class AliasEntry:
    """A typedef or using declaration of a type."""

    name: str
    scope: Scope
    type: Node
    declarator: Node | None
    head: Head = None


@dataclass(slots=True, eq=False)
class VariableEntry:
    """A variable outside of functions; ``declarator`` may be an init_declarator."""

    name: str
    scope: Scope
    node: Node
    declarator: Node
    head: Head = None
    default: Node | None = None  # of a static member


@dataclass(slots=True, eq=False)
class ConceptEntry:
    """A concept: the condition that its template arguments meet."""

    name: str
    scope: Scope
    node: Node
    head: Head
    condition: Node


@dataclass(slots=True, eq=False)
class EnumEntry:
    """An enumeration; ``scope_of`` holds the enumerators of a scoped one."""

    name: str
    scope: Scope
    node: Node
    inner: Scope


@dataclass(slots=True, eq=False)
class EnumeratorEntry:
    """One enumerator; without a value it is one more than ``previous``."""

    name: str
    scope: Scope
    value: Node | None
    previous: EnumeratorEntry | None
    enum: EnumEntry


@dataclass(slots=True, eq=False)
class NamespaceEntry:
    """A namespace, or (``target``) another name for one."""

    name: str
    inner: Scope | None
    target: str = ""


@dataclass(slots=True, eq=False)
class UsingEntry:
    """``using a::b;`` at a byte: ``name`` stands for ``target``."""

    name: str
    target: str
    at: int = 0


Entry: TypeAlias = (
    "FunctionEntry | RecordEntry | AliasEntry | VariableEntry | EnumEntry | EnumeratorEntry"
    " | NamespaceEntry | UsingEntry | ConceptEntry"
)


def build(root: Node) -> Scope:
    """The global scope of a file."""
    top = Scope("", None)
    _Builder().block(root, top)
    return top


def members(entry: RecordEntry) -> Scope:
    """The scope inside a class, entered at the first call."""
    if entry.members is None:
        entry.members = Scope(entry.name, entry.scope, "record")
        body = entry.node.child_by_field_name("body")
        if body is not None:
            _Builder().block(body, entry.members)
    return entry.members


def local_entries(node: Node, scope: Scope) -> None:
    """Enters a declaration found inside a function into ``scope``."""
    _Builder().item(node, scope, ())


def template_head(node: Node, scope: Scope | None = None) -> Head:
    """The parameters of a template_parameter_list in ``scope``, which may name concepts."""
    return tuple(_parameter(p, scope) for p in syntax.operands(node))


def _names_concept(node: Node, scope: Scope | None) -> bool:
    """Whether ``node`` is the name of a concept."""
    name = re.sub(r"<.*", "", text(node), flags=re.DOTALL).split("::")[-1].strip()
    while scope is not None:
        if any(isinstance(e, ConceptEntry) for e in scope.entries.get(name, ())):
            return True
        scope = scope.parent
    return False


def _parameter(node: Node, scope: Scope | None) -> TemplateParameter:
    pack = "variadic" in node.type or syntax.child(node, "variadic_declarator") is not None
    if node.type == "template_template_parameter_declaration":
        inner = syntax.child(
            node,
            "type_parameter_declaration",
            "optional_type_parameter_declaration",
            "variadic_type_parameter_declaration",
        )
        name = syntax.child(inner, "type_identifier") if inner is not None else None
        return TemplateParameter("template", text(name) if name else "")
    if "type_parameter" in node.type:
        name = node.child_by_field_name("name") or syntax.child(node, "type_identifier")
        default = node.child_by_field_name("default_type")
        if name is not None and default is not None and name.start_byte == default.start_byte:
            name = None
        return TemplateParameter("type", text(name) if name else "", pack, default, node=node)
    type_ = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    name = syntax.declared_name(declarator) if declarator is not None else None
    default = node.child_by_field_name("default_value")
    if type_ is not None and _names_concept(type_, scope):
        return TemplateParameter("type", text(name) if name else "", pack, default, node=node)
    return TemplateParameter(
        "value",
        text(name) if name else "",
        pack,
        default,
        node,
    )


class _Builder:
    """Walks the declarations of one scope."""

    def block(self, node: Node, scope: Scope) -> None:
        for item in node.named_children:
            self.item(item, scope, ())

    def item(self, node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        match node.type:
            case "function_definition":
                self._function(node, scope, heads, node.child_by_field_name("body"))
            case "declaration" | "field_declaration" | "template_instantiation":
                self._declaration(node, scope, heads)
            case "type_definition":
                self._typedef(node, scope)
            case "alias_declaration":
                self._alias(node, scope, heads)
            case "struct_specifier" | "class_specifier" | "union_specifier":
                self._record(node, scope, heads)
            case "enum_specifier":
                self._enum(node, scope)
            case "template_declaration":
                self._template(node, scope, heads)
            case "namespace_definition":
                self._namespace(node, scope)
            case "namespace_alias_definition":
                self._namespace_alias(node, scope)
            case "using_declaration":
                self._using(node, scope)
            case "concept_definition":
                self._concept(node, scope, heads)
            case "linkage_specification" | "friend_declaration" | "ERROR" | "declaration_list":
                for inner in node.named_children:
                    self.item(inner, scope, heads)
            case kind if kind in syntax.PREPROCESSOR_BLOCKS:
                for inner in node.named_children:
                    self.item(inner, scope, heads)
            case _:
                pass

    def _template(self, node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        parameters = node.child_by_field_name("parameters")
        head = template_head(parameters, scope) if parameters is not None else ()
        for inner in node.named_children:
            if inner.type not in ("template_parameter_list", "requires_clause", "comment"):
                self.item(inner, scope, (*heads, head))

    @staticmethod
    def _concept(node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        name, inner = node.child_by_field_name("name"), syntax.operands(node)
        if name is not None and heads and len(inner) > 1:
            entry = ConceptEntry(text(name), scope, node, heads[-1], inner[-1])
            scope.add(entry.name, entry)

    def _namespace(self, node: Node, scope: Scope) -> None:
        body = node.child_by_field_name("body")
        name = node.child_by_field_name("name")
        if body is None:
            return
        if name is None or syntax.child(node, "inline") is not None:
            if name is not None:
                scope.add(text(name), NamespaceEntry(text(name), scope))
            self.block(body, scope)  # anonymous and inline: members are visible outside
            return
        for part in text(name).split("::"):
            scope = self._inner_namespace(part.strip(), scope)
        self.block(body, scope)

    @staticmethod
    def _inner_namespace(name: str, scope: Scope) -> Scope:
        for entry in scope.entries.get(name, ()):
            if isinstance(entry, NamespaceEntry) and entry.inner is not None:
                return entry.inner
        inner = Scope(name, scope)
        scope.add(name, NamespaceEntry(name, inner))
        return inner

    @staticmethod
    def _namespace_alias(node: Node, scope: Scope) -> None:
        parts = [c for c in node.named_children if c.type != "comment"]
        if len(parts) == 2:
            name = text(parts[0])
            scope.add(name, NamespaceEntry(name, None, text(parts[1])))

    @staticmethod
    def _using(node: Node, scope: Scope) -> None:
        target = next((c for c in node.named_children if c.type != "comment"), None)
        if target is None:
            return
        if syntax.child(node, "namespace") is not None:
            scope.using.append(text(target))
        else:
            path = text(target).replace(" ", "")
            name = path.rsplit("::", 1)[-1]
            scope.add(name, UsingEntry(name, path, node.start_byte))

    def _function(
        self, node: Node, scope: Scope, heads: tuple[Head, ...], body: Node | None
    ) -> None:
        declarator = syntax.function_declarator(node.child_by_field_name("declarator"))
        if declarator is None:
            return
        self._enter_function(node, declarator, scope, heads, body)

    @staticmethod
    def _enter_function(
        node: Node, declarator: Node, scope: Scope, heads: tuple[Head, ...], body: Node | None
    ) -> None:
        name = declarator if declarator.type == "operator_cast" else None
        name = name or syntax.inner_declarator(declarator)
        owner: Node | None = None
        while name is not None and name.type == "qualified_identifier":
            owner, name = name.child_by_field_name("scope"), name.child_by_field_name("name")
        if name is None:
            return
        arguments = None
        if name.type in ("template_function", "template_method"):
            arguments = name.child_by_field_name("arguments")
            name = name.child_by_field_name("name") or name
        if name.type == "operator_cast":
            called, declarator = "operator cast", name
        else:
            called = "".join(text(name).split())
        entry = FunctionEntry(called, scope, node, declarator, heads, body, owner, arguments)
        if owner is None:
            scope.add(called, entry)
        else:
            scope.members_elsewhere.setdefault(called, []).append(entry)

    def _declaration(self, node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            self._defined_in_place(type_, scope, heads)
        defaults = _member_defaults(node)
        for declarator in syntax.declarators(node):
            function = syntax.function_declarator(declarator)
            if function is not None:
                self._enter_function(node, function, scope, heads, None)
                continue
            name = syntax.declared_name(declarator)
            if name is not None and not name.is_missing and text(name):
                called = text(name).rsplit("::", 1)[-1]
                head = heads[-1] if heads else None
                default = defaults.get(declarator.id)
                entry = VariableEntry(called, scope, node, declarator, head, default)
                if name.type == "qualified_identifier":  # a static member, defined outside
                    scope.variables_elsewhere.setdefault(called, []).append(entry)
                else:
                    scope.add(called, entry)

    def _defined_in_place(self, node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        if node.type in syntax.RECORDS and node.child_by_field_name("name") is not None:
            self._record(node, scope, heads)
        elif node.type == "enum_specifier":
            self._enum(node, scope)

    def _typedef(self, node: Node, scope: Scope) -> None:
        type_ = node.child_by_field_name("type")
        if type_ is None:
            return
        self._defined_in_place(type_, scope, ())
        for declarator in syntax.declarators(node):
            name = syntax.declared_name(declarator)
            if name is not None:
                scope.add(text(name), AliasEntry(text(name), scope, type_, declarator))

    @staticmethod
    def _alias(node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        name, type_ = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is not None and type_ is not None:
            head = heads[-1] if heads else None
            scope.add(text(name), AliasEntry(text(name), scope, type_, None, head))

    def _record(self, node: Node, scope: Scope, heads: tuple[Head, ...]) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        arguments = None
        if name.type == "template_type":
            arguments = name.child_by_field_name("arguments")
            name = name.child_by_field_name("name") or name
        called = text(name).rsplit("::", 1)[-1]
        head = heads[-1] if heads else None
        if node.child_by_field_name("body") is None:
            known = scope.entries.get(called, ())
            if arguments is not None or any(isinstance(e, RecordEntry) for e in known):
                return
        scope.add(called, RecordEntry(called, scope, node, head, arguments))

    @staticmethod
    def _enum(node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        called = text(name) if name is not None else ""
        scoped = syntax.child(node, "class", "struct") is not None
        entry = EnumEntry(called, scope, node, Scope(called, scope))
        if called:
            scope.add(called, entry)
        previous: EnumeratorEntry | None = None
        for item in syntax.operands(node.child_by_field_name("body")):
            label = item.child_by_field_name("name")
            if item.type != "enumerator" or label is None:
                continue
            value = item.child_by_field_name("value")
            previous = EnumeratorEntry(text(label), scope, value, previous, entry)
            entry.inner.add(text(label), previous)
            if not scoped:
                scope.add(text(label), previous)


def _member_defaults(node: Node) -> dict[int, Node]:
    """Initialisers of members, by the declarator they follow."""
    found: dict[int, Node] = {}
    last: Node | None = None
    for number, item in enumerate(node.children):
        role = node.field_name_for_child(number)
        if role == "declarator":
            last = item
        elif role == "default_value" and last is not None:
            found[last.id] = item
    return found
