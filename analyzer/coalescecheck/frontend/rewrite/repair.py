"""CUDA words that the grammar cannot place, replaced by ones it can, at the same offsets.

In: preprocessed code and its tree.  Out: a tree for code of the same length, so that byte
offsets still mean the same places.
"""

from __future__ import annotations

import re
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

_ALIGN = re.compile(rb"\b(?:__align__|__builtin_align__)(?=\s*\()")
# `[=] __device__ (int i) {…}`: the grammar has no specifiers there
_LAMBDA = re.compile(rb"(\]\s*)((?:(?:__device__|__host__|__forceinline__)\s*)+)(?=[({])")
_SPELLINGS = re.compile(rb"\b__(const|volatile|signed)__(?!\w)")
_RESTRICT = re.compile(rb"\b__restrict\b(?!_)")
_WORDS = re.compile(
    rb"\b(?:__grid_constant__|__device_builtin__|__maxnreg__\s*\(\s*\d+\s*\)"
    rb"|__cluster_dims__\s*\([\w\s,]*\)|__tile_static__|_CRTIMP)(?!\w)"
)


# `(a[i]) + b` and `(f(x)) - b` read as casts: there are no casts to arrays and functions
# same precedence; whoever emits an operator looks at the original code
_STAND_INS = {"*": "/", "&": "^", "<": ">"}
_ROUNDS = 4  # one misread expression may hide another
_NO_CAST = ("abstract_array_declarator", "abstract_function_declarator")


def repaired(code: bytes, tree: Tree) -> Tree:
    """The tree of ``code`` with the words replaced; ``tree`` itself if there are none."""
    language = _language()
    fixed = _ALIGN.sub(lambda m: b"alignas".ljust(len(m[0])), code)
    fixed = _LAMBDA.sub(lambda m: m[1] + b" " * len(m[2]), fixed)
    fixed = _SPELLINGS.sub(lambda m: m[1].ljust(len(m[0])), fixed)
    fixed = fixed.replace(b"__typeof__", b"decltype  ")
    fixed = _RESTRICT.sub(b"restrict  ", fixed)
    fixed = _WORDS.sub(lambda m: b" " * len(m[0]), fixed)
    if fixed != code:
        tree = Parser(language).parse(fixed)
    for _ in range(_ROUNDS):
        disguised = _disguised(fixed, tree)
        if disguised is None:
            break
        fixed, tree = disguised, Parser(language).parse(disguised)
    return tree


@cache
def _language() -> Language:
    return Language(tree_sitter_cuda.language())


@cache
def _suspects() -> Query:
    """Compiled once: that takes as long as parsing a large file."""
    return Query(
        _language(),
        "(cast_expression) @cast (template_function) @template "
        "(compound_statement (declaration declarator: (function_declarator) @prototype))",
    )


def _disguised(code: bytes, tree: Tree) -> bytes | None:
    """The code with misread expressions disguised; None if there are none."""
    captured = QueryCursor(_suspects()).captures(tree.root_node)
    changed = bytearray(code)
    for node in captured.get("cast", []):
        _cast(node, changed)
    for node in captured.get("template", []):
        _comparison(node, changed)
    for node in captured.get("prototype", []):
        _initialiser(node, changed)
    return None if changed == code else bytes(changed)


def _cast(node: Node, changed: bytearray) -> None:
    """``(a[i]) + b``: blanks for the parentheses.  ``(n * (m)) - 1``: another operator."""
    type_ = node.child_by_field_name("type")
    declarator = type_.child_by_field_name("declarator") if type_ is not None else None
    stars = _misread(declarator) if declarator is not None else None
    if stars is None:
        return
    for star in stars:
        changed[star.start_byte] = ord(_STAND_INS[star.type])
    for child in node.children if not stars else ():
        if child.type in ("(", ")"):
            changed[child.start_byte] = ord(" ")


def _comparison(node: Node, changed: bytearray) -> None:
    """``a < b && c >= d`` is no template: nobody writes ``&&`` bare in template arguments."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None:
        return
    for operand in arguments.named_children:
        sign = operand.child_by_field_name("operator")
        if operand.type == "binary_expression" and sign is not None and sign.type in ("&&", "||"):
            changed[arguments.start_byte] = ord(_STAND_INS["<"])


def _initialiser(node: Node, changed: bytearray) -> None:
    """``int x(a[i]);`` in a function is no prototype: ``int x=a[i] ;``."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None or parameters.named_child_count != 1:
        return
    declarator = parameters.named_children[0].child_by_field_name("declarator")
    if declarator is not None and declarator.type == "abstract_array_declarator":
        changed[parameters.start_byte] = ord("=")
        changed[parameters.end_byte - 1] = ord(" ")


def _misread(node: Node) -> list[Node] | None:
    """The operators of a type descriptor that is an expression; None for a real type."""
    stars: list[Node] = []
    at: Node | None = node
    last = ""
    while at is not None:
        if at.type == "abstract_parenthesized_declarator":
            return None
        stars += [c for c in at.children if c.type in _STAND_INS]
        last = at.type
        at = at.child_by_field_name("declarator") or next(
            (c for c in at.named_children if c.type.startswith("abstract_")), None
        )
    return stars if last in _NO_CAST else None
