"""What lambdas capture: variables by copy or by address, and those that have an initialiser.

In: a lambda expression and where it stands.  Out: :class:`Capture`, and the environment in which
the copies that later changes must not reach are variables of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Env, Local
from coalescecheck.frontend.rewrite.ex import PRIMARY, Ex, address_of
from coalescecheck.frontend.rewrite.naming import Naming
from coalescecheck.frontend.rewrite.syntax import text

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


@dataclass(frozen=True, slots=True)
class Capture:
    """A captured variable: its name in the source, and the C parameters that stand for it."""

    name: str
    local: Local
    by_address: bool


@dataclass(frozen=True, slots=True)
class LambdaSource:
    """Where a closure comes from."""

    node: Node
    body: Node | None
    env: Env
    captures: tuple[Capture, ...]


class Captures:
    """Finds what lambdas capture."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def of(self, node: Node, body: Node | None, env: Env) -> tuple[Capture, ...]:
        """Every local of the enclosing function that the body names."""
        found: dict[str, Capture] = {}
        explicit = node.child_by_field_name("captures")
        for holder in (explicit, body):
            for part in syntax.walk(holder) if holder is not None else ():
                if part.type not in ("identifier", "type_identifier", "field_identifier"):
                    continue
                name = text(part)
                if name in found or part.type == "field_identifier":
                    continue
                meaning = self._s.names.find(env, name)
                if meaning is None or not isinstance(meaning.binding, Local):
                    continue
                if meaning.binding.value is not None:
                    continue
                local = meaning.binding
                by_address = self._by_address(local, name, body)
                if not by_address and body is not None:  # something that it calls may change it
                    by_address = not local.fixed and syntax.changes_around(node, name)
                found[name] = Capture(name, local, by_address)
        return tuple(found.values())

    @staticmethod
    def _by_address(local: Local, name: str, body: Node | None) -> bool:
        """Whether the body may change the variable, or it is too big to copy."""
        if isinstance(local.type, types.Reference | types.Array | types.Record):
            return True
        if body is None:
            return False
        return _changes(name, body)

    def copies_changing_object(self, node: Node, env: Env) -> bool:
        """Whether a lambda has a copy of ``*this``, in a method that changes the object."""
        record = self._s.self_record(env)
        if record is None or not copies_object(node):
            return False
        function: Node | None = node
        while function is not None and function.type != "function_definition":
            function = function.parent
        for part in syntax.walk(function) if function is not None else ():
            if part.type in ("identifier", "field_identifier") and syntax.may_change(part):
                found = self._s.records.member(record, text(part))
                if found is not None and found.member is not None:
                    return True
        return False

    def own(self, node: Node, body: Node | None, env: Env) -> Env:
        """The environment of the body: captures with an initialiser, and captures by copy that
        later changes must not reach, are variables of their own."""
        holder = node.child_by_field_name("captures")
        inner = env.child({})
        for item in syntax.operands(holder):
            left, value = item.child_by_field_name("left"), item.child_by_field_name("right")
            if item.type == "lambda_capture_initializer" and left is not None and value:
                ex = self._s.expressions.emit(value, env)
                if _by_reference(item) and ex.lvalue and env.function is not None:
                    self._own_reference(text(left), ex, node, inner)
                elif body is not None and _changes(text(left), body):
                    self._own_variable(text(left), replace(ex, value=None), node, inner)
                else:
                    self._own_variable(text(left), ex, node, inner)
        if body is not None and holder is not None and body is not node:
            for name in _copied(holder, body):
                self._snapshot(name, node, env, inner)
        return inner if inner.names else env

    def _snapshot(self, name: str, node: Node, env: Env, inner: Env) -> None:
        """A copy of a variable that may change after the lambda was made."""
        found = self._s.names.find(env, name)
        local = found.binding if found is not None else None
        if not isinstance(local, Local) or local.value is not None or name in inner.names:
            return
        if local.static:  # there is one: no lambda captures it
            return
        held = types.strip_reference(local.type)
        value = Naming.local(local, Mark(node.start_byte))
        if isinstance(held, types.Scalar | types.Pointer):
            if syntax.changes_around(node, name):
                self._own_variable(name, value, node, inner)
        elif isinstance(held, types.Record | types.Array) and syntax.parts_change(node, name):
            if isinstance(held, types.Array):
                self._own_array(name, value, held, node, inner)
            else:
                self._own_variable(name, value, node, inner)

    def _fresh(self, name: str, writer: FunctionWriter) -> str:
        """The C name of a variable that a lambda has."""
        c = writer.fresh(name)
        self._s.output.spellings.names[c] = name
        return c

    def _own_reference(self, name: str, ex: Ex, node: Node, env: Env) -> None:
        """``[&r = x]``."""
        if env.function is None:
            return
        type_ = types.Reference(ex.type)
        self._s.output.need(type_)
        c = self._fresh(name, env.function)
        declared = types.declare(type_, c)
        env.function.line((Mark(node.start_byte), declared, " = ", address_of(ex), ";"))
        env.names[name] = Local(c, type_)

    def _own_array(self, name: str, ex: Ex, type_: types.Array, node: Node, env: Env) -> None:
        if env.function is None or type_.count is None or isinstance(type_.element, types.Array):
            unknown = self._s.say_opaque("a copy of an array", [], types.UNKNOWN, node)
            self._own_variable(name, unknown, node, env)
            return
        self._s.output.need(type_)
        c, i = self._fresh(name, env.function), env.function.fresh("i")
        mark = Mark(node.start_byte)
        env.function.line((mark, types.declare(type_, c), ";"))
        head = f"for (int {i} = 0; {i} < {type_.count}; {i}++) {c}[{i}] = "
        env.function.line((mark, head, ex.at(PRIMARY), f"[{i}];"))
        env.names[name] = Local(c, type_)

    def _own_variable(self, name: str, ex: Ex, node: Node, env: Env) -> None:
        if ex.value is not None:
            env.names[name] = Local(name, types.unqualified(ex.decayed), ex.value, literal=True)
            return
        if env.function is None:
            return
        type_ = types.unqualified(ex.decayed)
        self._s.output.need(type_)
        c = self._fresh(name, env.function)
        env.function.line((Mark(node.start_byte), types.declare(type_, c), " = ", ex.at(2), ";"))
        env.names[name] = Local(c, type_)


def _changes(name: str, body: Node) -> bool:
    """Whether the body may change the variable."""
    for part in syntax.walk(body):
        if part.type == "identifier" and text(part) == name and syntax.may_change(part):
            return True
    return False


def is_copied(capture: Capture, source: LambdaSource) -> bool:
    """Whether a lambda has a copy of a variable; those of which there is one, such as shared
    arrays, are used as they are."""
    holder = source.node.child_by_field_name("captures")
    if holder is None or capture.local.static:
        return False
    for item in syntax.operands(holder):
        named = item.child_by_field_name("left") or item
        if text(named) == capture.name and item.type != "lambda_default_capture":
            return not _by_reference(item)
    default = syntax.child(holder, "lambda_default_capture")
    return default is not None and text(default) == "="


def copies_object(lambda_: Node) -> bool:
    """Whether a lambda has a copy of ``*this``."""
    holder = lambda_.child_by_field_name("captures")
    return holder is not None and "*this" in text(holder).replace(" ", "")


def _by_reference(item: Node) -> bool:
    """Whether a capture is by reference."""
    before = item.prev_sibling
    return text(item).startswith("&") or (before is not None and before.type == "&")


def _copied(holder: Node, body: Node) -> list[str]:
    """The names a lambda captures by copy: listed ones, and all it uses after ``[=]``."""
    by_reference = {
        text(item)
        for item in syntax.operands(holder)
        if item.prev_sibling is not None and item.prev_sibling.type == "&"
    }
    names = [text(n) for n in syntax.operands(holder) if n.type == "identifier"]
    default = syntax.child(holder, "lambda_default_capture")
    if default is not None and text(default) == "=":
        names += [text(n) for n in syntax.walk(body) if n.type == "identifier"]
    return [name for name in dict.fromkeys(names) if name not in by_reference]
