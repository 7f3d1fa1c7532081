"""The value of an ``#if`` condition: C++ [cpp.cond], all arithmetic in 64 bits.

In: expanded tokens and what a name that is no macro stands for.  Out: a number, or
``ConditionError``.  pcpp's own evaluator rounds quotients down, divides as floats and takes the
results of comparisons with unsigned numbers for unsigned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coalescecheck.frontend.constants import char_literal, integer_literal
from coalescecheck.frontend.tokens import BLANK, IDENTIFIER, INTEGER, Token

_BITS = 64
_SIGN = 1 << (_BITS - 1)
_PRECEDENCE = {
    ",": 1, "?": 2, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8,
    "<": 9, ">": 9, "<=": 9, ">=": 9, "<<": 10, ">>": 10, "+": 11, "-": 11,
    "*": 12, "/": 12, "%": 12,
}  # fmt: skip
_WORDS = {
    "and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^",
    "compl": "~", "not_eq": "!=",
}  # fmt: skip
_END = Token("", "", 0, 0, -1)


class ConditionError(ValueError):
    """The tokens are no integer constant expression."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A value of ``intmax_t`` or ``uintmax_t``."""

    value: int
    unsigned: bool = False


def condition_value(tokens: Sequence[Token], name: Callable[[str], int]) -> int:
    """The value of a condition; names that are no macros have the value ``name`` gives."""
    reader = _Reader([t for t in tokens if t.type != BLANK], name)
    value = reader.expression(1, live=True).value
    if reader.next is not _END:
        raise ConditionError(f"`{reader.next.value}` is not expected here")
    return value


class _Reader:
    """Reads an expression; what is not ``live`` is not evaluated, so that it cannot fail."""

    def __init__(self, tokens: list[Token], name: Callable[[str], int]) -> None:
        self._tokens = tokens
        self._name = name
        self._at = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _sign(self) -> str:
        spelled = str(self.next.value)
        return _WORDS.get(spelled, spelled)

    def expression(self, least: int, *, live: bool) -> _Number:
        """An expression of operators that bind at least as tight as ``least``."""
        left = self._prefixed(live=live)
        while _PRECEDENCE.get(self._sign(), 0) >= least:
            sign = self._sign()
            self._at += 1
            if sign == "?":
                left = self._chosen(left, live=live)
                continue
            right_live = live and not (
                (sign == "&&" and not left.value) or (sign == "||" and bool(left.value))
            )
            right = self.expression(_PRECEDENCE[sign] + 1, live=right_live)
            left = _binary(sign, left, right, live=live)
        return left

    def _chosen(self, condition: _Number, *, live: bool) -> _Number:
        yes = self.expression(1, live=live and bool(condition.value))
        self._expect(":")
        no = self.expression(2, live=live and not condition.value)
        unsigned = yes.unsigned or no.unsigned
        return _fit(yes.value if condition.value else no.value, unsigned=unsigned)

    def _prefixed(self, *, live: bool) -> _Number:
        sign = self._sign()
        if sign not in ("-", "+", "!", "~"):
            return self._primary(live=live)
        self._at += 1
        operand = self._prefixed(live=live)
        match sign:
            case "!":
                return _Number(int(not operand.value))
            case "-":
                return _fit(-operand.value, unsigned=operand.unsigned)
            case "~":
                return _fit(~operand.value, unsigned=operand.unsigned)
            case _:
                return operand

    def _primary(self, *, live: bool) -> _Number:
        token = self.next
        self._at += 1
        if token.value == "(":
            inner = self.expression(1, live=live)
            self._expect(")")
            return inner
        if token.type == INTEGER:
            return _literal(str(token.value))
        if token.type == "CPP_CHAR":
            character = char_literal(str(token.value))
            if character is not None:
                return _Number(int(character.number))
        if token.type == IDENTIFIER:
            if self.next.value == "(":  # a function-like macro that nobody defines
                self._arguments()
                return _Number(0)
            return _Number(self._name(str(token.value)))
        raise ConditionError(f"`{token.value}` is no number")

    def _arguments(self) -> None:
        depth = 0
        while self.next is not _END:
            depth += (self.next.value == "(") - (self.next.value == ")")
            self._at += 1
            if depth == 0:
                return
        raise ConditionError("a parenthesis is not closed")

    def _expect(self, sign: str) -> None:
        if self.next.value != sign:
            raise ConditionError(f"`{sign}` is missing")
        self._at += 1


def _literal(text: str) -> _Number:
    known = integer_literal(text)
    if known is None:
        raise ConditionError(f"`{text}` is no number")
    number = int(known.number)
    # what no signed number holds is unsigned, all else unless it says so
    return _Number(number, "u" in text.lower() or number >= _SIGN)


def _fit(number: int, *, unsigned: bool) -> _Number:
    number &= (1 << _BITS) - 1
    if not unsigned and number & _SIGN:
        number -= 1 << _BITS
    return _Number(number, unsigned)


def _binary(sign: str, a: _Number, b: _Number, *, live: bool) -> _Number:
    if sign == ",":
        return b
    if sign in ("&&", "||"):
        both = (bool(a.value), bool(b.value))
        return _Number(int(all(both) if sign == "&&" else any(both)))
    if sign in ("<<", ">>"):
        return _shift(a, b.value if sign == "<<" else -b.value)
    unsigned = a.unsigned or b.unsigned
    x, y = _fit(a.value, unsigned=unsigned).value, _fit(b.value, unsigned=unsigned).value
    match sign:
        case "+" | "-" | "*":
            result = x + y if sign == "+" else x - y if sign == "-" else x * y
            return _fit(result, unsigned=unsigned)
        case "&" | "|" | "^":
            result = x & y if sign == "&" else x | y if sign == "|" else x ^ y
            return _fit(result, unsigned=unsigned)
        case "/" | "%":
            return _divide(sign, x, y, unsigned=unsigned, live=live)
    holds = {"==": x == y, "!=": x != y, "<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}
    return _Number(int(holds[sign]))


def _divide(sign: str, x: int, y: int, *, unsigned: bool, live: bool) -> _Number:
    """C truncates towards zero; Python floors."""
    if y == 0:
        if live:
            raise ConditionError("division by zero")
        return _Number(0, unsigned)
    quotient = abs(x) // abs(y)
    if (x < 0) != (y < 0):
        quotient = -quotient
    return _fit(quotient if sign == "/" else x - quotient * y, unsigned=unsigned)


def _shift(a: _Number, by: int) -> _Number:
    """As gcc has it: beyond the width nothing is left but the sign, backwards where negative."""
    by = max(-_BITS, min(_BITS, by))
    return _fit(a.value << by if by >= 0 else a.value >> -by, unsigned=a.unsigned)
