"""The source line of findings, with a caret and an underline below each access.

In: the file's text and places on one line.  Out: two lines of plain text.  Knows just enough of
C to see where an access expression ends: names, members, and balanced brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

TAB = "    "
CLOSING = {"(": ")", "[": "]", "{": "}"}
NAME = re.compile(r"[A-Za-z_0-9]+")
JOINT = re.compile(r"->|::|\.")
CAST = re.compile(r"\([\w\s:<>,]*\*[\s*]*(?:const\s*)?\)(?=[\w\s&*(])")  # to a pointer
ARGUMENTS = re.compile(r"<[\w\s,:*&<>]*>(?=\(|::)")  # of a template function or a cast


def excerpt(text: str, number: int, columns: Sequence[int]) -> tuple[str, str] | None:
    """Line ``number`` and the underline of the expressions that begin at ``columns`` (from 1).

    None where the text has no such place.
    """
    lines = text.split("\n")
    if not 1 <= number <= len(lines):
        return None
    line = lines[number - 1]
    if not all(1 <= column <= len(line) for column in columns):
        return None
    marks = [" "] * len(line)
    for start in (column - 1 for column in columns):
        end = expression_end(line, start)
        marks[start:end] = "^" + "~" * (end - start - 1)
    wide = zip(line, marks, strict=True)
    underline = "".join(_as_wide(character, mark) for character, mark in wide)
    return line.replace("\t", TAB).rstrip(), underline.rstrip()


def _as_wide(character: str, mark: str) -> str:
    """``mark`` stretched to the columns that ``character`` takes in a terminal."""
    columns = len(TAB) if character == "\t" else cell_len(character)
    return (mark + ("~" if mark == "^" else mark) * (columns - 1))[:columns]


def expression_end(line: str, start: int) -> int:
    """The column (from 0) after the access expression that begins at ``start``."""
    at = start
    while at < len(line) and (line[at] in "*&~!-+ " or CAST.match(line, at)):
        cast = CAST.match(line, at)
        at = at + 1 if cast is None else cast.end()
    while at < len(line):
        following = _postfix_end(line, at)
        if following == at:
            break
        at = following
    return max(at, start + 1)


def _postfix_end(line: str, at: int) -> int:
    """One more piece of a postfix expression: a name, a member joint, or a bracket."""
    if line[at] in "([":
        return _bracket_end(line, at)
    for pattern in (NAME, JOINT, ARGUMENTS):
        match = pattern.match(line, at)
        if match:
            return match.end()
    return at


def _bracket_end(line: str, at: int) -> int:
    """The column after the bracket that closes the one at ``at``, or the end of the line."""
    expected: list[str] = []
    for column in range(at, len(line)):
        character = line[column]
        if character in CLOSING:
            expected.append(CLOSING[character])
        elif expected and character == expected[-1]:
            expected.pop()
            if not expected:
                return column + 1
    return len(line.rstrip())
