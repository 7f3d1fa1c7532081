"""What the values of a kernel hang on: its parameters and CUDA's variables.

In: a kernel; later expressions of it.  Out: names.  What is read from memory has no name here, and
of control flow only the conditions count that decide how far a loop's counters go.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.ir.expr import Binary, Builtin, Const, Expr, Var, children
from coalescecheck.ir.kernel import Assign, Kernel, Loop, walk
from coalescecheck.ir.mentions import mentioned
from coalescecheck.ir.per_kernel import per_kernel
from coalescecheck.ir.slicing import targets

LIMITED = ("%", "&")  # their right side limits what comes out, whatever the left one is


class Sources:
    """Answers for one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._set: dict[str, list[Expr]] = {}
        self._params = {param.name for param in kernel.params}
        for stmt in walk(kernel.body):
            if isinstance(stmt, Assign):
                self._set.setdefault(stmt.var.name, []).append(stmt.value)
            if isinstance(stmt, Loop):
                for name in _counters(stmt):
                    self._set.setdefault(name, []).append(stmt.condition)

    def of(self, exprs: Iterable[Expr], *, limited: bool = False) -> set[str]:
        """All names behind the expressions; ``limited``: without those that only choose among
        values that a constant limits, as in ``i % 32``."""
        found: set[str] = set()
        waiting = list(exprs)
        seen: set[str] = set()
        while waiting:
            expr = waiting.pop()
            match expr:
                case Builtin():
                    found.add(expr.name)
                case Var() if expr.name not in seen:
                    seen.add(expr.name)
                    found |= {expr.name} & self._params
                    waiting += self._set.get(expr.name, ())
                case Binary(op=op, right=Const()) if limited and op in LIMITED:
                    continue
                case _:
                    waiting += children(expr)
        return found


def _counters(loop: Loop) -> set[str]:
    """The variables of which the condition decides how far they go."""
    changed = {name for stmt in walk((*loop.body, *loop.step)) for name in targets(stmt)}
    return changed & mentioned(loop.condition).variables


@per_kernel
def sources_in(kernel: Kernel) -> Sources:
    """The sources of the values of ``kernel``."""
    return Sources(kernel)
