"""Reads that an exchange of a warp's lanes orders before later writes.

``__shfl_xor_sync`` and its like are no memory barriers.  But a lane can only give away what hangs
on a value once it has read it, so no lane that was given something writes too early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coalescecheck.ir.kernel import (
    Atomic,
    If,
    Kernel,
    Load,
    Loop,
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
    placed = list(_placed(kernel))
    writes = [at for at, place in enumerate(placed) if _is(place.stmt, write)]
    reads = [at for at, place in enumerate(placed) if _is(place.stmt, read)]
    if not writes or not reads:
        return False
    first = writes[0]
    before = [at for at in reads if at < first]
    if before:
        way, ifs = placed[before[-1] + 1 : first], placed[first].ifs
    else:  # in the next iteration of a loop around both
        last = placed[reads[-1]]
        way, ifs = _rest(placed, reads[-1], placed[first]), last.ifs
    ops = [place.stmt for place in way if place.ifs <= ifs and isinstance(place.stmt, WarpOp)]
    return any(op.op != "activemask" and _hangs_on(kernel, op, read) for op in ops)


class _Place(NamedTuple):
    """A statement with the branches and the loops around it."""

    stmt: Stmt
    ifs: frozenset[int]
    loops: tuple[int, ...]


def _is(stmt: Stmt, access: int) -> bool:
    return isinstance(stmt, Load | Store | Atomic) and stmt.access == access


def _rest(placed: Sequence[_Place], at: int, write: _Place) -> list[_Place]:
    """What is left of the iteration of the innermost loop around both; nothing without one."""
    shared = [loop for loop in placed[at].loops if loop in write.loops]
    return [place for place in placed[at + 1 :] if shared and shared[-1] in place.loops]


def _placed(kernel: Kernel) -> Iterator[_Place]:
    """Every statement in source order; a loop of exchanges runs."""
    waiting = [_Place(stmt, frozenset(), ()) for stmt in reversed(kernel.body)]
    while waiting:
        place = waiting.pop()
        yield place
        stmt, ifs, loops = place
        loops = (*loops, id(stmt)) if isinstance(stmt, Loop) else loops
        for part in reversed(nested(stmt)):
            inside = ifs | {id(part)} if isinstance(stmt, If) else ifs
            waiting += [_Place(inner, inside, loops) for inner in reversed(part)]


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
