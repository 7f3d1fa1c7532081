"""Parameters that are masks: what they let through is a part of another value's bits.

In: a kernel.  Out: names.  ``i & mask`` is the place of ``i`` in its group where ``mask`` is one
less than a power of two; any other number makes groups of threads that no program has.
"""

from __future__ import annotations

from coalescecheck.ir.constants import scalars_of
from coalescecheck.ir.expr import Binary, Cast, Const, Expr, Var, children
from coalescecheck.ir.kernel import Kernel, expressions, walk
from coalescecheck.ir.per_kernel import per_kernel


@per_kernel
def masks_of(kernel: Kernel) -> frozenset[str]:
    """The integers of a launch of which only the bits count, as one side of an ``&``."""
    scalars = {name for name, param in scalars_of(kernel).items() if param.type.is_integer}
    found: set[str] = set()
    for stmt in walk(kernel.body):
        waiting = list(expressions(stmt))
        while waiting:
            expr = waiting.pop()
            waiting += children(expr)
            if isinstance(expr, Binary) and expr.op == "&":
                found |= _masks(expr.left, expr.right) | _masks(expr.right, expr.left)
    return frozenset(found & scalars)


def _masks(mask: Expr, value: Expr) -> set[str]:
    mask, value = _bare(mask), _bare(value)
    return {mask.name} if isinstance(mask, Var) and not isinstance(value, Const) else set()


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr
