"""Kernel definitions in plain text, where there is no syntax tree or it has lost them.

In: text without comments.  Out: the names of what is defined.
"""

from __future__ import annotations

import re

GLOBAL = re.compile(rb"\b__global__\b")
_SIGNIFICANT = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[(){};<>]|[A-Za-z_]\w*')
_MAX_HEAD = 5000  # bytes from __global__ to the body of a kernel


def defined_name(code: bytes, start: int) -> str | None:
    """The function's name if a body follows its parameters, or if they are not closed; None for a
    mere declaration."""
    depth = 0
    angles = 0
    name = word = ""
    for token in _SIGNIFICANT.finditer(code, start, start + _MAX_HEAD):
        text = token[0].decode("utf-8", "replace")
        if text == "(":
            if depth == 0 and word:
                name = word
            depth += 1
        elif text == ")":
            depth -= 1
        elif text == "{" and depth == 0:
            return name
        elif text in (";", "__global__"):
            return name if depth else None
        elif text in "<>":
            angles += 1 if text == "<" else -1
        elif depth == 0 and angles == 0:
            word = text
    return name
