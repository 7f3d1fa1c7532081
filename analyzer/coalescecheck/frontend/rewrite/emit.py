"""Writing C text while remembering which place of the user's source each token came from.

In: pieces of text with marks (byte offsets of the preprocessed source).  Out: the text and its
:class:`SourceMap`.  It must not know what the text means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from coalescecheck.frontend.kernel_c import SourceMap
from coalescecheck.source import Span


@dataclass(frozen=True, slots=True)
class Mark:
    """The next token comes from ``byte``.

    ``leads`` also applies the place to the next mark: pycparser gives ``*p`` the coordinate
    of ``p``, the user sees the expression begin at ``*``.
    """

    byte: int
    leads: bool = False


Piece: TypeAlias = "str | Mark | tuple[Piece, ...]"
Line: TypeAlias = tuple[int, Piece]

INDENT = "    "


def joined(pieces: Iterable[Piece], separator: str = ", ") -> Piece:
    """``pieces`` with ``separator`` between."""
    out: list[Piece] = []
    for piece in pieces:
        if out:
            out.append(separator)
        out.append(piece)
    return tuple(out)


def plain(piece: Piece) -> str:
    """The text of a piece without its marks."""
    parts: list[str] = []
    stack: list[Piece] = [piece]
    while stack:
        current = stack.pop()
        if isinstance(current, str):
            parts.append(current)
        elif isinstance(current, tuple):
            stack += current[::-1]
    return "".join(parts)


class Writer:
    """Collects lines of C and the source map."""

    def __init__(self, locate: Callable[[int], Span]) -> None:
        self.source_map = SourceMap()
        self._locate = locate
        self._lines: list[str] = []
        self._places: dict[int, Span] = {}

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def line(self, depth: int, piece: Piece) -> None:
        """One line at ``depth`` levels of indentation."""
        parts = [INDENT * depth]
        column = len(parts[0]) + 1
        number = len(self._lines) + 1
        stack: list[Piece] = [piece]
        lead: int | None = None
        while stack:
            current = stack.pop()
            if isinstance(current, str):
                parts.append(current)
                column += len(current)
            elif isinstance(current, tuple):
                stack += current[::-1]
            else:
                byte = current.byte if lead is None else lead
                lead = byte if current.leads else None
                self.source_map.add(number, column, self._span(byte))
        self._lines.append("".join(parts).rstrip())

    def _span(self, byte: int) -> Span:
        span = self._places.get(byte)
        if span is None:
            span = self._places[byte] = self._locate(byte)
        return span
