"""Prints a kernel as stable, readable text: for ``--emit ir`` and for tests.

In: an :class:`ir.kernel.Kernel`.  Out: text, one line per parameter, array, access and
statement.  It knows nothing of where the kernel came from and decides nothing.

Literals carry their type as C would write it (``4`` i32, ``4u`` u32, ``4l`` i64, ``4ul`` u64,
``1.0f`` f32, ``1.0`` f64, ``u8(4)`` for the rest); a cast is ``type(operand)``; ``&a`` is the
address of array ``a``; ``?key`` is an unknown value.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    Scope,
    Stmt,
    Store,
    WarpOp,
)
from coalescecheck.ir.types import ScalarType

_INDENT = "  "
_SUFFIX = {"i32": "", "u32": "u", "i64": "l", "u64": "ul", "f32": "f", "f64": ""}


def dump(kernel: Kernel) -> str:
    """The whole kernel as text, ending in a newline."""
    head = ", ".join(f"{p.name}: {p.type}" for p in kernel.params)
    lines = [f"kernel {kernel.name}({head})"]
    lines += [_array(array) for array in kernel.arrays.values()]
    lines += [_access(access) for access in kernel.accesses]
    lines += _block(kernel.body, "")
    lines += [
        f"{d.severity}: {d.span.line}:{d.span.column}: {d.message}" for d in kernel.diagnostics
    ]
    return "\n".join(lines) + "\n"


def dump_body(body: Iterable[Stmt]) -> str:
    """Only the statements, one per line."""
    return "".join(line + "\n" for line in _block(body, ""))


def dump_expr(expr: Expr) -> str:
    """One expression, fully parenthesised except at the outside."""
    text = _expr(expr)
    return text[1:-1] if isinstance(expr, Binary | Select) and text.startswith("(") else text


# --- declarations -----------------------------------------------------------------------------


def _array(array: Array) -> str:
    dims = "".join(f"[{extent}]" for extent in array.dims)
    flags = [
        word
        for word, present in (
            ("dynamic", array.dynamic),
            ("parameter", array.parameter),
            ("const", array.const),
            ("restrict", array.restrict),
            (f"pointee {array.pointee}", bool(array.pointee)),
        )
        if present
    ]
    size = "?" if array.size is None else str(array.size)
    values = "" if array.values is None else f" = {{{', '.join(map(str, array.values))}}}"
    return (
        f"array {array.name}: {array.space} {array.element}{dims} size {size} "
        f"align {array.align}{''.join(' ' + flag for flag in flags)}{values}"
    )


def _access(access: Access) -> str:
    pieces = ",".join(
        str(p.width) if p.offset == 0 and len(access.pieces) == 1 else f"{p.offset}+{p.width}"
        for p in access.pieces
    )
    kind = "" if access.kind == "plain" else f" {access.kind}"
    atomic = f".{access.atomic_op}" if access.atomic_op else ""
    flags = " volatile" * access.volatile + " unknown-width" * bool(access.unknown_width)
    called = "".join(f" from {span.line}:{span.column}" for span in access.called_from)
    place = f"{access.span.line}:{access.span.column}"
    return (
        f"access {access.id}: {place} {access.op}{atomic}{kind} "
        f"{access.element} [{pieces}] {access.index}{flags}{called}"
    )


# --- statements -------------------------------------------------------------------------------


def _block(body: Iterable[Stmt], indent: str) -> list[str]:
    return [line for stmt in body for line in _stmt(stmt, indent)]


def _stmt(stmt: Stmt, indent: str) -> list[str]:
    deeper = indent + _INDENT
    match stmt:
        case If():
            lines = [f"{indent}if {dump_expr(stmt.condition)}:", *_block(stmt.then, deeper)]
            if stmt.otherwise:
                lines += [f"{indent}else:", *_block(stmt.otherwise, deeper)]
            return lines
        case Loop():
            return _loop(stmt, indent)
        case Scope():
            return [f"{indent}scope {stmt.label}:", *_block(stmt.body, deeper)]
    return [indent + _simple(stmt)]


def _loop(loop: Loop, indent: str) -> list[str]:
    deeper = indent + _INDENT
    word = "loop" if loop.test_first else "loop (test last)"
    lines = [f"{indent}{word} {loop.label} while {dump_expr(loop.condition)}:"]
    if loop.test:
        lines += [f"{indent} test:", *_block(loop.test, deeper), f"{indent} body:"]
    lines += _block(loop.body, deeper)
    if loop.step:
        lines += [f"{indent} step:", *_block(loop.step, deeper)]
    return lines


def _simple(stmt: Stmt) -> str:
    match stmt:
        case Assign():
            return f"{_typed(stmt.var)} = {dump_expr(stmt.value)}"
        case Load():
            more = "".join(f", {_typed(var)} at +{offset}" for offset, var in stmt.more)
            where = dump_expr(stmt.address)
            return f"{_typed(stmt.var)}{more} = load #{stmt.access}.{stmt.piece} {where}"
        case Store():
            more = "".join(f", {dump_expr(value)} at +{offset}" for offset, value in stmt.more)
            where = dump_expr(stmt.address)
            return f"store #{stmt.access}.{stmt.piece} {where} = {dump_expr(stmt.value)}{more}"
        case Atomic():
            result = "" if stmt.var is None else f"{_typed(stmt.var)} = "
            operands = ", ".join(map(dump_expr, stmt.operands))
            where = dump_expr(stmt.address)
            return f"{result}atomic {stmt.op} #{stmt.access} {where}, {operands}"
        case Barrier():
            of = "" if stmt.mask is None else f" of {dump_expr(stmt.mask)}"
            return f"barrier {stmt.scope}{of}"
        case WarpOp():
            return f"{_typed(stmt.var)} = warp {stmt.op}({', '.join(map(dump_expr, stmt.args))})"
        case Leave():
            return f"leave {stmt.label}"
        case Continue():
            return f"continue {stmt.label}"
        case If() | Loop() | Scope():
            return ""  # printed by _stmt


def _typed(var: Var) -> str:
    return f"{var.name}: {var.type}"


# --- expressions ------------------------------------------------------------------------------


def _expr(expr: Expr) -> str:
    match expr:
        case Const():
            return _const(expr.type, expr.value)
        case Var() | Builtin():
            return expr.name
        case ArrayBase():
            return f"&{expr.array}"
        case Unary():
            return f"{expr.op}{_expr(expr.operand)}"
        case Binary(op="min" | "max"):
            return f"{expr.op}({_expr(expr.left)}, {_expr(expr.right)})"
        case Binary():
            return f"({_expr(expr.left)} {expr.op} {_expr(expr.right)})"
        case Cast():
            return f"{expr.type}({dump_expr(expr.operand)})"
        case Select():
            return f"({_expr(expr.condition)} ? {_expr(expr.then)} : {_expr(expr.otherwise)})"
        case Call():
            return f"{expr.function}({', '.join(map(dump_expr, expr.args))})"
        case Undefined():
            return f"?{expr.key}" + (":uniform" if expr.uniform else "")


def _const(type_: ScalarType, value: int | float) -> str:
    if type_.name == "bool":
        return "true" if value else "false"
    if type_.kind == "ptr":
        return "null" if value == 0 else f"ptr({value})"
    suffix = _SUFFIX.get(type_.name)
    return f"{type_}({value})" if suffix is None else f"{value}{suffix}"
