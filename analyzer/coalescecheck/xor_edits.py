"""A proposed swizzle as a change of the source: ``tile[r][c]`` becomes ``tile[r][c ^ r]``.

In: a file's text and one kernel's analysis.  Out: edits of every access, or none.  Only where each
use of the array's name in the function is an access ``tile[r][c]`` that the analysis counted, on
one line, so that no pointer to the array and no macro is left that knows the old places.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coalescecheck.analysis import KernelAnalysis, Trial
from coalescecheck.array_uses import Use, blanked, line_start, place, uses
from coalescecheck.ir.kernel import Array
from coalescecheck.source import Edit, Span

_ROW = re.compile(
    r"(?:[\w\s.+*/%()-]|<<|>>)+"
)  # may be written twice: it calls and changes nothing
_CALL = re.compile(r"\w\s*\(|\+\+|--")
_WORD = re.compile(r"[\w.]+")
_R = re.compile(r"\br\b")


def swizzle_edit(path: str, text: str, analysis: KernelAnalysis, trial: Trial) -> Edit | None:
    """The first of the changes with the others behind it; None where it is no plain edit."""
    array = analysis.arrays[trial.array]
    code = blanked(text)
    mine = _uses(code, array)
    if not trial.in_rows or not mine:
        return None
    found = [a.access for a in analysis.accesses if a.array == trial.array]
    accesses = [access.span for access in found]
    if any(span.note or span.file != path for span in accesses):
        return None
    if not all(_is_readable_twice(access.index, array) for access in found):
        return None
    if {place(code, use.start) for use in mine} != {(s.line, s.column) for s in accesses}:
        return None
    edits = [_edit(path, code, use, trial.operand) for use in mine]
    if any(edit is None for edit in edits):
        return None
    first, *others = (edit for edit in edits if edit is not None)
    return replace(first, also=tuple(others))


def _uses(code: str, array: Array) -> list[Use]:
    """All uses behind the declaration to the end of its function; none where one is no access."""
    found = list(uses(code, array.name, line_start(code, array.span.line)))
    for use in found:
        whole = len(use.indices) == len(array.dims)
        if not whole or "\n" in code[use.start : use.end]:
            return []
    taken = any(code[: use.start].rstrip().endswith("&") for use in found)
    return [] if taken else found[1:]  # the first is the declaration


def _is_readable_twice(index: str, array: Array) -> bool:
    """Whether the row of an access calls and changes nothing, once its macros are expanded."""
    use = next(uses(index, array.name, 0), None)
    if use is None or len(use.indices) != len(array.dims):
        return False
    start, end = use.indices[-2]
    return _CALL.search(index[start:end]) is None


def _edit(path: str, code: str, use: Use, operand: str) -> Edit | None:
    (row_start, row_end), (start, end) = use.indices[-2:]
    row, column = code[row_start:row_end].strip(), code[start:end].strip()
    if not _ROW.fullmatch(row) or _CALL.search(row) or not column or "," in column:
        return None
    line, first = place(code, start)
    changed = f"{_grouped(column)} ^ {_R.sub(lambda _: _grouped(row), operand)}"
    return Edit(Span(path, line, first), first + end - start, changed)


def _grouped(text: str) -> str:
    return text if _WORD.fullmatch(text) else f"({text})"
