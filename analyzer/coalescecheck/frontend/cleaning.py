"""Translation phases before the preprocessor: comments out, continued lines joined.

In: a file's text.  Out: text of the same length in which comments and raw strings are blank
and a newline inside a logical line is a vertical tab, so that every offset keeps its meaning.
It must not know directives beyond the ``#`` that starts one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

JOINED = "\v"  # stands for a newline inside a logical line

_INTERESTING = re.compile(
    r"""
    (?P<line>//(?:\\[ \t]*\n|[^\n])*)
  | (?P<block>/\*.*?\*/)
  | (?P<open>/\*.*\Z)
  | (?P<raw>\b(?:u8|[uUL])?R"(?P<delim>[^()\\\s"]{0,16})\(.*?\)(?P=delim)")
  | (?P<string>"(?:[^"\\\n]|\\[^\n]|\\[ \t]*\n)*")
  | (?P<number>(?<![A-Za-z0-9_])\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*)
  | (?P<char>'(?:[^'\\\n]|\\[^\n])+')
  | (?P<joint>\\[ \t]*\n)
  | (?P<odd>[\f\v])
    """,
    re.VERBOSE | re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class CleanText:
    """``open_comment`` is the offset of a comment that never ends, None where all do."""

    text: str
    open_comment: int | None


def clean(text: str) -> CleanText:
    """``text`` without comments and raw strings, same length, logical lines joined."""
    out: list[str] = []
    done = 0
    open_comment: int | None = None
    for match in _INTERESTING.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span()
        if kind in ("number", "char"):
            continue
        replacement = _replacement(kind, match[0])
        if kind == "block" and "\n" in replacement and _in_directive(text, start):
            replacement = replacement.replace("\n", JOINED)  # the directive goes on after it
        if kind == "open":
            open_comment = start
        out += (text[done:start], replacement)
        done = end
    out.append(text[done:])
    return CleanText("".join(out), open_comment)


def logical_lines(clean_text: str) -> Iterator[tuple[int, str]]:
    """Each logical line with its offset; the newline belongs to its line."""
    start = 0
    while start < len(clean_text):
        end = clean_text.find("\n", start) + 1 or len(clean_text)
        yield start, clean_text[start:end]
        start = end


def _in_directive(text: str, offset: int) -> bool:
    """Whether the logical line around ``offset`` starts with ``#``."""
    start = text.rfind("\n", 0, offset) + 1
    while start and text[max(0, start - 200) : start - 1].rstrip(" \t").endswith("\\"):
        start = text.rfind("\n", 0, start - 1) + 1
    return text[start:offset].lstrip().startswith("#")


def _replacement(kind: str, text: str) -> str:
    """What stands in for a match; always of the same length."""
    if kind == "odd":
        return " "
    if kind == "joint":
        return " " * (len(text) - 1) + JOINED
    if kind == "string":
        return text if "\n" not in text else text.replace("\n", JOINED)
    if kind == "line":
        return _NOT_NEWLINE.sub(" ", text).replace("\n", JOINED)
    blank = _NOT_NEWLINE.sub(" ", text)
    return '""' + blank[2:] if kind == "raw" else blank
