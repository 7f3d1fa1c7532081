"""Where a comment that silences one finding can stand.

In: a file's text and a finding.  Out: an edit that was tried: with it the comment speaks of the
finding and the code is what it was.  None where neither the end of the line nor the line above
will do, as in the middle of a macro.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from coalescecheck.findings import Finding
from coalescecheck.frontend.cleaning import clean
from coalescecheck.source import Edit, Span
from coalescecheck.suppressions import find_suppressions

UNSILENCEABLE = "CC903"  # it is about such comments

_LIST = re.compile(r"coalescecheck:\s*ignore\[([^\]\n]*)\]")


def silencing(path: str, text: str, finding: Finding) -> Edit | None:
    """The edit of the file at ``path``, whose lines end in ``\\n``, that silences ``finding``.

    A line of its own is inserted at column 1 and ends in ``\\n``.
    """
    lines = text.split("\n")
    if finding.rule == UNSILENCEABLE or not 1 <= finding.span.line <= len(lines):
        return None
    code = _code(text)
    for edit in _tries(path, lines, finding):
        after = _with(lines, edit)
        if _silences(path, after, edit, finding) and _code(after) == code:
            return edit
    return None


def _tries(path: str, lines: list[str], finding: Finding) -> Iterator[Edit]:
    """Into the list of a comment that is there, above the line, behind it."""
    number = finding.span.line
    for near in (number, number - 1):
        match = _LIST.search(lines[near - 1]) if near else None
        if match:
            end = match.end(1) + 1
            yield Edit(Span(path, near, end), end, f", {finding.rule}")
    line = lines[number - 1]
    comment = f"// coalescecheck: ignore[{finding.rule}]"
    margin = line[: len(line) - len(line.lstrip())]
    if number == 1 or "NOLINTNEXTLINE" not in lines[number - 2]:  # which counts lines
        yield Edit(Span(path, number, 1), 1, f"{margin}{comment}\n")
    end = len(line.rstrip()) + 1
    yield Edit(Span(path, number, end), end, f" {comment}")


def _with(lines: list[str], edit: Edit) -> str:
    changed = list(lines)
    at = edit.span.line - 1
    start, end = edit.span.column - 1, edit.end_column - 1
    changed[at] = lines[at][:start] + edit.text + lines[at][end:]
    return "\n".join(changed)


def _silences(path: str, after: str, edit: Edit, finding: Finding) -> bool:
    line = finding.span.line + edit.text.count("\n")
    there = replace(finding, span=replace(finding.span, line=line))
    return any(each.covers(there) for each in find_suppressions(path, after).entries)


def _code(text: str) -> list[str]:
    """The lines that are more than blanks and comments; joined lines stay joined."""
    lines = (line.strip(" \t") for line in clean(text).text.split("\n"))
    return [line for line in lines if line]
