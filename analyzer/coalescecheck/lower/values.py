"""What names and expressions stand for while a kernel is lowered.

A *place* can be read and perhaps written: a scalar variable, a taken-apart aggregate, memory,
or a fixed expression.  A *value* is what reading a place or evaluating an expression gives.
Aggregates are taken apart into their scalar members; only arrays, unions and demoted variables
live in memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from coalescecheck.ir.expr import Expr, Var
from coalescecheck.lower.ctypes import ArrayOf, CType, Pointer, Record

# --- places -----------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Variable:
    """A scalar local.  ``alias`` is what a pointer variable is known to refer to, as long as it
    is assigned only once; ``path`` is the control path of its declaration; ``key`` is the
    declaration, by which the variable can be demoted to memory."""

    type: CType
    var: Var
    key: Hashable
    path: tuple[int, ...]
    alias: Reference | None = None
    assigned: bool = False
    bit_width: int = 0  # of a bit-field


@dataclass(eq=False, slots=True)
class Parts:
    """A local struct or small local array, one place per member (by name or index)."""

    type: Record | ArrayOf
    members: dict[str | int, Place]
    key: Hashable


@dataclass(frozen=True, slots=True)
class Memory:
    """An object in memory; ``bits`` is (first bit, width) of a bit-field.  ``packed`` marks a
    member of a packed struct: its type does not tell how many instructions access it."""

    type: CType
    address: Expr
    volatile: bool = False
    const: bool = False
    bits: tuple[int, int] | None = None
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that has no place of its own: builtins, enumerators, results of calls."""

    value: Value


@dataclass(frozen=True, slots=True)
class Chosen:
    """The element of a taken-apart array at a variable ``index`` (i64).

    Only for short arrays of pointers (``float *buffer[2]``): in memory, the loaded pointer
    could be anything; as a selection it is one of the arrays it really points to."""

    type: CType
    array: Parts
    index: Expr


Place = Variable | Parts | Memory | Fixed | Chosen

# --- values -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or an address (``type`` is the C type), or nothing (void)."""

    type: CType
    expr: Expr


@dataclass(frozen=True, slots=True)
class Members:
    """A struct (by member name) or array (by index) as a value."""

    type: Record | ArrayOf
    members: dict[str | int, Value]


@dataclass(frozen=True, slots=True)
class Reference:
    """The address of a place that is not in memory: usable only to get back to the place.

    Where the place is element ``index`` of the taken-apart array ``array``, constants can be
    added to the address."""

    type: Pointer
    place: Place
    array: Parts | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class Lent:
    """An array in read-only parameter memory, passed by value: read only when it is stored."""

    type: CType
    place: Memory


Value = Scalar | Members | Reference | Lent
