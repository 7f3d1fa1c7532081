"""Places of a report as positions of an editor, and back.

A report counts lines and characters from 1, in text as ``frontend.reading`` gives it.  An editor
counts both from 0, its columns in the units it agreed on with the server: UTF-16 unless it asks
for others.  Its lines end in ``\\n``, ``\\r\\n`` or ``\\r`` and in nothing else.
"""

from __future__ import annotations

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from coalescecheck.report.excerpt import expression_end
from coalescecheck.source import Edit, Span

BYTE_ORDER_MARK = "\ufeff"  # some editors leave it in the text; a report does not count it


class Places:
    """The places of one text."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        plain = text.removeprefix(BYTE_ORDER_MARK)
        self.lines = plain.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._codec = codec
        self._lead = codec.client_num_units(text[: len(text) - len(plain)])

    def position(self, line: int, column: int) -> Position:
        """The position of a character; of the nearest there is where the text is shorter."""
        at = min(max(line, 1), len(self.lines)) - 1
        before = self.lines[at][: max(column, 1) - 1]
        return Position(at, self._codec.client_num_units(before) + (0 if at else self._lead))

    def character(self, position: Position) -> tuple[int, int]:
        """The line and the column, from 1, of an editor's position."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        left = position.character - (0 if position.line else self._lead)
        line = self.lines[position.line]
        column = 0
        while column < len(line) and left > 0:
            left -= self._codec.client_num_units(line[column])
            column += 1
        if left < 0:  # in the middle of a character
            column -= 1
        return position.line + 1, column + 1

    def expression(self, span: Span) -> Range:
        """The access expression, or macro call, that begins at ``span``."""
        return Range(
            self.position(span.line, span.column), self.position(span.line, self.end(span))
        )

    def end(self, span: Span) -> int:
        """The column, from 1, after the expression that begins at ``span``."""
        line = self.lines[span.line - 1] if 1 <= span.line <= len(self.lines) else ""
        if not 1 <= span.column <= len(line):
            return max(span.column, 1)
        return expression_end(line, span.column - 1) + 1

    def edited(self, edit: Edit) -> Range:
        """What ``edit`` replaces."""
        line = edit.span.line
        return Range(self.position(line, edit.span.column), self.position(line, edit.end_column))

    def whole(self, line: int) -> Range:
        """A line without the blanks around it."""
        text = self.lines[min(max(line, 1), len(self.lines)) - 1]
        first = len(text) - len(text.lstrip()) + 1
        return Range(self.position(line, first), self.position(line, len(text.rstrip()) + 1))
