"""``// coalescecheck:`` comments."""

from __future__ import annotations

import pytest

from coalescecheck.frontend.directives import find_directives
from coalescecheck.frontend.kernel_c import Directive
from coalescecheck.launch import Dim3
from coalescecheck.source import Span


def directive(comment: str) -> Directive:
    found, complaints = find_directives("k.cu", comment)
    assert not complaints
    assert len(found) == 1
    return found[0]


def test_all_items() -> None:
    comment = (
        "int a; // coalescecheck: block(32,8) grid(64, 64) N=1024, s.m=-3 assume((N % 32) == 0)"
    )
    assert directive(comment) == Directive(
        Span("k.cu", 1, 8),
        Dim3(32, 8),
        Dim3(64, 64),
        (("N", 1024), ("s.m", -3)),
        ("(N % 32) == 0",),
    )


@pytest.mark.parametrize(
    ("comment", "block"),
    [
        ("// coalescecheck: block(256)", Dim3(256)),
        ("// coalescecheck: block=256", Dim3(256)),
        ("// coalescecheck: block=(8,8,4)", Dim3(8, 8, 4)),
        ("/* coalescecheck: block(0x20, 1'6) */", Dim3(32, 16)),
        ("\n\n  //coalescecheck:block(16,16)", Dim3(16, 16)),
    ],
)
def test_spellings_of_a_block(comment: str, block: Dim3) -> None:
    assert directive(comment).block == block


@pytest.mark.parametrize(
    "item",
    [
        "block(0)",
        "block(64,32)",
        "block(1,2,3,4)",
        "block(n)",
        "blok(3)",
        "N=x",
        "what",
        "assume(N",
        "N=",
    ],
)
def test_what_is_not_understood_is_told(item: str) -> None:
    found, complaints = find_directives("k.cu", f"\n// coalescecheck: grid(4) {item}")
    assert [d.grid for d in found] == [Dim3(4)]
    assert [(c.span.line, c.severity) for c in complaints] == [(2, "warning")]


@pytest.mark.parametrize(
    "text",
    [
        'const char *s = "// coalescecheck: block(32)";',
        "// coalescecheck: ignore[CC101] wanted",
        "// see coalescecheck for more",
    ],
)
def test_what_is_no_directive(text: str) -> None:
    assert find_directives("k.cu", text) == ((), ())
