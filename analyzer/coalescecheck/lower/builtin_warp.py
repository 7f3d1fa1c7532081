"""Built-in functions that synchronise or exchange values between threads, and thread state."""

from __future__ import annotations

from functools import partial

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Const, Expr
from coalescecheck.ir.kernel import Barrier, Leave, WarpOp
from coalescecheck.ir.types import ScalarType
from coalescecheck.launch import WARP_SIZE
from coalescecheck.lower import arith, ctypes, operators, places
from coalescecheck.lower.builtin_call import Handler, Request, names
from coalescecheck.lower.ctypes import INT, UINT, Number
from coalescecheck.lower.values import Members, Scalar, Value

KERNEL = "kernel"  # label of the whole kernel's scope
WHOLE_WARP = (1 << WARP_SIZE) - 1  # the mask that names all lanes


def _barrier(request: Request, scope: str) -> Value:
    request.values()
    _emit_barrier(request, scope)
    return request.nothing()


def _warp_barrier(request: Request) -> Value:
    """``__syncwarp(mask)`` orders the threads that it names: CUDA C++ Programming Guide,
    "__syncwarp()"."""
    mask = request.number(0, UINT) if request.args else None
    every = mask is None or arith.constant_int(mask) == WHOLE_WARP
    _emit_barrier(request, "warp", None if every else mask)
    return request.nothing()


def _emit_barrier(request: Request, scope: str, mask: Expr | None = None) -> None:
    request.cx.barriers += 1
    request.cx.emit(Barrier(scope, request.cx.span(request.node), mask))


def _counting_barrier(request: Request, op: str) -> Value:
    """``__syncthreads_count`` and kin: a barrier that also reduces a predicate."""
    predicate = operators.condition(request.cx, request.value(0))
    _emit_barrier(request, "block")
    return _warp_value(request, op, (predicate,), INT)


def _warp_value(
    request: Request, op: str, args: tuple[Expr, ...], ctype: Number | ctypes.Pointer
) -> Value:
    var = request.cx.temporary(ctypes.scalar_of(ctype) or ir.I32)
    request.cx.emit(WarpOp(var, op, args))
    return Scalar(ctype, var)


def _shuffle(request: Request, op: str, first: int) -> Value:
    """``__shfl*``: value, lane or delta, width (32 unless given)."""
    for index in range(first):
        request.value(index)  # the mask
    value = request.value(first)
    lane = request.number(first + 1, INT)
    width = request.number(first + 2, INT) if len(request.args) > first + 2 else Const(ir.I32, 32)
    return _shuffle_value(request, op, value, lane, width)


def _shuffle_value(request: Request, op: str, value: Value, lane: Expr, width: Expr) -> Value:
    if isinstance(value, Members):
        members = {
            name: _shuffle_value(request, op, member, lane, width)
            for name, member in value.members.items()
        }
        return Members(value.type, members)
    if isinstance(value, Scalar) and isinstance(value.type, Number | ctypes.Pointer):
        return _warp_value(request, op, (value.expr, lane, width), value.type)
    return request.unknown(f"{request.name} of {value.type}")


def _vote(request: Request, op: str, first: int) -> Value:
    mask = tuple(request.number(index, UINT) for index in range(first))
    predicate = operators.condition(request.cx, request.value(first))
    return _warp_value(request, op, (predicate, *mask), UINT if op == "ballot" else INT)


def _active_mask(request: Request) -> Value:
    return _warp_value(request, "activemask", (), UINT)


def _reduce(request: Request, op: str) -> Value:
    mask = request.number(0, UINT)
    value = request.value(1)
    if not (isinstance(value, Scalar) and isinstance(value.type, Number)):
        return request.unknown(f"{request.name} of {value.type}")
    return _warp_value(request, op, (value.expr, mask), value.type)


def _match(request: Request) -> Value:
    values = request.values()
    for pointer in values[2:]:  # int *pred of __match_all_sync
        place = places.dereference(request.cx, pointer, request.node)
        places.forget(request.cx, place, "__match_all_sync")
    return Scalar(UINT, request.undefined(ir.U32, "computed from the lanes that match"))


_OF_A_GROUP = "taken from the lanes of a cooperative group"


def _of_lanes(request: Request) -> Value:
    """What the front end cannot put in terms of a warp: values of some lanes, or which they are."""
    request.values()
    return request.unknown(_OF_A_GROUP)


def _of_warp(request: Request) -> Value:
    """What all lanes of a warp have together, however their values are combined."""
    value = request.value(0)
    if isinstance(value, Scalar) and isinstance(value.type, Number):
        return _warp_value(request, "reduce", (value.expr,), value.type)
    return request.unknown(_OF_A_GROUP, uniform=True)


def _nothing(request: Request) -> Value:
    """Fences, prefetches, assertions, output: no effect on values; arguments are evaluated."""
    request.values()
    return request.nothing()


def _leave(request: Request) -> Value:
    """``__trap`` ends the kernel."""
    request.values()
    request.cx.emit(Leave(KERNEL))
    return request.nothing()


def _clock(request: Request, type_: ScalarType) -> Value:
    ctype = INT if type_ == ir.I32 else ctypes.LONG
    return Scalar(ctype, request.undefined(type_, "the time"))


_NOTHING = names(
    """
    __threadfence __threadfence_block __threadfence_system __nanosleep printf vprintf assert
    __assert_fail __assertfail __builtin_assume __assume __pipeline_commit
    __pipeline_wait_prior __brkpt __prof_trigger __builtin_unreachable free
    asm__cp_async_commit_group asm__cp_async_wait_group asm__cp_async_wait_all
    asm__griddepcontrol_wait asm__griddepcontrol_launch_dependents
    """
)


def table() -> dict[str, Handler]:
    """Names without type suffix to handlers."""
    entries: dict[str, Handler] = {
        "__syncthreads": partial(_barrier, scope="block"),
        "__syncwarp": _warp_barrier,
        "__grid_sync": partial(_barrier, scope="grid"),
        "__cg_sync": partial(_barrier, scope="unknown"),
        "__activemask": _active_mask,
        "__cg_of_lanes": _of_lanes,
        "__cg_of_warp": _of_warp,
        "__match_any_sync": _match,
        "__match_all_sync": _match,
        "clock": partial(_clock, type_=ir.I32),
        "clock64": partial(_clock, type_=ir.I64),
        "__clock64": partial(_clock, type_=ir.I64),
        "__globaltimer": partial(_clock, type_=ir.I64),
        **dict.fromkeys(_NOTHING, _nothing),
        **dict.fromkeys(("__trap", "exit", "abort", "__exit"), _leave),
    }
    for op in ("count", "and", "or"):
        entries[f"__syncthreads_{op}"] = partial(_counting_barrier, op=f"block_{op}")
    for suffix in ("", "_up", "_down", "_xor"):
        entries[f"__shfl{suffix}"] = partial(_shuffle, op=f"shfl{suffix}", first=0)
        entries[f"__shfl{suffix}_sync"] = partial(_shuffle, op=f"shfl{suffix}", first=1)
    for op in ("ballot", "any", "all"):
        entries[f"__{op}"] = partial(_vote, op=op, first=0)
        entries[f"__{op}_sync"] = partial(_vote, op=op, first=1)
    for op in ("add", "min", "max", "and", "or", "xor"):
        entries[f"__reduce_{op}_sync"] = partial(_reduce, op=f"reduce_{op}")
    return entries
