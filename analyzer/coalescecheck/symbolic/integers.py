"""CUDA's integer functions of forms: bit counts, wide products, funnel shifts, bytes.

In: a call and the forms of its arguments.  Out: the form of its value, or None and bounds.  The
meanings are those of the CUDA Math API, "Integer Intrinsics" and "Type Casting Intrinsics".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coalescecheck.ir import types
from coalescecheck.ir.expr import Call
from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ZERO, Bounds, Context, Form, number
from coalescecheck.symbolic.wrapping import wrap

_OF_BITS: dict[str, Bounds] = {  # of 32 bits
    "popc": (0, 32),
    "clz": (0, 32),
    "ffs": (0, 32),
    "brev": (0, (1 << 32) - 1),
}
_WORD = 1 << 32
_EVALUATED = 1 << 62  # products below it are evaluated in 64 bits

Operate = Callable[[str, Form, Form, ScalarType], Form]
Settle = Callable[[Form, ScalarType], Form]


@dataclass(frozen=True, slots=True)
class Integers:
    """``integer`` applies an operator of C, ``settle`` reduces a value to its type, ``cut`` is told
    what is taken to fit into fewer bits."""

    ctx: Context
    integer: Operate
    settle: Settle
    cut: Callable[[Form, int], None]

    def call(self, expr: Call, args: Sequence[Form]) -> Form | None:
        """The value of a call; None where it has no form."""
        name = expr.function
        if name in _OF_BITS:
            return self._of_bits(expr, args[0])
        if name == "abs" and expr.type.is_integer:
            return self._absolute(args[0])
        if name == "mul24":
            one, two = (self._of_24_bits(arg, expr.type) for arg in args)
            return op.multiply(self.ctx, one, two, expr.type)
        if name in ("mulhi", "umulhi"):
            return self._high_product(expr, args)
        if name.startswith("funnelshift_") and args[2].is_constant:
            return self._funnel_shift(name.removeprefix("funnelshift_"), args)
        if name == "byte_perm" and args[2].is_constant:
            return self._bytes(args)
        return None

    def bounds(self, expr: Call, args: Sequence[Form]) -> Bounds | None:
        """The bounds of a value that has no form; None where only its type bounds it."""
        if expr.function in ("popc", "clz", "ffs"):
            return 0, expr.args[0].type.bits
        if expr.function in ("mulhi", "umulhi"):
            within = self._product_bounds(self._settled(expr, args))
            return within and (within[0] >> expr.type.bits, within[1] >> expr.type.bits)
        return None

    def _settled(self, expr: Call, args: Sequence[Form]) -> list[Form]:
        return [self.settle(a, each.type) for a, each in zip(args, expr.args, strict=True)]

    def _of_bits(self, expr: Call, arg: Form) -> Form | None:
        name, bits = expr.function, expr.args[0].type.bits
        if arg.is_constant:
            return _held(_counted(name, arg.constant % (1 << bits), bits), bits)
        if bits > 32:
            low, high = self.ctx.bounds(arg)
            if low is None or high is None or low < 0 or high >= _WORD or name == "brev":
                return None
        found = self.ctx.atom(name, (arg,), _OF_BITS[name])
        return found + number(bits - 32) if name == "clz" else found

    def _absolute(self, arg: Form) -> Form:
        low = self.ctx.bounds(arg)[0]
        if arg.is_constant:
            return number(abs(arg.constant))
        return arg if low is not None and low >= 0 else self.ctx.atom("abs", (arg,), (0, None))

    def _of_24_bits(self, arg: Form, type_: ScalarType) -> Form:
        """The lowest 24 bits, of which the first is the sign of an ``int``; what has no bounds is
        taken to fit."""
        most = 24 if type_.kind == "uint" else 23
        low, high = self.ctx.bounds(arg)
        least = 0 if type_.kind == "uint" else -(1 << most)
        below, above = low is not None and low < least, high is not None and high >= 1 << most
        if below or above:
            return wrap(self.ctx, arg, ScalarType("24", type_.kind, 3))
        self.cut(arg, most)
        return arg

    def _high_product(self, expr: Call, args: Sequence[Form]) -> Form | None:
        one, two = self._settled(expr, args)
        bits = expr.type.bits
        if one.is_constant and two.is_constant:
            values = [form.constant for form in (one, two)]
            if expr.type.kind == "uint":
                values = [value % (1 << bits) for value in values]
            return _held(values[0] * values[1] >> bits, bits)
        within = self._product_bounds((one, two))
        if within is None or max(abs(end) for end in within) >= _EVALUATED:
            return None
        if expr.type.kind == "uint" and min(min(self._low(f) for f in (one, two)), 0) < 0:
            return None  # held modulo 2**64
        if bits == 64:
            return -op.less(self.ctx, one * two, ZERO)
        return op.floor_divide(self.ctx, one * two, 1 << bits)

    def _low(self, form: Form) -> int:
        return self.ctx.bounds(form)[0] or 0

    def _product_bounds(self, factors: Sequence[Form]) -> tuple[int, int] | None:
        (a, b), (c, d) = (self.ctx.bounds(factor) for factor in factors)
        if a is None or b is None or c is None or d is None:
            return None
        corners = (a * c, a * d, b * c, b * d)
        return min(corners), max(corners)

    def _funnel_shift(self, way: str, args: Sequence[Form]) -> Form:
        """Two words that are shifted together, by a known number of bits."""
        low, high, shift = args[0], args[1], args[2].constant % _WORD
        by = min(shift, 32) if way.endswith("c") else shift % 32
        if way.startswith("r"):
            by = 32 - by  # of the two words the same bits as shifted to the left by so many
        if by in (0, 32):
            return high if by == 0 else low
        upper = self.integer("<<", high, number(by), types.U32)
        lower = self.integer(">>", low, number(32 - by), types.U32)
        return self.integer("|", upper, lower, types.U32)

    def _bytes(self, args: Sequence[Form]) -> Form | None:
        """Four of eight bytes; a selector of more than 3 bits may copy a sign."""
        selector = args[2].constant
        if selector & 0x8888:
            return None
        words = [self.settle(arg, types.U32) for arg in args[:2]]
        chosen = [selector >> 4 * k & 7 for k in range(4)]
        result, k = ZERO, 0
        while k < 4:
            first, length = chosen[k], 1
            while k + length < 4 and chosen[k + length] == first + length and (first + length) % 4:
                length += 1  # neighbours of one word
            part = op.floor_divide(self.ctx, words[first // 4], 1 << 8 * (first % 4))
            if first % 4 + length < 4:
                part = op.floor_remainder(self.ctx, part, 1 << 8 * length)
            result = result + part.scaled(1 << 8 * k)
            k += length
        return result


def _counted(name: str, pattern: int, bits: int) -> int:
    """The value of a function of bits for these."""
    match name:
        case "popc":
            return pattern.bit_count()
        case "clz":
            return bits - pattern.bit_length()
        case "ffs":
            return (pattern & -pattern).bit_length()
    return int(f"{pattern:0{bits}b}"[::-1], 2)


def _held(value: int, bits: int) -> Form:
    """A constant as forms have it: in 64 bits modulo 2**64, as other constants are."""
    return number(value - (1 << 64) if bits == 64 and value >= 1 << 63 else value)
