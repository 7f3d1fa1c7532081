"""C statements to structured IR statements: blocks, branches, loops, returns, declarations.

In: pycparser statement nodes.  Out: IR statements emitted into the context.  Jumps become
``Leave`` and ``Continue`` of labelled scopes and loops; switch and goto are in ``jumps``.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from coalescecheck.ir.expr import FALSE, TRUE, Const, Expr
from coalescecheck.ir.kernel import Continue, If, Leave, Loop, Stmt
from coalescecheck.lower import expressions, given_away, jumps, objects, places, storage, unread
from coalescecheck.lower.context import Context
from coalescecheck.lower.declarations import markers


def execute(cx: Context, node: c_ast.Node | None) -> None:
    """Lower one statement."""
    if node is None:
        return
    handler = _HANDLERS.get(type(node))
    if handler is None:
        expressions.effect(cx, node)
    else:
        handler(cx, node)


# --- blocks and declarations ------------------------------------------------------------------


def _compound(cx: Context, node: c_ast.Node) -> None:
    around = cx.unread
    with cx.scope():
        jumps.execute_items(cx, list(node.block_items or []))
    cx.unread = around


def _declaration(cx: Context, node: c_ast.Node) -> None:
    objects.declare(cx, node)


def _declarations(cx: Context, node: c_ast.Node) -> None:
    for decl in node.decls:
        execute(cx, decl)


def _attributed(cx: Context, node: c_ast.Node) -> None:
    execute(cx, node.stmt)


def _nothing(cx: Context, node: c_ast.Node) -> None:
    """Empty statements, pragmas, static assertions."""


def _attributes(cx: Context, node: c_ast.Node) -> None:
    marked = markers(node)
    cx.unread = unread.BEGIN in marked or (cx.unread and unread.END not in marked)


# --- branches ---------------------------------------------------------------------------------


def _if(cx: Context, node: c_ast.Node) -> None:
    condition = unread.condition(cx, expressions.condition(cx, node.cond))
    if isinstance(condition, Const):  # the other branch is dead in this instance
        execute_block(cx, node.iftrue if condition.value else node.iffalse)
        return
    then = _branch(cx, node.iftrue)
    otherwise = _branch(cx, node.iffalse)
    if then or otherwise:
        cx.emit(If(condition, tuple(then), tuple(otherwise), cx.span(node)))


def execute_block(cx: Context, node: c_ast.Node | None) -> None:
    """A statement with names of its own."""
    with cx.scope():
        execute(cx, node)


def _branch(cx: Context, node: c_ast.Node | None) -> list[Stmt]:
    with cx.block(conditional=True) as body:
        execute_block(cx, node)
    return body


# --- loops ------------------------------------------------------------------------------------


def _while(cx: Context, node: c_ast.Node) -> None:
    _loop(cx, node, node.cond, None, test_first=True)


def _do(cx: Context, node: c_ast.Node) -> None:
    _loop(cx, node, node.cond, None, test_first=False)


def _for(cx: Context, node: c_ast.Node) -> None:
    with cx.scope():
        execute(cx, node.init)
        _loop(cx, node, node.cond, node.next, test_first=True)


def _loop(
    cx: Context,
    node: c_ast.Node,
    condition_node: c_ast.Node | None,
    step_node: c_ast.Node | None,
    *,
    test_first: bool,
) -> None:
    frame = cx.frames[-1]
    label = cx.unique("loop")
    with given_away.repeated(cx):
        with cx.block(conditional=True) as test:
            condition: Expr = TRUE
            if condition_node is not None:
                condition = unread.condition(cx, expressions.condition(cx, condition_node))
        if test_first and condition == FALSE:
            cx.out.extend(test)
            return
        frame.breaks.append(label)
        frame.continues.append(label)
        body = _branch(cx, node.stmt)
        frame.breaks.pop()
        frame.continues.pop()
        with cx.block(conditional=True) as step:
            if step_node is not None:
                expressions.effect(cx, step_node)
    if not test_first and condition == FALSE and not jumps.uses_label(label, body):
        cx.out.extend(body)  # do { … } while (0)
        return
    cx.emit(
        Loop(label, tuple(test), condition, tuple(body), tuple(step), test_first, cx.span(node))
    )


# --- jumps ------------------------------------------------------------------------------------


def _break(cx: Context, node: c_ast.Node) -> None:
    if not cx.frames[-1].breaks:
        raise cx.unsupported(node, "`break` outside a loop")
    cx.emit(Leave(cx.frames[-1].breaks[-1]))


def _continue(cx: Context, node: c_ast.Node) -> None:
    if not cx.frames[-1].continues:
        raise cx.unsupported(node, "`continue` outside a loop")
    cx.emit(Continue(cx.frames[-1].continues[-1]))


def _return(cx: Context, node: c_ast.Node) -> None:
    frame = cx.frames[-1]
    if node.expr is not None:
        if frame.result is None:
            expressions.effect(cx, node.expr)
        else:
            value = expressions.evaluate(cx, node.expr)
            if cx.unread:
                value = storage.undefined_value(cx, frame.result_type, "unread", unread.REASON)
            frame.value = places.write(cx, frame.result, value, node)
    frame.returns += 1
    cx.emit(Leave(frame.leave))


_HANDLERS: dict[type[c_ast.Node], Callable[[Context, c_ast.Node], None]] = {
    c_ast.Compound: _compound,
    c_ast.Decl: _declaration,
    c_ast.DeclList: _declarations,
    c_ast.Typedef: _declaration,
    c_ast.AttributedStatement: _attributed,
    c_ast.AttributeDeclaration: _attributes,
    c_ast.EmptyStatement: _nothing,
    c_ast.Pragma: _nothing,
    c_ast.StaticAssert: _nothing,
    c_ast.If: _if,
    c_ast.While: _while,
    c_ast.DoWhile: _do,
    c_ast.For: _for,
    c_ast.Switch: jumps.switch,
    c_ast.Goto: jumps.goto,
    c_ast.Label: jumps.label,
    c_ast.Break: _break,
    c_ast.Continue: _continue,
    c_ast.Return: _return,
}
