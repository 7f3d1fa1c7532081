"""Macros of headers that were not found, where only specifiers can stand: ``HDI int f()``,
``__global__ void BOUNDS(256) k()``, ``float *RESTRICT p``, and such as say how to unroll a loop.

In: a unit.  Out: the unit with blanks for them, and what to say of it.  Left as they are, such a
word would be taken for the type, and the declaration behind it would be lost.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coalescecheck.frontend.patches import Edits
from coalescecheck.frontend.rewrite.syntax import is_c_word
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Diagnostic

_WORD = rb"[A-Z][A-Z0-9_]*[A-Z0-9]"
_SPECIFIERS = (
    rb"(?:(?:inline|static|constexpr|virtual|explicit|friend|extern|const|volatile|unsigned|signed"
    rb"|typename|struct|class|__\w+|" + _WORD + rb")\s+){0,8}"  # more are a list of words
)
_TYPE = rb"[A-Za-z_][\w:]{0,200}(?:\s*<[^;{}()]{0,200}>)?(?:\s*::\s*\w+)?(?:\s+const)?[\s*&]+"
_NAME = (
    rb"(?:[A-Za-z_]\w*(?:<[^;{}()]{0,200}>)?\s*::\s*){0,8}"
    rb"(~?[A-Za-z_]\w*|operator\s*(?:\(\s*\)|[^\s\w(]+))"
)
# `C10_DEVICE constexpr auto n = 3`: of an array or a pointer such a word might say where it lies,
# and of types with other names it may be the type
_CONSTANT = (
    rb"(?=[^;={}()\[\]*]*\bconst(?:expr)?\b)"
    + _SPECIFIERS
    + rb"((?:auto|bool|char|short|int|long|float|double|size_t|u?int\d+_t)\s+(?:const\s+)?)"
    + rb"\w+\s*[={]"
)
_DECLARED = re.compile(
    rb"(?<![\w.:>])(" + _WORD + rb")(?=\s+(?:" + _SPECIFIERS + rb"(?:(" + _TYPE + rb"))?" + _NAME
    + rb"\s*\(|" + _CONSTANT + rb"))"
)  # fmt: skip
# `CUTLASS_PRAGMA_UNROLL for (...)`; other words there might be anything, such as a condition
_UNROLLED = re.compile(
    rb"(?<![\w.:>])([A-Z0-9_]*UNROLL[A-Z0-9_]*)(?:\s*\(\s*\w*\s*\))?(?=\s+(?:for|while|do)\b)"
)
_UNROLL, _ONCE = b"[[unroll]]", re.compile(rb"NO_?UNROLL|UNROLL_?1\b")
_STATEMENT = re.compile(rb"\s*(?:return|else|new|delete|throw|case|goto|do|typedef|using)\b")
_CLASS = re.compile(rb"\b(?:struct|class)\s+(?:\w+\s+)??(\w+)\s*(?:final\s*)?[:{<]")
_MISSING = "was not found"


_ARGUMENTS = rb"\((?:[^(){};]|\([^(){};]*\))*\)"
_OWN = (
    rb"(?:(?:void|inline|static|extern|const|constexpr|volatile)\b|__\w+(?:\s*"
    + _ARGUMENTS
    + rb")?)"
)
# `__global__ void BOUNDS(256) k(...)`: a kernel returns nothing, and has one name
_OF_KERNEL = re.compile(
    rb"\b__global__\s+(?:" + _OWN + rb"\s+){0,8}(?!" + _OWN + rb")"
    rb"(?P<whole>(?P<word>[A-Za-z_]\w*)(?:\s*" + _ARGUMENTS + rb")?)"
    rb"(?=\s+(?P<rest>(?:" + _OWN + rb"\s+){0,8})(?!" + _OWN + rb")"
    rb"[A-Za-z_]\w*(?:\s*[(<]|\s+[A-Za-z_]))"
)
_VOID = re.compile(rb"\bvoid\b")
# `float *RESTRICT p`: no expression has two words behind a star
_RESTRICTED = re.compile(
    rb"[*&]\s*(?P<whole>(?P<word>(?!__restrict|restrict\b)\w*(?:RESTRICT|restrict)\w*))"
    rb"(?=\s+[A-Za-z_]\w*\s*[,)=;\[])"
)
_ROUNDS = 4  # such words in one head


def without_unknown_specifiers(unit: Unit) -> tuple[Unit, list[Diagnostic]]:
    """``unit`` with blanks for words that nothing declares: in the heads of kernels, behind the
    stars of parameters and, if headers are missing, before declarations."""
    edits, said = Edits(unit.code, unit.tree), dict[bytes, Diagnostic]()
    for _ in range(_ROUNDS):
        heads = _OF_KERNEL.finditer(bytes(edits.code))
        found = [head for head in heads if _is_beside_void(head)]
        _blank(unit, edits, found, said, "an attribute or the launch bounds of a kernel")
        if not found:
            break
    restricted = list(_RESTRICTED.finditer(bytes(edits.code)))
    _blank(unit, edits, restricted, said, "`__restrict__`")
    if any(_MISSING in each.message for each in unit.diagnostics):
        _before_declarations(unit, edits, said)
    if not edits.parsed():
        return unit, []
    return replace(unit, code=bytes(edits.code), tree=edits.tree), list(said.values())


def _is_beside_void(head: re.Match[bytes]) -> bool:
    """Whether the result is given, so that the word is none: ``__global__ auto k() -> void``."""
    if is_c_word(head["word"].decode()):  # such as `alignas`
        return False
    return _VOID.search(head[0] + b" " + head["rest"]) is not None


def _blank(
    unit: Unit,
    edits: Edits,
    found: list[re.Match[bytes]],
    said: dict[bytes, Diagnostic],
    what: str,
) -> None:
    for match in found:
        if not _is_text(unit, match.start("word")):
            edits.put(match.start("whole"), re.sub(rb"[^\n]", b" ", match["whole"]))
            said.setdefault(match["word"], _taken_for(unit, match, "word", what))


def _before_declarations(unit: Unit, edits: Edits, said: dict[bytes, Diagnostic]) -> None:
    classes = set(_CLASS.findall(unit.code))
    declared: dict[bytes, bool] = {}
    for match in _DECLARED.finditer(unit.code):
        word, type_, name = match[1], match[2] or match[4], match[3]
        if word not in declared:
            declared[word] = _is_declared(unit.code, word)
        if declared[word] or _STATEMENT.match(type_ or b"") or _is_text(unit, match.start(1)):
            continue
        if type_ is None and name.lstrip(b"~") not in classes:  # no constructor: it is the type
            continue
        edits.put(match.start(1), b" " * len(word))
        said.setdefault(word, _taken_for(unit, match, 1, "a specifier"))
    for match in _UNROLLED.finditer(unit.code):
        word, size = match[1], len(match[0])
        if word not in declared:
            declared[word] = _is_declared(unit.code, word)
        if declared[word] or _is_text(unit, match.start(1)):
            continue
        kept = b"" if _ONCE.search(word) or size < len(_UNROLL) else _UNROLL
        edits.put(match.start(), kept.ljust(size))
        said.setdefault(word, _taken_for(unit, match, 1, "a pragma of the loop behind it"))


def _taken_for(unit: Unit, match: re.Match[bytes], group: str | int, what: str) -> Diagnostic:
    word = match[group].decode("utf-8", "replace")
    message = f"`{word}` is not declared in what could be read: taken for {what}"
    return Diagnostic(unit.locate(match.start(group)), "note", message)


def _is_text(unit: Unit, at: int) -> bool:
    """Whether a place is inside of a string."""
    node = unit.tree.root_node.descendant_for_byte_range(at, at + 1)
    return node is not None and node.type in ("string_content", "raw_string_content")


def _is_declared(code: bytes, word: bytes) -> bool:
    """Whether a word is declared as a type, or as anything else."""
    declared = rb"\b(?:struct|class|union|enum|typename|using|namespace)\s+" + word + rb"\b"
    typedef = (
        rb"\btypedef\b[^;{}]*\b" + word + rb"\s*;|\}\s*" + word + rb"\s*;|\b" + word + rb"\s*="
    )
    return re.search(declared + rb"|" + typedef, code) is not None
