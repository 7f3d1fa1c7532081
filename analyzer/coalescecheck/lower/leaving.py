"""Removes jumps to the end of a scope where plain branches say the same.

In: the statements of a function body whose ``return`` became ``Leave(label)``.  Out: the same
with as few jumps as possible: ``if (c) return a; return b;`` becomes an if with an else, which
an analysis can join to one selected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.ir.kernel import If, Leave, Loop, Scope, Stmt, nested


def without_scope(
    label: str, body: Sequence[Stmt], returns: int, *, has_barrier: bool
) -> list[Stmt]:
    """``body`` as a Scope, or bare where no jump to its end is left; ``returns`` is the number
    of jumps in it.  A barrier stays where it is, outside of new branches."""
    if returns == 0:
        return list(body)
    if returns == 1 and body[-1:] == [Leave(label)]:
        return list(body[:-1])
    if not has_barrier:
        branched = _branched(label, body)
        if not any(_jumps(label, stmt) for stmt in branched):
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


def _branched(label: str, body: Sequence[Stmt]) -> list[Stmt]:
    """What follows an if of which one side always leaves belongs to the other side."""
    result: list[Stmt] = []
    for at, stmt in enumerate(body):
        if isinstance(stmt, Leave) and stmt.label == label:
            return result  # the rest is dead
        if isinstance(stmt, If) and _jumps(label, stmt):
            rest = body[at + 1 :]
            then, otherwise = list(stmt.then), list(stmt.otherwise)
            if _always_leaves(label, then):
                otherwise += rest
            elif _always_leaves(label, otherwise):
                then += rest
            else:
                return [*result, *body[at:]]
            sides = tuple(_branched(label, then)), tuple(_branched(label, otherwise))
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


def _jumps(label: str, stmt: Stmt) -> bool:
    if isinstance(stmt, Leave):
        return stmt.label == label
    if isinstance(stmt, If | Loop | Scope):  # few statements are: the others cost one look
        for block in nested(stmt):
            for inner in block:
                if _jumps(label, inner):
                    return True
    return False
