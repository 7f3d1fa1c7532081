"""Macros that nothing defines, between or behind what is compared: ``if (i IS_ABOVE 3)``.

In: code and its tree.  Out: code in which the grammar takes such a word for an error in a
condition, and no longer for a variable of the type ``i``, where it loses what is behind.
"""

from __future__ import annotations

import re

from coalescecheck.frontend.patches import Edits

_ERROR = b"\x1f"  # no part of any token
_WORDS = (
    rb"alignas|and|auto|bitand|bitor|bool|char|class|co_await|co_yield|const|constexpr|decltype"
    rb"|delete|double|else|enum|float|int|long|new|not|operator|or|register|return|short|signed"
    rb"|sizeof|static|static_assert|struct|template|throw|typename|union|unsigned|using|void"
    rb"|volatile|xor|__\w*|not_eq|\w+_eq"
)
_NAME = rb"(?!(?:" + _WORDS + rb")\b)[^\W\d]\w*\b"
# what a declaration does not go on with: it has a value, or more declarators
_BEHIND = rb"\s*(?:==|&&|\|\||[*&<]=?\s*[\d(]|\([^;{}()]*\)(?!\s*;)|(?![\s={;(\[,:<*&|]))"
_TWO_NAMES = re.compile(
    rb"\b(?:(?:if|while|switch)\s*\(|for\s*\([^;{}]{0,400};|return\b)\s*"
    + _NAME + rb"\s+(" + _NAME + rb")(?=(" + _BEHIND + rb"))"
)  # fmt: skip
_OPERAND = re.compile(rb"\s*[\w('\"!~]")


def hide_macros(edits: Edits) -> None:
    """Puts what is no token in place of the second of two names that nothing is between, behind
    a sign where a value follows."""
    for match in _TWO_NAMES.finditer(edits.code):
        start, end = match.span(1)
        node = edits.tree.root_node.descendant_for_byte_range(start, end)
        if node is None or not node.type.startswith(("string", "raw_string")):
            infix = edits.code[start - 1] in b" \t" and _OPERAND.match(edits.code, end) is not None
            edits.put(start - infix, b"+" * infix + _ERROR * (end - start))
