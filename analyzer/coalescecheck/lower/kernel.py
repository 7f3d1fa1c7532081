"""``lower``: one kernel in kernel C to one ``ir.Kernel``.

In: a ``KernelC`` (and paddings to try).  Out: the IR, whose every access and diagnostic carries
the user's place.  Raises ``UnsupportedConstruct`` only where nothing of the kernel can be used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir import kernel as ir_kernel
from coalescecheck.ir.expr import Var
from coalescecheck.ir.kernel import Kernel, Param, Space
from coalescecheck.lower import (
    declarations,
    expressions,
    finish,
    null_checks,
    objects,
    parameter_arrays,
    places,
    statements,
    storage,
)
from coalescecheck.lower.builtin_warp import KERNEL
from coalescecheck.lower.context import Callee, Context, Frame
from coalescecheck.lower.ctypes import VOID, ArrayOf, Number, Pointer, Record
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.leaving import strip_last_leave
from coalescecheck.lower.lexer import Lexer
from coalescecheck.lower.member_names import inside
from coalescecheck.lower.values import Parts, Place, Variable

MAX_ATTEMPTS = 12  # each demotes at least one more variable to memory

_PARSE_PLACE = re.compile(r"^[^:]*:(\d+)(?::(\d+))?:\s*(.*)", re.DOTALL)
_Typed = TypeVar("_Typed", ir_kernel.Array, ir_kernel.Access)
_NO_PADS: Mapping[str, int] = MappingProxyType({})


def lower(
    kernel_c: KernelC, *, pads: Mapping[str, int] = _NO_PADS, nulls: Collection[str] = ()
) -> Kernel:
    """The IR of a kernel; ``pads`` adds elements to the rows of shared arrays, named as in the IR;
    ``nulls`` are pointer parameters that are null, which matters where the kernel checks them."""
    if kernel_c.text is None:
        raise UnsupportedConstruct("the kernel could not be rewritten to C", kernel_c.span)
    try:
        tree = _parse(kernel_c)
        kernel = _lower(kernel_c, tree, pads, ())
        nulls = null_checks.checked(kernel, nulls) if nulls else ()
        return _lower(kernel_c, tree, pads, nulls) if nulls else kernel
    except RecursionError as error:
        raise UnsupportedConstruct("its expressions are nested too deep", kernel_c.span) from error


def _lower(
    kernel_c: KernelC, tree: c_ast.FileAST, pads: Mapping[str, int], nulls: Collection[str]
) -> Kernel:
    demoted: frozenset[Hashable] = frozenset()
    for _ in range(MAX_ATTEMPTS):
        cx = Context(kernel_c.source_map, pads, demoted, expressions.evaluate, statements.execute)
        cx.nulls, cx.spellings = nulls, kernel_c.spellings
        body = _kernel_body(cx, kernel_c, tree)
        cx.demote.update(parameter_arrays.written(cx, body))
        if cx.demote <= demoted:
            return _result(cx, kernel_c, body)
        demoted |= cx.demote
    raise UnsupportedConstruct("too many variables whose address escapes", kernel_c.span)


@lru_cache(maxsize=2)
def _tree(text: str) -> c_ast.FileAST:
    """One text is lowered several times: for every launch, and with padded arrays."""
    return CParser(lexer=Lexer, dialect="c23").parse(text, filename="")


def _parse(kernel_c: KernelC) -> c_ast.FileAST:
    try:
        return _tree(kernel_c.text or "")
    except ParseError as error:
        span, message = kernel_c.span, str(error).removeprefix(": ")
        place = _PARSE_PLACE.match(message)
        if place is not None:
            span = kernel_c.source_map.span(int(place[1]), int(place[2] or 1))
            message = place[3]
        raise UnsupportedConstruct(f"this is not understood as C ({message})", span) from error


def _kernel_body(cx: Context, kernel_c: KernelC, tree: c_ast.FileAST) -> tuple[ir_kernel.Stmt, ...]:
    definition = None
    for item in tree.ext:
        match item:
            case c_ast.FuncDef():
                name, type_ = item.decl.name, declarations.resolve(cx, item.decl).type
                cx.define(name, Callee(name, type_, item))
                if name == kernel_c.function:
                    definition = item
            case c_ast.Typedef():
                objects.declare_typedef(cx, item)
            case c_ast.Decl():
                objects.declare_global(cx, item)
    if definition is None:
        raise UnsupportedConstruct(f"`{kernel_c.name}` is not in its own C text", kernel_c.span)
    with cx.block() as body, cx.function(Frame(kernel_c.function, KERNEL, VOID)):
        _bind_parameters(cx, definition)
        cx.execute(cx, definition.body)
    return tuple(strip_last_leave(KERNEL, body))


def _result(cx: Context, kernel_c: KernelC, body: tuple[ir_kernel.Stmt, ...]) -> Kernel:
    body, accesses = finish.finish(cx, body)
    types = cx.spellings.names
    return Kernel(
        name=kernel_c.name,
        span=kernel_c.span,
        params=tuple(cx.params),
        arrays={name: _shown(array, types) for name, array in cx.arrays.items()},
        accesses=tuple(_shown(access, types) for access in accesses),
        body=(ir_kernel.Scope(KERNEL, body),),
        diagnostics=tuple(cx.diagnostics),
        unknown_types=cx.unknown_types,
    )


def _shown(typed: _Typed, types: Mapping[str, str]) -> _Typed:
    """An array or access with its type as the user spells it."""
    shown = types.get(typed.element)
    return typed if shown is None else replace(typed, element=shown)


# --- parameters -------------------------------------------------------------------------------


def _bind_parameters(cx: Context, definition: c_ast.FuncDef) -> None:
    args = definition.decl.type.args
    for param in args.params if args is not None else []:
        if not isinstance(param, c_ast.Decl) or param.name is None:
            continue
        declared = declarations.parameter_type(declarations.resolve(cx, param))
        place = _parameter(cx, param.name, declared, param)
        if ("parameter", param.name) in cx.demoted or id(param) in cx.demoted:
            place = _copy_to_memory(cx, param, declared, place)
        cx.define(param.name, place)


def _parameter(cx: Context, name: str, declared: Declared, node: c_ast.Decl) -> Place:
    """A kernel parameter: scalars are ``Param``, pointers global arrays, structs their members."""
    ctype = declared.type
    match ctype:
        case Pointer():
            return storage.pointer_parameter(cx, name, ctype, id(node), node)
        case Number():
            cx.params.append(Param(name, ctype.scalar))
            var = Var(cx.unique(name), ctype.scalar)
            variable = Variable(ctype, var, id(node), cx.path, assigned=True)
            return storage.remembered(cx, variable)
        case Record() if not ctype.overlapping:
            members: dict[str | int, Place] = {
                m.name: _parameter(cx, inside(name, ctype, m), Declared(m.type), node)
                for m in ctype.members
            }
            return Parts(ctype, members, id(node))
        case Record() | ArrayOf():  # constant bank 0: indexable, read only
            return parameter_arrays.enter(
                cx,
                storage.allocate(cx, name, declared, Space.CONSTANT, node=node, parameter=True),
            )
    raise cx.unsupported(node, f"a parameter of the type {ctype}")


def _copy_to_memory(cx: Context, param: c_ast.Decl, declared: Declared, source: Place) -> Place:
    """A parameter whose address escapes, or whose arrays are written: a local copy."""
    from_parameter = places.read_object(cx, source, param)
    local = storage.allocate(cx, param.name, declared, Space.LOCAL, node=param)
    places.write(cx, local, from_parameter, param)
    return local
