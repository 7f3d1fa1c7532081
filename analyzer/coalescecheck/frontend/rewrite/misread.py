"""Declarations that the grammar takes for expressions.

``float (*row)[33] = t;``, ``float (&r)[4] = a;``, ``ns::Tile<32> x = f();``: without knowing
which names are types they are valid expressions.  In: an expression node.  Out: the parts of the
declaration, or None if it is an expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import groups, syntax, types
from coalescecheck.frontend.rewrite.env import Env, Local
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


@dataclass(frozen=True, slots=True)
class MisreadDeclaration:
    """``type name = value`` with its nodes; ``arguments`` for ``type name(arguments)``."""

    type: CType
    name: Node
    value: Node | None
    arguments: Node | None = None


def declaration(session: Session, node: Node, env: Env) -> MisreadDeclaration | None:
    """The declaration an expression statement really is."""
    if node.type in ("assignment_expression", "subscript_expression", "call_expression"):
        return _declarator_read_as_call(session, node, env)
    if node.type == "binary_expression":
        return _template_read_as_comparison(session, node, env)
    return None


def _declarator_read_as_call(session: Session, node: Node, env: Env) -> MisreadDeclaration | None:
    """``T (*p)[N] = v``: an assignment to an element of a call of T."""
    value = None
    at: Node | None = node
    if node.type == "assignment_expression":
        at, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if syntax.sign_of(node) != "=":
            return None
    extents: list[Node] = []
    while at is not None and at.type == "subscript_expression":
        indices = syntax.operands(at.child_by_field_name("indices"))
        if len(indices) != 1:
            return None
        extents.append(indices[0])
        at = at.child_by_field_name("argument")
    if at is None or at.type != "call_expression" or not (extents or value is not None):
        return None
    function, holder = at.child_by_field_name("function"), at.child_by_field_name("arguments")
    arguments = syntax.operands(holder)
    if function is None or len(arguments) != 1:
        return None
    element = _as_type(session, function, env)
    if element is None:
        return None
    return _declared(session, element, arguments[0], extents, value, env)


def _declared(
    session: Session,
    element: CType,
    inner: Node,
    extents: list[Node],
    value: Node | None,
    env: Env,
) -> MisreadDeclaration | None:
    type_ = element
    for extent in extents:  # outermost subscript is the last dimension
        count, spelled = session.expressions.extent(extent, env)
        type_ = types.Array(type_, count, spelled)
    if inner.type == "pointer_expression":
        sign = syntax.sign_of(inner)
        name = inner.child_by_field_name("argument")
        type_ = types.Pointer(type_) if sign == "*" else types.Reference(type_)
    else:
        name = inner
    if name is None or name.type != "identifier":
        return None
    return MisreadDeclaration(type_, name, value)


def begins_with_variable(session: Session, node: Node, env: Env) -> bool:
    """Whether a macro that nothing defines stands between a variable and the rest of a statement:
    ``j PLUS_EQUAL 2;`` read as a declaration."""
    type_ = node.child_by_field_name("type")
    if type_ is None or type_.type != "type_identifier":
        return False
    found = session.names.find(env, text(type_))
    return found is not None and isinstance(found.binding, Local)


def _as_type(session: Session, node: Node, env: Env) -> CType | None:
    if node.type in ("primitive_type", "sized_type_specifier"):
        return session.typenames.type(node, env)
    return session.type_if_named(node, env)


def _template_read_as_comparison(
    session: Session, node: Node, env: Env
) -> MisreadDeclaration | None:
    """``ns::Tile<32> x = v``: (``ns::Tile < 32``) ``>`` (``x = v``)."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or syntax.sign_of(node) != ">":
        return None
    if left.type != "binary_expression" or syntax.sign_of(left) != "<":
        return None
    template, argument = left.child_by_field_name("left"), left.child_by_field_name("right")
    if template is None or argument is None:
        return None
    last = syntax.unqualified(template)
    if last is None:
        return None
    type_ = groups.tile_of(session, base_name(last), [argument], env)
    if type_ is None:
        type_ = session.applied_template(template, [argument], env)
    if type_ is None:
        return None
    if right.type == "identifier":
        return MisreadDeclaration(type_, right, None)
    if right.type == "assignment_expression":
        name = right.child_by_field_name("left")
        if name is not None and name.type == "identifier":
            return MisreadDeclaration(type_, name, right.child_by_field_name("right"))
    if right.type == "call_expression":
        name = right.child_by_field_name("function")
        if name is not None and name.type == "identifier" and text(name):
            return MisreadDeclaration(type_, name, None, right.child_by_field_name("arguments"))
    return None


_POSTFIX = {"subscript_expression": "argument", "field_expression": "argument",
            "call_expression": "function"}  # fmt: skip


def cast_of_postfix(session: Session, node: Node, env: Env) -> tuple[Node, Node, Node] | None:
    """``(T)(p)[i]``: read as an element of a call of T, means a cast of ``(p)[i]``.

    Returns the type's node, the node read as a call, and the operand it holds.
    """
    at: Node | None = node
    first = True
    while at is not None and at.type in _POSTFIX:
        function = at.child_by_field_name("function")
        if function is not None and function.type == "parenthesized_expression":
            break
        at, first = at.child_by_field_name(_POSTFIX[at.type]), False
    if first or at is None or at.type != "call_expression":
        return None
    if session.expressions.is_replaced(at):
        return None
    function = at.child_by_field_name("function")
    named = syntax.operands(function)
    operand = syntax.operands(at.child_by_field_name("arguments"))
    if len(named) != 1 or len(operand) != 1:
        return None
    if session.type_if_named(named[0], env) is None:
        return None
    return named[0], at, operand[0]
