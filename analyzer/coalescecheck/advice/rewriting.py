"""Rebuilds a kernel with some of its expressions or statements changed.

In: IR and a function.  Out: new IR; what the function leaves alone is shared with the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from coalescecheck.ir.expr import Binary, Call, Cast, Expr, Select, Unary
from coalescecheck.ir.kernel import (
    Assign,
    Atomic,
    Barrier,
    If,
    Load,
    Loop,
    Scope,
    Stmt,
    Store,
    WarpOp,
)

Body = tuple[Stmt, ...]


def with_bodies(body: Body, change: Callable[[Body], Iterable[Stmt]]) -> Body:
    """Every list of statements replaced by what ``change`` makes of it, inner ones first."""

    def inner(stmt: Stmt) -> Stmt:
        match stmt:
            case If():
                then, otherwise = (with_bodies(b, change) for b in (stmt.then, stmt.otherwise))
                return replace(stmt, then=then, otherwise=otherwise)
            case Loop():
                test, within, step = (
                    with_bodies(b, change) for b in (stmt.test, stmt.body, stmt.step)
                )
                return replace(stmt, test=test, body=within, step=step)
            case Scope():
                return replace(stmt, body=with_bodies(stmt.body, change))
        return stmt

    return tuple(change(tuple(inner(stmt) for stmt in body)))


def with_addresses(body: Body, change: Callable[[Load | Store | Atomic], Expr]) -> Body:
    """Every memory access at the address that ``change`` gives for it."""

    def one(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Load | Store | Atomic):
            return replace(stmt, address=change(stmt))
        return stmt

    return with_bodies(body, lambda stmts: map(one, stmts))


def with_leaves(body: Body, change: Callable[[Expr], Expr]) -> Body:
    """Every expression with its leaves (constants, variables, builtins …) replaced."""

    def one(stmt: Stmt) -> Stmt:
        match stmt:
            case Assign():
                return replace(stmt, value=substituted(stmt.value, change))
            case Load():
                return replace(stmt, address=substituted(stmt.address, change))
            case Store():
                more = tuple((at, substituted(value, change)) for at, value in stmt.more)
                address, value = (substituted(e, change) for e in (stmt.address, stmt.value))
                return replace(stmt, address=address, value=value, more=more)
            case Atomic():
                operands = tuple(substituted(e, change) for e in stmt.operands)
                return replace(stmt, address=substituted(stmt.address, change), operands=operands)
            case If() | Loop():
                return replace(stmt, condition=substituted(stmt.condition, change))
            case WarpOp():
                return replace(stmt, args=tuple(substituted(e, change) for e in stmt.args))
            case Barrier() if stmt.mask is not None:
                return replace(stmt, mask=substituted(stmt.mask, change))
        return stmt

    return with_bodies(body, lambda stmts: map(one, stmts))


def substituted(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """``expr`` with every leaf replaced."""
    match expr:
        case Unary() | Cast():
            return replace(expr, operand=substituted(expr.operand, change))
        case Binary():
            left, right = substituted(expr.left, change), substituted(expr.right, change)
            return replace(expr, left=left, right=right)
        case Select():
            parts = (expr.condition, expr.then, expr.otherwise)
            condition, then, otherwise = (substituted(part, change) for part in parts)
            return replace(expr, condition=condition, then=then, otherwise=otherwise)
        case Call():
            return replace(expr, args=tuple(substituted(arg, change) for arg in expr.args))
    return change(expr)
