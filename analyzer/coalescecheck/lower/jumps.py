"""``switch``, ``goto`` and labels as structured scopes.

A label ends a Scope around everything before it in its block (``goto`` forward is ``Leave``);
a label that is jumped back to starts a Loop that ends at the last such jump (``goto`` backward is
``Continue``).  A switch is a chain of conditions on a value that never changes, inside a Scope
for ``break``.  Jumping into a block is not possible in the IR and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast

from coalescecheck.ir.expr import FALSE, TRUE, Const, Expr
from coalescecheck.ir.kernel import Continue, If, Leave, Loop, Scope, Stmt, nested
from coalescecheck.lower import (
    arith,
    conversions,
    ctypes,
    expressions,
    given_away,
    operators,
    storage,
    unread,
)
from coalescecheck.lower.context import Context
from coalescecheck.lower.values import Scalar, Value


def uses_label(label: str, body: list[Stmt] | tuple[Stmt, ...]) -> bool:
    """Whether a statement jumps to ``label``."""
    return any(
        (isinstance(stmt, Leave | Continue) and stmt.label == label)
        or any(uses_label(label, block) for block in nested(stmt))
        for stmt in body
    )


# --- goto -------------------------------------------------------------------------------------


def execute_items(cx: Context, items: list[c_ast.Node]) -> None:
    """The statements of one block, split at its labels."""
    at = _split(items)
    if at is None:
        for item in items:
            cx.execute(cx, item)
        return
    label = items[at]
    before, after = items[:at], [label.stmt, *items[at + 1 :]]
    if any(_jumps_to(label.name, item) for item in before):
        scope = cx.unique(label.name)
        with cx.block(conditional=True) as body:
            cx.frames[-1].gotos[label.name] = Leave(scope)
            execute_items(cx, before)
        cx.emit(Scope(scope, tuple(body)))
    else:
        execute_items(cx, before)
    cx.frames[-1].gotos.pop(label.name, None)
    end = _loop_end(label.name, after)
    if end:
        _repeat(cx, label, after[:end])
    execute_items(cx, [item for item in after[end:] if item is not None])


def _split(items: list[c_ast.Node]) -> int | None:
    """The label to split at: the last that only what precedes jumps to, if nothing jumps back
    over it (its scope holds all that precedes), else the first that is jumped back to."""
    labels = [i for i, item in enumerate(items) if isinstance(item, c_ast.Label)]
    for at in reversed(labels):
        known = {items[i].name for i in labels if i <= at}
        if not any(_jumps_to(name, item) for name in known for item in items[at:]):
            return at
    return labels[0] if labels else None


def _loop_end(name: str, items: list[c_ast.Node]) -> int:
    """How many of the items after a label belong to its loop: to the last jump back, and all if
    the loop is left for a label behind that."""
    jumping = [i + 1 for i, item in enumerate(items) if _jumps_to(name, item)]
    end = max(jumping, default=0)
    labels = [item.name for item in items[end:] if isinstance(item, c_ast.Label)]
    left = any(_jumps_to(label, item) for label in labels for item in items[:end])
    return len(items) if left else end


def _repeat(cx: Context, label: c_ast.Label, after: list[c_ast.Node]) -> None:
    loop = cx.unique(label.name)
    cx.frames[-1].gotos[label.name] = Continue(loop)
    with given_away.repeated(cx), cx.block(conditional=True) as body:
        execute_items(cx, [item for item in after if item is not None])
        cx.emit(Leave(loop))
    cx.frames[-1].gotos.pop(label.name, None)
    cx.emit(Loop(loop, (), TRUE, tuple(body), (), True, cx.span(label)))


def _jumps_to(name: str, node: c_ast.Node | None) -> bool:
    if node is None:
        return False
    if isinstance(node, c_ast.Goto):
        return bool(node.name == name)
    return any(_jumps_to(name, child) for _, child in node.children())


def goto(cx: Context, node: c_ast.Node) -> None:
    """A jump to a label of an enclosing block."""
    jump = cx.frames[-1].gotos.get(node.name)
    if jump is None:
        raise cx.unsupported(node, f"`goto {node.name}` jumps into a block")
    cx.emit(jump)


def label(cx: Context, node: c_ast.Node) -> None:
    """A label that is not an item of a block: nothing can jump to it from outside."""
    execute_items(cx, [node])


# --- switch -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Segment:
    """The statements between two groups of case labels."""

    labels: list[c_ast.Node]
    body: list[c_ast.Node] = field(default_factory=list)
    is_default: bool = False


def switch(cx: Context, node: c_ast.Node) -> None:
    """``switch``: the cases in order, each guarded by its labels or by falling through."""
    value = expressions.evaluate(cx, node.cond)
    if cx.unread:
        value = storage.undefined_value(cx, value.type, "unread", unread.REASON)
    if isinstance(value, Scalar) and not isinstance(value.expr, Const):
        value = Scalar(value.type, cx.keep(value.expr))
    items = list(node.stmt.block_items or []) if isinstance(node.stmt, c_ast.Compound) else []
    if not items and node.stmt is not None and not isinstance(node.stmt, c_ast.Compound):
        items = [node.stmt]
    with cx.scope():
        segments = _segments(cx, items)
        scope = cx.unique("switch")
        cx.frames[-1].breaks.append(scope)
        with cx.block() as body:
            _run(cx, segments, value, node, scope)
        cx.frames[-1].breaks.pop()
    if uses_label(scope, body):
        cx.emit(Scope(scope, tuple(body)))
    else:
        cx.out.extend(body)


def _segments(cx: Context, items: list[c_ast.Node]) -> list[_Segment]:
    segments: list[_Segment] = []
    for item in items:
        if isinstance(item, c_ast.Case | c_ast.Default):
            if not segments or segments[-1].body:
                segments.append(_Segment([]))
            _add_case(cx, segments, item)
        elif segments:
            segments[-1].body.append(item)
        elif isinstance(item, c_ast.Decl):
            cx.execute(cx, item)  # in scope for all cases, never initialised
    return segments


def _add_case(cx: Context, segments: list[_Segment], item: c_ast.Node) -> None:
    if isinstance(item, c_ast.Default):
        segments[-1].is_default = True
    else:
        segments[-1].labels.append(item.expr)
    for stmt in item.stmts or []:
        if isinstance(stmt, c_ast.Case | c_ast.Default):
            if segments[-1].body:
                segments.append(_Segment([]))
            _add_case(cx, segments, stmt)
        else:
            if _has_case(stmt):
                raise cx.unsupported(stmt, "a `case` inside a nested statement of its `switch`")
            segments[-1].body.append(stmt)


def _has_case(node: c_ast.Node | None) -> bool:
    if node is None or isinstance(node, c_ast.Switch):
        return False
    return isinstance(node, c_ast.Case | c_ast.Default) or any(
        _has_case(child) for _, child in node.children()
    )


def _run(cx: Context, segments: list[_Segment], value: Value, node: c_ast.Node, scope: str) -> None:
    matches = [_matches(cx, segment, value) for segment in segments]
    any_match: Expr = FALSE
    for match in matches:
        any_match = arith.logic("||", any_match, match)
    bodies: list[tuple[Expr, list[Stmt]]] = []
    entered: Expr = FALSE
    chain = True  # no case falls through: an if/else-if chain
    for segment, match in zip(segments, matches, strict=True):
        own = arith.logic("||", match, arith.negate(any_match)) if segment.is_default else match
        if entered != FALSE and segment is not segments[0]:
            chain = False
        entered = arith.logic("||", entered, own)
        with cx.block(conditional=entered != TRUE) as body, cx.scope():
            if entered != FALSE:
                execute_items(cx, segment.body)
        bodies.append((entered, body))
        if _never_falls_through(segment.body):
            entered = FALSE
    if chain:
        _emit_chain(cx, bodies, scope, node)
        return
    for condition, body in bodies:
        _emit_guarded(cx, condition, body, node)


def _emit_guarded(cx: Context, condition: Expr, body: list[Stmt], node: c_ast.Node) -> None:
    if condition == TRUE:
        cx.out.extend(body)
    elif condition != FALSE and body:
        cx.emit(If(condition, tuple(body), (), cx.span(node)))


def _emit_chain(
    cx: Context, bodies: list[tuple[Expr, list[Stmt]]], scope: str, node: c_ast.Node
) -> None:
    """Exclusive cases, without the ``break`` at their ends."""
    for condition, body in bodies:
        last = body[-1] if body else None
        if isinstance(last, Leave) and last.label == scope:
            body.pop()
        _emit_guarded(cx, condition, body, node)


def _never_falls_through(body: list[c_ast.Node]) -> bool:
    last = body[-1] if body else None
    while isinstance(last, c_ast.Compound) and last.block_items:
        last = last.block_items[-1]
    return isinstance(last, c_ast.Break | c_ast.Return | c_ast.Continue | c_ast.Goto)


def _matches(cx: Context, segment: _Segment, value: Value) -> Expr:
    condition: Expr = FALSE
    for case in segment.labels:
        condition = arith.logic("||", condition, _is_met(cx, case, value))
    return condition


def _is_met(cx: Context, label: c_ast.Node, value: Value) -> Expr:
    if not isinstance(label, c_ast.BinaryOp) or label.op != "...":
        return _compared(cx, value, "==", label)
    low, high = _compared(cx, value, ">=", label.left), _compared(cx, value, "<=", label.right)
    return arith.logic("&&", low, high)


def _compared(cx: Context, value: Value, op: str, label: c_ast.Node) -> Expr:
    """A comparison with a label, which has the promoted type of what is switched on."""
    wanted = expressions.evaluate(cx, label)
    if isinstance(value.type, ctypes.Number) and value.type.scalar.is_integer:
        wanted = conversions.convert(cx, wanted, ctypes.promote(value.type), label)
    return operators.condition(cx, operators.binary(cx, op, value, wanted, label))
