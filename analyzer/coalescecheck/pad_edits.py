"""A proposed pad as a change of the source: ``tile[32][32]`` becomes ``tile[32][33]``.

In: a file's text and an array of one kernel.  Out: the edit of its declaration, or none.  Only
where each use of the name is one that longer rows leave as it is: an element, or a pointer to one.
The array's size, its type, and what is passed by reference to it change.
"""

from __future__ import annotations

import re

from coalescecheck.array_uses import Use, blanked, line_start, uses, uses_in_macros
from coalescecheck.ir.kernel import Array
from coalescecheck.source import Edit, Span

_SUM = re.compile(r"[\w\s.+*-]+")  # binds no weaker than the ``+ 1`` that is written after it
_NUMBER = re.compile(r"[0-9]+")
# what makes a row a pointer to its first element: a cast, a pointer variable, a number added
_CAST = re.compile(r"(?:_cast\s*<[^<>;]*\*\s*(?:const\s*)?>\s*\(|\*\s*\))\s*&?\s*$")
_ADDED = re.compile(r"[+-](?![+>-])")
_POINTER = re.compile(r"[\w>]\s*\*\s*(?:const\s+|__restrict__\s+)*\w+\s*=\s*$")


def pad_edit(text: str, array: Array, pad: int) -> Edit | None:
    """``[32]`` → ``[33]`` or ``[TILE]`` → ``[TILE + 1]`` in the only declaration of the line."""
    span, code = array.span, blanked(text)
    if not 1 <= span.line <= text.count("\n") + 1:
        return None
    start = line_start(code, span.line)
    stop = start + len(text.split("\n")[span.line - 1])
    found = [use for use in uses(code, array.name, start) if use.start < stop and use.indices]
    if len(found) != 1 or len(found[0].indices) != len(array.dims) or found[0].end > stop:
        return None
    if not _keeps_meaning(code, array, found[0]):
        return None
    first, end = (at - start for at in found[0].indices[-1])
    size = text[start + first : start + end]
    return Edit(Span(span.file, span.line, first + 1), end + 1, _larger(size.strip(), pad))


def _keeps_meaning(code: str, array: Array, declaration: Use) -> bool:
    """Whether every other use of the name stays valid and means the same."""
    start = line_start(code, array.span.line)
    others = [*uses(code, array.name, start), *uses_in_macros(code, array.name)]
    return all(
        _is_element(code, use, len(array.dims)) for use in others if use.start != declaration.start
    )


def _is_element(code: str, use: Use, dims: int) -> bool:
    """An element, or a row where it can only mean a pointer to its first element."""
    before, behind = code[: use.start].rstrip(), code[use.end :].lstrip()
    if len(use.indices) >= dims:
        return True
    if len(use.indices) != dims - 1:
        return False
    if _CAST.search(before):
        return True
    added = _ADDED.match(behind) is not None and not before.endswith("&")
    return added or (behind[:1] in (";", ",") and _POINTER.search(before) is not None)


def _larger(size: str, pad: int) -> str:
    if _NUMBER.fullmatch(size) and not size.startswith("0"):
        return str(int(size) + pad)
    return f"{size} + {pad}" if _SUM.fullmatch(size) else f"({size}) + {pad}"
