"""Lines and columns of a report against an editor's, counted by hand."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position, PositionEncodingKind, Range
from pygls.workspace import PositionCodec

from coalescecheck.lsp.places import Places
from coalescecheck.source import Edit, Span

UTF8, UTF16, UTF32 = (
    PositionCodec(kind)
    for kind in (
        PositionEncodingKind.Utf8,
        PositionEncodingKind.Utf16,
        PositionEncodingKind.Utf32,
    )
)
LINE = "ö𝄞 a[i] = b[i];"  # in UTF-16 𝄞 is two units, in UTF-8 ö is two and 𝄞 four


@pytest.mark.parametrize(("codec", "start"), [(UTF8, 7), (UTF16, 4), (UTF32, 3)])
def test_columns(codec: PositionCodec, start: int) -> None:
    places = Places(f"int i;\n{LINE}", codec)
    span = Span("a.cu", 2, 4)
    assert places.expression(span) == Range(Position(1, start), Position(1, start + 4))
    assert places.character(Position(1, start)) == (2, 4)
    assert places.edited(Edit(span, 5, "c")) == Range(Position(1, start), Position(1, start + 1))
    assert places.whole(2) == Range(Position(1, 0), Position(1, start + 12))


def test_a_position_inside_a_character_is_that_character() -> None:
    assert Places(LINE, UTF16).character(Position(0, 2)) == (1, 2)


def test_lines_end_as_in_an_editor() -> None:
    places = Places("a\r\nb\rc\x0cd\u2028e\nf", UTF16)
    assert places.lines == ["a", "b", "c\x0cd\u2028e", "f"]


@pytest.mark.parametrize(("codec", "lead"), [(UTF8, 3), (UTF16, 1), (UTF32, 1)])
def test_a_byte_order_mark_is_no_character_of_a_report(codec: PositionCodec, lead: int) -> None:
    places = Places("\ufeffa[i];\na[i];", codec)
    assert places.position(1, 1) == Position(0, lead)
    assert places.position(2, 1) == Position(1, 0)
    assert places.character(Position(0, lead + 2)) == (1, 3)


def test_places_outside_the_text_are_the_nearest_inside() -> None:
    places = Places("ab\ncd", UTF16)
    assert places.position(0, 0) == Position(0, 0)
    assert places.position(9, 9) == Position(1, 2)
    assert places.character(Position(9, 9)) == (2, 3)
    assert places.character(Position(0, 9)) == (1, 3)
    assert places.expression(Span("a.cu", 7, 7)) == Range(Position(1, 2), Position(1, 2))
