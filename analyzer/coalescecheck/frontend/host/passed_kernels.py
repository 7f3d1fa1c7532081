"""Kernels that reach their launch through a variable or a parameter of the function around it.

In: what is launched, and the instance of the function around.  Out: the kernels it may be, each
with the instance in which it is named and the one call that passes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node

from coalescecheck.frontend.host.binding import Bound, Context
from coalescecheck.frontend.host.callers import calls_of
from coalescecheck.frontend.host.contexts import (
    MAX_INSTANCES,
    arguments_of_call,
    contexts,
    own_parameters,
)
from coalescecheck.frontend.host.scopes import declared_name, expressions, node_text, parameters

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MAX_DEPTH = 3  # functions that pass a kernel on


class Launched(NamedTuple):
    """``kernel`` as named in ``there``; the launch sees its other values in ``here``."""

    kernel: Node
    there: Context
    here: Context


def launched(
    values: HostValues, function: Node, context: Context, depth: int = 0
) -> list[Launched]:
    """What a launched expression may be; itself where no call in sight tells."""
    found = [
        one
        for kernel in _behind_variable(values, function)
        for one in _passed(values, kernel, context, depth)
    ]
    values.bind(context)
    return found if len(found) <= MAX_INSTANCES else [Launched(function, context, context)]


def _passed(values: HostValues, function: Node, context: Context, depth: int) -> list[Launched]:
    """A kernel, or what the calls pass for a parameter."""
    itself = [Launched(function, context, context)]
    place = _parameter(values, function) if depth < _MAX_DEPTH else None
    if place is None:
        return itself
    around, index = place
    own = around == context.function
    found: list[Launched] = []
    for call in context.calls if own else calls_of(values.scopes, around) or ():
        given = expressions(call.child_by_field_name("arguments"))
        kernel = kernel_of(given[index]) if index < len(given) else None
        for outer in contexts(values, call) if kernel is not None else ():
            if own and arguments_of_call(values, call, around, outer) != _of(context, around):
                continue  # it belongs to another instance
            values.bind(outer)
            passed = values.given(call, around)
            here = Context(around, context.bound if own else {}, (call,), passed)
            for one in launched(values, kernel or function, outer, depth + 1):
                found.append(Launched(one.kernel, one.there, here))
    return found or itself


def _of(context: Context, function: Node) -> dict[str, Bound]:
    """What the function's own template parameters are in an instance."""
    names = [declared_name(p) for p in own_parameters(function)]
    return {name: context.bound[name] for name in names if name in context.bound}


def _parameter(values: HostValues, function: Node) -> tuple[Node, int] | None:
    """The function definition that something is a parameter of, and which one."""
    if function.type != "identifier":
        return None
    declaration = values.scopes.resolve(node_text(function), function)
    if declaration is None or declaration.kind != "parameter":
        return None
    around = declaration.scope
    if around.type != "function_definition" or values.writes.of(declaration):
        return None
    index = next((i for i, p in enumerate(parameters(around)) if p == declaration.holder), None)
    return None if index is None else (around, index)


def _behind_variable(values: HostValues, function: Node) -> list[Node]:
    """``auto f = &k<3>; (*f)<<<...>>>()`` launches k: all that the variable may be set to."""
    function = _inside(function)
    if function.type == "conditional_expression":
        return _known_of(function) or [function]
    if function.type != "identifier":
        return [function]
    declaration = values.scopes.resolve(node_text(function), function)
    if declaration is None or declaration.kind != "variable":
        return [function]
    writes = values.writes.reaching(declaration, function, None) or []
    set_to = [w.value for w in writes if w.operator != "init" or w.value is not None]
    return _known_of(*set_to) or [function]


def _known_of(*values: Node | None) -> list[Node]:
    """The kernels that values choose among; none where one of them is not known."""
    kernels = [kernel_of(choice) for value in values for choice in _choices(value)]
    known = [kernel for kernel in kernels if kernel is not None]
    return known if len(known) == len(kernels) else []


def _inside(function: Node) -> Node:
    """The kernel in ``(k<3>)`` and ``(*f)``."""
    while True:
        inner = function.child_by_field_name("argument")
        if function.type == "parenthesized_expression":
            inner = next(iter(expressions(function)), None)
        elif function.type != "pointer_expression":
            return function
        if inner is None:
            return function
        function = inner


def _choices(value: Node | None) -> list[Node]:
    """The sides of ``wide ? k<4> : k<1>``."""
    value = None if value is None else _inside(value)
    if value is None or value.type != "conditional_expression":
        return [value] if value is not None else []
    sides = [value.child_by_field_name(n) for n in ("consequence", "alternative")]
    return [choice for side in sides for choice in _choices(side)]


def kernel_of(node: Node) -> Node | None:
    """The kernel in ``(void*)k``, ``&k``, ``reinterpret_cast<void*>(k<3>)``."""
    while True:
        if node.type in ("identifier", "template_function", "qualified_identifier"):
            return node
        inner = node.child_by_field_name("value") or node.child_by_field_name("argument")
        if inner is None and node.type == "call_expression":
            inner = next(iter(expressions(node.child_by_field_name("arguments"))), None)
        if inner is None and node.type == "parenthesized_expression":
            inner = next(iter(expressions(node)), None)
        if inner is None:
            return None
        node = inner
