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

# It begins with one set of characters, so that all others are skipped at the speed of a search.
_INTERESTING = re.compile(
    r"""
    [/"'\\\f\v]
    (?:
        (?P<line>(?<=/)/(?:\\[ \t]*\n|[^\n])*)
      | (?P<block>(?<=/)\*.*?\*/)
      | (?P<open>(?<=/)\*.*\Z)
      | (?P<raw>(?:(?<=\bR")|(?<=\b[uUL]R")|(?<=\bu8R"))
            (?P<delim>[^()\\\s"]{0,16})\(.*?\)(?P=delim)")
      | (?P<string>(?<=")(?:[^"\\\n]|\\[^\n]|\\[ \t]*\n)*")
      | (?P<char>(?<=')(?:[^'\\\n]|\\[^\n])+')
      | (?P<joint>(?<=\\)[ \t]*\n)
      | (?P<odd>(?<=[\f\v]))
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_RAW_PREFIX = re.compile(r"\b(?:u8|[uUL])?R\Z")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_])\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*")
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
    for kind, start, end in _pieces(text):
        replacement = _replacement(kind, text[start:end])
        if kind == "block" and "\n" in replacement and _in_directive(text, start):
            replacement = replacement.replace("\n", JOINED)  # the directive goes on after it
        if kind == "open":
            open_comment = start
        out += (text[done:start], replacement)
        done = end
    out.append(text[done:])
    return CleanText("".join(out), open_comment)


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of whatever is no plain text, from left to right."""
    done = 0
    while (match := _INTERESTING.search(text, done)) is not None:
        kind, (start, end) = match.lastgroup or "", match.span()
        if kind == "char":
            done = _number_around(text, done, start) or end
            continue
        if kind == "raw":
            prefix = _RAW_PREFIX.search(text, max(done, start - 3), start)
            start = prefix.start() if prefix is not None else start
        yield kind, start, end
        done = end


def _number_around(text: str, done: int, quote: int) -> int:
    """Where the number ends that a quote stands in, as in ``1'000``; 0 if it stands in none."""
    line = max(done, text.rfind("\n", 0, quote) + 1)
    for match in _NUMBER.finditer(text, line):
        if match.start() > quote:
            break
        if match.end() > quote:
            return match.end()
    return 0


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
