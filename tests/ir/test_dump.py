"""The printed form of a kernel: complete, stable, and unambiguous about types."""

from __future__ import annotations

import pytest

from coalescecheck.ir import types as t
from coalescecheck.ir.dump import dump, dump_body, dump_expr
from coalescecheck.ir.expr import (
    ArrayBase,
    Binary,
    Builtin,
    Call,
    Cast,
    Const,
    Expr,
    Select,
    Unary,
    Undefined,
    Var,
)
from coalescecheck.ir.kernel import (
    Access,
    Array,
    Assign,
    Atomic,
    Barrier,
    Continue,
    If,
    Kernel,
    Leave,
    Load,
    Loop,
    Op,
    Param,
    Piece,
    Scope,
    Space,
    Stmt,
    Store,
    WarpOp,
)
from coalescecheck.source import Diagnostic, Span

K, J, P, B = Var("i", t.I32), Var("j", t.I32), Var("p", t.PTR), Var("b", t.BOOL)

EXPRESSIONS: dict[str, tuple[Expr, str]] = {
    "int literals are bare": (Const(t.I32, -4), "-4"),
    "unsigned literals end in u": (Const(t.U32, 4), "4u"),
    "long literals end in l": (Const(t.I64, 4), "4l"),
    "other literals name their type": (Const(t.U8, 4), "u8(4)"),
    "float literals end in f": (Const(t.F32, 1.5), "1.5f"),
    "double literals are bare": (Const(t.F64, 1.5), "1.5"),
    "bool literals are words": (Const(t.BOOL, 1), "true"),
    "the null pointer is a word": (Const(t.PTR, 0), "null"),
    "an array's address": (ArrayBase("tile"), "&tile"),
    "built-in variables": (Builtin("threadIdx.x", t.U32), "threadIdx.x"),
    "inner operators are in parentheses": (
        Binary("+", Binary("*", K, J, t.I32), Unary("-", K, t.I32), t.I32),
        "(i * j) + -i",
    ),
    "min and max are calls": (Binary("min", K, J, t.I32), "min(i, j)"),
    "casts name their target": (Cast(Binary("+", K, J, t.I32), t.I64), "i64(i + j)"),
    "selection": (Select(B, K, J, t.I32), "b ? i : j"),
    "functions": (Call("popc", (K, J), t.I32), "popc(i, j)"),
    "unknown values": (Undefined("foo", "why", t.I32), "?foo"),
    "unknown uniform values": (Undefined("foo", "why", t.I32, uniform=True), "?foo:uniform"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str) -> None:
    expr, text = EXPRESSIONS[name]
    assert dump_expr(expr) == text


STATEMENTS: dict[str, tuple[Stmt, str]] = {
    "assignments show the type": (Assign(K, J), "i: i32 = j"),
    "a load": (Load(2, 0, K, P), "i: i32 = load #2.0 p"),
    "a load of several scalars": (
        Load(2, 1, K, P, ((4, J),)),
        "i: i32, j: i32 at +4 = load #2.1 p",
    ),
    "a store of several scalars": (
        Store(2, 0, P, K, ((4, J),)),
        "store #2.0 p = i, j at +4",
    ),
    "an atomic with a result": (Atomic(1, K, "cas", P, (K, J)), "i: i32 = atomic cas #1 p, i, j"),
    "an atomic without one": (Atomic(1, None, "add", P, (K,)), "atomic add #1 p, i"),
    "a barrier": (Barrier("block"), "barrier block"),
    "a warp operation": (WarpOp(K, "ballot", (B,)), "i: i32 = warp ballot(b)"),
    "both branches": (
        If(B, (Leave("s"),), (Continue("l"),)),
        "if b:\n  leave s\nelse:\n  continue l",
    ),
    "a scope": (Scope("s", (Leave("s"),)), "scope s:\n  leave s"),
    "a loop with a test and a step": (
        Loop("l", (Assign(B, B),), B, (Assign(K, J),), (Assign(J, K),)),
        "loop l while b:\n test:\n  b: bool = b\n body:\n  i: i32 = j\n step:\n  j: i32 = i",
    ),
    "a loop that tests last": (
        Loop("l", (), B, (), (), test_first=False),
        "loop (test last) l while b:",
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    stmt, text = STATEMENTS[name]
    assert dump_body((stmt,)) == text + "\n"


def test_a_whole_kernel() -> None:
    here = Span("a.cu", 3, 7)
    kernel = Kernel(
        name="ns::k",
        span=here,
        params=(Param("n", t.I32),),
        arrays={
            "out": Array("out", Space.GLOBAL, "float", 4, align=256, parameter=True, restrict=True),
            "s": Array("s", Space.SHARED, "float", 4, size=96, dims=(4, 6), align=4),
        },
        accesses=(
            Access(0, here, Op.LOAD, (Piece(0, 4), Piece(4, 4)), "in[i]", "pair"),
            Access(1, here, Op.ATOMIC, (Piece(0, 4),), "o[i]", "int", "red", "add", (here,), True),
        ),
        body=(Scope("kernel", ()),),
        diagnostics=(Diagnostic(here, "warning", "lost"),),
    )
    assert dump(kernel) == (
        "kernel ns::k(n: i32)\n"
        "array out: global float size ? align 256 parameter restrict\n"
        "array s: shared float[4][6] size 96 align 4\n"
        "access 0: 3:7 load pair [0+4,4+4] in[i]\n"
        "access 1: 3:7 atomic.add red int [4] o[i] volatile from 3:7\n"
        "scope kernel:\n"
        "warning: 3:7: lost\n"
    )
