"""The device runtime: launches, copies and allocations that a kernel asks for.

What another grid accesses is counted with that grid, not with the kernel that launches it; what
it may write is unknown afterwards (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
"""

from __future__ import annotations

from coalescecheck.ir.kernel import Op
from coalescecheck.lower.builtin_call import Handler, Request, names
from coalescecheck.lower.builtin_memory import forget_through
from coalescecheck.lower.builtin_random import is_local, touch
from coalescecheck.lower.ctypes import Pointer
from coalescecheck.lower.given_away import give_for_ever
from coalescecheck.lower.values import Scalar, Value

_OTHER_GRIDS = names(
    "device_launch cudaMemcpyAsync cudaMemsetAsync cudaMemcpy2DAsync cudaFree free"
)
_ALLOCATION = "library code stores the address of an allocation"


def _other_grid(request: Request) -> Value:
    """A child grid or a copy of the runtime; memory it is given may change."""
    for value in request.values():
        if isinstance(value.type, Pointer) and not value.type.const:
            forget_through(request, value)
    return request.unknown(f"the value of {request.name}")


def _allocation(request: Request) -> Value:
    """``cudaMalloc(&p, n)`` writes a pointer."""
    values = request.values()
    for index, value in enumerate(values[:1]):
        forget_through(request, value)
        if isinstance(value, Scalar) and not is_local(request, value):
            touch(request, value, index, (Op.STORE,), _ALLOCATION)
    return request.unknown("the value of cudaMalloc")


def _object_ends(request: Request) -> Value:
    """The front end says that a destructor of this object is not followed."""
    for value in request.values():
        give_for_ever(request.cx, value)
    return request.nothing()


def table() -> dict[str, Handler]:
    """Names to handlers."""
    others = dict.fromkeys(_OTHER_GRIDS, _other_grid)
    return {**others, "cudaMalloc": _allocation, "object_ends": _object_ends}
