"""What can only be said when the whole kernel is known.

In: the context and the lowered body.  Out: the final accesses and body.  Every pointer variable
is traced to the arrays it may be based on (without regard to control flow); from that follow
which accesses reinterpret an array as a wider type, and which loads read memory that an unknown
function may have written.  Atomics whose old value only ever goes into unused variables (a
wrapper's result) are reductions, as the compiler makes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from coalescecheck.ir.expr import ArrayBase, Expr, Select, Var
from coalescecheck.ir.kernel import (
    Access,
    Assign,
    Atomic,
    If,
    Load,
    Loop,
    Scope,
    Space,
    Stmt,
    Store,
    expressions,
    walk,
)
from coalescecheck.ir.mentions import mentioned
from coalescecheck.ir.types import PTR
from coalescecheck.lower import arith
from coalescecheck.lower.context import Context


def finish(cx: Context, body: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], tuple[Access, ...]]:
    """The body and accesses of the kernel, with what whole-kernel knowledge adds."""
    bases = bases_of(body)
    reached: dict[int, frozenset[str]] = {}
    for stmt in walk(body):
        if isinstance(stmt, Load | Store | Atomic):
            reached[stmt.access] = bases.of(stmt.address)
    unused = _unused_atomics(body)
    accesses = tuple(
        replace(access, kind="red") if access.id in unused else _widened(cx, access, reached)
        for access in cx.accesses
    )
    poisoned = set(cx.poisoned | bases.of_all(cx.poisoned_vars))
    handed = frozenset(cx.handed | bases.of_all(cx.handed_vars))
    poisoned |= _kept_in(body, handed, bases, reached)
    if poisoned:
        body = _poison(cx, body, poisoned, reached)
    return body, accesses


def bases_of(body: tuple[Stmt, ...]) -> Bases:
    """What the pointer variables of a body may point to."""
    bases = Bases()
    for stmt in walk(body):
        if isinstance(stmt, Assign) and stmt.var.type == PTR:
            bases.assigned.setdefault(stmt.var.name, []).append(stmt.value)
    return bases


@dataclass(slots=True)
class Bases:
    """The arrays that pointers may be based on."""

    assigned: dict[str, list[Expr]] = field(default_factory=dict)
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def of(self, address: Expr) -> frozenset[str]:
        """Names of the arrays that ``address`` may be an offset from."""
        match address:
            case ArrayBase():
                return frozenset((address.array,))
            case Select():
                return self.of(address.then) | self.of(address.otherwise)
            case Var():
                return self._of_variable(address.name)
        base = arith.root(address)
        return self.of(base) if base is not address else frozenset()

    def of_all(self, variables: Iterable[str]) -> frozenset[str]:
        """Those that some of the variables may be based on."""
        return frozenset().union(*map(self._of_variable, variables))

    def _of_variable(self, name: str) -> frozenset[str]:
        if name not in self.known:
            self.known[name] = frozenset()  # a cycle adds nothing
            found = [self.of(value) for value in self.assigned.get(name, [])]
            self.known[name] = frozenset().union(*found)
        return self.known[name]


def _kept_in(
    body: tuple[Stmt, ...],
    arrays: frozenset[str],
    bases: Bases,
    reached: dict[int, frozenset[str]],
) -> frozenset[str]:
    """The arrays whose addresses are stored in ``arrays``, or in arrays that are found so."""
    stores = [stmt for stmt in walk(body) if isinstance(stmt, Store)] if arrays else []
    found: frozenset[str] = frozenset()
    while True:
        more = found
        for stmt in stores:
            if reached[stmt.access] & (arrays | found):
                values = (stmt.value, *(value for _, value in stmt.more))
                more |= frozenset().union(*(bases.of(v) for v in values if v.type == PTR))
        if more == found:
            return found
        found = more


def _unused_atomics(body: tuple[Stmt, ...]) -> set[int]:
    """Ids of atomics whose result is dead: nothing but dead assignments reads it."""
    results = {
        stmt.var.name: stmt.access
        for stmt in walk(body)
        if isinstance(stmt, Atomic) and stmt.var is not None
    }
    if not results:
        return set()
    live: set[str] = set()
    feeds: dict[str, set[str]] = {}
    for stmt in walk(body):
        if isinstance(stmt, Assign):
            feeds.setdefault(stmt.var.name, set()).update(mentioned(stmt.value).variables)
        else:
            for expr in expressions(stmt):
                live |= mentioned(expr).variables
    waiting = list(live)
    while waiting:
        for name in feeds.pop(waiting.pop(), ()):
            if name not in live:
                live.add(name)
                waiting.append(name)
    return {access for name, access in results.items() if name not in live}


def _widened(cx: Context, access: Access, reached: dict[int, frozenset[str]]) -> Access:
    """``kind="vector"`` where the array's type guarantees less alignment than is needed."""
    if access.kind != "plain":
        return access
    needed = cx.access_align[access.id]
    for name in reached.get(access.id, frozenset()):
        array = cx.arrays[name]
        is_buffer = array.element in ("void", "char", "unsigned char", "signed char")
        if array.space == Space.SHARED and is_buffer and array.align >= needed:
            continue  # extern __shared__ char smem[]: raw memory, aligned on purpose
        if array.element != "void" and cx.array_align[name] < needed:
            return replace(access, kind="vector")
    return access


def _poison(
    cx: Context,
    body: tuple[Stmt, ...],
    poisoned: set[str],
    reached: dict[int, frozenset[str]],
) -> tuple[Stmt, ...]:
    """Loads from memory that an unknown function may have written give unknown values."""
    result: list[Stmt] = []
    for stmt in body:
        match stmt:
            case If():
                then = _poison(cx, stmt.then, poisoned, reached)
                otherwise = _poison(cx, stmt.otherwise, poisoned, reached)
                result.append(replace(stmt, then=then, otherwise=otherwise))
            case Loop():
                test = _poison(cx, stmt.test, poisoned, reached)
                inner = _poison(cx, stmt.body, poisoned, reached)
                step = _poison(cx, stmt.step, poisoned, reached)
                result.append(replace(stmt, test=test, body=inner, step=step))
            case Scope():
                result.append(replace(stmt, body=_poison(cx, stmt.body, poisoned, reached)))
            case Load() if reached[stmt.access] & poisoned:
                result.append(stmt)
                for var in (stmt.var, *(var for _, var in stmt.more)):
                    reason = "an unknown function may have written it"
                    result.append(Assign(var, cx.undefined(var.name, reason, var.type)))
            case _:
                result.append(stmt)
    return tuple(result)
