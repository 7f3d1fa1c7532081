"""Evaluates forms over NumPy arrays: the values of symbols in, the form's values out.

Everything a form can contain is computable once its symbols have values; C's truncating
division is spelled out because NumPy's floors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalescecheck.symbolic.form import Atom, Context, Form, Symbol

Values = NDArray[np.int64]


class Evaluator:
    """Evaluates forms of one context for one assignment of symbols.

    ``values`` maps symbol ids to arrays that broadcast against each other.  Results of atoms
    are kept, so forms that share parts are cheap.
    """

    def __init__(self, context: Context, values: Mapping[int, Values]) -> None:
        self._context = context
        self._known: dict[int, Values] = dict(values)

    @property
    def work(self) -> int:
        """How many generators have been evaluated so far, or were given."""
        return len(self._known)

    def form(self, form: Form) -> Values:
        """The value of ``form``; KeyError if a symbol has no value."""
        total: Values = np.asarray(_in_64_bits(form.constant), dtype=np.int64)
        for monomial, coefficient in form.terms.items():
            if monomial:
                product = self.generator(monomial[0])
                for g in monomial[1:]:
                    product = product * self.generator(g)
                factor = _in_64_bits(coefficient)
                total = total + (product if factor == 1 else product * factor)
        return total

    def generator(self, g: int) -> Values:
        """The value of one generator."""
        known = self._known.get(g)
        if known is None:
            generator = self._context.generators[g]
            if isinstance(generator, Symbol):
                raise KeyError(generator.name)
            known = self._known[g] = self._atom(generator)
        return known

    def _atom(self, atom: Atom) -> Values:
        args = [self.form(arg) for arg in atom.args]
        match atom.op:
            case "all" | "any":
                combine = np.logical_and if atom.op == "all" else np.logical_or
                result: Values = combine.reduce(np.broadcast_arrays(*args)).astype(np.int64)
                return result
            case "wrap":
                return _wrapped(args[0], *atom.data)
            case "table":
                table = np.asarray(atom.data, dtype=np.int64)
                entry: Values = table[np.clip(args[0], 0, len(table) - 1)]
                return entry
        if len(args) == 1:
            return _UNARY[atom.op](args[0]).astype(np.int64)
        return _BINARY[atom.op](args[0], args[1])


def _in_64_bits(value: int) -> int:
    """The integer as NumPy's int64 holds it: modulo 2**64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _wrapped(value: Values, bits: int, signed: int) -> Values:
    value = value & ((1 << bits) - 1)
    return np.where(value >> (bits - 1), value - (1 << bits), value) if signed else value


def _truncated_quotient(left: Values, right: Values) -> Values:
    safe = np.where(right == 0, 1, right)
    quotient = np.abs(left) // np.abs(safe)
    return np.where((left < 0) == (safe < 0), quotient, -quotient)


def _truncated_remainder(left: Values, right: Values) -> Values:
    safe = np.where(right == 0, 1, right)
    return left - _truncated_quotient(left, safe) * safe


def _bit_length(value: Values) -> Values:
    """Position of the highest set bit, counted from 1; 0 for 0 (32-bit values)."""
    return np.ceil(np.log2((value & 0xFFFFFFFF).astype(np.float64) + 1)).astype(np.int64)


_BINARY: dict[str, Callable[[Values, Values], Values]] = {
    "fdiv": lambda a, b: a // np.where(b == 0, 1, b),
    "fmod": lambda a, b: a % np.where(b == 0, 1, b),
    "cdiv": _truncated_quotient,
    "cmod": _truncated_remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": lambda a, b: np.left_shift(a, np.clip(b, 0, 62)),
    "shr": lambda a, b: np.right_shift(a, np.clip(b, 0, 62)),
    "min": np.minimum,
    "max": np.maximum,
}

_UNARY: dict[str, Callable[[Values], NDArray[Any]]] = {
    "lt0": lambda a: a < 0,
    "eq0": lambda a: a == 0,
    "abs": np.abs,
    "popc": lambda a: np.bitwise_count(a & 0xFFFFFFFF),
    "clz": lambda a: 32 - _bit_length(a),
    "ffs": lambda a: _bit_length(a & -a),
}
