"""What has to be run of a kernel to know where it reads and writes, and when.

In: a kernel.  Out: its :class:`Course`.  Kernels compute much that only ends up in memory (sums,
hashes, images); nobody has to follow that to see the addresses.  What is stored in shared memory
counts, because two threads that store one value do not race.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.kernel import (
    Atomic,
    Barrier,
    Continue,
    Kernel,
    Leave,
    Load,
    Loop,
    Space,
    Stmt,
    Store,
    WarpOp,
    expressions,
    walk,
)
from coalescecheck.ir.mentions import mentions_in
from coalescecheck.ir.origins import origins_in
from coalescecheck.ir.slicing import Slicer, dependences_in, targets
from coalescecheck.simulate.compiled import Compiler


@dataclass(frozen=True, slots=True)
class Course:
    """The statements that run, the variables that are set, the stores and atomics whose values
    arrive in memory, and the arrays whose contents are looked at (None: any); statements by
    identity (``id``).  What has been compiled for one simulation serves the next."""

    statements: frozenset[int]
    variables: frozenset[str]
    stores: frozenset[int]
    read: frozenset[str] | None
    compiler: Compiler = field(default_factory=Compiler)


def course_of(kernel: Kernel) -> Course:
    """The course of all threads and their addresses."""
    writers = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Store | Atomic)]
    loads = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Load | Atomic)]
    origins, mentions = origins_in(kernel), mentions_in(kernel)
    slicer = Slicer(dependences_in(kernel), _reads, _is_seen)
    shared = frozenset(n for n, a in kernel.arrays.items() if a.space is Space.SHARED)
    reached = {id(stmt): origins.of(stmt.address) for stmt in writers}
    stores: dict[int, Store | Atomic] = {}
    read: frozenset[str] | None = shared
    while True:
        new = [s for s in writers if id(s) not in stores and _meet(reached[id(s)], read)]
        stores |= {id(stmt): stmt for stmt in new}
        values = [expr for stmt in stores.values() for expr in expressions(stmt)[1:]]
        names = {name for expr in values for name in mentions.of(expr).variables}
        found = slicer.all(names)
        needed = [s.address for s in loads if not found.variables.isdisjoint(targets(s))]
        arrays = origins.of_all(needed)
        read = None if arrays is None else arrays | shared
        if not any(id(s) not in stores and _meet(reached[id(s)], read) for s in writers):
            return Course(found.statements, found.variables, frozenset(stores), read)


def _meet(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    return one is None or other is None or not one.isdisjoint(other)


def _reads(stmt: Stmt) -> tuple[Expr, ...]:
    """What has to be known to run it, whatever it stores."""
    return expressions(stmt)[:1] if isinstance(stmt, Store | Atomic) else expressions(stmt)


def _is_seen(stmt: Stmt) -> bool:
    """Whether it runs in any case: accesses, what orders them, and what may never end."""
    if isinstance(stmt, WarpOp):
        return stmt.op.startswith("block_")
    return isinstance(stmt, Load | Store | Atomic | Barrier | Loop | Leave | Continue)
