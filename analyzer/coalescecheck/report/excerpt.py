"""The source line of a finding, with a caret and an underline below the access.

In: the file's text and a place.  Out: two lines of plain text.  Knows just enough of C to see
where an access expression ends: names, members, and balanced brackets.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

from coalescecheck.source import Span

TAB = "    "
CLOSING = {"(": ")", "[": "]", "{": "}"}
NAME = re.compile(r"[A-Za-z_0-9]+")
JOINT = re.compile(r"->|::|\.")


def excerpt(text: str, span: Span) -> tuple[str, str] | None:
    """The line at ``span`` and its underline, None where the text has no such place."""
    lines = text.splitlines()
    if not 1 <= span.line <= len(lines) or span.column < 1:
        return None
    line, start = lines[span.line - 1], span.column - 1
    if start >= len(line):
        return None
    end = expression_end(line, start)
    before = line[:start].replace("\t", TAB)
    marked = line[start:end].replace("\t", TAB)
    underline = " " * cell_len(before) + "^" + "~" * (cell_len(marked) - 1)
    return line.replace("\t", TAB).rstrip(), underline


def expression_end(line: str, start: int) -> int:
    """The column (from 0) after the access expression that begins at ``start``."""
    at = start
    while at < len(line) and line[at] in "*&~!-+ ":
        at += 1
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
    for pattern in (NAME, JOINT):
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
