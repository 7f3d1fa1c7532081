"""Which arrays a kernel may read: a flow-insensitive look at its pointers.

In: a kernel.  Out: the names of arrays that some load or atomic may reach, or None when a
pointer's origin cannot be told.  Only used to spare memory: stores to arrays that are never
read need not be remembered.
"""

from __future__ import annotations

from coalescecheck.ir.expr import ArrayBase, Expr, Undefined, Var, children
from coalescecheck.ir.kernel import Assign, Atomic, Kernel, Load, WarpOp, walk
from coalescecheck.ir.types import PTR


def arrays_read(kernel: Kernel) -> frozenset[str] | None:
    """Names of the arrays that the kernel may read; None for "any"."""
    sources: dict[str, list[Expr]] = {}
    addresses: list[Expr] = []
    for stmt in walk(kernel.body):
        match stmt:
            case Assign():
                sources.setdefault(stmt.var.name, []).append(stmt.value)
            case WarpOp():
                sources.setdefault(stmt.var.name, []).extend(stmt.args)
            case Load() | Atomic():
                addresses.append(stmt.address)
                if stmt.var is not None and stmt.var.type == PTR:
                    return None
    found: set[str] = set()
    seen: set[str] = set()
    pending = addresses
    while pending:
        expr = pending.pop()
        match expr:
            case ArrayBase():
                found.add(expr.array)
            case Undefined() if expr.type == PTR:
                return None
            case Var() if expr.name not in seen:
                seen.add(expr.name)
                pending.extend(sources.get(expr.name, ()))
        pending.extend(children(expr))
    return frozenset(found)
