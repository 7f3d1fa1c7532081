"""pycparser's lexer with a short way for the tokens it has met before.

In: kernel C.  Out: pycparser's tokens.  A word, number or sign is the same kind of token wherever
it stands, so that pycparser reads each spelling once; anything else it reads itself.  The dots of
``case 0 ... 3`` are an operator, which pycparser has not.
"""

from __future__ import annotations

import re

from pycparser.c_lexer import CLexer, Token

_MAX_KNOWN = 20_000  # spellings
# Blanks, then what ends where pycparser's own rules end it: no literal with a prefix, no
# attribute, comment, directive or digraph.
_SIMPLE = re.compile(
    r"""[ \t\n]*(
        [A-Za-z_]\w*(?![\w$'"\\])
      | [0-9](?:[eEpP][+-]|[\w.])*(?![$'"\\])
      | <<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=
      | [;,(){}\]=+\-*&|^~!?>] | \[(?!\s*\[) | \.(?![0-9.]) | /(?![/*])
      | :(?![:>]) | <(?![:%]) | %(?![:>])
    )""",
    re.VERBOSE | re.ASCII,
)
_WORD = re.compile(r"[ \t\n]*([^\W\d]\w*)")  # with letters of any alphabet
_LABEL = re.compile(r"\bcase\b")
_known: dict[str, str] = {}
"""The type of the token of each spelling."""


class Lexer(CLexer):  # type: ignore[misc]  # pycparser is untyped
    """A lexer for ``CParser(lexer=..., dialect="c23")``: the dialect decides what is a keyword."""

    _pos: int
    _lineno: int
    _line_start: int

    def token(self) -> Token | None:
        """The next token, None at the end."""
        match = None
        if self._pending_tok is None and not self._in_attribute:
            word = None if self._lexdata.isascii() else _WORD.match(self._lexdata, self._pos)
            if word is not None and not word[1].isascii():
                return self._known_token(word, "ID")
            match = _SIMPLE.match(self._lexdata, self._pos)
            kind = _known.get(match[1]) if match is not None else None
            if match is not None and kind is not None:
                return self._known_token(match, kind)
        token = super().token()
        if token is not None and token.type == "ELLIPSIS" and self._in_label():
            token.type = "LOR"  # the operator that binds loosest
        if match is not None and token is not None and token.value == match[1]:
            if len(_known) >= _MAX_KNOWN:
                _known.clear()
            _known[token.value] = token.type
        return token

    def _in_label(self) -> bool:
        before = max(self._lexdata.rfind(sign, 0, self._pos) for sign in ";{}")
        return _LABEL.search(self._lexdata, before + 1, self._pos) is not None

    def _known_token(self, match: re.Match[str], kind: str) -> Token:
        start, end = match.span(1)
        lines = self._lexdata.count("\n", self._pos, start)
        if lines:
            self._lineno += lines
            self._line_start = self._lexdata.rfind("\n", 0, start) + 1
        self._pos = end
        return Token(kind, match[1], self._lineno, start - self._line_start + 1, self._filename)
