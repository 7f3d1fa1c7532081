"""Literals of C: the text of a constant to its value and type (C11 6.4.4).

In: the text as written.  Out: a typed IR constant.
"""

from __future__ import annotations

import re

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import FALSE, TRUE, Const
from coalescecheck.lower import arith, ctypes
from coalescecheck.lower.ctypes import VOID, Number, Pointer
from coalescecheck.lower.values import Scalar

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlLzZ]*)$")
_ESCAPES = {
    "n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27,
    "\\": 92, "'": 39, '"': 34, "?": 63,
}  # fmt: skip


def literal(text: str) -> Scalar | None:
    """The constant that ``text`` spells, None for strings and what is not understood."""
    if text in ("true", "false"):
        return Scalar(ctypes.BOOL, TRUE if text == "true" else FALSE)
    if text == "nullptr":
        return Scalar(Pointer(VOID), arith.NULL)
    if text.startswith(("'", "L'", "u'", "U'", "u8'")):
        return _character(text)
    plain = text.replace("'", "")
    matched = _INTEGER.match(plain)
    return _integer(*matched.groups()) if matched else _floating(plain)


def string_bytes(text: str) -> tuple[int, ...] | None:
    """The values of a plain string literal, with its final zero."""
    if not (text.startswith('"') and text.endswith('"')):
        return None
    try:
        # the escapes that C and Python spell alike; anything else is not ASCII in practice
        plain = text[1:-1].encode("ascii").decode("unicode_escape")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return None
    return (*plain.encode("latin-1", "replace"), 0)


def _integer(digits: str, suffix: str) -> Scalar | None:
    """The first of int, unsigned, long, unsigned long that holds it; decimals skip unsigned.

    None for ``08`` and for what no type holds.
    """
    prefixed = digits[:2] in ("0x", "0X", "0b", "0B")
    value = _number(digits, 0 if prefixed else 8 if digits.startswith("0") else 10)
    if value is None:
        return None
    suffix = suffix.lower()
    unsigned, wide = "u" in suffix, "l" in suffix or "z" in suffix
    decimal = not digits.startswith("0")
    choices: list[Number] = []
    if not wide:
        choices += [ctypes.UINT] if unsigned else [ctypes.INT] + [ctypes.UINT] * (not decimal)
    choices += [ctypes.ULONG] if unsigned else [ctypes.LONG, ctypes.ULONG]
    for ctype in choices:
        constant = arith.integer(value, ctype.scalar)
        if constant.value == value:
            return Scalar(ctype, constant)
    return None


def _number(digits: str, base: int) -> int | None:
    """None for digits that the base does not have, and for more than Python converts."""
    try:
        return int(digits, base)
    except ValueError:
        return None


def _character(text: str) -> Scalar | None:
    body = text[text.index("'") + 1 : -1]
    value: int | None = None
    if len(body) == 1:
        value = ord(body)
    elif body.startswith("\\x"):
        value = _number(body[2:], 16)
    elif body.startswith("\\") and body[1:].isdigit():
        value = _number(body[1:], 8)
    elif body.startswith("\\") and len(body) == 2:
        value = _ESCAPES.get(body[1])
    if value is None:
        return None
    return Scalar(ctypes.CHAR, arith.integer(value, ir.I8))  # char: this is C++


def _floating(text: str) -> Scalar | None:
    hexadecimal = text[:2].lower() == "0x"
    number = text.rstrip("fFlL" if not hexadecimal else "lL")
    suffix = text[len(number) :].lower()
    if hexadecimal and "p" in text.lower() and text[-1] in "fF":
        number, suffix = text[:-1], "f"
    try:
        value = float.fromhex(number) if hexadecimal else float(number)
    except ValueError:
        return None
    ctype = ctypes.FLOAT if suffix == "f" else ctypes.DOUBLE
    constant = arith.cast(Const(ir.F64, value), ctype.scalar)
    return Scalar(ctype, constant)
