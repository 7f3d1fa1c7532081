"""The way back: from a byte of the preprocessed text to the user's file, line and column.

In: pieces of output, each either copied from a file or produced by a macro.  Out: the text
and its :class:`PositionMap`.  It must not know how pieces come about.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace

from coalescecheck.source import NOWHERE, Span


class FilePlaces:
    """Turns offsets in one file's text into lines and columns (characters, from 1)."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._line_starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._line_starts.append(at + 1)
            at = text.find("\n", at + 1)

    def span(self, offset: int, note: str = "") -> Span:
        line = bisect_right(self._line_starts, offset)
        return Span(self.path, line, offset - self._line_starts[line - 1] + 1, note)

    def line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Output from one byte on: a copy of the file from ``offset`` on, or, where ``note`` is
    set, the expansion of a macro used at ``offset``, of the line in its ``body``."""

    places: FilePlaces
    offset: int
    note: str
    ascii: bool
    body: tuple[str, int] | None = None

    def is_at(
        self, places: FilePlaces, offset: int, note: str, body: tuple[str, int] | None
    ) -> bool:
        """Whether it is what ``note`` tells of at this place: most tokens of a macro go on with
        the piece of the one before."""
        same = self.offset == offset and self.body == body and self.note == note
        return same and self.places is places


class PositionMap:
    """Answers where a byte of the preprocessed text comes from."""

    def __init__(self, code: bytes, starts: list[int], pieces: list[_Piece]) -> None:
        self._code = code
        self._starts = starts
        self._pieces = pieces
        self._known: dict[int, Span] = {}  # every instance of a kernel asks for the same places

    def locate(self, byte: int) -> Span:
        """The user's place of byte ``byte`` of the preprocessed text."""
        span = self._known.get(byte)
        if span is None:
            span = self._known[byte] = self._locate(byte)
        return span

    def _locate(self, byte: int) -> Span:
        at = bisect_right(self._starts, byte) - 1
        if at < 0 or byte >= len(self._code):  # code of a library that is put behind it
            return NOWHERE
        piece = self._pieces[at]
        if piece.note:
            return replace(piece.places.span(piece.offset, piece.note), body=piece.body)
        start = self._starts[at]
        advance = byte - start
        if not piece.ascii:
            advance = len(self._code[start:byte].decode("utf-8", "ignore"))
        return piece.places.span(piece.offset + advance)


@dataclass(slots=True)
class OutputBuilder:
    """Collects the preprocessed text piece by piece."""

    size: int = 0  # bytes so far
    _parts: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _pieces: list[_Piece] = field(default_factory=list)
    _next: tuple[FilePlaces, int] | None = None  # where a copy would continue the last one

    def copy(self, places: FilePlaces, offset: int, text: str) -> None:
        """Append ``text``, which stands at ``offset`` of the file."""
        if not text:
            return
        if not text.isascii():
            self._copy_wide(places, offset, text)
            return
        if self._next is None or self._next != (places, offset):
            self._begin(_Piece(places, offset, "", True))
        self._append(text, len(text))
        self._next = (places, offset + len(text))

    def expansion(
        self,
        places: FilePlaces,
        offset: int,
        macro: str,
        text: str,
        body: tuple[FilePlaces, int] | None = None,
    ) -> None:
        """Append ``text``, which a macro used at ``offset`` expands to, by what stands at ``body``
        of its definition."""
        note = f"in expansion of macro {macro}"
        line = None if body is None else (body[0].path, body[0].line(body[1]))
        if not self._pieces or not self._pieces[-1].is_at(places, offset, note, line):
            self._begin(_Piece(places, offset, note, True, line))
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        self._append(text, size)
        self._next = None

    def space(self) -> None:
        """Keep two neighbours from reading as one token."""
        self._append(" ", 1)
        self._next = None

    def ends_line(self) -> bool:
        return not self._parts or self._parts[-1].endswith("\n")

    def finish(self) -> tuple[bytes, PositionMap]:
        """The whole text and its map."""
        code = "".join(self._parts).encode("utf-8", "replace")
        return code, PositionMap(code, self._starts, self._pieces)

    def _copy_wide(self, places: FilePlaces, offset: int, text: str) -> None:
        """Bytes and characters differ: one piece per line bounds the cost of a look-up."""
        for line in text.splitlines(keepends=True):
            self._begin(_Piece(places, offset, "", line.isascii()))
            self._append(line, len(line.encode("utf-8", "replace")))
            offset += len(line)
        self._next = None

    def _begin(self, piece: _Piece) -> None:
        self._starts.append(self.size)
        self._pieces.append(piece)

    def _append(self, text: str, size: int) -> None:
        self._parts.append(text)
        self.size += size
