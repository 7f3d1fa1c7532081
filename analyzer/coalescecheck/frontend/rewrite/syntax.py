"""Small readers of tree-sitter-cuda nodes: text, children, declarators.

In: syntax nodes.  Out: their parts.  It must not know about scopes, types or C output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node, Parser

from coalescecheck.frontend.patches import language
from coalescecheck.frontend.rewrite.joined_names import JOINT

_WRAPPERS = frozenset(
    {
        "pointer_declarator",
        "reference_declarator",
        "array_declarator",
        "function_declarator",
        "parenthesized_declarator",
        "init_declarator",
        "attributed_declarator",
        "variadic_declarator",
        "abstract_pointer_declarator",
        "abstract_reference_declarator",
        "abstract_array_declarator",
        "abstract_function_declarator",
        "abstract_parenthesized_declarator",
    }
)
_TO_MEMBER = re.compile(rb"::\s*\*")
_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "operator_name",
        "template_function",
        "destructor_name",
        "operator_cast",
        "structured_binding_declarator",
    }
)
_C_WORDS = frozenset(
    (
        "alignas alignof auto bool break case char const constexpr continue default do double else "
        "enum extern false float for goto if int long nullptr return short signed sizeof static "
        "static_assert struct switch thread_local true typedef union unsigned void volatile while"
    ).split()
)
_STRING = re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"\s*')
_CHARACTER = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|[abefnrtv'\"?\\])|[ !#-\[\]-~]")
_LONGEST_SEQUENCE = 400  # bytes; each is parsed once more
HOLDER = "template_argument_holder"  # the template around an argument that came as text
RECORDS = ("struct_specifier", "class_specifier", "union_specifier")
PREPROCESSOR_BLOCKS = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"}
)


def unqualified(node: Node) -> Node | None:
    """What a name is behind its last ``::``; None where that is missing."""
    while node.type == "qualified_identifier":
        name = node.child_by_field_name("name")
        if name is None:
            return None
        node = name
    return node


def is_c_word(name: str) -> bool:
    """Whether a name is a keyword of C and C++: no program has such a name."""
    return name in _C_WORDS


def text(node: Node) -> str:
    """The source text of a node."""
    raw = node.text
    if raw is None:
        return ""
    if JOINT in raw:
        raw = raw.replace(JOINT, b"::")
    return raw.decode("utf-8", "replace")


def flat(node: Node) -> str:
    """The source text of a node with all white space removed but single blanks."""
    return " ".join(text(node).split())


def child(node: Node, *types: str) -> Node | None:
    """The first child of one of ``types``."""
    for candidate in node.children:
        if candidate.type in types:
            return candidate
    return None


def children(node: Node, *types: str) -> list[Node]:
    """The children of one of ``types``."""
    return [candidate for candidate in node.children if candidate.type in types]


def operands(node: Node | None) -> list[Node]:
    """The named children that mean something (no comments)."""
    if node is None:
        return []
    return [c for c in node.named_children if c.type != "comment"]


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def faults(node: Node) -> Iterator[Node]:
    """The outermost nodes at and below ``node`` that the parser could not read or made up."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_error or current.is_missing:
            yield current
        else:
            stack.extend(reversed(unreadable(current)))


def unreadable(node: Node) -> list[Node]:
    """The children of a node that may have faults: not those that are understood all the same."""
    if not node.has_error or node.type == "offsetof_expression" or sequence_at(node) is not None:
        return []
    found = node.children
    for clause, behind in pairwise(node.children):
        if clause.type == "condition_clause" and _closes_early(clause, behind):
            found = [child for child in found if child not in (clause, behind)]
    return found


def _closes_early(clause: Node, behind: Node) -> bool:
    """``if ((a = b, c))`` read as ``if ((a = b), c)`` with a parenthesis too many behind it."""
    inside = [part for part in walk(clause) if part.is_error or part.is_missing]
    value = clause.child_by_field_name("value")
    if value is None or value.type != "comma_expression" or len(inside) != 1:
        return False
    first = value.children[0]
    early = first.type == "parenthesized_expression" and first.children[-1] == inside[0]
    return early and behind.is_error and text(behind) == ")"


def inner_declarator(node: Node) -> Node | None:
    """One step inwards from a declarator."""
    inner = node.child_by_field_name("declarator")
    if inner is not None:
        return inner
    for candidate in node.named_children:
        if candidate.type in _WRAPPERS or candidate.type in _NAMES:
            return candidate
    return None


def points_to_member(declarator: Node | None) -> bool:
    """Whether a declarator is of a pointer to a member (``int S::*p``)."""
    return declarator is not None and _TO_MEMBER.search(declarator.text or b"") is not None


def declared_name(node: Node | None) -> Node | None:
    """The node naming what a declarator declares; None for an abstract one."""
    node = _innermost(node)
    if node is not None and node.type == "qualified_identifier" and points_to_member(node):
        return next((n for n in reversed(list(walk(node))) if n.type == "type_identifier"), None)
    if node is None or node.type not in _NAMES or is_c_word(text(node)):
        return None
    return node


def declares_word(declarator: Node) -> bool:
    """Whether a word of C stands where a name should, as in ``CHECK(sizeof(int) == 4);`` read as
    a declaration."""
    node = _innermost(declarator)
    return node is not None and node.type in _NAMES and is_c_word(text(node))


def _innermost(node: Node | None) -> Node | None:
    while node is not None and node.type in _WRAPPERS:
        node = inner_declarator(node)
    return node


def function_declarator(node: Node | None) -> Node | None:
    """The function declarator if ``node`` declares a function (not a pointer to one)."""
    while node is not None:
        if node.type == "function_declarator":
            inner = inner_declarator(node)
            return node if inner is None or inner.type != "parenthesized_declarator" else None
        if node.type in ("pointer_declarator", "reference_declarator"):
            node = inner_declarator(node)
        elif node.type == "operator_cast":
            return node
        else:
            return None
    return None


def declarators(node: Node) -> list[Node]:
    """The declarators of a declaration."""
    return node.children_by_field_name("declarator")


def is_const_method(declarator: Node) -> bool:
    """Whether a method (or conversion: ``operator int() const``) is declared ``const``."""
    at: Node | None = declarator
    while at is not None and at.type not in ("function_declarator", "abstract_function_declarator"):
        at = at.child_by_field_name("declarator") or next(
            (c for c in at.named_children if c.type.startswith("abstract_")), None
        )
    return at is not None and has_word(at, "const")


def has_word(node: Node, *words: str) -> bool:
    """Whether one of a declaration's own specifiers is one of ``words``."""
    for candidate in node.children:
        if candidate.type in words:
            return True
        if candidate.type in (
            "type_qualifier",
            "storage_class_specifier",
            "virtual",
            "virtual_function_specifier",
            "explicit_function_specifier",
        ) and (text(candidate) in words):
            return True
    return False


_OPERATOR_WORDS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^",
          "compl": "~", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!="}  # fmt: skip


def sign_of(node: Node) -> str:
    """The operator of an expression node, in symbols."""
    sign = node.child_by_field_name("operator")
    spelled = text(sign) if sign is not None else ""
    return _OPERATOR_WORDS.get(spelled, spelled)


def changes_around(node: Node, name: str) -> bool:
    """Whether the function around ``node`` may change the variable ``name``."""
    function = node.parent
    while function is not None and function.type != "function_definition":
        function = function.parent
    if function is None:
        return False
    return any(
        part.type == "identifier" and text(part) == name and may_change(part)
        for part in walk(function)
    )


def parts_change(node: Node, name: str) -> bool:
    """Whether the function around ``node`` may change the variable ``name`` or a part of it
    elsewhere: its members, its elements, by a method or by whom it is lent to."""
    function = node.parent
    while function is not None and function.type != "function_definition":
        function = function.parent
    return function is not None and any(
        part.type == "identifier" and text(part) == name and _part_changes(part)
        for part in walk(function)
        if not node.start_byte <= part.start_byte < node.end_byte
    )


def _part_changes(node: Node) -> bool:
    at = node
    while at.parent is not None and at.parent.type in _PARTS:
        if at.parent.child_by_field_name("argument") not in (at, None):
            return False
        at = at.parent
    method = at.parent is not None and at.parent.type == "call_expression"
    return may_change(at) or (method and at is not node)


STRINGS = ("string_literal", "raw_string_literal", "concatenated_string")
_PARTS = ("field_expression", "subscript_expression", "parenthesized_expression")


def may_change(node: Node) -> bool:
    """Whether an occurrence of a name may change the variable."""
    parent = node.parent
    if parent is None:
        return False
    match parent.type:
        case "assignment_expression":
            return parent.child_by_field_name("left") == node
        case "update_expression" | "argument_list":
            return True
        case "pointer_expression":
            return text(parent).startswith("&")
        case "comma_expression" | "ERROR":
            return parent.has_error  # `(a = 1, b = 2, c)`: see `sequence_at`
        case _:
            return False


def is_given(node: Node) -> bool:
    """Whether a node is part of a template argument that came as text: its offsets are no places
    of the unit."""
    at = node.parent
    while at is not None:
        name = at.child_by_field_name("name") if at.type == "template_type" else None
        if name is not None and text(name) == HOLDER:
            return True
        at = at.parent
    return False


def type_at(source: str, place: int) -> Node | None:
    """The type that ``source`` spells, as a node whose offsets begin at ``place``."""
    head = b"using T ="
    code = head.rjust(place) + source.encode() + b";"
    tree = Parser(language()).parse(code)
    for node in walk(tree.root_node):
        if node.type == "alias_declaration" and not tree.root_node.has_error:
            return node.child_by_field_name("type")
    return None


def sequence_at(node: Node) -> Node | None:
    """What is in the parentheses of ``(a = b, c)``, which the grammar does not read as a whole.

    None for anything else; the offsets are those in the unit.
    """
    if node.type != "parenthesized_expression" or not node.has_error or node.text is None:
        return None
    inner = next(iter(operands(node)), None)
    if inner is None or inner.type not in ("assignment_expression", "comma_expression"):
        return None
    if len(node.text) > _LONGEST_SEQUENCE:
        return None
    source = node.text[1:-1].lstrip()
    return _statement_at(source, node.end_byte - 1 - len(source))


@lru_cache(maxsize=64)
def _statement_at(source: bytes, place: int) -> Node | None:
    tree = Parser(language()).parse(b"T f(){".rjust(place) + source + b";}")
    node = tree.root_node.descendant_for_byte_range(place, place + len(source) + 1)
    if tree.root_node.has_error or node is None or node.type != "expression_statement":
        return None
    return node.named_children[0] if node.named_child_count == 1 else None


def string_size(source: str) -> int | None:
    """The bytes of a string literal, or of several that follow each other; None if not known."""
    size, at = 1, 0
    while at < len(source):
        part = _STRING.match(source, at)
        if part is None or not re.fullmatch(f"(?:{_CHARACTER.pattern})*", part[1]):
            return None
        size += len(_CHARACTER.findall(part[1]))
        at = part.end()
    return size
