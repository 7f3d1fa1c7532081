"""Small helper functions such as ``divUp`` evaluated at constant arguments.

In: a call and its arguments' values.  Out: the returned value, None where the function does
more than compute one from them.  It must not know variables of the host code around.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.constants import evaluate_value
from coalescecheck.frontend.ctypes_lp64 import Value, convert, parse_type
from coalescecheck.frontend.host.scopes import (
    declared_name,
    expressions,
    node_text,
    parameters,
)

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MAX_STATEMENTS = 40


def call_function(
    values: HostValues, call: Node, arguments: Sequence[Value | None]
) -> Value | None:
    """The value of a call of a visible function with one body and constant arguments."""
    called = call.child_by_field_name("function")
    if called is None or called.type == "field_expression":
        return None
    name = node_text(called.child_by_field_name("name") or called).split("<")[0].strip()
    bodies = [
        f
        for f in values.scopes.functions(name)
        if f.type == "function_definition" and len(parameters(f)) == len(arguments)
    ]
    if len(bodies) != 1 or any(a is None for a in arguments):
        return None
    return _Body(values, bodies[0]).run([a for a in arguments if a is not None])


class _Body:
    """One evaluation of a function body: its parameters and constants by name."""

    def __init__(self, values: HostValues, function: Node) -> None:
        self._values = values
        self._function = function
        self._names: dict[str, Value | None] = {}
        self._steps = 0

    def run(self, arguments: Sequence[Value]) -> Value | None:
        for parameter, value in zip(parameters(self._function), arguments, strict=True):
            if any(c.type == "pointer_declarator" for c in parameter.children):
                return None
            self._names[declared_name(parameter)] = self._converted(parameter, value)
        body = self._function.child_by_field_name("body")
        result = self._block(body) if body is not None else None
        return None if result is None else self._converted(self._function, result)

    def _converted(self, holder: Node, value: Value) -> Value | None:
        """``value`` as a parameter or result of the declared type; templates keep theirs."""
        spelling = " ".join(node_text(holder.child_by_field_name("type")).split())
        known = parse_type(spelling)
        if known is None:
            alias = self._values.type_name(spelling, holder)
            known = parse_type(alias) if alias is not None else None
        return convert(value.number, known) if known is not None else value

    def _block(self, block: Node) -> Value | None:
        """The value returned by a sequence of declarations, constant ifs and a return."""
        for statement in expressions(block):
            self._steps += 1
            if self._steps > _MAX_STATEMENTS:
                return None
            match statement.type:
                case "return_statement":
                    return self._value(next(iter(expressions(statement)), None))
                case "declaration":
                    if not self._declare(statement):
                        return None
                case "if_statement":
                    done, result = self._if(statement)
                    if done:
                        return result
                case _:
                    return None
        return None

    def _if(self, statement: Node) -> tuple[bool, Value | None]:
        """Whether the if decides the result, and the result."""
        condition = statement.child_by_field_name("condition")
        inner = condition.child_by_field_name("value") if condition is not None else None
        truth = self._value(inner or condition)
        if truth is None:
            return True, None
        taken = statement.child_by_field_name("consequence" if truth.number else "alternative")
        if taken is None:
            return False, None
        if taken.type == "else_clause":
            taken = next(iter(expressions(taken)), taken)
        if taken.type == "compound_statement":
            return True, self._block(taken)  # a block that does not return ends as unknown
        if taken.type == "return_statement":
            return True, self._value(next(iter(expressions(taken)), None))
        return True, None

    def _declare(self, declaration: Node) -> bool:
        for declarator in declaration.children_by_field_name("declarator"):
            name = declarator.child_by_field_name("declarator")
            if declarator.type != "init_declarator" or name is None or name.type != "identifier":
                return False
            value = self._value(declarator.child_by_field_name("value"))
            self._names[node_text(name)] = (
                self._converted(declaration, value) if value is not None else None
            )
        return True

    def _value(self, node: Node | None) -> Value | None:
        if node is None:
            return None
        return evaluate_value(
            node,
            lambda name: self._lookup(name, node),
            call=self._values.call,
            type_name=lambda name: self._values.type_name(name, node),
        )

    def _lookup(self, name: str, node: Node) -> Value | None:
        if name in self._names:
            return self._names[name]
        return self._values.name(name, node)
