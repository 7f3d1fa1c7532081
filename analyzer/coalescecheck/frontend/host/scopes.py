"""Which declaration a name means, found through the name's occurrences in the text.

In: a unit.  Out: :class:`Declaration` records and call sites.  No index is built: a launch
needs a handful of names, and a file may be large.  It must not know values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.unit import Unit

_MAX_OCCURRENCES = 4000  # of one name; beyond it the name counts as unknown

_WORD_BYTES = frozenset(
    bytes([byte]) for byte in range(128) if chr(byte).isalnum() or byte == ord("_")
)
_SCOPES = frozenset(
    {
        "compound_statement",
        "for_statement",
        "for_range_loop",
        "if_statement",
        "while_statement",
        "catch_clause",
        "function_definition",
        "lambda_expression",
        "template_declaration",
        "namespace_definition",
        "struct_specifier",
        "class_specifier",
        "union_specifier",
        "translation_unit",
    }
)
_CLASSES = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
DECLARATORS = frozenset(
    {
        "init_declarator",
        "pointer_declarator",
        "reference_declarator",
        "array_declarator",
        "parenthesized_declarator",
        "function_declarator",
    }
)
_HOLDERS = {
    "declaration": "variable",
    "field_declaration": "member",
    "parameter_declaration": "parameter",
    "optional_parameter_declaration": "parameter",
    "for_range_loop": "range",
    "enumerator": "enumerator",
    "type_parameter_declaration": "type",
    "optional_type_parameter_declaration": "type",
    "function_definition": "function",
}


@dataclass(frozen=True, slots=True)
class Declaration:
    """``kind``: variable, member, parameter, template, type, range, enumerator or function.

    ``holder`` is the whole declaration, ``name`` the identifier in it, ``scope`` the node in
    which the name is visible, ``init`` its initialiser, ``shape`` the declarators around the
    name (``pointer_declarator`` …), ``type`` and ``qualifiers`` source text.
    """

    kind: str
    holder: Node
    name: Node
    scope: Node
    init: Node | None
    shape: tuple[str, ...]
    type: str
    qualifiers: frozenset[str]

    @property
    def is_constant(self) -> bool:
        return bool(self.qualifiers & {"const", "constexpr", "__constant__"})


def node_text(node: Node | None) -> str:
    """Source of a node in the preprocessed text."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around ``node``, innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def expressions(node: Node | None) -> list[Node]:
    """The named children that are no comments."""
    return [c for c in node.named_children if c.type != "comment"] if node is not None else []


def enclosing_function(node: Node) -> Node | None:
    """The function definition (not lambda) around ``node``."""
    return next((a for a in ancestors(node) if a.type == "function_definition"), None)


class Scopes:
    """Look-ups in one unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._root = unit.tree.root_node
        self._nodes: dict[str, tuple[Node, ...]] = {}
        self._declared: dict[str, tuple[Declaration, ...]] = {}
        self._resolved: dict[tuple[str, int], Declaration | None] = {}
        self._around: dict[int, tuple[Node, ...]] = {}

    def around(self, node: Node) -> tuple[Node, ...]:
        """The nodes around ``node``, innermost first, found once: each step starts at the root."""
        if node.id not in self._around:
            self._around[node.id] = tuple(ancestors(node))
        return self._around[node.id]

    def occurrences(self, name: str) -> tuple[Node, ...]:
        """The identifier nodes that spell ``name``; none when there are too many."""
        if name not in self._nodes:
            self._nodes[name] = tuple(self._find(name))
        return self._nodes[name]

    def declarations(self, name: str) -> tuple[Declaration, ...]:
        """Everything that declares ``name`` anywhere in the file."""
        if name not in self._declared:
            found = (declaration_of(node) for node in self.occurrences(name))
            self._declared[name] = tuple(d for d in found if d is not None)
        return self._declared[name]

    def resolve(self, name: str, use: Node) -> Declaration | None:
        """The declaration that ``name`` (``A::b`` too) means at ``use``."""
        key = (name, use.id)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(name, use)
        return self._resolved[key]

    def _resolve(self, name: str, use: Node) -> Declaration | None:
        *path, last = name.split("::")
        candidates = [d for d in self.declarations(last) if d.kind != "function"]
        if path:
            named = [d for d in candidates if _ends_with(scope_path(d.scope), path)]
            return named[0] if len(named) == 1 else None
        visible = {d.scope.id: d for d in candidates if _precedes(d, use)}  # the last one of each
        for scope in (use, *self.around(use)) if visible else ():
            if scope.id in visible:
                return visible[scope.id]
        return _by_using(candidates)

    def functions(self, name: str) -> list[Node]:
        """The function definitions and prototypes called ``name`` (its last component)."""
        found = self.declarations(name.rsplit("::", 1)[-1])
        return [d.holder for d in found if d.kind == "function"]

    def _find(self, name: str) -> Iterator[Node]:
        if not re.fullmatch(r"[^\W\d]\w*", name):
            return
        spelled = name.encode()
        places = _places(self._unit.code, spelled)
        if len(places) > _MAX_OCCURRENCES:
            return
        size = len(spelled)
        for start in places:
            node = self._root.descendant_for_byte_range(start, start + size)
            if node is not None and node.type.endswith("identifier"):
                yield node


def _places(code: bytes, word: bytes) -> list[int]:
    """Where ``word`` stands on its own (a plain search is far faster than a pattern's)."""
    found: list[int] = []
    at = code.find(word)
    while at >= 0:
        end = at + len(word)
        if code[at - 1 : at] in _WORD_BYTES or code[end : end + 1] in _WORD_BYTES:
            end = at + 1
        else:
            found.append(at)
        at = code.find(word, end)
    return found


def declaration_of(name: Node) -> Declaration | None:
    """The declaration that ``name`` is the declared name of, None where it is only used."""
    shape: list[str] = []
    init: Node | None = None
    node, parent = name, name.parent
    while parent is not None and parent.type in DECLARATORS:
        if parent.child_by_field_name("declarator") != node and not _is_inner(parent, node):
            return None
        if parent.type == "init_declarator":
            init = parent.child_by_field_name("value")
        else:
            shape.append(parent.type)
        node, parent = parent, parent.parent
    if parent is None or parent.type not in _HOLDERS:
        return None
    if not _declares(parent, node, name):
        return None
    init = init or parent.child_by_field_name("default_value")
    if shape == ["function_declarator"] and _is_misread(parent, node):
        shape, init = [], node.child_by_field_name("parameters")
    if parent.type == "enumerator":
        init = parent.child_by_field_name("value")
    kind = _kind(parent, shape)
    scope = _scope_of(parent, kind)
    if kind is None or scope is None:
        return None
    qualifiers, type_text = _specifiers(parent)
    return Declaration(kind, parent, name, scope, init, tuple(shape), type_text, qualifiers)


def call_of(name: Node) -> Node | None:
    """The call whose function ``name`` is (through ``A::name<T>`` and ``x.name``)."""
    node, parent = name, name.parent
    while parent is not None and parent.type in (
        "template_function",
        "qualified_identifier",
        "field_expression",
        "template_method",
    ):
        if parent.type == "field_expression" and parent.child_by_field_name("field") != node:
            return None
        node, parent = parent, parent.parent
    if parent is None or parent.type != "call_expression":
        return None
    return parent if parent.child_by_field_name("function") == node else None


def function_declarator(function: Node) -> Node | None:
    """The ``name(parameters)`` part of a function definition or prototype."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in declarator.children if c.type == "function_declarator"), None)
        declarator = inner
    return declarator


def function_name(function: Node) -> str | None:
    """The last component of a function's name."""
    declarator = function_declarator(function)
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    return node_text(name).rsplit("::", 1)[-1] if name is not None else None


def parameters(function: Node) -> list[Node]:
    """The parameter declarations of a function definition, prototype or lambda."""
    declarator = function_declarator(function)
    if declarator is None:
        return []
    listed = expressions(declarator.child_by_field_name("parameters"))
    return [p for p in listed if p.type.endswith("parameter_declaration")]


def template_parameters(function: Node) -> list[Node]:
    """The parameters of the template head around a function definition."""
    head = function.parent
    if head is None or head.type != "template_declaration":
        return []
    return expressions(head.child_by_field_name("parameters"))


def declared_name(parameter: Node) -> str:
    """The name a (template) parameter declares, "" where it has none."""
    node: Node | None = parameter
    while node is not None and not node.type.endswith("identifier"):
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None and node.type == "reference_declarator":
            inner = next(iter(expressions(node)), None)
        if inner is None and node.type.endswith("type_parameter_declaration"):
            inner = next((c for c in node.named_children if c.type == "type_identifier"), None)
        node = inner
    return node_text(node)


def declares(lambda_: Node, name: str) -> bool:
    """Whether a node is a lambda with a template parameter of that name."""
    if lambda_.type != "lambda_expression":
        return False
    heads = expressions(lambda_.child_by_field_name("template_parameters"))
    return any(declared_name(head) == name for head in heads)


def scope_path(scope: Node) -> list[str]:
    """The namespaces and classes around a scope, outermost first, itself included."""
    path: list[str] = []
    for node in (scope, *ancestors(scope)):
        if node.type == "namespace_definition" or node.type in _CLASSES:
            name = node_text(node.child_by_field_name("name"))
            path[:0] = [part for part in name.split("::") if part]
    return path


def _ends_with(path: list[str], suffix: list[str]) -> bool:
    return bool(suffix) and path[-len(suffix) :] == [part for part in suffix if part]


def _is_inner(parent: Node, node: Node) -> bool:
    """reference_declarator and parenthesized_declarator name no field for what they hold."""
    unnamed = ("reference_declarator", "parenthesized_declarator")
    return parent.type in unnamed and node in parent.named_children


def _declares(holder: Node, node: Node, name: Node) -> bool:
    """Whether ``node``, a child of ``holder``, is in a declaring position."""
    if holder.type == "enumerator":
        return holder.child_by_field_name("name") == name
    if holder.type.endswith("type_parameter_declaration"):
        return node == name and name.type == "type_identifier"
    if holder.type == "field_declaration" and name.type == "field_identifier":
        return node in holder.children_by_field_name("declarator")
    return node in holder.children_by_field_name("declarator")


def _is_misread(holder: Node, declarator: Node) -> bool:
    """``dim3 b(n);`` in a function body is a variable, though it reads as a prototype;
    ``constexpr int n(a * b);`` is one anywhere."""
    if holder.parent is None:
        return False
    if holder.parent.type != "compound_statement" and "constexpr" not in _specifiers(holder)[0]:
        return False
    listed = expressions(declarator.child_by_field_name("parameters"))
    known = ("primitive_type", "sized_type_specifier")
    types = [p.child_by_field_name("type") for p in listed]
    return bool(listed) and all(t is not None and t.type not in known for t in types)


def _kind(holder: Node, shape: list[str]) -> str | None:
    kind = _HOLDERS[holder.type]
    if kind == "parameter" and holder.parent is not None:
        if holder.parent.type == "template_parameter_list":
            return "template"
        return kind
    if "function_declarator" in shape and kind in ("variable", "member"):
        return "function"
    return kind


def _scope_of(holder: Node, kind: str | None) -> Node | None:
    """Where the declared name is visible."""
    around = ancestors(holder)
    if kind == "range":
        return holder
    if kind == "enumerator":
        scoped = next((a for a in ancestors(holder) if a.type == "enum_specifier"), None)
        if scoped is not None and any(c.type in ("class", "struct") for c in scoped.children):
            return None  # enum class members need a qualifier, and a cast to become integers
    if kind == "parameter":
        for ancestor in around:
            if ancestor.type in ("function_definition", "lambda_expression"):
                return ancestor
            if ancestor.type in ("compound_statement", "translation_unit"):
                return None  # of a prototype
        return None
    if kind in ("template", "type"):
        return next((a for a in around if a.type == "template_declaration"), None)
    skip = "template_declaration"
    return next((a for a in around if a.type in _SCOPES and a.type != skip), None)


def _specifiers(holder: Node) -> tuple[frozenset[str], str]:
    words: set[str] = set()
    for child in holder.children:
        if child.type in ("type_qualifier", "storage_class_specifier") or not child.is_named:
            words.update(node_text(child).split())
    return frozenset(words), " ".join(node_text(holder.child_by_field_name("type")).split())


def _precedes(declaration: Declaration, use: Node) -> bool:
    """C++ names are visible from their declaration on, members in the whole class."""
    if declaration.kind in ("member", "enumerator"):
        return True
    return declaration.name.start_byte < use.start_byte or declaration.name == use


def _by_using(candidates: list[Declaration]) -> Declaration | None:
    """The one namespace member of that name, as a using directive would find it."""
    outer = [d for d in candidates if d.scope.type == "namespace_definition"]
    return outer[0] if len(outer) == 1 and len(candidates) == 1 else None
