"""Lambdas with ``auto`` parameters around a launch: what the calls in sight pass to them.

``auto go = [&](auto d) { k<d><<<g, b>>>(p); }; go(std::integral_constant<int, 4>{});`` launches
``k<4>``.  In: a place in host code.  Out: for each call, the value of ``d`` under its name and the
type under ``decltype(d)``; nothing known of them where the calls cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.constants import integer_literal
from coalescecheck.frontend.ctypes_lp64 import BOOL, Value, parse_type
from coalescecheck.frontend.host.argument_types import argument_type
from coalescecheck.frontend.host.binding import (
    Bound,
    Context,
    argument_of,
    spelled,
    template_arguments,
)
from coalescecheck.frontend.host.deduction import class_and_arguments, parsed
from coalescecheck.frontend.host.scopes import (
    call_of,
    declaration_of,
    declared_name,
    expressions,
    node_text,
    parameters,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MOST_CALLS = 64  # of one lambda; more are not told apart
_TRUTH = {"true_type": 1, "false_type": 0}
_DESIGNATED = re.compile(r"(.*?)\s*[({]\s*[)}]", re.DOTALL)  # `T{}` and `T()`


def alternatives(
    values: HostValues, node: Node, depth: int, contexts: Callable[..., list[Context]]
) -> list[dict[str, Bound]]:
    """What the lambdas around ``node`` bind, one mapping per call; an empty one without them."""
    found: list[dict[str, Bound]] = [{}]
    for around in values.scopes.around(node):
        if around.type == "function_definition":
            break
        names = _open_names(around) if around.type == "lambda_expression" else []
        if not names:
            continue
        own: list[dict[str, Bound]] = []
        for call, outer in _calls(values, around, depth, contexts):
            values.bind(outer)
            bound = _bound(values, around, call, outer)
            if bound not in own:
                own.append(bound)
        if not own or len(own) * len(found) > _MOST_CALLS:
            own = [{name: Bound() for name in names}]
        found = [{**one, **other} for one, other in product(found, own)]
    return found


def _open_names(lambda_: Node) -> list[str]:
    """The template parameters of a lambda and its parameters of type ``auto``."""
    heads = expressions(lambda_.child_by_field_name("template_parameters"))
    names = [declared_name(p) for p in (*heads, *_parameters(lambda_)) if _is_open(p, heads)]
    return [name for name in names if name]


def _is_open(parameter: Node, heads: list[Node]) -> bool:
    return parameter in heads or node_text(parameter.child_by_field_name("type")) == "auto"


def _parameters(lambda_: Node) -> list[Node]:
    declarator = lambda_.child_by_field_name("declarator")
    listed = expressions(declarator.child_by_field_name("parameters")) if declarator else []
    return [p for p in listed if p.type.endswith("parameter_declaration")]


def _bound(values: HostValues, lambda_: Node, call: Node, outer: Context) -> dict[str, Bound]:
    """What one call gives the open names of a lambda."""
    bound: dict[str, Bound] = {name: Bound() for name in _open_names(lambda_)}
    passed = expressions(call.child_by_field_name("arguments"))
    for parameter, argument in zip(_parameters(lambda_), passed, strict=False):
        type_ = _type_text(values, argument, outer)
        name = declared_name(parameter)
        if type_ is not None and name in bound:
            bound[name] = constant_in(type_)
            bound[f"decltype({name})"] = Bound(type_)
    heads = expressions(lambda_.child_by_field_name("template_parameters"))
    given = template_arguments(call.child_by_field_name("function"))
    for head, argument in zip(heads, given, strict=False):
        bound[declared_name(head)] = argument_of(values, argument, outer)
    return bound


def constant_in(type_: str) -> Bound:
    """The value of an object of type ``std::integral_constant<int, 4>`` or the like."""
    name, arguments = class_and_arguments(type_)
    last = name.rsplit("::", 1)[-1]
    if last in _TRUTH:
        return Bound(str(_TRUTH[last]), Value(_TRUTH[last], BOOL))
    if last in ("integral_constant", "bool_constant") and arguments:
        given = arguments[-1]
        truth = {"true": 1, "false": 0}.get(given)
        value = integer_literal(given) if truth is None else Value(truth, BOOL)
        return Bound(given, value)
    found = parsed(type_)
    if found.depth or parse_type(found.base) is not None:
        return Bound()
    return Bound(f"{type_}::value")


def _type_text(values: HostValues, node: Node, context: Context, depth: int = 0) -> str | None:
    """The type of an argument, as a kernel's own scope can read it."""
    if node.type == "identifier" and depth < _MOST_CALLS:
        declaration = values.scopes.resolve(node_text(node), node)
        holder = declaration.holder.child_by_field_name("type") if declaration else None
        if declaration is not None and declaration.kind == "variable" and not declaration.shape:
            if declaration.type != "auto" and holder is not None:
                return spelled(values, holder, context)
            if declaration.init is not None:
                return _type_text(values, declaration.init, context, depth + 1)
    made = _made(node)
    if made is not None:
        return spelled(values, made, context)
    found = argument_type(values, node, context)
    return None if found is None else found.text


def _made(node: Node) -> Node | None:
    """The class of ``T{}`` and ``T()``."""
    if _DESIGNATED.fullmatch(node_text(node)) is None:
        return None
    if node.type == "compound_literal_expression":
        return node.child_by_field_name("type")
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    is_class = function is not None and "<" in node_text(function)
    return function if is_class or "_type" in node_text(function) else None


# -- calls ------------------------------------------------------------------------------------


def _calls(
    values: HostValues, lambda_: Node, depth: int, contexts: Callable[..., list[Context]]
) -> Iterator[tuple[Node, Context]]:
    """The calls of a lambda in sight, each in the instances of the templates around it."""
    for call, through in _called(values, lambda_):
        for outer in contexts(values, call, depth + 1):
            if through is None or not outer.calls or through in outer.calls:
                yield call, outer


def _called(values: HostValues, lambda_: Node) -> Iterator[tuple[Node, Node | None]]:
    """The calls of a lambda, and the call that passes it to the function where that is."""
    node, parent = lambda_, lambda_.parent
    while parent is not None and parent.type == "parenthesized_expression":
        node, parent = parent, parent.parent
    if parent is None:
        return
    if parent.type == "call_expression":
        yield parent, None
    elif parent.type == "argument_list":
        yield from _passed_on(values, node)
    elif parent.type == "init_declarator":
        name = declared_name(parent)
        for use in values.scopes.occurrences(name):
            declared = values.scopes.resolve(name, use)
            if declaration_of(use) is not None or declared is None or declared.init != node:
                continue
            call = _call_of(use)
            if call is not None:
                yield call, None
            elif use.parent is not None and use.parent.type == "argument_list":
                yield from _passed_on(values, use)


def _call_of(use: Node) -> Node | None:
    """``go(x)`` and ``go.template operator()<5>(x)``."""
    around = use.parent
    if around is not None and around.type == "field_expression":
        is_operator = "operator" in node_text(around.child_by_field_name("field"))
        return around.parent if is_operator else None
    return call_of(use)


def _passed_on(values: HostValues, argument: Node) -> Iterator[tuple[Node, Node | None]]:
    """The calls of a parameter that an argument is passed as."""
    holder = argument.parent
    call = holder.parent if holder is not None else None
    if holder is None or call is None or call.type != "call_expression":
        return
    index = expressions(holder).index(argument)
    function = call.child_by_field_name("function")
    name = node_text(function).split("<")[0].rsplit("::", 1)[-1].strip()
    found = [f for f in values.scopes.functions(name) if f.type == "function_definition"]
    listed = parameters(found[0]) if len(found) == 1 else []
    if index >= len(listed):
        return
    parameter = declared_name(listed[index])
    for use in values.scopes.occurrences(parameter):
        declared = values.scopes.resolve(parameter, use)
        inner = _call_of(use)
        if declared is not None and declared.holder == listed[index] and inner is not None:
            yield inner, call
