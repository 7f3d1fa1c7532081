"""The instances of the templates around a launch, one per distinct set of arguments in sight.

In: a launch.  Out: :class:`Context` records: what each template parameter is in one instance.
A function template is instantiated by calls and by explicit instantiations, a class template
wherever it is named with arguments.  Outer templates are followed: ``run<float>()`` calls
``launch<T, 256>()`` calls the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.host import classes, dispatch, generic_lambdas
from coalescecheck.frontend.host.argument_types import argument_type
from coalescecheck.frontend.host.binding import (
    Bound,
    Context,
    argument_of,
    template_arguments,
)
from coalescecheck.frontend.host.callers import calls_of, instantiations
from coalescecheck.frontend.host.deduction import ArgumentType, declared_type, deduce
from coalescecheck.frontend.host.scopes import (
    declared_name,
    enclosing_function,
    expressions,
    parameters,
    template_parameters,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

MAX_INSTANCES = 64  # of one function template; more are not told apart
_MAX_DEPTH = 4  # function templates calling one another


def contexts(values: HostValues, node: Node, depth: int = 0) -> list[Context]:
    """The instances of the templates around ``node``; one empty context for no template."""
    function = enclosing_function(node)
    inner = _of_function(values, function, depth)
    outer = _of_class(values, function, node, depth)
    scalars = [
        {**scalar, **generic}
        for scalar in dispatch.alternatives(node)
        for generic in generic_lambdas.alternatives(values, node, depth, contexts)
    ]
    if len(inner) * len(outer) * len(scalars) > MAX_INSTANCES:
        outer = [_nothing_known(outer)]
        scalars = (
            [_nothing_known(scalars)] if len(inner) * len(scalars) > MAX_INSTANCES else scalars
        )
    return [
        Context(own.function, {**around, **own.bound, **scalar}, own.calls)
        for own, around, scalar in product(inner, outer, scalars)
    ]


def by_call(values: HostValues, node: Node, context: Context) -> list[Context]:
    """``context``, for each call of the function around ``node`` on its own."""
    function = enclosing_function(node)
    if function is None:
        return []
    here = function == context.function
    calls = context.calls if here else calls_of(values.scopes, function) or ()
    return [Context(function, context.bound, (call,)) for call in calls]


def _nothing_known(alternatives: Sequence[Mapping[str, Bound]]) -> dict[str, Bound]:
    return {name: Bound() for alternative in alternatives for name in alternative}


def _of_function(values: HostValues, function: Node | None, depth: int) -> list[Context]:
    """The instances of a function template by its own parameters."""
    heads = own_parameters(function) if function is not None else []
    if function is None or not heads:
        return [Context()]
    key = (function.id, depth)
    if key not in values.instances:
        values.instances[key] = _of_template(values, function, heads, depth)
    return values.instances[key]


def _of_template(
    values: HostValues, function: Node, heads: list[Node], depth: int
) -> list[Context]:
    """Found once however many calls lead there: wrappers of wrappers would be followed again
    along every path.  Where they are too many, those of other files are left to these."""
    found: dict[tuple[Bound, ...], Context] = {}
    for call, bound in _instances(values, function, heads, depth):
        key = tuple(bound.values())
        before = found[key].calls if key in found else ()
        found[key] = Context(function, bound, before if call is None else (*before, call))
    if len(found) > MAX_INSTANCES and values.elsewhere:
        values.elsewhere = False
        values.instances.clear()
        return _of_template(values, function, heads, depth)
    if not found or len(found) > MAX_INSTANCES:
        return [Context(function, {declared_name(p): Bound() for p in heads})]
    return list(found.values())


def _instances(
    values: HostValues, function: Node, heads: list[Node], depth: int
) -> Iterator[tuple[Node | None, dict[str, Bound]]]:
    """The calls and explicit instantiations of a function template with their arguments."""
    if depth >= _MAX_DEPTH:
        return
    for call in calls_of(values.scopes, function) or ():
        for outer in contexts(values, call, depth + 1):
            yield call, _arguments(values, call, function, outer, heads)
    for explicit in instantiations(values.scopes, function, elsewhere=values.elsewhere):
        values.bind(Context())
        given = template_arguments(_name_of(explicit))
        types: list[ArgumentType | None] = [declared_type(p) for p in parameters(explicit)]
        yield None, _bound(values, given, types, function, Context(), heads)


def _name_of(explicit: Node) -> Node | None:
    declarator = explicit.child_by_field_name("declarator")
    while declarator is not None and declarator.type.endswith("declarator"):
        declarator = declarator.child_by_field_name("declarator")
    return declarator


def own_parameters(function: Node) -> list[Node]:
    """The template parameters of a function itself, not those of a class it is a method of."""
    return [] if classes.is_method_head(function) else template_parameters(function)


def _of_class(
    values: HostValues, function: Node | None, node: Node, depth: int
) -> list[dict[str, Bound]]:
    """The instances of the class template that ``function`` is a method of, by parameter name."""
    owner = classes.template_around(values.scopes, function, node)
    if owner is None:
        return [{}]
    names = [declared_name(p) for p in owner.parameters]
    found: list[dict[str, Bound]] = []
    for use in owner.uses if depth < _MAX_DEPTH else ():
        for outer in contexts(values, use, depth + 1):
            values.bind(outer)
            given = expressions(use.child_by_field_name("arguments"))
            bound = _bound(values, given, [], None, outer, owner.parameters)
            if bound not in found and all(b.source is not None for b in bound.values()):
                found.append(bound)
    if not found or len(found) > MAX_INSTANCES:
        return [{name: Bound() for name in names}]
    return found


def _arguments(
    values: HostValues, call: Node, function: Node, outer: Context, heads: list[Node]
) -> dict[str, Bound]:
    """What a call gives the template parameters: written out, deduced, or by default."""
    values.bind(outer)
    given = template_arguments(call.child_by_field_name("function"))
    passed = expressions(call.child_by_field_name("arguments"))
    types = [argument_type(values, argument, outer) for argument in passed]
    return _bound(values, given, types, function, outer, heads)


def arguments_of_call(
    values: HostValues, call: Node, function: Node, outer: Context
) -> dict[str, Bound]:
    """What a call in the instance ``outer`` gives a function's own template parameters."""
    return _arguments(values, call, function, outer, own_parameters(function))


def _bound(
    values: HostValues,
    given: Sequence[Node],
    types: Sequence[ArgumentType | None],
    function: Node | None,
    outer: Context,
    heads: Sequence[Node],
) -> dict[str, Bound]:
    bound: dict[str, Bound] = {}
    rest = {declared_name(p) for p in heads[len(given) :]}
    deduced = deduce(parameters(function), types, rest) if function is not None else {}
    for index, parameter in enumerate(heads):
        name = declared_name(parameter)
        default = _default(parameter)
        if index < len(given):
            bound[name] = argument_of(values, given[index], outer)
        elif name in deduced:
            bound[name] = Bound(deduced[name])
        else:
            seen = Context(outer.function, {**outer.bound, **bound}, outer.calls)
            bound[name] = argument_of(values, default, seen) if default is not None else Bound()
    return bound


def _default(parameter: Node) -> Node | None:
    default = parameter.child_by_field_name("default_value")
    return default or parameter.child_by_field_name("default_type")
