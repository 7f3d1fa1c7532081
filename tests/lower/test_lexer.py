"""Our lexer gives pycparser the tokens that pycparser's own gives it."""

from __future__ import annotations

import pytest
from pycparser.c_lexer import CLexer

from coalescecheck.lower.lexer import Lexer

Tokens = list[tuple[str, str, int, int]]


def tokens(lexer: type[CLexer], text: str) -> tuple[Tokens, list[str]]:
    said: list[str] = []
    source = lexer(lambda message, line, column: said.append(message), dialect="c23")
    source.input(text, "")
    found = []
    while (token := source.token()) is not None:
        found.append((token.type, token.value, token.lineno, token.column))
    return found, said


TEXTS = {
    "words": "int inta _a a$b while whilex constexpr nullptr\n\tint",
    "numbers": "1 12u 0x1Fp3 1.5f 1.5e+3f .5 5. 1'000 0b11 017ull 1e-3 1..2 0x 08 1a",
    "signs": "a+++b a---b x<<=y>>=z p->q q.r a ? b : c; {[(~!%&|^*/)]} ... a==b!=c<=d>=e&&f||g",
    "digraphs": "a<:1:> <%%> x<::y a::b %: a: :b",
    "literals": 'L\'a\' \'b\' "text" L"wide" u8"x" u\'c\' U"y" "a\\"b" \'\\\'\' \'ab',
    "attributes": 'a[i] [[cuda::global]] [ [cuda::unknown_type("T(x)")]] x[ y[1]] [[gnu::packed]]',
    "lines": "a\n\n  b\n#pragma unroll 4\nc # d\n#line 7\ne\n\n\nf",
    "comments": "a /* b */ c // d\n e / f /= g",
    "odd": "a @ b \\ c ` d \v e \f g ∑",
    "empty": " \n\t ",
}


@pytest.mark.parametrize("name", TEXTS)
def test_tokens_are_pycparsers_at_first_and_when_spellings_are_known(name: str) -> None:
    wanted = tokens(CLexer, TEXTS[name])
    assert wanted[0] or name == "empty"
    for _ in range(2):
        assert tokens(Lexer, TEXTS[name]) == wanted


def test_known_spellings_keep_their_place() -> None:
    tokens(Lexer, "x = 1 ;")
    assert tokens(Lexer, "x\n =\n\n  1;")[0] == [
        ("ID", "x", 1, 1),
        ("EQUALS", "=", 2, 2),
        ("INT_CONST_DEC", "1", 4, 3),
        ("SEMI", ";", 4, 4),
    ]


def test_words_may_have_letters_of_any_alphabet() -> None:
    found, said = tokens(Lexer, "int größe =\n Δ*x2é;")
    assert said == []
    assert found == [
        ("INT", "int", 1, 1),
        ("ID", "größe", 1, 5),
        ("EQUALS", "=", 1, 11),
        ("ID", "Δ", 2, 2),
        ("TIMES", "*", 2, 3),
        ("ID", "x2é", 2, 4),
        ("SEMI", ";", 2, 7),
    ]
