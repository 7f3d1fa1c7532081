"""Calls of ``constexpr`` functions with constant arguments, computed.

In: a chosen function and its arguments' values.  Out: the value it returns, or the function that
it chooses; None where its body does more than C++14 arithmetic on scalars.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import constants
from coalescecheck.frontend.ctypes_lp64 import Value, plain
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.emit import plain as plain_text
from coalescecheck.frontend.rewrite.env import Env, Local
from coalescecheck.frontend.rewrite.ex import Ex, constant, folded_cast, literal
from coalescecheck.frontend.rewrite.overloads import Choice
from coalescecheck.frontend.rewrite.parameters import is_pack, parameter_nodes
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType
from coalescecheck.frontend.rewrite.visibility import visible_end

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_MAX_STEPS = 20_000  # statements of one kernel's constant calls, all together
_MAX_DEPTH = 64  # calls inside each other
_ASKS = "what a call with constants gives by `if consteval` is not followed"
_CONSTEVAL = re.compile(r"if\s*(?:!|\bnot\b)?\s*consteval\b")
_EXPRESSIONS = ("assignment_expression", "update_expression", "comma_expression")


class _NotConstantError(Exception):
    """The function does something that is not followed."""


class _Jump(Exception):
    """``break`` or ``continue`` on its way to the loop around."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _Return(Exception):
    """``return`` on its way to the call."""

    def __init__(self, value: Value | None, function: Ex | None = None) -> None:
        self.value = value
        self.function = function


class ConstantCalls:
    """Evaluates calls."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._steps = 0
        self._depth = 0
        self._asks: Node | None = None  # the `if consteval` that was come to

    def expression(
        self, choice: Choice, arguments: Sequence[Value | None], mark: Mark
    ) -> Ex | None:
        """The constant a call is, of the type that the function returns; unknown where that
        depends on whether a constant is asked for."""
        outermost = self._depth == 0
        if outermost:
            self._asks = None
        found = self._run(choice, arguments)
        if found is None and outermost and self._asks is not None:
            self._s.say(self._asks, "warning", f"{_ASKS}: its value is unknown")
            result = types.strip(self._s.functions.tried_result(choice.entry, choice.env))
            return self._s.opaque_call([], result, mark)
        if found is not None and found.function is not None:
            return replace(found.function, piece=(mark, plain_text(found.function.piece)))
        if found is None or found.value is None:
            return None
        value = found.value
        result = types.strip(self._s.functions.tried_result(choice.entry, choice.env))
        return literal(value, mark) if types.has_auto(result) else constant(value, result, mark)

    def _run(self, choice: Choice, arguments: Sequence[Value | None]) -> _Return | None:
        entry = choice.entry
        values = [a for a in arguments if a is not None]
        if not syntax.has_word(entry.node, "constexpr") or entry.body is None:
            return None
        if len(values) < len(arguments) or self._depth >= _MAX_DEPTH:
            return None
        writer = FunctionWriter(types.VOID)
        env = Env(choice.env, {}, function=writer, limit=visible_end(entry))
        self._depth += 1
        try:
            result = types.strip(self._s.functions.result_type(entry, env))
            writer.result = result
            self._bind(parameter_nodes(entry), values, env)
            self._block(entry.body, env)
        except _Return as returned:
            if returned.value is None or types.has_auto(result):
                return returned
            return _Return(folded_cast(returned.value, result))
        except (_NotConstantError, _Jump):
            return None
        finally:
            self._depth -= 1
        return None

    def _bind(self, parameters: Sequence[Node], values: Sequence[Value], env: Env) -> None:
        for number, node in enumerate(parameters):
            declared = syntax.declared_name(node.child_by_field_name("declarator"))
            default = node.child_by_field_name("default_value")
            if is_pack(node):
                raise _NotConstantError
            if number < len(values):
                value = values[number]
            elif default is not None:
                value = self._expression(default, env)
            else:
                raise _NotConstantError
            type_ = types.strip(self._s.overloads.parameter_type(node, env))
            if declared is not None:
                self._set(env, text(declared), type_, value)

    @staticmethod
    def _set(env: Env, name: str, type_: CType, value: Value) -> None:
        own = types.DOUBLE if types.unqualified(type_) == types.LONG_DOUBLE else type_
        fitted = folded_cast(value, own)  # device code has no longer ones
        if fitted is None:
            raise _NotConstantError
        env.names[name] = Local(name, types.unqualified(own), fitted, literal=True)

    def _expression(self, node: Node, env: Env) -> Value:
        if node.type in _EXPRESSIONS:
            return self._effect(node, env)
        value = self._s.expressions.emit(node, env).value
        if value is None:
            raise _NotConstantError
        return value

    # -- statements ---------------------------------------------------------------------

    def _block(self, node: Node, env: Env) -> None:
        for item in syntax.operands(node):
            self._statement(item, env)

    def _statement(self, node: Node, env: Env) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _NotConstantError
        match node.type:
            case "return_statement":
                inner = syntax.operands(node)
                if not inner:
                    raise _NotConstantError
                raise self._returned(inner[0], env)
            case "compound_statement":
                self._block(node, env.child({}))
            case "declaration":
                self._declaration(node, env)
            case "expression_statement":
                for inner_node in syntax.operands(node):
                    self._effect(inner_node, env)
            case "if_statement":
                self._if(node, env.child({}))
            case "while_statement" | "for_statement" | "do_statement":
                self._loop(node, env.child({}))
            case "switch_statement":
                self._switch(node, env.child({}))
            case "break_statement" | "continue_statement":
                raise _Jump(node.type)
            case "static_assert_declaration":
                pass
            case "alias_declaration" | "type_definition":
                self._s.local_names.type_name(node, env)
            case _:
                raise _NotConstantError

    def _returned(self, node: Node, env: Env) -> _Return:
        """A number, or the name of a function."""
        result = env.function.result if env.function is not None else types.VOID
        if not types.is_function(result):
            return _Return(self._expression(node, env))
        ex = self._s.expressions.emit(node, env, result)
        if not (types.is_function(ex.decayed) and plain_text(ex.piece).isidentifier()):
            raise _NotConstantError
        return _Return(None, ex)

    def _switch(self, node: Node, env: Env) -> None:
        """The statements from the label that is met on, until a ``break``."""
        body = node.child_by_field_name("body")
        cases = syntax.operands(body) if body is not None else []
        if any(case.type != "case_statement" for case in cases):
            raise _NotConstantError
        condition = node.child_by_field_name("condition")
        value = condition.child_by_field_name("value") if condition is not None else None
        if value is None:
            raise _NotConstantError
        number = self._expression(value, env).number
        labels = [case.child_by_field_name("value") for case in cases]
        met = [at is not None and self._is_met(at, number, env) for at in labels]
        start = met.index(True) if True in met else labels.index(None) if None in labels else -1
        if start < 0:
            return
        try:
            for case, label in zip(cases[start:], labels[start:], strict=True):
                for item in syntax.operands(case):
                    if item != label:
                        self._statement(item, env)
        except _Jump as jump:
            if jump.kind != "break_statement":
                raise

    def _is_met(self, label: Node, number: float, env: Env) -> bool:
        ends = self._s.statements.ends_of_range(label) or (label, label)
        low, high = (self._expression(end, env).number for end in ends)
        return low <= number <= high

    def _declaration(self, node: Node, env: Env) -> None:
        for declarator in syntax.declarators(node):
            value = declarator.child_by_field_name("value")
            target = declarator.child_by_field_name("declarator")
            name = syntax.declared_name(declarator)
            if declarator.type != "init_declarator" or value is None or name is None:
                raise _NotConstantError
            type_ = types.strip(self._s.typenames.declared(node, target, env))
            ex = self._s.expressions.emit(value, env, type_)
            if ex.value is None:
                raise _NotConstantError
            self._set(env, text(name), ex.type if types.has_auto(type_) else type_, ex.value)

    def _effect(self, node: Node, env: Env) -> Value:
        """An assignment, an increment, or several; the value it has."""
        if node.type == "comma_expression":
            values = [self._effect(n, env) for n in syntax.operands(node)]
            return values[-1]
        if node.type not in _EXPRESSIONS:
            return self._expression(node, env)
        target = node.child_by_field_name("left") or node.child_by_field_name("argument")
        if target is None or target.type != "identifier":
            raise _NotConstantError
        name, sign = text(target), syntax.sign_of(node)
        found = self._s.names.find(env, name)
        local = found.binding if found is not None else None
        if found is None or not isinstance(local, Local) or local.value is None:
            raise _NotConstantError
        before = local.value
        right = node.child_by_field_name("right")
        change = self._expression(right, env) if right is not None else plain(1)
        operator = sign[0] if node.type == "update_expression" else sign[:-1]
        after = change if sign == "=" else constants.binary(operator, before, change)
        if after is None:
            raise _NotConstantError
        self._set(found.env, name, local.type, after)
        prefix = node.children[0].type in ("++", "--")
        return before if node.type == "update_expression" and not prefix else after

    def _if(self, node: Node, env: Env) -> None:
        condition = node.child_by_field_name("condition")
        if _CONSTEVAL.match(self._s.original(node)):
            self._asks = node
            raise _NotConstantError
        taken = "consequence" if self._truth(condition, env) else "alternative"
        branch = node.child_by_field_name(taken)
        if branch is not None and branch.type == "else_clause":
            branch = next(iter(syntax.operands(branch)), None)
        if branch is not None:
            self._statement(branch, env)

    def _truth(self, node: Node | None, env: Env) -> bool:
        if node is not None and node.type == "condition_clause":
            if node.child_by_field_name("initializer") is not None:
                raise _NotConstantError
            node = node.child_by_field_name("value")
        if node is None:
            raise _NotConstantError
        return bool(self._expression(node, env).number)

    def _loop(self, node: Node, env: Env) -> None:
        first = node.child_by_field_name("initializer")
        if first is not None:
            if first.type == "declaration":
                self._declaration(first, env)
            else:
                self._effect(first, env)
        condition, update = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("update"),
        )
        body = node.child_by_field_name("body")
        skip = node.type == "do_statement"
        while skip or condition is None or self._truth(condition, env):
            skip = False
            try:
                if body is not None:
                    self._statement(body, env.child({}))
            except _Jump as jump:
                if jump.kind == "break_statement":
                    break
            if update is not None:
                self._effect(update, env)
