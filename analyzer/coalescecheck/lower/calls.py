"""Function calls: inlining, CUDA's built-in functions, and functions nobody knows.

In: a call's syntax node.  Out: its value.  A function with a body is inlined (arguments are
copied to fresh variables, ``return`` leaves a Scope); a built-in one is looked up in the table
of ``intrinsics``; anything else gives an unknown value and a diagnostic, and whatever its
pointer arguments reach is unknown from then on.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import ArrayBase, Const, Undefined, Var
from coalescecheck.ir.kernel import Barrier, Space
from coalescecheck.lower import (
    arith,
    conversions,
    ctypes,
    declarations,
    given_away,
    intrinsics,
    leaving,
    places,
    sequence,
    storage,
)
from coalescecheck.lower.context import (
    MAX_ACCESSES,
    MAX_INLINED_CALLS,
    MAX_RECURSIVE_CALLS,
    Callee,
    Context,
    Frame,
)
from coalescecheck.lower.ctypes import VOID, Function, Pointer, Record
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.values import Fixed, Members, Place, Scalar, Value

MAX_RECURSION = 16  # inlined copies of one function inside each other

_CHANGES = frozenset({"&", "++", "--", "p++", "p--"})
NOTHING = Scalar(VOID, Const(ir.I32, 0))


def call(cx: Context, node: c_ast.FuncCall, *, used: bool) -> Value:
    """The value of a call; ``used`` is False where nobody looks at it."""
    name = node.name.name if isinstance(node.name, c_ast.ID) else ""
    entity = cx.lookup(name) if name else None
    callee = entity if isinstance(entity, Callee) else None
    arguments = list(node.args.exprs) if node.args is not None else []
    if callee is not None and callee.definition is not None:
        return _inline(cx, callee, arguments, node)
    handler = intrinsics.find(name)
    if handler is not None and not _is_another(name, arguments):
        result = _result_type(callee)
        params = _parameter_types(callee)
        request = intrinsics.Request(cx, name, arguments, result, node, used, params)
        value = handler(request)
        return value if result in (None, VOID) else conversions.convert(cx, value, result, node)
    values = sequence.in_order(cx, arguments)
    return unknown_call(cx, name, values, callee, node)


def _is_another(name: str, arguments: list[c_ast.Node]) -> bool:
    """Whether it is not CUDA's function of the name: ``max(v)`` of a vector, in a header that is
    not here."""
    return name.partition("__")[0] in ("min", "max") and len(arguments) != 2


def _parameter_types(callee: Callee | None) -> tuple[ctypes.CType, ...]:
    if callee is not None and isinstance(callee.type, Function):
        return callee.type.params or ()
    return ()


def _result_type(callee: Callee | None) -> ctypes.CType | None:
    if callee is not None and isinstance(callee.type, Function):
        return callee.type.result
    return None


# --- unknown functions ------------------------------------------------------------------------


def unknown_call(
    cx: Context, name: str, values: list[Value], callee: Callee | None, node: c_ast.Node
) -> Value:
    """Nothing is known: not the result, and not what the pointer arguments reach."""
    shown = name.split("__")[0] if name.startswith("opaque__") else name.split("__lambda__")[0]
    place = callee is not None and callee.place  # itself an access that is listed
    hides = not place and any(_reaches_memory(cx, value) for value in values)
    if any(array.space is Space.SHARED for array in cx.arrays.values()):
        cx.emit(Barrier("unknown", cx.span(node)))  # it may order what threads do there
    if shown.startswith("asm__"):
        pass  # the front end has told what inline PTX does
    elif shown != "opaque":  # and why it made an opaque expression
        what = f"`{_written(shown) or 'a function pointer'}()` is not known"
        lost = "what it accesses is not seen, and " if hides else ""
        cx.warn(node, f"{what}: {lost}accesses through its result are unknown", hides=hides)
    elif hides:
        what = "an expression that is not understood is given a pointer"
        cx.warn(node, f"{what}: what it accesses is not seen", hides=True)
    return _forgotten_call(cx, shown, values, callee)


def _written(name: str) -> str:
    """A name of kernel C as its user wrote it: ``cub__Load__2`` is a second ``cub::Load``."""
    stem = re.sub(r"__\d+$", "", name.removeprefix("method__").removeprefix("virtual__"))
    return re.sub(r"(?<=[A-Za-z0-9])__(?=[A-Za-z0-9])", "::", stem)


def _reaches_memory(cx: Context, value: Value) -> bool:
    """Whether a function that gets this value can access memory other threads see."""
    match value:
        case Scalar(type=Pointer()):
            base = arith.root(value.expr)
            if isinstance(base, ArrayBase):
                return cx.arrays[base.array].space is not Space.LOCAL
            return isinstance(base, Var | Undefined)
        case Members():
            return any(_reaches_memory(cx, inner) for inner in value.members.values())
    return False


def _forgotten_call(cx: Context, shown: str, values: list[Value], callee: Callee | None) -> Value:
    if shown == "opaque":
        reason = "taken from an expression that is not understood"
    else:
        called = f"`{_written(shown)}()`" if shown else "a function pointer"
        reason = f"taken from {called}, which is not followed"
    params = _parameter_types(callee)
    given_away.write_again(cx, reason)
    for index, value in enumerate(values):
        param = params[index] if index < len(params) else None
        constant = isinstance(param, Pointer) and param.const
        given_away.give(cx, value, reason, itself=not constant)
    cx.unknown_calls.append(len(cx.given))
    result = _result_type(callee) or ctypes.INT
    if result == VOID:
        return NOTHING
    return storage.undefined_value(cx, result, shown or "call", reason)


# --- inlining ---------------------------------------------------------------------------------


def _inline(
    cx: Context, callee: Callee, arguments: list[c_ast.Node], node: c_ast.FuncCall
) -> Value:
    known = [_function_named(cx, argument) for argument in arguments]
    values = sequence.in_order(cx, arguments)
    depth = sum(frame.name == callee.name for frame in cx.frames)
    recursive = depth > 0 or cx.frames[-1].recursive
    cx.inlined += 1
    cx.recursive += recursive
    if depth >= MAX_RECURSION or cx.recursive > MAX_RECURSIVE_CALLS:
        _say_limit(cx, node, f"`{callee.name}()` is recursive: it was followed {depth} calls deep")
        return _forgotten_call(cx, callee.name, values, callee)
    if cx.inlined > MAX_INLINED_CALLS:
        _say_limit(cx, node, f"only the first {MAX_INLINED_CALLS} calls are followed")
        return _forgotten_call(cx, callee.name, values, callee)
    if len(cx.accesses) > MAX_ACCESSES:
        _say_limit(cx, node, f"calls are followed as far as the first {MAX_ACCESSES} accesses")
        return _forgotten_call(cx, callee.name, values, callee)
    definition = callee.definition
    result_type = _result_type(callee) or VOID
    if definition is None or len(values) < _parameter_count(definition):
        return unknown_call(cx, callee.name, values, callee, node)
    label = cx.unique(callee.name)
    frame = Frame(callee.name, label, result_type, None, cx.span(node), recursive)
    if result_type != VOID:
        declared = Declared(result_type)
        key = ("result", id(node))
        frame.result = storage.make_local(cx, f"{callee.name}.result", declared, key, node)
    barriers = cx.barriers
    with cx.function(frame):
        _bind(cx, definition, values, known, node)
        with cx.block() as body:
            cx.execute(cx, definition.body)
    has_barrier = cx.barriers != barriers
    cx.out.extend(
        leaving.without_scope(frame.leave, body, frame.returns, cx.jumps, has_barrier=has_barrier)
    )
    if frame.result is None:
        return NOTHING
    value = frame.value if frame.returns == 1 and _ends_with_return(definition) else None
    if value is not None and _is_constant(value):
        return value
    return places.read_object(cx, frame.result, node)


def _ends_with_return(definition: c_ast.FuncDef) -> bool:
    items = list(definition.body.block_items or [])
    return bool(items) and isinstance(items[-1], c_ast.Return)


def _is_constant(value: Value) -> bool:
    """Whether a value is a number, or an address at a constant distance from an array."""
    if not isinstance(value, Scalar):
        return False
    base = arith.root(value.expr)
    return isinstance(base, Const | ArrayBase) and arith.distance(value.expr) is not None


def _say_limit(cx: Context, node: c_ast.FuncCall, message: str) -> None:
    if not cx.said_limit:
        cx.said_limit = True
        cx.warn(node, f"{message}; the accesses beyond are missing", hides=True)


def _parameters(definition: c_ast.FuncDef) -> list[c_ast.Decl]:
    args = definition.decl.type.args
    params = [] if args is None else [p for p in args.params if isinstance(p, c_ast.Decl)]
    return [p for p in params if p.name is not None or not _is_void(p)]


def _is_void(param: c_ast.Decl) -> bool:
    inner = getattr(param.type, "type", None)
    return isinstance(inner, c_ast.IdentifierType) and inner.names == ["void"]


def _parameter_count(definition: c_ast.FuncDef) -> int:
    return len(_parameters(definition))


def _function_named(cx: Context, argument: c_ast.Node) -> Callee | None:
    """The function that an argument is the name of."""
    if not isinstance(argument, c_ast.ID):
        return None
    entity = cx.lookup(argument.name)
    return entity if isinstance(entity, Callee) and entity.definition is not None else None


def _only_called(definition: c_ast.FuncDef, name: str) -> bool:
    """Whether a function does no more with a variable than calling it or passing it on."""
    parents = [definition.body]
    while parents:
        node = parents.pop()
        changed = node.lvalue if isinstance(node, c_ast.Assignment) else None
        changed = node.expr if isinstance(node, c_ast.UnaryOp) else changed
        if isinstance(changed, c_ast.ID) and changed.name == name:
            return False
        parents += [child for _, child in node.children()]
    return True


def _changed(cx: Context, definition: c_ast.FuncDef) -> frozenset[str]:
    """The names that a function assigns to, or takes the address of."""
    if id(definition) not in cx.changes:
        found: set[str] = set()
        waiting = [definition.body]
        while waiting:
            node = waiting.pop()
            changed = node.lvalue if isinstance(node, c_ast.Assignment) else None
            if isinstance(node, c_ast.UnaryOp) and node.op in _CHANGES:
                changed = node.expr
            if isinstance(changed, c_ast.ID):
                found.add(changed.name)
            waiting += [child for _, child in node.children()]
        cx.changes[id(definition)] = frozenset(found)
    return cx.changes[id(definition)]


def _bind(
    cx: Context,
    definition: c_ast.FuncDef,
    values: list[Value],
    known: list[Callee | None],
    node: c_ast.FuncCall,
) -> None:
    """Parameters are fresh variables; a pointer to a variable is an alias of it, a function
    that is passed is called."""
    for param, value, function in zip(_parameters(definition), values, known, strict=False):
        if param.name is None:
            continue
        if function is not None and _only_called(definition, param.name):
            cx.define(param.name, function)
            continue
        declared = declarations.parameter_type(declarations.resolve(cx, param))
        cx.define(param.name, _parameter_place(cx, definition, param, declared, value, node))


def _parameter_place(
    cx: Context,
    definition: c_ast.FuncDef,
    param: c_ast.Decl,
    declared: Declared,
    value: Value,
    node: c_ast.FuncCall,
) -> Place:
    converted = conversions.convert(cx, value, declared.type, node)
    if isinstance(converted, Members) and isinstance(declared.type, Record):
        lent = storage.borrow(cx, param.name, converted, id(param), param)
        if lent is not None:
            return lent
    if _is_constant(converted) and param.name not in _changed(cx, definition):
        return Fixed(converted)
    place = storage.make_local(cx, param.name, declared, id(param), param)
    places.write(cx, place, converted, node)
    return place
