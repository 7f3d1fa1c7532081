"""Reads that an exchange of a warp's lanes orders before later writes.

``__shfl_xor_sync`` and its like are no memory barriers.  But a lane can only give away what hangs
on a value once it has read it, so no lane that was given something writes too early.
"""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.ir.kernel import (
    Atomic,
    If,
    Kernel,
    Load,
    Stmt,
    Store,
    WarpOp,
    expressions,
    nested,
)
from coalescecheck.ir.slicing import dependences_in


def exchanged(kernel: Kernel, read: int, write: int) -> bool:
    """Whether on the way from one access to another, which follows it, the lanes always exchange
    what hangs on the first."""
    since: list[tuple[WarpOp, set[int]]] | None = None
    for stmt, around in _placed(kernel):
        if isinstance(stmt, WarpOp) and since is not None and stmt.op != "activemask":
            since.append((stmt, set(around)))
        elif isinstance(stmt, Load | Store | Atomic) and stmt.access == read:
            since = []
        elif isinstance(stmt, Store | Atomic) and stmt.access == write:
            ways = [op for op, way in since or () if way <= set(around)]
            return any(_hangs_on(kernel, op, read) for op in ways)
    return False


def _placed(kernel: Kernel) -> Iterator[tuple[Stmt, tuple[int, ...]]]:
    """Every statement in source order, with the branches around it; a loop of exchanges runs."""
    waiting: list[tuple[Stmt, tuple[int, ...]]] = [(stmt, ()) for stmt in reversed(kernel.body)]
    while waiting:
        stmt, around = waiting.pop()
        yield stmt, around
        for part in reversed(nested(stmt)):
            inside = (*around, id(part)) if isinstance(stmt, If) else around
            waiting += [(inner, inside) for inner in reversed(part)]


def _hangs_on(kernel: Kernel, op: WarpOp, read: int) -> bool:
    """Whether what ``op`` gives away comes from the access ``read``."""
    known = dependences_in(kernel)
    waiting: list[Stmt] = [op]
    seen: set[str] = set()
    while waiting:
        stmt = waiting.pop()
        if isinstance(stmt, Load) and stmt.access == read:
            return True
        names = {n for expr in expressions(stmt) for n in known.mentions.of(expr).variables}
        for name in names - seen:
            seen.add(name)
            waiting += [known.entries[number].stmt for number in known.setters.get(name, ())]
    return False
