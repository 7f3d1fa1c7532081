"""Emitted expressions: C text, type, precedence, constant value, and how to combine them.

In: pieces and types.  Out: :class:`Ex`.  It must not know about C++ syntax.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Mark, Piece, joined
from coalescecheck.frontend.rewrite.types import CType

# C precedence levels, tightest first
PRIMARY, UNARY, ASSIGN, COMMA = 16, 14, 2, 1
CONDITIONAL = 3
BINARY = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11,
    "<": 10, ">": 10, "<=": 10, ">=": 10, "==": 9, "!=": 9,
    "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ex:
    """A C expression.

    ``type`` is no reference.  ``address`` is C text for its address where that is simpler than
    ``&piece``; where that text assigns first, ``home`` is the address alone.  ``pure`` says that
    evaluating it touches no memory and has no effect.
    ``captures`` are the hidden arguments of a lambda value, ``target`` the object whose address
    the expression is.  A ``named`` constant is written as its value, and an object all the same;
    a ``moved`` object is one that overloads may take for a value (``std::move``),
    a ``borrowed`` value is an object of the caller in C++.
    """

    piece: Piece
    type: CType
    precedence: int = PRIMARY
    value: Value | None = None
    lvalue: bool = False
    address: Piece | None = None
    home: Piece | None = None
    pure: bool = False
    captures: tuple[Piece, ...] = ()
    target: Ex | None = None
    named: bool = False
    moved: bool = False
    borrowed: bool = False

    def at(self, precedence: int) -> Piece:
        """The text, in parentheses if it binds looser than ``precedence``."""
        return self.piece if self.precedence >= precedence else ("(", self.piece, ")")

    @property
    def passed(self) -> CType:
        """The type as an argument: overloads tell an object from a value."""
        if self.named:
            constant = types.qualified(self.type, const=True)
            return types.Reference(constant, rvalue=self.moved)
        if self.moved and self.lvalue:
            return types.Reference(self.type, rvalue=True)
        return types.Reference(self.type) if self.lvalue else self.type

    @property
    def decayed(self) -> CType:
        return types.decayed(self.type)


def literal(value: Value, mark: Mark | None = None) -> Ex:
    """An integer or bool constant as C text of its type."""
    number, kind = value.number, value.type
    if kind.is_float:
        spelled = repr(float(number)) + ("f" if kind.bits == 32 else "")
        type_: CType = types.FLOAT if kind.bits == 32 else types.DOUBLE
    elif kind.kind == "bool":
        spelled, type_ = ("true" if number else "false"), types.BOOL
    else:
        spelled, type_ = _integer(int(number), kind)
    precedence = UNARY if spelled.startswith("-") else PRIMARY
    piece: Piece = spelled if mark is None else (mark, spelled)
    if spelled.startswith("("):
        precedence = PRIMARY
    return Ex(piece, type_, precedence, value, pure=True)


def constant(value: Value, type_: CType, mark: Mark | None = None) -> Ex:
    """A constant of a declared type: `char`, `long long` and enumerations keep their name."""
    ex = literal(value, mark)
    type_ = types.unqualified(type_)
    same = types.enumeration(type_) is not None or types.folding_type(type_) == value.type
    return replace(ex, type=type_) if same else ex


@lru_cache(maxsize=4096)
def _integer(number: int, kind: ctypes_lp64.CType) -> tuple[str, CType]:
    if kind.bits < 32:
        signed = kind.kind == "int"
        name = {8: "signed char" if signed else "unsigned char"}.get(
            kind.bits, "short" if signed else "unsigned short"
        )
        return str(number), types.Scalar(name)
    wide, unsigned = kind.bits == 64, kind.kind == "uint"
    ending = ("u" if unsigned else "") + ("l" if wide else "")
    names = {
        (False, False): types.INT,
        (False, True): types.UINT,
        (True, False): types.LONG,
        (True, True): types.ULONG,
    }
    low, _ = ctypes_lp64.limits(kind)
    if number == low and number < 0:  # -2147483648 is no int literal in C
        return f"({number + 1}{ending} - 1)", names[wide, unsigned]
    return f"{number}{ending}", names[wide, unsigned]


def integer(number: int) -> Ex:
    return literal(ctypes_lp64.plain(number))


def call(name: Piece, arguments: list[Piece], result: CType, mark: Mark | None = None) -> Ex:
    """A C call; a result that is a C++ reference is dereferenced."""
    head: Piece = name if mark is None else (mark, name)
    text: Piece = (head, "(", joined(arguments), ")")
    if isinstance(result, types.Reference):
        return replace(dereferenced(text, result.target), moved=result.rvalue)
    return Ex(text, types.unqualified(result))


def dereferenced(address: Piece, target: CType, mark: Mark | None = None) -> Ex:
    """The object at ``address`` (an unary expression or tighter)."""
    head: Piece = "*" if mark is None else (mark, "*", Mark(mark.byte, leads=True))
    return Ex((head, address), target, UNARY, lvalue=True, address=address)


def address_of(ex: Ex) -> Piece:
    """C text for the address of an lvalue, an unary expression."""
    return ex.address if ex.address is not None else ("&", ex.at(UNARY))


def cast(ex: Ex, type_: CType, mark: Mark | None = None) -> Ex:
    """``(type)ex``; folds constants."""
    value = folded_cast(ex.value, type_)
    spelled = types.spell(types.unqualified(type_))
    head: Piece = f"({spelled})" if mark is None else (mark, f"({spelled})")
    return Ex((head, ex.at(UNARY)), types.unqualified(type_), UNARY, value, pure=ex.pure)


def folded_cast(value: Value | None, type_: CType) -> Value | None:
    kind = types.folding_type(type_)
    if value is None or kind is None:
        return None
    return ctypes_lp64.convert(value.number, kind)


def joined_arguments(pieces: list[Piece]) -> Piece:
    """C arguments."""
    return joined(pieces)
