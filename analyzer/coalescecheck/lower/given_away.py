"""What an unknown function may write through the values it is given.

In: a value.  Out: the variables and arrays that are unknown from then on: what a pointer points to,
and what the pointers in there point to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coalescecheck.ir.expr import ArrayBase, Var
from coalescecheck.lower import arith, conversions, places
from coalescecheck.lower.context import Context
from coalescecheck.lower.ctypes import Pointer
from coalescecheck.lower.values import Members, Reference, Scalar, Value, Variable


def give(cx: Context, value: Value, reason: str, *, itself: bool = True) -> None:
    """A function gets ``value``, and writes where it points to unless not ``itself``."""
    _give(cx, value, reason, itself, set())


def write_again(cx: Context, reason: str) -> None:
    """An unknown function may have kept the pointers that earlier ones were given."""
    for place in tuple(cx.given.values()):
        places.forget(cx, place, reason)


@contextmanager
def repeated(cx: Context) -> Iterator[None]:
    """What is lowered inside runs again: its first unknown call may write, the next time, to what
    only later ones are given.  Then the kernel is lowered again, with that given from the start."""
    calls = len(cx.unknown_calls)
    yield
    if len(cx.unknown_calls) == calls:
        return
    for place in tuple(cx.given.values())[cx.unknown_calls[calls] :]:
        for variable in places.variables_of(place):
            if variable.path == cx.path[: len(variable.path)]:
                cx.demote.add(("kept", variable.key))


def give_for_ever(cx: Context, pointer: Value) -> None:
    """What the pointers in the object behind ``pointer`` point to may be written at any time: by a
    destructor, at the end of a scope that is left in many ways."""
    if isinstance(pointer, Reference):
        for variable in places.variables_of(pointer.array or pointer.place):
            if variable.alias is not None and not variable.alias.type.const:
                conversions.demote(cx, variable.alias.place)  # memory is unknown at all times
            _point(cx, variable)
    elif isinstance(pointer, Scalar):
        _hand_out(cx, pointer, writable=False)


def _give(cx: Context, value: Value, reason: str, itself: bool, seen: set[int]) -> None:
    match value:
        case Reference():
            place = value.array or value.place
            for variable in places.variables_of(place):
                if id(variable) in seen:
                    continue
                seen.add(id(variable))
                if variable.alias is not None:
                    _give(cx, variable.alias, reason, True, seen)
                _point(cx, variable)
            if itself and not value.type.const:
                cx.given[id(place)] = place
                places.forget(cx, place, reason)
        case Scalar(type=Pointer() as type_):
            _hand_out(cx, value, writable=itself and not type_.const)
        case Members():
            for inner in value.members.values():
                _give(cx, inner, reason, True, seen)


def _point(cx: Context, variable: Variable) -> None:
    """A pointer in an object is followed."""
    if isinstance(variable.type, Pointer):
        _hand_out(cx, Scalar(variable.type, variable.var), writable=not variable.type.const)


def _hand_out(cx: Context, pointer: Scalar, *, writable: bool) -> None:
    base = arith.root(pointer.expr)
    if isinstance(base, ArrayBase):
        cx.handed.add(base.array)
        if writable:
            cx.poisoned.add(base.array)
    elif isinstance(base, Var):
        cx.handed_vars.add(base.name)
        if writable:
            cx.poisoned_vars.add(base.name)
