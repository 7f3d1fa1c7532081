"""A proposed swizzle as a change of the source: ``tile[r][c]`` becomes ``tile[r][c ^ r]``.

In: a file's text and one kernel's analysis.  Out: edits of every access, or none.  Only where each
use of the array's name in the function is an access ``tile[r][c]`` that the analysis counted, on
one line, so that no pointer to the array and no macro is left that knows the old places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coalescecheck.analysis import KernelAnalysis, Trial
from coalescecheck.ir.kernel import Array
from coalescecheck.source import Edit, Span

_NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.DOTALL | re.VERBOSE
)
_ROW = re.compile(
    r"(?:[\w\s.+*/%()-]|<<|>>)+"
)  # may be written twice: it calls and changes nothing
_CALL = re.compile(r"\w\s*\(|\+\+|--")
_WORD = re.compile(r"[\w.]+")
_R = re.compile(r"\br\b")


@dataclass(frozen=True, slots=True)
class _Use:
    """``tile[..][..]`` in the text: where it starts, and where each index starts and ends."""

    start: int
    indices: tuple[tuple[int, int], ...]


def swizzle_edit(path: str, text: str, analysis: KernelAnalysis, trial: Trial) -> Edit | None:
    """The first of the changes with the others behind it; None where it is no plain edit."""
    array = analysis.arrays[trial.array]
    code = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    uses = _uses(code, array)
    if not trial.operand or not uses:
        return None
    accesses = [a.access.span for a in analysis.accesses if a.array == trial.array]
    if any(span.note or span.file != path for span in accesses):
        return None
    if {_place(code, use.start) for use in uses} != {(s.line, s.column) for s in accesses}:
        return None
    edits = [_edit(path, code, use, trial.operand) for use in uses]
    if any(edit is None for edit in edits):
        return None
    first, *others = (edit for edit in edits if edit is not None)
    return replace(first, also=tuple(others))


def _uses(code: str, array: Array) -> list[_Use]:
    """All uses behind the declaration to the end of its function; none where one is no access."""
    start = _line_start(code, array.span.line)
    body = code[start : _end_of_block(code, start)]
    name = re.compile(rf"(?<![\w.>]){re.escape(array.name)}\b")
    found: list[_Use] = []
    for match in name.finditer(body):
        use = _use(code, start + match.start(), start + match.end(), len(array.dims))
        if use is None or (found and code[: use.start].rstrip().endswith("&")):
            return []
        found.append(use)
    return found[1:]  # the first is the declaration


def _use(code: str, start: int, at: int, count: int) -> _Use | None:
    indices = []
    for _ in range(count):
        while at < len(code) and code[at] in " \t":
            at += 1
        end = _closing(code, at)
        if end is None:
            return None
        indices.append((at + 1, end))
        at = end + 1
    deeper = code[at:].lstrip()[:1] == "["
    return None if deeper else _Use(start, tuple(indices))


def _closing(code: str, at: int) -> int | None:
    """Where the bracket that opens at ``at`` closes on its line."""
    depth = 0
    if at >= len(code) or code[at] != "[":
        return None
    for place in range(at, len(code)):
        sign = code[place]
        if sign == "\n":
            return None
        depth += (sign == "[") - (sign == "]")
        if depth == 0:
            return place
    return None


def _end_of_block(code: str, at: int) -> int:
    """The end of the block that ``at`` lies in."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "{") - (code[place] == "}")
        if depth < 0:
            return place
    return len(code)


def _edit(path: str, code: str, use: _Use, operand: str) -> Edit | None:
    (row_start, row_end), (start, end) = use.indices[-2:]
    row, column = code[row_start:row_end].strip(), code[start:end].strip()
    if not _ROW.fullmatch(row) or _CALL.search(row) or not column or "," in column:
        return None
    line, first = _place(code, start)
    changed = f"{_grouped(column)} ^ {_R.sub(lambda _: _grouped(row), operand)}"
    return Edit(Span(path, line, first), first + end - start, changed)


def _grouped(text: str) -> str:
    return text if _WORD.fullmatch(text) else f"({text})"


def _place(code: str, offset: int) -> tuple[int, int]:
    """Line and column of a place in the text."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)


def _line_start(code: str, line: int) -> int:
    return sum(len(each) + 1 for each in code.split("\n")[: line - 1])
