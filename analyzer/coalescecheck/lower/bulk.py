"""Whole arrays read or written at once: element by element in a loop where they are long.

In: memory places of one array type, or one value for all elements.  Out: accesses in a loop of
the IR, as a compiler makes of ``memset`` and ``memcpy`` of long arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Var
from coalescecheck.ir.kernel import Assign, Loop
from coalescecheck.lower import accesses, arith, ctypes
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import ArrayOf, CType
from coalescecheck.lower.values import Members, Memory, Scalar, Value

MAX_PIECES = 64  # of one access; a longer array is accessed in a loop

Node: TypeAlias = c_ast.Node | None


def is_long(ctype: CType) -> bool:
    """Whether an object has too many parts for one access."""
    if not isinstance(ctype, ArrayOf):
        return False
    lengths, element = ctypes.extents(ctype)
    count = 1
    for length in lengths:
        count *= length if isinstance(length, int) else 0
    if ctypes.is_too_large(element):
        return True
    return count * sum(1 for _ in ctypes.leaves(element)) > MAX_PIECES


def common_element(value: Value) -> Value | None:
    """The value of every element of an array that holds the same constant everywhere."""
    if not isinstance(value, Members) or not isinstance(value.type, ArrayOf):
        return None
    elements = list(value.members.values())
    if not elements or any(element != elements[0] for element in elements[1:]):
        return None
    first = elements[0]
    inner = common_element(first) if isinstance(first.type, ArrayOf) else first
    return inner if isinstance(inner, Scalar | Members) else None


def fill(cx: Context, place: Memory, element: Value, node: Node) -> None:
    """Write ``element`` to every element of a long array."""
    _each(cx, place, node, lambda target, _: accesses.store(cx, target, element, node))


def copy(cx: Context, place: Memory, source: Memory, node: Node, source_node: Node) -> None:
    """Copy a long array."""

    def one(target: Memory, index: Var) -> None:
        value = accesses.load(cx, _element(source, index), source_node)
        accesses.store(cx, target, value, node)

    _each(cx, place, node, one)


def _each(cx: Context, place: Memory, node: Node, body_of: Callable[[Memory, Var], None]) -> None:
    total = ctypes.size_of(place.type)
    _, element = ctypes.extents(place.type)
    size = ctypes.size_of(element)
    count = total // size if isinstance(total, int) and isinstance(size, int) and size else 0
    index = cx.temporary(ir.I64)
    cx.emit(Assign(index, arith.integer(0)))
    with cx.block(conditional=True) as body:
        body_of(_element(place, index), index)
    step = Assign(index, arith.binary("+", index, arith.integer(1)))
    test = arith.binary("<", index, arith.integer(count))
    cx.emit(Loop(cx.unique("loop"), (), test, tuple(body), (step,), True, cx.span(node)))


def _element(place: Memory, index: Var) -> Memory:
    _, element = ctypes.extents(place.type)
    step = arith.binary("*", index, ctypes.as_expr(ctypes.size_of(element)))
    return Memory(element, arith.offset(place.address, step), place.volatile, place.const)
