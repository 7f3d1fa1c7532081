"""C expressions: one handler per syntax node, giving values and places.

In: pycparser expression nodes.  Out: values, with the loads, stores and assignments they imply
emitted in C++'s order (the right side of an assignment first).  ``&&``, ``||`` and ``?:`` stay
pure expressions unless a side that may not run has effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Const, Expr
from coalescecheck.ir.kernel import Assign, If, Stmt
from coalescecheck.lower import (
    arith,
    calls,
    constants,
    conversions,
    ctypes,
    declarations,
    initializers,
    operators,
    places,
    sequence,
    storage,
)
from coalescecheck.lower.context import Callee, Context
from coalescecheck.lower.ctypes import INT, VOID, CType, Pointer
from coalescecheck.lower.declarations import Declared
from coalescecheck.lower.values import Fixed, Memory, Place, Reference, Scalar, Value, Variable

MAX_CHAIN = 50  # operators in one IR expression, so that its walkers need no deep recursion
NOTHING = Scalar(VOID, Const(ir.I32, 0))


def evaluate(cx: Context, node: c_ast.Node) -> Value:
    """The value of an expression; arrays decay to pointers."""
    handler = _VALUES.get(type(node))
    if handler is not None:
        return handler(cx, node)
    if type(node) in _PLACES:
        return places.read(cx, place_of(cx, node), node)
    cx.warn(node, f"{type(node).__name__} is not understood: its value is unknown")
    return storage.undefined_value(cx, INT, "expression", "not understood")


def effect(cx: Context, node: c_ast.Node) -> None:
    """Evaluate an expression whose value nobody uses."""
    match node:
        case c_ast.FuncCall():
            calls.call(cx, node, used=False)
        case c_ast.Cast() if declarations.resolve(cx, node.to_type).type == VOID:
            effect(cx, node.expr)
        case c_ast.ExprList():
            for part in node.exprs:
                effect(cx, part)
        case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--"):
            _step(cx, node, used=False)
        case c_ast.UnaryOp(op="*", expr=c_ast.FuncCall()):  # `a += b;`: nobody reads the result
            place = place_of(cx, node)
            if isinstance(place, Memory) and place.volatile:
                evaluate(cx, node)
        case _:
            evaluate(cx, node)


def condition(cx: Context, node: c_ast.Node) -> Expr:
    """An expression as a BOOL condition."""
    return operators.condition(cx, evaluate(cx, node))


def place_of(cx: Context, node: c_ast.Node) -> Place:
    """The place an lvalue names; other expressions give a place of their own value."""
    handler = _PLACES.get(type(node))
    if handler is not None:
        return handler(cx, node)
    return Fixed(evaluate(cx, node))


# --- places -----------------------------------------------------------------------------------


def _name(cx: Context, node: c_ast.Node) -> Place:
    entity = cx.lookup(node.name)
    if isinstance(entity, Callee):
        return Fixed(Scalar(entity.type, cx.undefined(node.name, "a function", ir.PTR, True)))
    if entity is None or not isinstance(entity, Place):
        cx.warn(node, f"`{node.name}` is not known: its value is unknown")
        return Fixed(storage.undefined_value(cx, INT, node.name, "not declared"))
    return entity


def _subscript(cx: Context, node: c_ast.Node) -> Place:
    base = evaluate(cx, node.name)
    subscript = evaluate(cx, node.subscript)
    return places.dereference(cx, operators.binary(cx, "+", base, subscript, node), node)


def _member(cx: Context, node: c_ast.Node) -> Place:
    if node.type == "->":
        base = places.dereference(cx, evaluate(cx, node.name), node.name)
    else:
        base = place_of(cx, node.name)
    return places.member(cx, base, node.field.name, node)


def _unary_place(cx: Context, node: c_ast.Node) -> Place:
    if node.op == "*":
        return places.dereference(cx, evaluate(cx, node.expr), node)
    if node.op in ("++", "--"):  # C++: an lvalue
        _step(cx, node, used=False)
        return place_of(cx, node.expr)
    return Fixed(_unary(cx, node))


def _compound_literal(cx: Context, node: c_ast.Node) -> Place:
    declared = declarations.resolve(cx, node.type)
    return Fixed(initializers.initial_value(cx, declared.type, node.init))


def _comma_place(cx: Context, node: c_ast.Node) -> Place:
    for part in node.exprs[:-1]:
        effect(cx, part)
    return place_of(cx, node.exprs[-1])


_PLACES: dict[type[c_ast.Node], Callable[[Context, c_ast.Node], Place]] = {
    c_ast.ID: _name,
    c_ast.ArrayRef: _subscript,
    c_ast.StructRef: _member,
    c_ast.UnaryOp: _unary_place,
    c_ast.CompoundLiteral: _compound_literal,
    c_ast.ExprList: _comma_place,
}


# --- values -----------------------------------------------------------------------------------


def _constant(cx: Context, node: c_ast.Node) -> Value:
    value = constants.literal(node.value)
    if value is None:
        text = Pointer(ctypes.CHAR, const=True)
        return Scalar(text, cx.undefined("literal", "a string literal", ir.PTR, True))
    return value


def _binary(cx: Context, node: c_ast.Node) -> Value:
    if node.op in ("&&", "||"):
        return Scalar(ctypes.BOOL, _short_circuit(cx, node))
    chain = [node]  # a + b + c + … is nested to the left, in generated code hundreds deep
    while isinstance(chain[-1].left, c_ast.BinaryOp) and chain[-1].left.op not in ("&&", "||"):
        chain.append(chain[-1].left)
    value = evaluate(cx, chain[-1].left)
    for count, inner in enumerate(reversed(chain), 1):
        if inner.op in ("<<", ">>") and sequence.has_effect(inner.right):
            value = sequence.read_now(cx, value)
        value = operators.binary(cx, inner.op, value, evaluate(cx, inner.right), inner)
        if count % MAX_CHAIN == 0 and isinstance(value, Scalar):
            value = Scalar(value.type, cx.keep(value.expr))
    return value


def _short_circuit(cx: Context, node: c_ast.Node) -> Expr:
    left = condition(cx, node.left)
    if isinstance(left, Const) and bool(left.value) == (node.op == "||"):
        return left
    with cx.block(conditional=True) as effects:
        right = condition(cx, node.right)
    if not effects:
        return arith.logic(node.op, left, right)
    result = cx.keep(left)
    test: Expr = result if node.op == "&&" else arith.negate(result)
    cx.emit(If(test, (*effects, Assign(result, right)), (), cx.span(node)))
    return result


def _unary(cx: Context, node: c_ast.Node) -> Value:
    match node.op:
        case "sizeof":
            size = arith.cast(ctypes.as_expr(ctypes.size_of(type_of(cx, node.expr))), ir.U64)
            return Scalar(ctypes.ULONG, size)
        case "_Alignof" | "alignof":
            align = ctypes.align_of(type_of(cx, node.expr))
            return Scalar(ctypes.ULONG, Const(ir.U64, align))
        case "&":
            return _address(cx, node.expr)
        case "*":
            return places.read(cx, _unary_place(cx, node), node)
        case "++" | "--" | "p++" | "p--":
            return _step(cx, node, used=True)
    return operators.unary(cx, node.op, evaluate(cx, node.expr), node)


def _address(cx: Context, node: c_ast.Node) -> Value:
    if isinstance(node, c_ast.ArrayRef):  # C11 6.5.3.2p3: &a[i] is a + i
        base = evaluate(cx, node.name)
        return operators.binary(cx, "+", base, evaluate(cx, node.subscript), node)
    return places.address_of(cx, place_of(cx, node), node)


def type_of(cx: Context, node: c_ast.Node) -> CType:
    """The type of an operand of sizeof: a type name, or an expression that is not evaluated."""
    if isinstance(node, c_ast.Typename):
        return declarations.resolve(cx, node).type
    with _unevaluated(cx):
        return conversions.type_of(place_of(cx, node))


@contextmanager
def _unevaluated(cx: Context) -> Iterator[None]:
    count, demote = len(cx.accesses), set(cx.demote)
    with cx.block():
        yield
    del cx.accesses[count:]
    cx.demote = demote


def _step(cx: Context, node: c_ast.Node, *, used: bool) -> Value:
    """``++`` and ``--``, before or after."""
    place = place_of(cx, node.expr)
    old = places.read(cx, place, node.expr)
    if used and node.op.startswith("p") and isinstance(old, Scalar):
        old = Scalar(old.type, cx.keep(old.expr))
    one = Scalar(INT, Const(ir.I32, 1))
    new = operators.binary(cx, node.op[-1], old, one, node)
    written = places.write(cx, place, new, node.expr)
    if node.op.startswith("p"):
        return old
    return places.read(cx, place, node.expr) if isinstance(place, Variable) else written


def _assignment(cx: Context, node: c_ast.Node) -> Value:
    value = evaluate(cx, node.rvalue)
    if sequence.has_effect(node.lvalue):
        value = sequence.read_now(cx, value)
    place = place_of(cx, node.lvalue)
    if node.op != "=":
        old = places.read(cx, place, node.lvalue)
        value = operators.binary(cx, node.op[:-1], old, value, node)
    written = places.write(cx, place, value, node.lvalue)
    return places.read(cx, place, node.lvalue) if isinstance(place, Variable) else written


def _cast(cx: Context, node: c_ast.Node) -> Value:
    ctype = declarations.resolve(cx, node.to_type).type
    if ctype == VOID:
        effect(cx, node.expr)
        return NOTHING
    return conversions.convert(cx, evaluate(cx, node.expr), ctype, node)


def _call(cx: Context, node: c_ast.Node) -> Value:
    return calls.call(cx, node, used=True)


# --- ?: ---------------------------------------------------------------------------------------


def _ternary(cx: Context, node: c_ast.Node) -> Value:
    test = condition(cx, node.cond)
    if isinstance(test, Const):
        return evaluate(cx, node.iftrue if test.value else node.iffalse)
    with cx.block(conditional=True) as then_effects:
        then = evaluate(cx, node.iftrue)
    with cx.block(conditional=True) as else_effects:
        otherwise = evaluate(cx, node.iffalse)
    ctype = operators.merged_type(then, otherwise)
    if ctype == VOID:
        cx.emit(If(test, tuple(then_effects), tuple(else_effects), cx.span(node)))
        return NOTHING
    if not then_effects and not else_effects:
        pure = _pure_choice(cx, test, then, otherwise, ctype, node)
        if pure is not None:
            return pure
    result = storage.make_local(cx, "$choice", Declared(ctype), ("choice", id(node)), node)
    _write_in(cx, then_effects, result, then, node)
    _write_in(cx, else_effects, result, otherwise, node)
    cx.emit(If(test, tuple(then_effects), tuple(else_effects), cx.span(node)))
    return places.read(cx, result, node)


def _pure_choice(
    cx: Context, test: Expr, then: Value, otherwise: Value, ctype: CType, node: c_ast.Node
) -> Value | None:
    for value in (then, otherwise):
        if isinstance(value, Reference):
            conversions.demote(cx, value.place)
    if not (isinstance(then, Scalar) and isinstance(otherwise, Scalar)):
        return None
    a = conversions.convert(cx, then, ctype, node)
    b = conversions.convert(cx, otherwise, ctype, node)
    if not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        return None
    return operators.choose(cx, test, a, b)


def _write_in(
    cx: Context, effects: list[Stmt], place: Place, value: Value, node: c_ast.Node
) -> None:
    """Add the assignment of one side's value to that side's statements."""
    with cx.block(conditional=True) as extra:
        places.write(cx, place, value, node)
    effects.extend(extra)


_VALUES: dict[type[c_ast.Node], Callable[[Context, c_ast.Node], Value]] = {
    c_ast.Constant: _constant,
    c_ast.BinaryOp: _binary,
    c_ast.UnaryOp: _unary,
    c_ast.Assignment: _assignment,
    c_ast.TernaryOp: _ternary,
    c_ast.Cast: _cast,
    c_ast.FuncCall: _call,
}
