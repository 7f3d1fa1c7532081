"""Where a text of C++ names an array, and what is written around the name.

In: a file's text and where the array is declared.  Out: its uses, as offsets in the text.  Nothing
is parsed: comments and strings are blanked, brackets are matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])*'""",
    re.DOTALL | re.VERBOSE,
)
_BRACKET = re.compile(r"[{}]|^[ \t]*#[ \t]*(?P<directive>if|else|elif|endif)", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define\b(?:\\\n|[^\n])*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Use:
    """``tile[..][..]`` in the text: where it starts and ends, and where each index starts and
    ends."""

    start: int
    end: int
    indices: tuple[tuple[int, int], ...]


def blanked(text: str) -> str:
    """``text`` with blanks for comments, strings and characters; every place stays."""
    return _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def uses(code: str, name: str, start: int) -> Iterator[Use]:
    """Every use of the array ``name`` from ``start`` to the end of the block around."""
    return _between(code, name, start, end_of_block(code, start))


def uses_in_macros(code: str, name: str) -> Iterator[Use]:
    """Every use of the name in the definitions of macros."""
    for macro in _MACRO.finditer(code):
        yield from _between(code, name, macro.start(), macro.end())


def end_of_block(code: str, at: int) -> int:
    """The end of the block that ``at`` lies in; of branches of conditional compilation the one that
    closes least counts."""
    depth = 0
    around: list[tuple[int, int]] = []  # depth before an open #if, and the greatest behind a branch
    for sign in _BRACKET.finditer(code, at):
        match sign["directive"]:
            case None:
                depth += 1 if sign[0] == "{" else -1
            case "else" | "elif" if around:
                before, most = around.pop()
                around.append((before, max(most, depth)))
                depth = before
            case "endif" if around:
                depth = max(*around.pop(), depth)
            case "else" | "elif" | "endif":
                continue  # of an #if further up
            case _:
                around.append((depth, depth))
        if depth < 0 and not around:
            return sign.start()
    return len(code)


def place(code: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)


def line_start(code: str, line: int) -> int:
    """The offset at which a line starts."""
    return sum(len(each) + 1 for each in code.split("\n")[: line - 1])


def _between(code: str, name: str, start: int, end: int) -> Iterator[Use]:
    for match in re.compile(rf"(?<![\w.])(?<!->){re.escape(name)}\b").finditer(code, start, end):
        at, indices = match.end(), []
        while (opening := _opening(code, at)) is not None:
            closing = _closing(code, opening)
            if closing is None:
                break
            indices.append((opening + 1, closing))
            at = closing + 1
        yield Use(match.start(), at, tuple(indices))


def _opening(code: str, at: int) -> int | None:
    """The bracket that comes next, if one does."""
    while at < len(code) and code[at].isspace():
        at += 1
    return at if code[at : at + 1] == "[" else None


def _closing(code: str, at: int) -> int | None:
    """Where the bracket that opens at ``at`` closes."""
    depth = 0
    for here in range(at, len(code)):
        depth += (code[here] == "[") - (code[here] == "]")
        if depth == 0:
            return here
    return None
