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
        self._news: list[tuple[int, int]] | None = None

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
        touched = list(zip(self._touched[::2], self._touched[1::2], strict=True))
        for start, end in touched:
            tree.edit(start, end, end, point(start), point(end), point(end))
        self._touched.clear()
        self.tree = Parser(language()).parse(bytes(self.code), tree)
        if self._news is not None:
            changed = [(r.start_byte, r.end_byte) for r in tree.changed_ranges(self.tree)]
            self._news += touched + changed
        return True

    def news(self) -> list[tuple[int, int]] | None:
        """The ranges in which the tree has changed since the last call; None at the first one."""
        news, self._news = self._news, []
        return None if news is None else _merged(news)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in ascending order that do not touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
