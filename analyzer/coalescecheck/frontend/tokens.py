"""Preprocessing tokens as pcpp wants them, cut from clean text.

In: clean text and its offset in the file.  Out: pcpp tokens.  pcpp's own lexer is not used:
it splits digit separators and knows no C++ operators.  Two fields are used in our way:
``lineno`` is the *offset of the use* (pcpp copies it from a macro's use to its expansion, so
that every token knows where the user wrote it), ``lexpos`` the offset of its own text.
"""

from __future__ import annotations

import re


class Token:
    """What pcpp reads and writes of a token, with a copy that is fast and shares nothing."""

    __slots__ = ("body", "expanded_from", "lexpos", "lineno", "source", "type", "value")

    def __init__(self, kind: str, value: str, lexpos: int, lineno: int, source: int) -> None:
        self.type = kind
        self.value = value
        self.lexpos = lexpos
        self.lineno = lineno
        self.source = source
        self.expanded_from: list[str] = []  # the macros it came from, outermost last
        self.body: tuple[int, int] | None = None  # file and offset, in what a macro stands for

    def __copy__(self) -> Token:
        copied = Token(self.type, self.value, self.lexpos, self.lineno, self.source)
        copied.expanded_from = self.expanded_from.copy()
        copied.body = self.body
        return copied


IDENTIFIER = "CPP_ID"
STRING = "CPP_STRING"
INTEGER = "CPP_INTEGER"
BLANK = "CPP_WS"

_PATTERN = re.compile(
    r"""
    (?P<CPP_WS>[ \t\v]+|\n)
  | (?P<CPP_STRING>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
  | (?P<CPP_CHAR>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<CPP_ID>[^\W\d][\w$]*|\$[\w$]*)
  | (?P<number>\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*)
  | (?P<operator><<=|>>=|\.\.\.|->\*|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|::
      |[-+*/%&|^]=|\.\*|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9'']+)[uUlLzZ]*\Z")
# The operators that pcpp's #if evaluator and macro expansion know by type.
_TYPES = {
    "#": "CPP_POUND",
    "##": "CPP_DPOUND",
    "+": "CPP_PLUS",
    "-": "CPP_MINUS",
    "*": "CPP_STAR",
    "/": "CPP_FSLASH",
    "%": "CPP_PERCENT",
    "|": "CPP_BAR",
    "&": "CPP_AMPERSAND",
    "~": "CPP_TILDE",
    "^": "CPP_HAT",
    "<": "CPP_LESS",
    ">": "CPP_GREATER",
    "!": "CPP_EXCLAMATION",
    "?": "CPP_QUESTION",
    "(": "CPP_LPAREN",
    ")": "CPP_RPAREN",
    ",": "CPP_COMMA",
    ":": "CPP_COLON",
    "<<": "CPP_LSHIFT",
    ">>": "CPP_RSHIFT",
    "<=": "CPP_LESSEQUAL",
    ">=": "CPP_GREATEREQUAL",
    "||": "CPP_LOGICALOR",
    "&&": "CPP_LOGICALAND",
    "==": "CPP_EQUALITY",
    "!=": "CPP_INEQUALITY",
}


def tokenize(text: str, offset: int = 0, source: int = 0) -> list[Token]:
    """The tokens of ``text``, which stands at ``offset`` of file number ``source``."""
    tokens = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        value = match[0]
        if kind == "number":
            kind = INTEGER if _INTEGER.match(value) else "CPP_FLOAT"
        elif kind == "operator":
            kind = _TYPES.get(value, "CPP_OTHER")
        at = offset + match.start()
        tokens.append(Token(kind, value, at, at, source))
    return tokens


def strip_blanks(tokens: list[Token]) -> list[Token]:
    """``tokens`` without blanks at either end."""
    first, last = 0, len(tokens)
    while first < last and tokens[first].type == BLANK:
        first += 1
    while last > first and tokens[last - 1].type == BLANK:
        last -= 1
    return tokens[first:last]
