"""The source of a kernel with its accesses marked.

In: a file's text and a kernel's results.  Out: lines made of pieces, each with the accesses it
belongs to.  Knows just enough of C to find the end of a kernel: brackets, strings, comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.report.excerpt import expression_end

LONGEST_KERNEL = 2000  # lines that are shown of one kernel

_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{};]""", re.S)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: text with the accesses that begin with it, and what lies inside."""

    text: str
    accesses: tuple[AccessResult, ...] = ()
    inside: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    pieces: tuple[Piece, ...]


def kernel_source(text: str, kernel: KernelAnalysis, path: str) -> tuple[Line, ...]:
    """The lines of the kernel, none when it is not in the file at ``path``."""
    lines = text.split("\n")
    if kernel.span.file != path or not 1 <= kernel.span.line <= len(lines):
        return ()
    first = kernel.span.line
    last = min(_last_line(lines, first), first + LONGEST_KERNEL - 1)
    by_line: dict[int, list[AccessResult]] = {}
    for result in kernel.accesses:
        span = result.access.span
        if span.file == path:
            by_line.setdefault(span.line, []).append(result)
    return tuple(
        Line(number, _pieces(lines[number - 1], by_line.get(number, [])))
        for number in range(first, last + 1)
    )


def _last_line(lines: Sequence[str], first: int) -> int:
    """The line of the brace that closes the first one from line ``first`` on."""
    text = "\n".join(lines[first - 1 : first - 1 + LONGEST_KERNEL])
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
        if depth <= 0 and match[0] in "};":
            return first + text.count("\n", 0, match.start())
    return first


def _pieces(line: str, results: Sequence[AccessResult]) -> tuple[Piece, ...]:
    """The line cut at its accesses; a load and a store of one expression share a piece."""
    marks: dict[tuple[int, int], list[AccessResult]] = {}
    for result in results:
        start = result.access.span.column - 1
        if 0 <= start < len(line):
            marks.setdefault((start, expression_end(line, start)), []).append(result)
    ordered = sorted(marks.items(), key=lambda item: (item[0][0], -item[0][1]))
    return _cut(line, 0, len(line), ordered)


Marks = Sequence[tuple[tuple[int, int], list[AccessResult]]]


def _cut(line: str, start: int, end: int, marks: Marks) -> tuple[Piece, ...]:
    """``line[start:end]`` as pieces.  A mark that crosses the end of another is shortened."""
    pieces: list[Piece] = []
    at = start
    left = list(marks)
    while left:
        (first, last), results = left.pop(0)
        inner = []
        while left and left[0][0][0] < last:
            (a, b), more = left.pop(0)
            inner.append(((a, min(b, last)), more))
        if first > at:
            pieces.append(Piece(line[at:first]))
        if inner and inner[0][0] == (first, last):
            inner = []
        inside = _cut(line, first, last, inner) if inner else ()
        pieces.append(Piece(line[first:last], tuple(results), inside))
        at = last
    if at < end:
        pieces.append(Piece(line[at:end]))
    return tuple(pieces)
