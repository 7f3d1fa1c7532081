"""How a kernel uses the indices of its threads.

In: a kernel.  Out: whether its work depends only on positions in the whole grid, whether the lanes
of a warp communicate.
"""

from __future__ import annotations

from coalescecheck.advice.rewriting import substituted
from coalescecheck.ir.expr import Binary, Builtin, Cast, Expr, Var, builtins_of, children
from coalescecheck.ir.kernel import (
    Assign,
    Barrier,
    Kernel,
    Space,
    WarpOp,
    expressions,
    walk,
)

AXES = ("x", "y")
FAMILY = frozenset(
    f"{name}.{axis}" for name in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in AXES
)
WARP_KINDS = ("ldmatrix", "wmma")


def builtins_used(kernel: Kernel) -> set[str]:
    """Names of the CUDA variables that the kernel reads."""
    return {name for s in walk(kernel.body) for e in expressions(s) for name in builtins_of(e)}


def is_of_warps(kernel: Kernel) -> bool:
    """Whether it matters to the kernel which threads form a warp."""
    if builtins_used(kernel) & {"laneid", "warpid"}:
        return True
    if any(access.kind in WARP_KINDS for access in kernel.accesses):
        return True
    return any(
        isinstance(s, WarpOp) or (isinstance(s, Barrier) and s.scope == "warp")
        for s in walk(kernel.body)
    )


def is_positional(kernel: Kernel) -> bool:
    """Whether every thread's work depends only on ``blockIdx.x * blockDim.x + threadIdx.x`` and
    its like for y: then blocks may have any shape that covers the same positions."""
    if any(array.space is Space.SHARED for array in kernel.arrays.values()):
        return False
    if is_of_warps(kernel) or any(isinstance(s, Barrier) for s in walk(kernel.body)):
        return False
    known = _shorthands(kernel)

    def expanded(leaf: Expr) -> Expr:
        return known.get(leaf.name, leaf) if isinstance(leaf, Var) else leaf

    return all(
        _is_positional(substituted(expr, expanded))
        for stmt in walk(kernel.body)
        if not (isinstance(stmt, Assign) and stmt.var.name in known)
        for expr in expressions(stmt)
    )


def _shorthands(kernel: Kernel) -> dict[str, Expr]:
    """Variables that only ever hold an expression of builtins: ``int tx = threadIdx.x``."""
    values: dict[str, list[Expr]] = {}
    for stmt in walk(kernel.body):
        if isinstance(stmt, Assign):
            values.setdefault(stmt.var.name, []).append(stmt.value)
    return {
        name: found[0]
        for name, found in values.items()
        if len(found) == 1 and builtins_of(found[0]) and not _variables(found[0])
    }


def _variables(expr: Expr) -> bool:
    return isinstance(expr, Var) or any(map(_variables, children(expr)))


def _is_positional(expr: Expr) -> bool:
    if isinstance(expr, Builtin):
        return expr.name not in FAMILY
    if isinstance(expr, Cast):
        return _is_positional(expr.operand)
    if isinstance(expr, Binary) and expr.op in ("+", "*"):
        return _is_product(expr, "gridDim") or all(map(_is_positional, _left_over(expr)))
    return all(map(_is_positional, children(expr)))


def _left_over(expr: Binary) -> list[Expr]:
    """The terms of a sum without those that are a position, the factors of a product."""
    if expr.op == "*":
        return [expr.left, expr.right]
    terms = _terms(expr)
    for axis in AXES:
        starts = [t for t in terms if _is_product(t, "blockIdx", axis)]
        own = [t for t in terms if _is_builtin(t, f"threadIdx.{axis}")]
        if len(starts) == len(own) == 1:
            terms = [t for t in terms if t is not starts[0] and t is not own[0]]
    return terms


def _terms(expr: Expr) -> list[Expr]:
    bare = _bare(expr)
    if isinstance(bare, Binary) and bare.op == "+":
        return _terms(bare.left) + _terms(bare.right)
    return [bare]


def _is_product(expr: Expr, name: str, axis: str = "") -> bool:
    """Whether this is ``blockIdx.x * blockDim.x`` or ``gridDim.x * blockDim.x``."""
    if not isinstance(expr, Binary) or expr.op != "*":
        return False
    left, right = _bare(expr.left), _bare(expr.right)
    names = {side.name for side in (left, right) if isinstance(side, Builtin)}
    return any(names == {f"{name}.{a}", f"blockDim.{a}"} for a in ([axis] if axis else AXES))


def _is_builtin(expr: Expr, name: str) -> bool:
    return isinstance(expr, Builtin) and expr.name == name


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Cast):
        expr = expr.operand
    return expr
