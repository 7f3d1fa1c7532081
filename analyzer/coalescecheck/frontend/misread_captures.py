"""``[x(a[i]), y{b}]``: captures with initialisers that the grammar does not know.

In: a tree's edits.  Out: the same with ``[x=a[i] , y=b ]``, which it does know.
"""

from __future__ import annotations

import re

from coalescecheck.frontend.patches import Edits

# what a lambda may follow; after it, `[` is no subscript
_LAMBDA = re.compile(rb"(?:[=(,{;?:]|\breturn)\s*\[(?!\[)")
_NAMED = re.compile(rb"\s*&?\s*[A-Za-z_]\w*\s*([({])")
_BRACKETS = {ord("("): ord(")"), ord("["): ord("]"), ord("{"): ord("}")}
_MOST = 2000  # bytes of a list of captures


def mend_captures(edits: Edits) -> None:
    """Equals signs for the brackets around what captures begin with."""
    code = bytes(edits.code)
    for match in _LAMBDA.finditer(code):
        ends = _items(code, match.end())
        if not ends or code[ends[-1] + 1 : ends[-1] + 20].lstrip().startswith(b"="):
            continue  # `{[f(2)] = x}` is an element of a braced list
        start = match.end()
        for end in ends:
            _mend(edits, code, start, end)
            start = end + 1


def _items(code: bytes, start: int) -> list[int]:
    """Where the items of a bracketed list end, at a comma or the bracket; [] if it does not."""
    ends: list[int] = []
    closing = [ord("]")]
    for at in range(start, min(len(code), start + _MOST)):
        byte = code[at]
        if byte in _BRACKETS:
            closing.append(_BRACKETS[byte])
        elif byte == closing[-1]:
            closing.pop()
            if not closing:
                return [*ends, at]
        elif byte in b")]};\"'":
            return []
        elif byte == ord(",") and len(closing) == 1:
            ends.append(at)
    return []


def _mend(edits: Edits, code: bytes, start: int, end: int) -> None:
    named = _NAMED.match(code, start, end)
    if named is None:
        return
    last = start + len(code[start:end].rstrip()) - 1
    inside = _items(code[:last].ljust(last) + b"]", named.end())
    value = code[named.end() : last].strip()
    if value and code[last] == _BRACKETS[named[1][0]] and inside == [last]:
        edits.put(named.start(1), b"=")
        edits.put(last, b" ")
