"""Declarations of objects: locals, shared, constant and device arrays, free template values.

In: ``Decl`` and ``Typedef`` nodes with their CUDA attributes.  Out: names bound in the scope,
arrays entered into the kernel, initial values written.
"""

from __future__ import annotations

import json
from dataclasses import replace

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import ArrayBase, Builtin, Const, Var
from coalescecheck.ir.kernel import Assign, Param, Space
from coalescecheck.lower import ctypes, declarations, initializers, places, storage
from coalescecheck.lower.context import Callee, Context
from coalescecheck.lower.ctypes import ArrayOf, Number, Record
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.values import Fixed, Members, Memory, Place, Scalar, Value

DYNAMIC_SHARED_ALIGN = 16  # bytes: what PTX declares (docs/memory_model.md)
BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_SPACES = {"constant": Space.CONSTANT, "device": Space.GLOBAL, "managed": Space.GLOBAL}


def declare(cx: Context, node: c_ast.Node) -> None:
    """A declaration inside a function."""
    if isinstance(node, c_ast.Typedef):
        declare_typedef(cx, node)
        return
    marked = declarations.markers(node)
    if node.name is None:
        declarations.resolve(cx, node)  # struct or enum without an object
    elif isinstance(node.type, c_ast.FuncDecl):
        declare_function(cx, node)
    elif "shared" in marked:
        cx.define(node.name, _shared(cx, node))
    elif "static" in node.storage or "extern" in node.storage or marked.keys() & _SPACES.keys():
        cx.define(node.name, _static(cx, node))
    else:
        _local(cx, node)


def declare_typedef(cx: Context, node: c_ast.Typedef) -> None:
    """A typedef; the size of an unknown template type is a parameter of the kernel."""
    declarations.define_typedef(cx, node)
    markers = declarations.markers(node)
    if "unknown_type" in markers:
        given_by = markers["unknown_type"]
        cx.unknown_types[node.name] = node.name if given_by is None else given_by.strip('"')
        size = Param(f"sizeof({node.name})", ir.I64, compiled=True)
        if size not in cx.params:
            cx.params.append(size)


def declare_function(cx: Context, node: c_ast.Decl) -> None:
    """A prototype; a definition that was seen stays."""
    known = cx.scopes[0].get(node.name)
    if not (isinstance(known, Callee) and known.definition is not None):
        type_, markers = declarations.resolve(cx, node).type, declarations.markers(node)
        source = json.loads(markers.get("place") or markers.get("value") or '""')
        cx.scopes[0][node.name] = Callee(node.name, type_, None, source, "place" in markers)


# --- locals -----------------------------------------------------------------------------------


def _local(cx: Context, node: c_ast.Decl) -> None:
    value: Value | None = None
    if _is_inferred(node):
        value = cx.evaluate(cx, node.init)
        declared = Declared(value.type)
    else:
        declared = declarations.resolve(cx, node)
        declared = Declared(declared.type, declared.const, declared.volatile)
        if node.init is not None:
            value = initializers.initial_value(cx, declared.type, node.init)
            if isinstance(declared.type, ArrayOf) and isinstance(value.type, ArrayOf):
                declared = replace(declared, type=value.type)
    given = _constant(declared, value) or _const_table(cx, node, declared, value)
    if given is None and isinstance(value, Members):
        given = storage.borrow(cx, node.name, value, id(node), node)
    if given is not None:
        cx.define(node.name, given)
        return
    place = storage.make_local(cx, node.name, declared, id(node), node)
    if value is not None:
        places.write(cx, place, value, node)
    else:
        _leave_undefined(cx, place)
    cx.define(node.name, place)


def _is_inferred(node: c_ast.Decl) -> bool:
    inner = getattr(node.type, "type", None)
    return isinstance(inner, c_ast.InferredType) and node.init is not None


def _constant(declared: Declared, value: Value | None) -> Place | None:
    """A const number of known value: uses of it are constant expressions, as in C++."""
    if not declared.const or declared.volatile or not isinstance(declared.type, Number):
        return None
    known = isinstance(value, Scalar) and isinstance(value.expr, Const)
    return Fixed(value) if known and value is not None else None


def _const_table(
    cx: Context, node: c_ast.Decl, declared: Declared, value: Value | None
) -> Place | None:
    """A const array of constants that must be memory: its values are known, and the stores that
    fill it are not listed.  nvcc 13.0 keeps such tables in local memory."""
    if not (declared.const and isinstance(declared.type, ArrayOf) and value is not None):
        return None
    if id(node) not in cx.demoted and not storage.needs_memory(declared.type):
        return None
    values = initializers.constant_values(cx, value)
    if values is None:
        return None
    return storage.allocate(cx, node.name, declared, Space.LOCAL, node=node, values=values)


def _leave_undefined(cx: Context, place: Place) -> None:
    """Reading a variable before it is assigned gives nothing one may rely on."""
    for variable in places.variables_of(place):
        name = variable.var.name
        unknown = cx.undefined(name, f"`{name}` has no value yet", variable.var.type)
        cx.emit(Assign(variable.var, replace(unknown, unset=True)))


# --- arrays that are not on the stack ---------------------------------------------------------


def _shared(cx: Context, node: c_ast.Decl) -> Place:
    """``__shared__``; all dynamic (extern) arrays of a kernel are one memory, which has the
    name and element type of the first declared (CUDA C++ Programming Guide, B.2.3)."""
    if id(node) in cx.statics:  # one object, however often its function is inlined
        return cx.statics[id(node)]
    declared = declarations.resolve(cx, node)
    align = declarations.alignment(cx, node.align)
    dynamic = "extern" in node.storage
    if dynamic and cx.dynamic_shared:
        base = ArrayBase(cx.dynamic_shared)
        array = cx.arrays[cx.dynamic_shared]
        cx.arrays[array.name] = replace(array, align=max(array.align, align))
        place = Memory(declared.type, base, declared.volatile, declared.const)
    else:
        if dynamic:
            align = max(align, DYNAMIC_SHARED_ALIGN)
        place = storage.allocate(
            cx, node.name, declared, Space.SHARED, node=node, align=align, dynamic=dynamic
        )
        if dynamic and isinstance(place.address, ArrayBase):
            cx.dynamic_shared = place.address.array
    cx.statics[id(node)] = place
    return place


def _static(cx: Context, node: c_ast.Decl) -> Place:
    """A static of a function: device memory, one object for all its inlined copies."""
    if id(node) not in cx.statics:
        cx.statics[id(node)] = _file_object(cx, node, declarations.resolve(cx, node))
    return cx.statics[id(node)]


# --- file scope -------------------------------------------------------------------------------


def declare_global(cx: Context, node: c_ast.Decl) -> None:
    """A declaration at file scope: builtins, free values, constants, device memory."""
    marked = declarations.markers(node)
    if node.name is None:
        declarations.resolve(cx, node)
    elif isinstance(node.type, c_ast.FuncDecl):
        declare_function(cx, node)
    elif "shared" in marked:
        cx.define(node.name, _shared(cx, node))
    else:
        cx.define(node.name, _global_place(cx, node, declarations.resolve(cx, node), marked))


def _global_place(
    cx: Context, node: c_ast.Decl, declared: Declared, marked: dict[str, str | None]
) -> Place:
    if node.name in BUILTINS and isinstance(declared.type, Record):
        members: dict[str | int, Value] = {
            m.name: Scalar(m.type, Builtin(f"{node.name}.{m.name}", ir.U32))
            for m in declared.type.members
        }
        return Fixed(Members(declared.type, members))
    if marked.keys() & {"free", "undeclared"} and isinstance(declared.type, Number):
        presumed = "undeclared" in marked
        cx.params.append(Param(node.name, declared.type.scalar, compiled=True, presumed=presumed))
        return Fixed(Scalar(declared.type, Var(cx.unique(node.name), declared.type.scalar)))
    if not marked.keys() & _SPACES.keys() and declared.const and node.init is not None:
        value = initializers.initial_value(cx, declared.type, node.init)
        if initializers.constant_values(cx, value) is not None and isinstance(value, Scalar):
            return Fixed(value)
    elsewhere = not marked.keys() & _SPACES.keys() and "extern" in node.storage
    if elsewhere and not isinstance(declared.type, ArrayOf):
        reason = f"`{node.name}` is defined elsewhere"
        return Fixed(storage.undefined_value(cx, declared.type, node.name, reason))
    return _file_object(cx, node, declared)


def _file_object(cx: Context, node: c_ast.Decl, declared: Declared) -> Place:
    marked = declarations.markers(node)
    # a static of a function is in global memory, a const one too (nvcc 13.0: ".global" in PTX)
    space = next((s for name, s in _SPACES.items() if name in marked), Space.GLOBAL)
    values: tuple[int | float, ...] | None = None
    if node.init is not None:
        value = initializers.initial_value(cx, declared.type, node.init)
        if isinstance(declared.type, ArrayOf) and isinstance(value.type, ArrayOf):
            declared = replace(declared, type=value.type)
        if declared.const or space == Space.CONSTANT:
            values = _known_values(cx, declared, value)
    align = declarations.alignment(cx, node.align)
    return storage.allocate(cx, node.name, declared, space, node=node, align=align, values=values)


def _known_values(cx: Context, declared: Declared, value: Value) -> tuple[int | float, ...] | None:
    """One value per element, where the elements are numbers."""
    _, element = ctypes.extents(declared.type)
    return initializers.constant_values(cx, value) if isinstance(element, Number) else None
