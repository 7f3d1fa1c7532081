"""Built-in functions that touch memory: atomics, asynchronous copies, memcpy, textures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import ArrayBase, Expr, Var
from coalescecheck.ir.kernel import Atomic, Load, Op, Piece, Store
from coalescecheck.lower import accesses, arith, bulk, conversions, ctypes, places, storage
from coalescecheck.lower.builtin_call import Handler, Request
from coalescecheck.lower.ctypes import FLOAT, UINT, VOID, ArrayOf, CType, Pointer
from coalescecheck.lower.values import Memory, Place, Reference, Scalar, Value

# --- atomics ----------------------------------------------------------------------------------


def _atomic(request: Request, op: str) -> Value:
    """``atomicAdd(p, v)`` …: one access; without a use of the old value it is a reduction."""
    pointer = request.value(0)
    operands = [
        request.value(index) for index in range(1, max(3 if op == "cas" else 2, len(request.args)))
    ]
    place = request.memory(pointer)
    if place is None:
        return request.unknown("an atomic on a variable that is about to live in memory")
    values = [conversions.convert(request.cx, v, place.type, request.node) for v in operands]
    exprs = tuple(expr for value in values for expr in accesses.flatten(request.cx, value))
    access = accesses.register(
        request.cx,
        Op.ATOMIC,
        place.type,
        request.node,
        kind="plain" if request.used else "red",
        atomic_op=op,
        text=accesses.pointee_text(request.cx, request.args[0]),
    )
    scalar = ctypes.scalar_of(place.type)
    var = request.cx.temporary(scalar) if request.used and scalar is not None else None
    request.cx.emit(Atomic(access, var, op, place.address, exprs))
    if var is not None:
        return Scalar(place.type, var)
    return storage.undefined_value(request.cx, place.type, "old", "the old value of an atomic")


# --- asynchronous and block copies ------------------------------------------------------------


def _async_copy(request: Request) -> Value:
    """``__pipeline_memcpy_async(shared, global, 4 | 8 | 16)``: a load and a store at once."""
    target, source = request.value(0), request.value(1)
    size = request.constant(2)
    for index in range(3, len(request.args)):
        request.value(index)
    if size not in (4, 8, 16):
        request.cx.warn(request.node, f"{request.name}: the size is not 4, 8 or 16")
        return request.nothing()
    _copy_words(request, _as_address(request, target), _as_address(request, source), size)
    return request.nothing()


def _as_address(request: Request, value: Value) -> Expr:
    """A pointer, or the 32-bit shared address that ``__cvta_generic_to_shared`` gave."""
    pointer = conversions.convert(request.cx, value, Pointer(UINT), request.node)
    if isinstance(pointer, Scalar):
        return pointer.expr
    place = request.memory(pointer)
    return request.undefined(ir.PTR, "a variable") if place is None else place.address


def _copy_words(request: Request, target: Expr, source: Expr, size: int) -> None:
    cx = request.cx
    words = [cx.temporary(ir.U32) for _ in range(size // 4)]
    more = tuple((4 * i, word) for i, word in enumerate(words) if i)
    load = _async_access(request, Op.LOAD, size, 1)
    cx.emit(Load(load, 0, words[0], source, more))
    store = _async_access(request, Op.STORE, size, 0)
    cx.emit(Store(store, 0, target, words[0], more))


def _async_access(request: Request, op: Op, size: int, argument: int) -> int:
    cx = request.cx
    access = accesses.register(
        cx,
        op,
        UINT,
        request.args[argument],
        pieces=(Piece(0, size),),
        kind="async",
        text=accesses.pointee_text(request.cx, request.args[argument]),
    )
    cx.accesses[access] = replace(cx.accesses[access], element=f"{size} bytes")
    return access


def _memory_copy(request: Request) -> Value:
    """``memcpy(p, q, n)``: an assignment where both point to objects of that size."""
    target, source = request.value(0), request.value(1)
    size = request.constant(2)
    left, right = _object(request, target, size), _object(request, source, size)
    if left is None or right is None:
        return _opaque_copy(request, target)
    origin = places.dereference(request.cx, right, request.node)
    place = places.dereference(request.cx, left, request.node)
    origin = _as(origin, conversions.type_of(place))
    place = _as(place, conversions.type_of(origin))
    if not ctypes.same_shape(conversions.type_of(place), conversions.type_of(origin)):
        return _opaque_copy(request, target)
    if isinstance(place, Memory) and isinstance(origin, Memory) and bulk.is_long(place.type):
        bulk.copy(request.cx, place, origin, request.args[0], request.args[1])
        return target
    value = places.read_object(request.cx, origin, request.args[1])
    places.write(request.cx, place, value, request.args[0])
    return target


def _as(place: Place, ctype: CType) -> Place:
    """Memory as another type of its size that needs no more alignment; else the place."""
    if isinstance(place, Memory) and ctypes.align_of(ctype) <= ctypes.align_of(place.type):
        return replace(place, type=ctype)
    return place


def _memory_set(request: Request) -> Value:
    """``memset(p, 0, n)``: assigning zeros to an object of that size."""
    target, byte, size = request.value(0), request.constant(1), request.constant(2)
    pointer = _object(request, target, size)
    if pointer is None or byte != 0:
        return _opaque_copy(request, target)
    place = places.dereference(request.cx, pointer, request.node)
    if isinstance(place, Memory) and bulk.is_long(place.type):
        _, element = ctypes.extents(place.type)
        zero = storage.zero_value(request.cx, element, request.node)
        bulk.fill(request.cx, place, zero, request.args[0])
        return target
    zeros = storage.zero_value(request.cx, conversions.type_of(place), request.node)
    places.write(request.cx, place, zeros, request.args[0])
    return target


def _object(request: Request, value: Value, size: int | None) -> _Typed | None:
    """The pointer, typed so that what it points to has exactly ``size`` bytes."""
    if size is None or not isinstance(value.type, Pointer) or value.type.target == VOID:
        return None
    array = value.array if isinstance(value, Reference) and value.index == 0 else None
    if array is not None and ctypes.size_of(array.type) == size:
        return Reference(Pointer(array.type), array)
    element = ctypes.size_of(value.type.target)
    if element == size and isinstance(value, Scalar | Reference):
        return value
    if isinstance(element, int) and element and size % element == 0 and isinstance(value, Scalar):
        many = ArrayOf(value.type.target, size // element)
        return Scalar(replace(value.type, target=many), value.expr)
    return None


_Typed = Scalar | Reference


def _opaque_copy(request: Request, target: Value) -> Value:
    cx = request.cx
    cx.warn(request.node, f"`{request.name}` of an unclear size or type: its accesses are unknown")
    whole = target.array if isinstance(target, Reference) else None
    forget_through(request, target if whole is None else Reference(Pointer(whole.type), whole))
    return target


# --- addresses and textures -------------------------------------------------------------------


def _shared_address(request: Request) -> Value:
    """``__cvta_generic_to_shared(p)``: the address as an integer (its offset is what counts)."""
    return Scalar(ctypes.ULONG, arith.cast(_as_address(request, request.value(0)), ir.U64))


def _same_pointer(request: Request) -> Value:
    """``__builtin_assume_aligned(p, n)`` is ``p``."""
    values = request.values()
    return values[0]


def _allocation(request: Request) -> Value:
    request.values()
    return Scalar(Pointer(VOID), request.undefined(ir.PTR, "memory from the device's heap"))


def texture(request: Request) -> Value:
    """A fetch through the texture unit: reported, never counted (its address is not linear)."""
    request.values()
    writes = request.name.startswith("surf") and "write" in request.name
    ctype = FLOAT if request.result in (None, VOID) else request.result or FLOAT
    access = accesses.register(
        request.cx, Op.STORE if writes else Op.LOAD, ctype, request.node, kind="texture"
    )
    address = request.undefined(ir.PTR, "texture memory has no linear addresses")
    if writes:
        value = request.undefined(ir.U32, "a surface's value")
        request.cx.emit(Store(access, 0, address, value))
        return request.nothing()
    scalar = ctypes.scalar_of(ctype) or ir.F32
    request.cx.emit(Load(access, 0, request.cx.temporary(scalar), address))
    return storage.undefined_value(request.cx, ctype, request.name, "a texture's value")


def matrix_load(request: Request) -> Value:
    """``__asm_ldmatrix_x4(address, &r0, …)``: every lane gives the address of a 16-byte row of
    shared memory (PTX ISA, "ldmatrix"), the first 8 or 16 for ``_x1`` and ``_x2``; what the
    registers receive is unknown."""
    address, *registers = request.values()
    access = accesses.register(
        request.cx,
        Op.LOAD,
        UINT,
        request.node,
        pieces=(Piece(0, 16),),
        kind="ldmatrix",
        text=accesses.pointee_text(request.cx, request.args[0]),
    )
    matrices = request.name.removeprefix("__asm_ldmatrix_")[:2]
    known = request.cx.accesses[access]
    request.cx.accesses[access] = replace(known, element=f"8x8 matrices {matrices}")
    row = request.cx.temporary(ir.U32)
    request.cx.emit(Load(access, 0, row, _as_address(request, address)))
    for register in registers:
        forget_through(request, register)
    return request.nothing()


def _tile(request: Request, op: Op) -> Value:
    """``load_matrix_sync`` and ``store_matrix_sync``: an access of the warp together; which lane
    touches what is not documented (CUDA C++ Programming Guide, "Warp Matrix Functions")."""
    pointer, *registers = request.values()
    cx = request.cx
    access = accesses.register(
        cx,
        op,
        UINT,
        request.node,
        kind="wmma",
        text=accesses.pointee_text(request.cx, request.args[0]),
    )
    cx.accesses[access] = replace(
        cx.accesses[access], element="a tile's share of a lane", unknown_width="tile"
    )
    address = _as_address(request, pointer)
    if op is Op.LOAD:
        cx.emit(Load(access, 0, cx.temporary(ir.U32), address))
    else:
        cx.emit(Store(access, 0, address, request.undefined(ir.U32, "a part of a fragment")))
    for register in registers:
        forget_through(request, register)
    return request.nothing()


def _fragment_update(request: Request) -> Value:
    """``fill_fragment`` and ``mma_sync``: only registers change."""
    for value in request.values():
        forget_through(request, value)
    return request.nothing()


def forget_through(request: Request, pointer: Value) -> None:
    """What ``pointer`` points to is unknown from here on."""
    if isinstance(pointer, Reference):
        places.forget(request.cx, pointer.place, f"written by {request.name}")
    elif isinstance(pointer, Scalar):
        base = arith.root(pointer.expr)
        if isinstance(base, Var):
            request.cx.poisoned_vars.add(base.name)
        elif isinstance(base, ArrayBase):
            request.cx.poisoned.add(base.array)


def _two_results(request: Request) -> Value:
    """``frexp(x, &exponent)`` and kin: neither result is modelled."""
    for value in request.values():
        if isinstance(value.type, Pointer):
            forget_through(request, value)
    return request.unknown(f"the value of {request.name}")


_OPERATIONS = {
    "Add": "add", "Sub": "sub", "Min": "min", "Max": "max", "Inc": "inc", "Dec": "dec",
    "Exch": "exch", "CAS": "cas", "And": "and", "Or": "or", "Xor": "xor",
}  # fmt: skip


def table() -> dict[str, Handler]:
    """Names without type suffix to handlers."""
    entries: dict[str, Handler] = {
        f"atomic{name}{scope}": partial(_atomic, op=op)
        for name, op in _OPERATIONS.items()
        for scope in ("", "_block", "_system")
    }
    entries.update(dict.fromkeys(("__pipeline_memcpy_async", "__asm_cp_async"), _async_copy))
    entries.update(dict.fromkeys(("memcpy", "memmove", "__builtin_memcpy"), _memory_copy))
    entries.update(dict.fromkeys(("memset", "__builtin_memset"), _memory_set))
    entries["__cvta_generic_to_shared"] = _shared_address
    entries["__builtin_assume_aligned"] = _same_pointer
    entries["malloc"] = _allocation
    entries["__wmma_load_matrix"] = partial(_tile, op=Op.LOAD)
    entries["__wmma_store_matrix"] = partial(_tile, op=Op.STORE)
    entries["__wmma_update"] = _fragment_update
    for name in ("frexp", "modf", "remquo", "lgamma_r"):
        entries[name] = entries[f"{name}f"] = _two_results
    return entries
