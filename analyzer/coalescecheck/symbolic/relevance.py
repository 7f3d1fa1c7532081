"""Which values of a kernel decide where it reads and writes, and when.

In: a kernel.  Out: the variables that some address or condition depends on, however indirectly,
and the stores whose values may come back as such a variable.  Kernels compute much that only
ends up in memory (hashes, sums, images); nobody has to follow that to count sectors.  Control
flow is not regarded, so what is said to matter may matter less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    If,
    Kernel,
    Load,
    Loop,
    Space,
    Stmt,
    Store,
    WarpOp,
    walk,
)
from coalescecheck.ir.mentions import mentions_in
from coalescecheck.ir.origins import origins_in


class Relevance:
    """Tells for one kernel what has to be followed."""

    def __init__(self, kernel: Kernel) -> None:
        self._private = {n for n, a in kernel.arrays.items() if a.space is Space.LOCAL}
        self._sources: dict[str, list[Expr]] = {}  # what each variable is computed from
        self._loads: dict[str, list[Load]] = {}  # those that each variable is read by
        self._stores: list[Store] = []
        self._waiting: list[str] = []
        self._needed: set[str] = set()
        roots: list[Expr] = []
        for stmt in walk(kernel.body):
            roots += self._noted(stmt)
        self._origins, self._mentions = origins_in(kernel), mentions_in(kernel)
        self._need(roots)
        self._read: set[str] = set()  # arrays whose contents matter
        self._followed: set[int] = set()
        self._settle()

    def variable(self, name: str) -> bool:
        """Whether some address or condition depends on this variable."""
        return name in self._needed

    def contents(self, store: Store) -> bool:
        """Whether a needed variable may be read from where this store writes to."""
        return id(store) in self._followed

    def may_be_private(self, address: Expr) -> bool:
        """Whether an address may lie in a per-thread array."""
        return bool(self.reached(address))

    def reached(self, address: Expr) -> set[str]:
        """The per-thread arrays that an address may lie in: all, unless its origin is known."""
        if not self._private:
            return set()
        found = self._origins.of(address)
        return self._private if found is None else self._private & found

    def _noted(self, stmt: Stmt) -> Iterator[Expr]:
        """Enter what a statement sets; what matters of it in any case is returned."""
        match stmt:
            case Assign():
                self._sources.setdefault(stmt.var.name, []).append(stmt.value)
            case WarpOp():
                self._sources.setdefault(stmt.var.name, []).extend(stmt.args)
            case Load():
                yield stmt.address
                for var in (stmt.var, *(var for _, var in stmt.more)):
                    self._loads.setdefault(var.name, []).append(stmt)
            case Store():
                yield stmt.address
                self._stores.append(stmt)
            case Atomic():
                yield stmt.address
            case If() | Loop():
                yield stmt.condition

    def _need(self, exprs: Iterable[Expr]) -> None:
        for expr in exprs:
            for name in self._mentions.of(expr).variables:
                if name not in self._needed:
                    self._needed.add(name)
                    self._waiting.append(name)

    def _settle(self) -> None:
        """Go back from what is needed until nothing new is found."""
        while self._waiting:
            before = len(self._read)
            while self._waiting:
                name = self._waiting.pop()
                self._need(self._sources.get(name, ()))
                for load in self._loads.get(name, ()):
                    self._read |= self.reached(load.address)
            for store in self._stores if len(self._read) > before else ():
                if id(store) not in self._followed and self.reached(store.address) & self._read:
                    self._followed.add(id(store))
                    self._need((store.value, *(value for _, value in store.more)))
