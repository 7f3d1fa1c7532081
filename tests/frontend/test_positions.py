"""Every byte of the preprocessed text knows where the user wrote it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coalescecheck.frontend.preprocess import preprocess
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Span

TEXT = """\
#include "h.h"
#define AT(a, i) a[(i)]
#define N 32
/* é */ int ä = N; int z;
int f(float *p /* a
 b */, int q) {
  return AT(p,
            q) + N; // AT
  #pragma unroll N
\tint tab = q; \\
  int joined;
}
"""


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    (tmp_path / "h.h").write_text("\nint from_header;\n")
    return preprocess(str(tmp_path / "k.cu"), TEXT)


def place(unit: Unit, pattern: str) -> Span:
    match = re.search(pattern.encode(), unit.code)
    assert match is not None
    return unit.locate(match.start())


@pytest.mark.parametrize(
    ("pattern", "line", "column", "note"),
    [
        pytest.param(r"from_header", 2, 5, "", id="a name from a header"),
        pytest.param(r"z;", 4, 24, "", id="columns count characters, not bytes"),
        pytest.param(r"32; int z", 4, 17, "in expansion of macro N", id="an object macro's use"),
        pytest.param(r"q\) \{", 6, 12, "", id="a name after a comment of two lines"),
        pytest.param(r"p *\[", 7, 10, "in expansion of macro AT", id="a macro argument"),
        pytest.param(r"\+ 32", 8, 16, "", id="code between two macros"),
        pytest.param(r"pragma", 9, 4, "", id="a pragma"),
        pytest.param(r"unroll", 9, 11, "", id="a pragma's word"),
        pytest.param(r"tab", 10, 6, "", id="a tab is one column"),
        pytest.param(r"joined", 11, 7, "", id="a name after a line continuation"),
    ],
)
def test_place(unit: Unit, pattern: str, line: int, column: int, note: str) -> None:
    span = place(unit, pattern)
    assert (span.line, span.column, span.note) == (line, column, note)


def test_the_file_is_that_of_the_text(unit: Unit) -> None:
    assert place(unit, "from_header").file.endswith("h.h")
    assert place(unit, "joined").file.endswith("k.cu")


def test_every_copied_word_stands_at_its_place(unit: Unit) -> None:
    lines = TEXT.splitlines()
    for match in re.finditer(rb"[A-Za-z_]\w*", unit.code):
        span = unit.locate(match.start())
        if span.file.endswith("k.cu") and not span.note:
            assert lines[span.line - 1][span.column - 1 :].startswith(match[0].decode())


def test_a_nested_macro_maps_to_its_outermost_use() -> None:
    unit = preprocess("k.cu", "#define A B\n#define B x + 1\nint y = A;\n")
    span = place(unit, "x")
    assert (span.line, span.column, span.note) == (3, 9, "in expansion of macro A")
    assert span.body is not None
    assert span.body[1] == 2, "where it is written"
