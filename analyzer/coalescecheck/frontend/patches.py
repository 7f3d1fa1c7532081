"""Replacements in a syntax tree's code that leave every byte offset as it is.

In: code and its tree.  Out: code of the same length, and the tree for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Parser, Tree

_NEWLINE = re.compile(rb"\n")


@cache
def language() -> Language:
    """The grammar of CUDA C++."""
    return Language(tree_sitter_cuda.language())


class Edits:
    """Replacements of equal length, and a reparse that looks only at what they touch."""

    def __init__(self, code: bytes, tree: Tree) -> None:
        self.code = bytearray(code)
        self.tree = tree
        self._touched: list[int] = []

    def put(self, start: int, text: bytes) -> None:
        """``text`` at offset ``start``."""
        self.code[start : start + len(text)] = text
        self._touched += [start, start + len(text)]

    def parsed(self) -> bool:
        """Brings the tree up to date; False if nothing was replaced."""
        if not self._touched:
            return False
        lines = [m.end() for m in _NEWLINE.finditer(self.code)]

        def point(byte: int) -> tuple[int, int]:
            row = bisect_right(lines, byte)
            return row, byte - (lines[row - 1] if row else 0)

        tree = self.tree.copy()  # the original belongs to others
        for start, end in zip(self._touched[::2], self._touched[1::2], strict=True):
            tree.edit(start, end, end, point(start), point(end), point(end))
        self._touched.clear()
        self.tree = Parser(language()).parse(bytes(self.code), tree)
        return True
