"""What holds of a kernel under every launch: found once, however often it is analysed.

A kernel is interpreted for its launch, for the samples of its verification, and again for every
change of the launch that is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import Atomic, Kernel, Load, Loop, Stmt, Store, expressions, walk
from coalescecheck.ir.mentions import mentions_in
from coalescecheck.ir.per_kernel import per_kernel
from coalescecheck.ir.slicing import Slicer, dependences_in
from coalescecheck.symbolic.liveness import Liveness
from coalescecheck.symbolic.relevance import Relevance


class Prepared:
    """The control-independent facts of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.relevant = Relevance(kernel)
        self.live = Liveness(kernel.body, self.relevant.variable, mentions_in(kernel))
        self._private = any(map(self._writes_cells, walk(kernel.body)))
        self._accesses = [s for s in walk(kernel.body) if isinstance(s, Load | Store | Atomic)]
        self._slicer = Slicer(dependences_in(kernel), self._reads, self._is_wanted)
        self._slices: dict[int, frozenset[int]] = {}
        self._written: dict[int, frozenset[str]] = {}

    def changes(self, loop: Loop, names: Iterable[str]) -> frozenset[int]:
        """The statements of a loop that decide how its variables ``names`` change, by identity."""
        known = self._slices.get(id(loop))
        if known is None:
            known = self._slices[id(loop)] = self._slicer.inside(loop, names).statements
        return known

    def written(self, loop: Loop) -> frozenset[str]:
        """The per-thread arrays of which a loop may change what is known."""
        known = self._written.get(id(loop))
        if known is None:
            stores = (s for s in walk((loop,)) if isinstance(s, Store | Atomic))
            known = self._written[id(loop)] = frozenset(
                array
                for stmt in stores
                if isinstance(stmt, Atomic) or self._writes_cells(stmt)
                for array in self.relevant.reached(stmt.address)
            )
        return known

    def reaching(self, accesses: Collection[int]) -> frozenset[int]:
        """The statements that decide where and when these accesses are made, by identity; where
        per-thread arrays are among them, all accesses of such arrays count."""
        wanted = [stmt for stmt in self._accesses if stmt.access in accesses]
        if any(self.relevant.may_be_private(stmt.address) for stmt in wanted):
            wanted += [s for s in self._accesses if self.relevant.may_be_private(s.address)]
        return self._slicer.all(also=wanted).statements

    def _reads(self, stmt: Stmt) -> tuple[Expr, ...]:
        """What the value of a variable or the course of a thread may depend on."""
        plain = isinstance(stmt, Store | Atomic) and not self._writes_cells(stmt)
        return expressions(stmt)[:1] if plain else expressions(stmt)

    def _is_wanted(self, stmt: Stmt) -> bool:
        """Whether it may change what is known of the cells of per-thread arrays."""
        return self._writes_cells(stmt) or (self._private and isinstance(stmt, Atomic))

    def _writes_cells(self, stmt: Stmt) -> bool:
        return isinstance(stmt, Store) and self.relevant.contents(stmt)


@per_kernel
def prepared(kernel: Kernel) -> Prepared:
    """The facts of ``kernel``."""
    return Prepared(kernel)
