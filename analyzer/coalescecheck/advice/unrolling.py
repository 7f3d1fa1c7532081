"""Short loops with some of their iterations side by side.

A loop over a counter with constant ends, whose body is straight code, is rewritten so that one
iteration does what several did: ``for (k = 0; k < 8; k++) s += p[k]`` becomes four copies of
``s += p[k + …]`` in each of two iterations.  The copies of an access get numbers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from coalescecheck.advice.offsets import assignments
from coalescecheck.advice.rewriting import with_bodies, with_leaves
from coalescecheck.ir.expr import Binary, Const, Expr, Var
from coalescecheck.ir.kernel import Assign, Kernel, Load, Loop, Stmt, Store, expressions, walk
from coalescecheck.ir.mentions import mentioned

LONGEST = 64  # iterations
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop that makes ``trips`` iterations, in which ``counter`` goes up by ``step``."""

    loop: Loop
    counter: Var
    step: int
    trips: int


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A kernel with one loop unrolled: its new body, and for every access that was made the one it
    is a copy of."""

    kernel: Kernel
    loop: Loop
    copies: dict[int, int]


def counted_loops(kernel: Kernel) -> Iterator[Counted]:
    """The loops of straight code with a known number of iterations."""
    found: list[Counted] = []

    def look(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        for before, stmt in pairwise(stmts):
            if isinstance(before, Assign) and isinstance(stmt, Loop):
                found.extend(_counted(before, stmt))
        return stmts

    with_bodies(kernel.body, look)
    by_label = {stmt.label: stmt for stmt in walk(kernel.body) if isinstance(stmt, Loop)}
    return (replace(each, loop=by_label[each.loop.label]) for each in found)


def unrolled(kernel: Kernel, counted: Counted, times: int) -> Unrolled:
    """``times`` iterations, which have to divide all of them, in one."""
    loop, counter = counted.loop, counted.counter
    accesses = list(kernel.accesses)
    copies: dict[int, int] = {}
    own = _own_variables(loop.body)
    body: list[Stmt] = []
    for turn in range(times):
        numbers: dict[int, int] = {}
        # what is set in an iteration for itself is another variable in each, but for the last
        names = {} if turn == times - 1 else {name: f"{name}~{turn}" for name in own}
        for stmt in _moved(loop.body, counter, turn * counted.step, names):
            if turn and isinstance(stmt, Load | Store):
                number = numbers.setdefault(stmt.access, len(accesses))
                if number == len(accesses):
                    accesses.append(replace(accesses[stmt.access], id=number))
                    copies[number] = stmt.access
                stmt = replace(stmt, access=number)
            body.append(stmt)
    step = Const(counter.type, counted.step * times)
    forward = Assign(counter, Binary("+", counter, step, counter.type))
    longer = replace(loop, body=tuple(body), step=(forward,))

    def made(stmts: tuple[Stmt, ...]) -> Iterator[Stmt]:
        for stmt in stmts:
            is_it = isinstance(stmt, Loop) and stmt.label == loop.label
            yield longer if is_it else stmt

    changed = replace(kernel, accesses=tuple(accesses), body=with_bodies(kernel.body, made))
    return Unrolled(changed, longer, copies)


def _counted(before: Assign, loop: Loop) -> Iterator[Counted]:
    counter, start = before.var, before.value
    if loop.test or not loop.test_first or len(loop.step) != 1:
        return
    if not all(isinstance(stmt, Assign | Load | Store) for stmt in loop.body):
        return
    if any(name == counter.name for stmt in loop.body for name, _ in assignments(stmt)):
        return
    step = _step(loop.step[0], counter)
    test = _test(loop.condition, counter)
    if step is None or test is None or not isinstance(start, Const) or not counter.type.is_integer:
        return
    value, trips = int(start.value), 0
    while _holds(test[0], value, test[1]):
        value, trips = value + step, trips + 1
        if trips > LONGEST or not 0 <= value < 1 << 31:  # no place where it could wrap
            return
    yield Counted(loop, counter, step, trips)


def _step(stmt: Stmt, counter: Var) -> int | None:
    """By how much the counter goes up; None where it does not."""
    if not isinstance(stmt, Assign) or stmt.var != counter:
        return None
    match stmt.value:
        case Binary(op="+", left=Var(name=counter.name), right=Const(value=int(step))):
            return step if step > 0 else None
    return None


def _test(condition: Expr, counter: Var) -> tuple[str, int] | None:
    """The comparison of the counter with a number."""
    match condition:
        case Binary(op=op, left=Var(name=counter.name), right=Const(value=int(end))):
            return (op, end) if op in FLIPPED else None
        case Binary(op=op, left=Const(value=int(end)), right=Var(name=counter.name)):
            return (FLIPPED[op], end) if op in FLIPPED else None
    return None


def _holds(op: str, value: int, end: int) -> bool:
    return {
        "<": value < end,
        "<=": value <= end,
        ">": value > end,
        ">=": value >= end,
        "!=": value != end,
    }[op]


def _own_variables(body: tuple[Stmt, ...]) -> set[str]:
    """What straight code sets before it reads it."""
    seen: set[str] = set()
    own: set[str] = set()
    for stmt in body:
        for expr in expressions(stmt):
            seen |= mentioned(expr).variables
        for name, _ in assignments(stmt):
            if name not in seen:
                own.add(name)
            seen.add(name)
    return own


def _moved(body: tuple[Stmt, ...], counter: Var, by: int, names: dict[str, str]) -> Iterator[Stmt]:
    """``body`` as it is ``by`` further on, with other names for some variables."""
    there = Binary("+", counter, Const(counter.type, by), counter.type)

    def leaf(expr: Expr) -> Expr:
        if by and expr == counter:
            return there
        return _named(expr, names) if isinstance(expr, Var) else expr

    for stmt in with_leaves(body, leaf):
        match stmt:
            case Assign():
                yield replace(stmt, var=_named(stmt.var, names))
            case Load():
                more = tuple((at, _named(var, names)) for at, var in stmt.more)
                yield replace(stmt, var=_named(stmt.var, names), more=more)
            case _:
                yield stmt


def _named(var: Var, names: dict[str, str]) -> Var:
    return Var(names[var.name], var.type) if var.name in names else var
