"""A preprocessed file with its syntax tree and the way back to the original text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node, Tree

from coalescecheck.source import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class Unit:
    """One file after preprocessing.

    ``text`` is the file as read, ``code`` the preprocessed UTF-8 text, ``tree`` its
    tree-sitter-cuda tree.  ``locate(byte)`` gives the user's place of a byte of ``code``.
    """

    path: str
    text: str
    code: bytes
    tree: Tree
    locate: Callable[[int], Span]
    diagnostics: tuple[Diagnostic, ...]

    def span(self, node: Node) -> Span:
        return self.locate(node.start_byte)

    def source(self, node: Node) -> str:
        return self.code[node.start_byte : node.end_byte].decode("utf-8", "replace")
