"""Elements of arrays in structs that are passed by value: at a constant place they are operands of
instructions, as the struct's scalars are, and no accesses.

In: a place in such an array.  Out: its value: a parameter of the kernel, or an array that a pointer
in it leads to.  Arrays that the kernel may write are local copies, and no such places.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from pycparser import c_ast

from coalescecheck.ir.expr import ArrayBase, Expr, Var
from coalescecheck.ir.kernel import Atomic, Param, Stmt, Store, walk
from coalescecheck.lower import arith, ctypes, storage
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import ArrayOf, CType, Number, Pointer, Record
from coalescecheck.lower.finish import bases_of
from coalescecheck.lower.member_names import inside
from coalescecheck.lower.values import Memory, Scalar


def enter(cx: Context, place: Memory) -> Memory:
    """Remembers what an array in parameter memory holds."""
    if isinstance(place.address, ArrayBase):
        cx.parameter_types[place.address.array] = place.type
    return place


def element(cx: Context, place: Memory, node: c_ast.Node | None) -> Scalar | None:
    """The value at a constant place of an array that is a parameter; None for other places."""
    base, at = arith.root(place.address), arith.distance(place.address)
    if not isinstance(base, ArrayBase) or at is None or place.volatile or place.bits is not None:
        return None
    whole = cx.parameter_types.get(base.array)
    if whole is None:
        return None
    found = _named(whole, at, base.array)
    if found is None or not ctypes.same_shape(found[1], place.type):
        return None
    name, type_ = found
    if name not in cx.elements:
        value = _made(cx, name, type_, node)
        if value is None:
            return None
        cx.elements[name] = value
    return Scalar(place.type, cx.elements[name])


def written(cx: Context, body: tuple[Stmt, ...]) -> Iterable[Hashable]:
    """Reasons to lower the kernel again: parameters whose arrays may be written through pointers,
    so that each thread has a copy of its own."""
    if not cx.parameter_types:
        return ()
    bases = bases_of(body)
    changed = cx.poisoned | bases.of_all(cx.poisoned_vars)
    for stmt in walk(body):
        if isinstance(stmt, Store | Atomic):
            changed |= bases.of(stmt.address)
    return [demoted(array) for array in sorted(changed & cx.parameter_types.keys())]


def demoted(array: str) -> Hashable:
    """The reason to give each thread a copy of the parameter that an array is in."""
    return ("parameter", array.split(".")[0])


def _named(ctype: CType, at: int, name: str) -> tuple[str, CType] | None:
    """The number or pointer at an offset of an object, with its name."""
    match ctype:
        case Number(unknown=False) | Pointer():
            return (name, ctype) if at == 0 else None
        case ArrayOf(length=int(length)):
            step = ctypes.size_of(ctype.element)
            if not isinstance(step, int) or not step or not 0 <= at < step * length:
                return None
            return _named(ctype.element, at % step, f"{name}[{at // step}]")
        case Record() if not ctype.overlapping:
            for member in reversed(ctype.members):
                if isinstance(member.offset, int) and member.offset <= at:
                    known = member.bits is None and not member.volatile
                    called = inside(name, ctype, member)
                    return _named(member.type, at - member.offset, called) if known else None
    return None


def _made(cx: Context, name: str, ctype: CType, node: c_ast.Node | None) -> Expr | None:
    match ctype:
        case Number():
            cx.params.append(Param(name, ctype.scalar))
            return Var(cx.unique(name), ctype.scalar)
        case Pointer():
            return storage.pointed_to(cx, name, ctype, node)
    return None
