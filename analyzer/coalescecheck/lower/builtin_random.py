"""Functions of cuRAND's device library on a generator's state.

A state in local memory or registers (the usual copy) costs nothing that is counted here.  Of a
state in other memory it is known that the function reads and writes it, not in which pieces: the
accesses are listed and left unknown.
"""

from __future__ import annotations

from dataclasses import replace

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import ArrayBase
from coalescecheck.ir.kernel import Load, Op, Space, Store
from coalescecheck.lower import accesses, arith
from coalescecheck.lower.builtin_call import Request
from coalescecheck.lower.builtin_memory import forget_through
from coalescecheck.lower.ctypes import Pointer
from coalescecheck.lower.values import Scalar, Value

PREFIXES = ("curand", "skipahead")
STATE = "library code works on the state"  # in place of the name of an unknown type


def random(request: Request) -> Value:
    """``curand_init(seed, sequence, offset, &state)``, ``curand_normal(&state)`` and the like."""
    for index, value in enumerate(request.values()):
        if not isinstance(value.type, Pointer) or value.type.const:
            continue
        forget_through(request, value)
        if isinstance(value, Scalar) and not is_local(request, value):
            ops = (Op.STORE,) if request.name.startswith("curand_init") else (Op.LOAD, Op.STORE)
            touch(request, value, index, ops, STATE)
    return request.unknown(f"the value of {request.name}")


def is_local(request: Request, pointer: Scalar) -> bool:
    """Whether a pointer points to a variable of the thread."""
    base = arith.root(pointer.expr)
    return isinstance(base, ArrayBase) and request.cx.arrays[base.array].space is Space.LOCAL


def touch(request: Request, pointer: Scalar, index: int, ops: tuple[Op, ...], reason: str) -> None:
    """The accesses of what pointer argument number ``index`` points to; all that is known is
    that there are some."""
    cx, type_ = request.cx, pointer.type
    if not isinstance(type_, Pointer):
        return
    text = accesses.pointee_text(request.cx, request.args[index])
    for op in ops:
        access = accesses.register(cx, op, type_.target, request.node, kind="library", text=text)
        cx.accesses[access] = replace(cx.accesses[access], unknown_width=reason)
        if op is Op.LOAD:
            cx.emit(Load(access, 0, cx.temporary(ir.U32), pointer.expr))
        else:
            state = request.undefined(ir.U32, "written by a library")
            cx.emit(Store(access, 0, pointer.expr, state))
