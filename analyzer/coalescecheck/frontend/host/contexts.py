"""The instances of the function template around a launch, one per distinct visible call.

In: a launch.  Out: :class:`Context` records: what each template parameter is in one instance.
Outer templates are followed: ``run<float>()`` calls ``launch<T, 256>()`` calls the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import Value
from coalescecheck.frontend.host.scopes import (
    declared_name,
    enclosing_function,
    expressions,
    node_text,
    template_parameters,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

MAX_INSTANCES = 16  # of one function template; more are not told apart
_MAX_DEPTH = 4  # function templates calling one another


@dataclass(frozen=True, slots=True)
class Bound:
    """A template argument: its source, None when unknown, and its value where it has one."""

    source: str | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """An instance of ``function``: its template arguments, and the calls that have them."""

    function: Node | None = None
    bound: Mapping[str, Bound] = field(default_factory=dict)
    calls: tuple[Node, ...] = ()


def contexts(values: HostValues, node: Node, depth: int = 0) -> list[Context]:
    """The instances of the function around ``node``; one empty context for no template."""
    function = enclosing_function(node)
    parameters = template_parameters(function) if function is not None else []
    if function is None or not parameters:
        return [Context()]
    found: dict[tuple[Bound, ...], Context] = {}
    for call in (values.scopes.calls(function) or ()) if depth < _MAX_DEPTH else ():
        for outer in contexts(values, call, depth + 1):
            bound = _arguments(values, call, outer, parameters)
            key = tuple(bound.values())
            calls = (*found[key].calls, call) if key in found else (call,)
            found[key] = Context(function, bound, calls)
    if not found or len(found) > MAX_INSTANCES:
        return [Context(function, {declared_name(p): Bound() for p in parameters})]
    return list(found.values())


def template_arguments(function: Node | None) -> list[Node]:
    """The explicit template arguments of a called function or kernel."""
    while function is not None and function.type in ("qualified_identifier", "field_expression"):
        function = function.child_by_field_name("name") or function.child_by_field_name("field")
    if function is None or function.type not in ("template_function", "template_method"):
        return []
    return expressions(function.child_by_field_name("arguments"))


def argument_of(values: HostValues, argument: Node, context: Context) -> Bound:
    """A template argument seen from ``context``, which ``values`` is bound to."""
    source = " ".join(node_text(argument).split())
    if source in context.bound:
        return context.bound[source]
    value = values.value(argument)
    if argument.type in ("number_literal", "true", "false", "char_literal"):
        return Bound(source, value)
    if value is not None and not value.type.is_float:
        return Bound(str(int(value.number)), value)
    return Bound() if _mentions(argument, context) else Bound(source)


def _arguments(
    values: HostValues, call: Node, outer: Context, parameters: list[Node]
) -> dict[str, Bound]:
    """What a call gives the template parameters; deduced ones stay unknown."""
    values.bind(outer)
    given = template_arguments(call.child_by_field_name("function"))
    bound: dict[str, Bound] = {}
    for index, parameter in enumerate(parameters):
        node = given[index] if index < len(given) else _default(parameter)
        name = declared_name(parameter)
        bound[name] = argument_of(values, node, outer) if node is not None else Bound()
    return bound


def _default(parameter: Node) -> Node | None:
    default = parameter.child_by_field_name("default_value")
    return default or parameter.child_by_field_name("default_type")


def _mentions(node: Node, context: Context) -> bool:
    """Whether a template parameter occurs in an argument."""
    if node.type.endswith("identifier") and node_text(node) in context.bound:
        return True
    return any(_mentions(child, context) for child in node.named_children)
