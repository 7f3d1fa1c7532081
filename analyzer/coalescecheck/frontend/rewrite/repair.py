"""CUDA words that the grammar cannot place, replaced by ones it can, at the same offsets.

In: preprocessed code and its tree.  Out: a tree for code of the same length, so that byte
offsets still mean the same places.
"""

from __future__ import annotations

import re

from tree_sitter import Node, Tree

from coalescecheck.frontend.declared_names import DeclaredNames
from coalescecheck.frontend.misread_casts import mend_casts
from coalescecheck.frontend.misread_prototypes import mend_prototypes
from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.rewrite.joined_names import join_names
from coalescecheck.frontend.rewrite.misread_macros import hide_macros
from coalescecheck.frontend.suspects import Suspects, suspects

_IN_LABEL = rb"(?:'(?:\\.|[^'\\])+'|::|\|(?!\|)|(?!\bor\b)[^;{}?:'\"|])"
# what is replaced (a pattern's last group, or all of it), and by what
_SUBSTITUTES = (
    (re.compile(rb"\b(?:__align__|__builtin_align__|__CUDA_ALIGN__)(?=\s*\()"), b"alignas"),
    # `[=] __device__ (int i) {…}`: the grammar has no specifiers there
    (re.compile(rb"\]\s*((?:(?:__device__|__host__|__forceinline__)\s*)+)(?=[({])"), b""),
    # `__host__ __device__ operator int()`: after two words it takes `operator` for a type
    (
        re.compile(
            rb"\b((?:(?:__host__|__device__|__forceinline__|__noinline__|inline|constexpr)\s+)+)"
            rb"\w+\s+operator\s+(?!new\b|delete\b)[A-Za-z_:]"
        ),
        b"",
    ),
    # `__device__ friend V operator*(…)`, `__host__ __device__ explicit S(int)`: it takes `friend`
    # and `explicit` for types
    (
        re.compile(
            rb"\b((?:(?:__host__|__device__|__forceinline__|__noinline__|inline|constexpr)\s+)+)"
            rb"friend\b"
        ),
        b"",
    ),
    (
        re.compile(
            rb"\b((?:(?:__host__|__device__|__forceinline__|__noinline__)\s+)+)"
            rb"(?:(?:inline|constexpr)\s+)*explicit\b"
        ),
        b"",
    ),
    # `T *... xs`: the grammar has packs of values and references only; see `overloads`
    (
        re.compile(
            rb"[(,]\s*(?:const\s+)?\w+(?:\s*<[\w\s,:]*>)?(?:\s+const)?"
            rb"\s*(\*(?:\s|const\b|__restrict(?:__)?(?!\w))*)\.\.\.\s*\w+\s*[,)]"
        ),
        b"",
    ),
    # `(unsigned(n) % 3)`: it takes a cast to a function type; see `calls`
    *(
        (re.compile(rb"\(\s*(" + word + rb")(?=\s*\((?!\s*[*&)]))"), b"_" + word[1:])
        for word in (b"unsigned", b"signed", b"long", b"short")
    ),
    # `f(typename T::type())`: the grammar has no such words in expressions
    (
        re.compile(
            rb"(?:[(,=?:]|\breturn)\s*\b(typename)\s+(?:\w+(?:\s*<[\w\s,:]*>)?\s*::\s*)+"
            rb"\w+(?:\s*<[\w\s,:]*>)?\s*[({]"
        ),
        b"",
    ),
    # `if consteval`, which kernels are not; see `constant_calls`
    (re.compile(rb"\bif\s+(consteval)\b"), b"(0)"),
    (re.compile(rb"\bif\s*((?:!|\bnot\b)\s*consteval)\b"), b"(1)"),
    # `x.template at(i)` without arguments, which they would follow from
    (re.compile(rb"(?:\.|->|::)\s*(template)\s+\w+\s*\("), b""),
    # `case 0 ... 3:`, of which the grammar reads the first number; see `statements`
    (
        re.compile(
            rb"\bcase\b" + _IN_LABEL + rb"{0,200}?(?<!sizeof)(\.\.\.)(?!\s*\()"
            rb"(?=" + _IN_LABEL + rb"{0,200}:(?!:))"
        ),
        b"||",
    ),
    (re.compile(rb"\b__typeof__\b"), b"decltype"),
    (re.compile(rb"\b__const__(?!\w)"), b"const"),
    (re.compile(rb"\b__volatile__(?!\w)"), b"volatile"),
    (re.compile(rb"\b__signed__(?!\w)"), b"signed"),
    (re.compile(rb"\b__restrict\b(?!_)"), b"restrict"),
    # `const T &__restrict__ x`: the grammar has restricted pointers only
    (re.compile(rb"&\s*(__restrict(?:__)?)(?!\w)"), b""),
    (
        re.compile(
            rb"\b(?:__grid_constant__|__device_builtin__|__maxnreg__\s*\(\s*\d+\s*\)"
            rb"|__cluster_dims__\s*\([\w\s,]*\)|__tile_static__|_CRTIMP)(?!\w)"
        ),
        b"",
    ),
)
_CONCEPT = re.compile(rb"\bconcept\s+(\w+)\s*=")
_STANDARD_CONCEPTS = (
    b"std::integral", b"std::floating_point", b"std::signed_integral", b"std::unsigned_integral",
    b"std::invocable", b"std::same_as", b"std::convertible_to", b"std::derived_from",
)  # fmt: skip
# same precedence; whoever emits an operator looks at the original code
_STAND_INS = {"*": b"/", "&": b"^", "<": b">"}
_ROUNDS = 4  # one misread expression may hide another
# `(a[i]) + b` and `(f(x)) - b` read as casts: there are no casts to arrays and functions
_NO_CAST = ("abstract_array_declarator", "abstract_function_declarator")


def repaired(code: bytes, tree: Tree) -> Tree:
    """The tree of ``code`` with the words replaced; ``tree`` itself if there are none."""
    edits = Edits(code, tree)
    for pattern, replacement in _SUBSTITUTES:
        for match in pattern.finditer(code):
            group = match.lastindex or 0
            start, end = match.span(group)
            edits.put(start, replacement.ljust(end - start))
    _constrained(edits)
    join_names(edits)
    hide_macros(edits)
    edits.parsed()
    names = DeclaredNames(edits)
    for _ in range(_ROUNDS):
        found = suspects(edits)
        _disguise(edits, found, names)
        mend_casts(edits, found, names)
        mend_prototypes(edits, found, names)
        if not edits.parsed():
            break
    return edits.tree


def _constrained(edits: Edits) -> None:
    """``template <std::integral T>`` reads as a number of a type ``std::integral``: ``class`` in
    place of a concept that is long enough."""
    concepts = [*_STANDARD_CONCEPTS, *_CONCEPT.findall(edits.code)]
    if len(concepts) == len(_STANDARD_CONCEPTS) and b"std::" not in edits.code:
        return
    named = b"|".join(name for name in dict.fromkeys(concepts) if len(name) >= len(b"class"))
    head = rb"[<,]\s*((?:\w+\s*::\s*)*(?:" + named + rb")(?:\s*<[^<>;{}()]*>)?)"
    for match in re.finditer(head + rb"(?=(?:\s*\.\.\.)?\s*[A-Za-z_]\w*\s*[,>=])", edits.code):
        start, end = match.span(1)
        edits.put(start, b"class".ljust(end - start))


def _disguise(edits: Edits, captured: Suspects, names: DeclaredNames) -> None:
    """Replaces characters that make the grammar misread expressions."""
    for node in captured.get("cast", []):
        _cast(node, edits)
    for node in captured.get("template", []):
        _comparison(node, edits, names)
    for node in captured.get("constant", []):
        _constant(node, edits)


def _cast(node: Node, edits: Edits) -> None:
    """``(a[i]) + b``: blanks for the parentheses.  ``(n * (m)) - 1``: another operator."""
    type_ = node.child_by_field_name("type")
    if type_ is not None and node.parent is not None and node.parent.type == "sizeof_expression":
        _sizeof(node, type_, edits)
        return
    declarator = type_.child_by_field_name("declarator") if type_ is not None else None
    stars = _misread(declarator) if declarator is not None else None
    if stars is None:
        return
    for star in stars:
        edits.put(star.start_byte, _STAND_INS[star.type])
    for child in node.children if not stars else ():
        if child.type in ("(", ")"):
            edits.put(child.start_byte, b" ")


def _sizeof(node: Node, type_: Node, edits: Edits) -> None:
    """``sizeof(T)+4`` is no size of a cast of ``+4``: a name in place of the type, or the type
    alone where it is a name.  Whoever emits the size looks at the original code."""
    inner = type_.child_by_field_name("type")
    lone = type_.named_child_count == 1 and inner is not None
    if lone and inner is not None and inner.type in ("type_identifier", "qualified_identifier"):
        for child in node.children:
            if child.type in ("(", ")"):
                edits.put(child.start_byte, b" ")
    elif type_.text is not None and b"\n" not in type_.text:
        edits.put(type_.start_byte, b"T" * len(type_.text))


def _comparison(node: Node, edits: Edits, names: DeclaredNames) -> None:
    """``a < b && c >= d`` is no template: nobody writes ``&&`` bare in template arguments.  Nor
    is ``i < n >> 2``: a list of arguments that ends does not go on with ``>``, nor
    ``a < b, c > (d)`` with a variable ``a``."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None:
        return
    parent = node.parent
    shifts = edits.code[arguments.end_byte - 1 : arguments.end_byte + 1] == b">>"
    name = node.child_by_field_name("name")
    variable = name is not None and names.is_variable(name, node) and not names.is_template(name)
    if variable or (shifts and parent is not None and parent.type == "binary_expression"):
        edits.put(arguments.start_byte, _STAND_INS["<"])
        return
    for operand in arguments.named_children:
        sign = operand.child_by_field_name("operator")
        if operand.type == "binary_expression" and sign is not None and sign.type in ("&&", "||"):
            edits.put(arguments.start_byte, _STAND_INS["<"])


def _constant(node: Node, edits: Edits) -> None:
    """``constexpr int x(a * b);`` is no prototype, which would be of no use: ``=a * b ;``."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None or parameters.named_child_count != 1:
        return
    type_ = parameters.named_children[0].child_by_field_name("type")
    if type_ is not None and type_.type in ("type_identifier", "qualified_identifier"):
        edits.put(parameters.start_byte, b"=")
        edits.put(parameters.end_byte - 1, b" ")


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
