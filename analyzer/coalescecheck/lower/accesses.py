"""Registers memory accesses and emits their loads and stores, one per machine instruction.

In: a place in memory and the syntax node that reads or writes it.  Out: ``Access`` records and
``Load``/``Store`` statements.  A number or pointer is one piece; a
struct or vector is cut by its alignment, at most 16 bytes each (docs/memory_model.md, "Pieces").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Expr, Var
from coalescecheck.ir.kernel import Access, Load, Op, Piece, Store
from coalescecheck.lower import arith, ctypes, storage
from coalescecheck.lower.context import Callee, Context
from coalescecheck.lower.ctypes import ArrayOf, CType, Leaf, Number, Pointer, Record
from coalescecheck.lower.users_words import UsersWords
from coalescecheck.lower.values import Members, Memory, Scalar, Value
from coalescecheck.source import NOWHERE

_OPAQUE = re.compile(r"(\*?)\b(opaque__\d+)\(")
MAX_PIECE = 16  # bytes: the widest load or store up to sm_90


@dataclass(frozen=True, slots=True)
class Cut:
    """One piece of an object and the scalars in it (offsets count from the object's start)."""

    piece: Piece
    leaves: tuple[Leaf, ...]


def cut(ctype: CType) -> list[Cut]:
    """The pieces of a whole object; padding that holds no scalar is not accessed."""
    parts = [leaf for leaf in ctypes.leaves(ctype) if isinstance(leaf.offset, int)]
    if isinstance(ctype, Number | Pointer) or ctypes.is_unknown(ctype):
        width = parts[0].type if parts else None
        scalar = None if width is None else ctypes.scalar_of(width)
        return [Cut(Piece(0, scalar.size if scalar else 4), tuple(parts[:1]))]
    unit = min(ctypes.align_of(ctype), MAX_PIECE)
    groups: dict[int, list[Leaf]] = {}
    for leaf in parts:
        if isinstance(leaf.offset, int):
            groups.setdefault(leaf.offset // unit, []).append(leaf)
    return [Cut(Piece(at * unit, unit), tuple(group)) for at, group in sorted(groups.items())]


def register(
    cx: Context,
    op: Op,
    ctype: CType,
    node: c_ast.Node | None,
    *,
    pieces: tuple[Piece, ...] | None = None,
    kind: str = "plain",
    atomic_op: str = "",
    volatile: bool = False,
    text: str | None = None,
) -> int:
    """A new access; gives its id.  Of a library's code the call is shown that leads there."""
    if pieces is None:
        storage.followed(cx, ctype, node)
    number = len(cx.accesses)
    sites = [frame.call_site for frame in cx.frames if frame.call_site is not None]
    span = cx.span(node)
    while span == NOWHERE and sites:
        span, text = sites.pop(), _library_function(cx)
    cx.accesses.append(
        Access(
            id=number,
            span=span,
            op=op,
            pieces=tuple(c.piece for c in cut(ctype)) if pieces is None else pieces,
            index=_in_users_words(cx, source_text(cx, node) if text is None else text),
            element=str(ctype),
            kind=kind,
            atomic_op=atomic_op,
            called_from=tuple(sites),
            volatile=volatile,
            unknown_width=ctypes.unknown_type(ctype),
        )
    )
    cx.access_align[number] = ctypes.align_of(ctype)
    return number


def _library_function(cx: Context) -> str:
    """The function of a library that is being followed, as the user knows it."""
    name = cx.frames[-1].name
    known = cx.spellings.calls.get(name)
    name = name.rpartition("__")[2] if known is None else known.name
    return name if name.startswith("operator") else f"{name}()"


def _of_place(cx: Context, op: Op, place: Memory, node: c_ast.Node | None, kind: str) -> int:
    access = register(cx, op, place.type, node, kind=kind, volatile=place.volatile)
    if place.packed and ctypes.align_of(place.type) > 1:
        cx.accesses[access] = replace(cx.accesses[access], unknown_width=ctypes.PACKED)
    return access


def source_text(cx: Context, node: c_ast.Node | None) -> str:
    """The text of an expression as the user has it, or the name of a declaration."""
    if isinstance(node, c_ast.Decl):
        return cx.spellings.names.get(node.name, str(node.name))
    function = cx.frames[-1].name if cx.frames else ""
    return "" if node is None else str(UsersWords(cx.spellings, function).visit(node))


def _in_users_words(cx: Context, shown: str) -> str:
    """Text of C with the user's expressions for calls that stand for what is not understood."""
    for match in reversed(list(_OPAQUE.finditer(shown))):
        callee = cx.scopes[0].get(match[2])
        if not isinstance(callee, Callee) or not callee.source:
            continue
        depth, end = 1, match.end()
        while depth and end < len(shown):
            depth += (shown[end] == "(") - (shown[end] == ")")
            end += 1
        start = match.start() if callee.place and match[1] else match.start(2)
        shown = shown[:start] + callee.source + shown[end:]
    return shown


def pointee_text(cx: Context, node: c_ast.Node) -> str:
    """The C text of what a pointer expression points to: ``a[i]`` for ``&a[i]``."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return source_text(cx, node.expr)
    return source_text(cx, c_ast.UnaryOp("*", node))


# --- loads ------------------------------------------------------------------------------------


def load(cx: Context, place: Memory, node: c_ast.Node | None, kind: str = "plain") -> Value:
    """Read a whole object."""
    access = _of_place(cx, Op.LOAD, place, node, kind)
    found: dict[ctypes.Size, Expr] = {}
    for number, part in enumerate(cut(place.type)):
        where = arith.offset(place.address, arith.integer(part.piece.offset))
        _load_piece(cx, access, number, where, part, found)
    if place.bits is not None and isinstance(place.type, Number):
        unit = found[0]
        return Scalar(place.type, extract_bits(unit, place.bits))
    return assemble(cx, place.type, iter(ctypes.leaves(place.type)), found)


def _load_piece(
    cx: Context,
    access: int,
    number: int,
    where: Expr,
    part: Cut,
    found: dict[ctypes.Size, Expr],
) -> None:
    variables: dict[int, Var] = {}
    for leaf in part.leaves:
        if not isinstance(leaf.offset, int):
            continue  # of an unknown type; its value stays undefined
        offset = leaf.offset - part.piece.offset
        if offset not in variables:
            variables[offset] = cx.temporary(ctypes.scalar_of(leaf.type) or ir.U32)
        unit = variables[offset]
        found[leaf.offset] = unit
    first = variables.pop(0, None) or cx.temporary(ir.U8)
    cx.emit(Load(access, number, first, where, tuple(variables.items())))


def extract_bits(unit: Expr, bits: tuple[int, int]) -> Expr:
    """A bit-field's value: shift its top bit to the top, then down with its sign."""
    first, width = bits
    if unit.type == ir.BOOL:
        return unit
    size = unit.type.bits
    up = arith.binary("<<", unit, arith.integer(size - first - width, unit.type))
    return arith.binary(">>", up, arith.integer(size - width, unit.type))


def assemble(
    cx: Context, ctype: CType, order: Iterator[Leaf], found: dict[ctypes.Size, Expr]
) -> Value:
    """Put loaded scalars together to a value of ``ctype``; missing ones are undefined."""
    match ctype:
        case Record():
            members: dict[str | int, Value] = {
                m.name: assemble(cx, m.type, order, found) for m in ctype.members
            }
            return Members(ctype, members)
        case ArrayOf(length=int(length)):
            return Members(
                ctype, {i: assemble(cx, ctype.element, order, found) for i in range(length)}
            )
    leaf = next(order, None)
    scalar = ctypes.scalar_of(ctype) or ir.U32
    expr = None if leaf is None else found.get(leaf.offset)
    if expr is None:
        expr = cx.undefined("unloaded", f"a part of the unknown type {ctype}", scalar)
    elif leaf is not None and leaf.bits is not None:
        expr = extract_bits(expr, leaf.bits)
    return Scalar(ctype, expr)


# --- stores -----------------------------------------------------------------------------------


def store(
    cx: Context, place: Memory, value: Value, node: c_ast.Node | None, kind: str = "plain"
) -> None:
    """Write a whole object; ``value`` has the place's type already."""
    access = _of_place(cx, Op.STORE, place, node, kind)
    pairs = list(zip(ctypes.leaves(place.type), flatten(cx, value), strict=False))
    scalars = {leaf.offset: expr for leaf, expr in pairs}
    for leaf in _ambiguous(pairs):
        scalar = ctypes.scalar_of(leaf.type) or ir.U8
        scalars[leaf.offset] = cx.undefined("shared", "members that share bytes", scalar)
    for number, part in enumerate(cut(place.type)):
        where = arith.offset(place.address, arith.integer(part.piece.offset))
        written = {
            leaf.offset - part.piece.offset: scalars[leaf.offset]
            for leaf in part.leaves
            if isinstance(leaf.offset, int) and leaf.offset in scalars
        }
        unknown = cx.undefined("unstored", f"a part of the unknown type {place.type}", ir.U8)
        first = written.pop(0, unknown)
        cx.emit(Store(access, number, where, first, tuple(written.items())))


def _ambiguous(pairs: list[tuple[Leaf, Expr]]) -> list[Leaf]:
    """Scalars that share bytes with others of another value: in unions, and bit-fields."""
    holders: dict[int, int] = {}
    found: set[int] = set()
    for number, (leaf, expr) in enumerate(pairs):
        size = ctypes.size_of(leaf.type)
        if not isinstance(leaf.offset, int) or not isinstance(size, int):
            continue
        for byte in range(leaf.offset, leaf.offset + size):
            other = holders.setdefault(byte, number)
            if pairs[other][1] != expr:
                found |= {other, number}
    return [pairs[number][0] for number in sorted(found)]


def flatten(cx: Context, value: Value) -> Iterator[Expr]:
    """The scalars of a value in the order of ``ctypes.leaves``."""
    match value:
        case Scalar():
            yield value.expr
        case Members():
            for member in value.members.values():
                yield from flatten(cx, member)
        case _:
            scalar = ctypes.scalar_of(value.type) or ir.PTR
            yield cx.undefined("address", "the address of a variable", scalar)
