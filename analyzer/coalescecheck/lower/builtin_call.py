"""One call of a CUDA built-in function, with the little helpers its handlers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.types import ScalarType
from coalescecheck.lower import arith, conversions, ctypes, places, storage
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import INT, VOID, CType, Number
from coalescecheck.lower.values import Memory, Scalar, Value


@dataclass(frozen=True, slots=True)
class Request:
    """``result`` is the prototype's result type, None without a prototype; ``used`` is False
    for a call whose value nobody looks at; ``params`` are the prototype's parameter types."""

    cx: Context
    name: str
    args: list[c_ast.Node]
    result: CType | None
    node: c_ast.FuncCall
    used: bool
    params: tuple[CType, ...] = ()

    def value(self, index: int) -> Value:
        """The value of one argument, a number as the prototype says; call it once, in order."""
        if index >= len(self.args):
            shown = self.name.partition("__")[0] or self.name  # without the suffix of its type
            raise self.cx.unsupported(self.node, f"`{shown}()` has too few arguments")
        value = self.cx.evaluate(self.cx, self.args[index])
        wanted = self.params[index] if index < len(self.params) else None
        if isinstance(wanted, Number) and isinstance(value.type, Number):
            return conversions.convert(self.cx, value, wanted, self.node)
        return value

    def values(self) -> list[Value]:
        """The values of all arguments."""
        return [self.value(index) for index in range(len(self.args))]

    def number(self, index: int, ctype: Number) -> Expr:
        """One argument converted to a number."""
        return self.as_number(self.value(index), ctype)

    def as_number(self, value: Value, ctype: Number) -> Expr:
        """A value converted to a number."""
        converted = conversions.convert(self.cx, value, ctype, self.node)
        if isinstance(converted, Scalar):
            return converted.expr
        return self.undefined(ctype.scalar, "not a number")

    def constant(self, index: int) -> int | None:
        """The value of one integer argument, None if it is not a constant."""
        value = self.value(index)
        return arith.constant_int(value.expr) if isinstance(value, Scalar) else None

    def memory(self, pointer: Value) -> Memory | None:
        """The memory a pointer points to; a variable is demoted to memory first."""
        place = places.dereference(self.cx, pointer, self.node)
        if isinstance(place, Memory):
            return place
        conversions.demote(self.cx, place)
        return None

    def undefined(self, type_: ScalarType, reason: str, *, uniform: bool = False) -> Expr:
        """A scalar that is not known, named after the function."""
        return self.cx.undefined(self.name, reason, type_, uniform)

    def unknown(self, reason: str, *, uniform: bool = False) -> Value:
        """A result of the declared type that is not known."""
        if self.result in (None, VOID):
            ctype: CType = INT
        else:
            ctype = self.result or INT
        return storage.undefined_value(self.cx, ctype, self.name, reason, uniform)

    def nothing(self) -> Value:
        """The value of a void function."""
        return Scalar(VOID, arith.zero(ctypes.INT.scalar))


Handler = Callable[[Request], Value]


def names(text: str) -> tuple[str, ...]:
    """The blank-separated names of a table's text."""
    return tuple(text.split())
