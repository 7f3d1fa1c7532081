"""Addresses as an array plus a sum of terms, and what divides a value.

In: IR expressions of one kernel.  Out: ``Offset``s and divisors.  Nothing here is a guess: what
does not have the form that is asked for is None, and has the divisor 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from coalescecheck.ir.expr import (
    ArrayBase,
    Binary,
    Builtin,
    Cast,
    Const,
    Expr,
    Select,
    Var,
)
from coalescecheck.ir.kernel import Assign, Atomic, Kernel, Load, Stmt, WarpOp, nested
from coalescecheck.ir.mentions import mentioned
from coalescecheck.ir.types import PTR
from coalescecheck.launch import Launch

MAX_STEPS = 300  # expressions looked at for one answer


@dataclass(frozen=True, slots=True)
class Offset:
    """``array + constant + Σ factor * term`` in bytes, each term once."""

    array: str
    constant: int
    terms: frozenset[tuple[Expr, int]]


@dataclass(frozen=True, slots=True)
class Site:
    """Where a statement stands: the lists of statements around it, outermost first, and its
    number in source order."""

    lists: tuple[int, ...]
    order: int

    def sees(self, other: Site) -> bool:
        """Whether control always comes by ``other`` on its way here, and so by its latest run:
        ``other`` stands before this in the same list or one around it."""
        return other.order < self.order and self.lists[: len(other.lists)] == other.lists


class Values:
    """What the variables of one kernel are assigned, under one launch."""

    def __init__(self, kernel: Kernel, launch: Launch, params: Mapping[str, int]) -> None:
        self._given = {p.name: _power_of_two(params.get(p.name, 1)) for p in kernel.params}
        self._sizes = _sizes(launch)
        self._assigned: dict[str, list[tuple[Expr | None, Site]]] = {}
        self._sites: dict[int, Site] = {}
        self._lists = 0
        self._steps = 0
        self._read(kernel.body, ())

    def _read(self, body: tuple[Stmt, ...], outer: tuple[int, ...]) -> None:
        self._lists += 1
        lists = (*outer, self._lists)
        for stmt in body:
            site = Site(lists, len(self._sites))
            self._sites[id(stmt)] = site
            for name, value in assignments(stmt):
                self._assigned.setdefault(name, []).append((value, site))
            for inner in nested(stmt):
                self._read(inner, lists)

    # --- offsets ------------------------------------------------------------------------------

    def offset(self, address: Expr, at: Stmt, *, through_casts: bool = False) -> Offset | None:
        """The address that the statement ``at`` uses as an offset from one array, or None.

        With ``through_casts`` the terms below a conversion count as well, which is right modulo
        the range of the narrower type.
        """
        array, constant = "", 0
        terms: Counter[Expr] = Counter()
        waiting = [(address, 1, self._sites[id(at)])]
        for _ in range(MAX_STEPS):
            if not waiting:
                break
            expr, factor, site = waiting.pop()
            match expr:
                case ArrayBase() if not array and factor == 1:
                    array = expr.array
                case Const(value=int(number)):
                    constant += factor * number
                case Binary(op="+" | "-"):
                    sign = 1 if expr.op == "+" else -1
                    waiting += [(expr.left, factor, site), (expr.right, sign * factor, site)]
                case Binary(op="*", left=left, right=Const(value=int(number))):
                    waiting.append((left, factor * number, site))
                case Binary(op="*", left=Const(value=int(number)), right=right):
                    waiting.append((right, factor * number, site))
                case Cast() if through_casts and expr.operand.type.is_integer:
                    waiting.append((expr.operand, factor, site))
                case Var() if expr.type == PTR:
                    held = self._held(expr.name, site)
                    if held is None:
                        return None
                    waiting.append((held[0], factor, held[1]))
                case _ if expr.type.is_integer:
                    terms[expr] += factor
                case _:
                    return None
        found = frozenset((term, factor) for term, factor in terms.items() if factor)
        return Offset(array, constant, found) if array and not waiting else None

    def _held(self, name: str, at: Site) -> tuple[Expr, Site] | None:
        """What a pointer variable holds at a place, if that still has the value it had then."""
        found = self._assigned.get(name, [])
        if len(found) != 1:
            return None
        value, site = found[0]
        if value is None or not at.sees(site):
            return None
        for variable in mentioned(value).variables:
            sources = self._assigned.get(variable, [])
            if len(sources) > 1 or not all(site.sees(source) for _, source in sources):
                return None
        return value, site

    # --- divisors -----------------------------------------------------------------------------

    def divisor(self, expr: Expr) -> int:
        """A power of two that divides ``expr`` whatever its variables are; 0 for zero."""
        self._steps = 0
        return self._divisor(expr, frozenset())

    def _divisor(self, expr: Expr, open_: frozenset[str]) -> int:
        """``open_`` are variables whose values this is part of: what divides everything they
        are assigned, if it divides them, divides them."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            return 1
        match expr:
            case Const(value=int(number)):
                return _power_of_two(number)
            case Binary(op="+" | "-"):
                return gcd(self._divisor(expr.left, open_), self._divisor(expr.right, open_))
            case Binary(op="*"):
                return self._divisor(expr.left, open_) * self._divisor(expr.right, open_)
            case Binary(op="<<", right=Const(value=int(number))) if 0 <= number < 64:
                return self._divisor(expr.left, open_) << number
            case Select():
                return gcd(self._divisor(expr.then, open_), self._divisor(expr.otherwise, open_))
            case Cast() if expr.operand.type.is_integer:
                return self._divisor(expr.operand, open_)
            case Builtin():
                return _power_of_two(self._sizes.get(expr.name, 1))
            case Var() if expr.type.is_integer:
                return self._of_variable(expr.name, open_)
        return 1

    def _of_variable(self, name: str, open_: frozenset[str]) -> int:
        if name in open_:
            return 0
        found = self._assigned.get(name, [])
        if name not in self._given and not found:
            return 1
        result = self._given.get(name, 0)
        for value, _ in found:
            result = gcd(result, 1 if value is None else self._divisor(value, open_ | {name}))
        return result


def assignments(stmt: Stmt) -> list[tuple[str, Expr | None]]:
    """The variables a statement sets; None for a value that comes from memory or other lanes."""
    match stmt:
        case Assign():
            return [(stmt.var.name, stmt.value)]
        case Load():
            return [(var.name, None) for var in (stmt.var, *(v for _, v in stmt.more))]
        case Atomic(var=Var() as var) | WarpOp(var=var):
            return [(var.name, None)]
    return []


def _sizes(launch: Launch) -> dict[str, int]:
    return {
        f"{name}.{axis}": getattr(size, axis)
        for name, size in (("blockDim", launch.block), ("gridDim", launch.grid))
        if size is not None
        for axis in "xyz"
    }


def _power_of_two(value: int) -> int:
    return value & -value
