"""Removes jumps to the end of a scope where plain branches say the same.

In: the statements of a function body whose ``return`` became ``Leave(label)``.  Out: the same
with as few jumps as possible: ``if (c) return a; return b;`` becomes an if with an else, which
an analysis can join to one selected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.ir.kernel import If, Leave, Loop, Scope, Stmt, nested


class Jumps:
    """Where the statements of one kernel jump to; what is inlined is looked at once, however
    many calls deep it ends up."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Stmt, frozenset[str]]] = {}  # statements kept: ids stay theirs

    def lead_to(self, label: str, stmt: Stmt) -> bool:
        """Whether something in ``stmt`` jumps to ``label``."""
        return label in self._labels(stmt)

    def _labels(self, stmt: Stmt) -> frozenset[str]:
        if isinstance(stmt, Leave):
            return frozenset((stmt.label,))
        if not isinstance(stmt, If | Loop | Scope):
            return frozenset()
        known = self._known.get(id(stmt))
        if known is None:
            found = (self._labels(inner) for block in nested(stmt) for inner in block)
            known = self._known[id(stmt)] = (stmt, frozenset().union(*found))
        return known[1]


def without_scope(
    label: str, body: Sequence[Stmt], returns: int, jumps: Jumps, *, has_barrier: bool
) -> list[Stmt]:
    """``body`` as a Scope, or bare where no jump to its end is left; ``returns`` is the number
    of jumps in it.  A barrier stays where it is, outside of new branches."""
    if returns == 0:
        return list(body)
    if returns == 1 and body[-1:] == [Leave(label)]:
        return list(body[:-1])
    if not has_barrier:
        branched = _branched(label, body, jumps)
        if not any(jumps.lead_to(label, stmt) for stmt in branched):
            return branched
    return [Scope(label, tuple(strip_last_leave(label, body)))]


def strip_last_leave(label: str, body: Sequence[Stmt]) -> list[Stmt]:
    """Drop jumps to where the flow goes anyway."""
    result = list(body)
    while result:
        last = result[-1]
        if isinstance(last, Leave) and last.label == label:
            result.pop()
            continue
        if isinstance(last, If):
            then = tuple(strip_last_leave(label, last.then))
            otherwise = tuple(strip_last_leave(label, last.otherwise))
            result[-1] = replace(last, then=then, otherwise=otherwise)
        break
    return result


def _branched(label: str, body: Sequence[Stmt], jumps: Jumps) -> list[Stmt]:
    """What follows an if of which one side always leaves belongs to the other side."""
    result: list[Stmt] = []
    for at, stmt in enumerate(body):
        if isinstance(stmt, Leave) and stmt.label == label:
            return result  # the rest is dead
        if isinstance(stmt, If) and jumps.lead_to(label, stmt):
            rest = body[at + 1 :]
            then, otherwise = list(stmt.then), list(stmt.otherwise)
            if _always_leaves(label, then):
                otherwise += rest
            elif _always_leaves(label, otherwise):
                then += rest
            else:
                return [*result, *body[at:]]
            sides = [tuple(_branched(label, side, jumps)) for side in (then, otherwise)]
            return [*result, replace(stmt, then=sides[0], otherwise=sides[1])]
        result.append(stmt)
    return result


def _always_leaves(label: str, body: Sequence[Stmt]) -> bool:
    if not body:
        return False
    match body[-1]:
        case Leave() as last:
            return last.label == label
        case If() as last:
            return _always_leaves(label, last.then) and _always_leaves(label, last.otherwise)
        case Loop() | Scope():
            return False
    return False
