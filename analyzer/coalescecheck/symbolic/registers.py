"""Which per-thread arrays can live in registers.

In: where accesses point.  A register has no address, so an array with one index that is no
constant after unrolling is in local memory, for all its accesses.  Reading one of several
variables, ``c ? a : b``, selects a value and needs no address (seen in PTX of nvcc 13), unlike
the elements of arrays and stores.  The fragments of wmma are registers by definition: their
number of elements is a constant of the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.ir.kernel import Kernel, Op, Space
from coalescecheck.symbolic.form import Context, Symbol
from coalescecheck.symbolic.reach import Reach


class Registers:
    """Tells for one kernel which accesses of per-thread arrays are memory accesses."""

    def __init__(self, ctx: Context, kernel: Kernel, reaches: Iterable[Reach]) -> None:
        self._ctx = ctx
        self._compiled = frozenset(p.name for p in kernel.params if p.compiled)
        arrays = [a for a in kernel.arrays.values() if a.space is Space.LOCAL]
        self._fragments = frozenset(a.name for a in arrays if a.element.startswith("wmma"))
        private = {a.name for a in arrays} - self._fragments
        self._variables = frozenset(a.name for a in arrays if not a.dims)
        self._loads = {a.id for a in kernel.accesses if a.op is Op.LOAD}
        self._spilled: set[str] = set()
        for reach in reaches if private else ():
            names = self._bases(reach)
            if names & private and self.is_dynamic([reach]):
                self._spilled |= names

    def hold(self, reaches: Iterable[Reach]) -> bool:
        """Whether the accessed array is in registers: not where that depends on a constant of
        the compiler that is not given, such as a template argument."""
        for reach in reaches:
            if self._bases(reach) <= self._fragments:
                continue
            for _, symbol in self._ctx.symbols(reach.address):
                counts = symbol.kind == "counter" and symbol.high is not None
                in_memory = symbol.name in self._spilled
                counts = counts or self._chooses(reach)
                if in_memory if symbol.kind == "base" else not counts:
                    return False
        return True

    def undecided(self, reaches: Iterable[Reach]) -> tuple[Symbol, ...]:
        """The constants of the compiler that are not given and decide between registers and
        memory; none where the array is certainly in memory."""
        reaches = list(reaches)
        if any(self._bases(reach) & self._spilled for reach in reaches):
            return ()
        forms = [reach.address for reach in reaches]
        forms += [form for reach in reaches for info in reach.loops for form in info.entry]
        found = {s.name: s for form in forms for _, s in self._ctx.symbols(form)}
        return tuple(found[name] for name in sorted(found.keys() & self._compiled))

    def _bases(self, reach: Reach) -> frozenset[str]:
        return self._ctx.bases(reach.address)

    def is_dynamic(self, reaches: Iterable[Reach]) -> bool:
        """Whether an index is certainly no constant when compiled."""
        return any(
            not self._is_constant(reach, g, symbol)
            for reach in reaches
            if not self._chooses(reach)
            for g, symbol in self._ctx.symbols(reach.address)
            if symbol.kind != "base"
        )

    def _chooses(self, reach: Reach) -> bool:
        """Whether a load reads one place of one of several variables: ``c*(&a - &b) + &b + 4``."""
        places = [monomial for monomial in reach.address.terms if monomial]
        return (
            reach.access in self._loads
            and self._bases(reach) <= self._variables
            and all(any(self._is_base(g) for g in monomial) for monomial in places)
        )

    def _is_base(self, g: int) -> bool:
        symbol = self._ctx.generators[g]
        return isinstance(symbol, Symbol) and symbol.kind == "base"

    def _is_constant(self, reach: Reach, g: int, symbol: Symbol) -> bool:
        """Whether a symbol is a number the compiler knows, or may be for all that is known."""
        if symbol.kind == "param":
            return symbol.name in self._compiled
        if symbol.kind != "counter" or symbol.high is not None:
            return symbol.kind == "counter"
        entries = [form for info in reach.loops if info.counter == g for form in info.entry]
        ends = {s.name for form in entries for _, s in self._ctx.symbols(form)}
        return bool(ends & self._compiled)
