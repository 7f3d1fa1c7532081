"""Lambdas of host code that launches pass: ``for_each<<<…>>>(n, [=] __device__(int i) { … })``.

In: the byte at which one begins, by which launches name its type.  Out: the struct of its captures.
Of host code only the declarations are read that the lambda's names need; what they do not tell is
of unknown type.  It must not know launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.captures import LambdaSource
from coalescecheck.frontend.rewrite.env import Env, Local, TypeBound
from coalescecheck.frontend.rewrite.index import FunctionEntry, Scope
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import Closure, CType
from coalescecheck.frontend.spelling import HOST_LAMBDA

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

_OPAQUE = ("call_expression", "lambda_expression", "new_expression")
_NAMED = re.compile(rf"\b{HOST_LAMBDA}(\d+)\b")


def bind(session: Session, source: str, env: Env) -> None:
    """Gives the lambdas that the text of a template argument names their types in ``env``."""
    for found in _NAMED.finditer(source):
        env.names[found[0]] = TypeBound(_type_at(session, int(found[1])))


def shown(source: str, line: dict[int, int]) -> str:
    """A template argument for people: ``lambda:71``."""
    return _NAMED.sub(lambda found: f"lambda:{line[int(found[1])]}", source)


def starts(source: str) -> list[int]:
    """Where the lambdas begin that a template argument names."""
    return [int(number) for number in _NAMED.findall(source)]


def _type_at(session: Session, start: int) -> CType:
    root = session.kernel
    while root is not None and root.parent is not None:
        root = root.parent
    node = None if root is None else root.descendant_for_byte_range(start, start + 1)
    while node is not None and node.type != "lambda_expression":
        node = node.parent
    if node is None:
        return types.UNKNOWN
    body = node.child_by_field_name("body")
    env = _environment(session, node)
    captures = session.captures.of(node, body, env)
    name = f"{HOST_LAMBDA}{start}"
    type_ = session.closures.held_type(Closure(name, LambdaSource(node, body, env, captures)))
    if isinstance(type_, types.Record):
        return type_
    message = "a lambda that holds an array is not followed: what it accesses is not seen"
    session.say(node, "warning", message, hides=True)
    return types.UNKNOWN


def _environment(session: Session, lambda_: Node) -> Env:
    """The names that the lambda uses, as the functions around it declare them."""
    chain: list[Node] = []
    at = lambda_.parent
    while at is not None and at.type not in ("translation_unit", "namespace_definition"):
        chain.append(at)
        at = at.parent
    function = next((n for n in reversed(chain) if n.type == "function_definition"), None)
    env = _home(session, function, lambda_)
    wanted = _wanted(lambda_, chain)
    writer = FunctionWriter(types.VOID)  # nothing of it is kept
    env = Env(env, {}, function=writer, limit=lambda_.start_byte)
    for node in reversed(chain):
        for declaration in _declarations(node, lambda_):
            _declare(session, declaration, wanted, env)
    _initialised(session, lambda_, env)
    return env


def _wanted(lambda_: Node, chain: list[Node]) -> set[str]:
    """The names in the lambda, and in what gives these a type."""
    wanted = _names(lambda_)
    for node in chain:
        for declaration in reversed(list(_declarations(node, lambda_))):
            if not syntax.has_word(declaration, "auto"):
                continue
            for declarator in declaration.children_by_field_name("declarator"):
                named, value = _parts(declarator)
                if named in wanted and value is not None:
                    wanted |= _names(value)
    return wanted


def _names(node: Node) -> set[str]:
    return {text(part) for part in syntax.walk(node) if part.type == "identifier"}


def _declarations(node: Node, lambda_: Node) -> Iterator[Node]:
    """The parameters of a function or lambda around, or what a block declares before."""
    declarator = node.child_by_field_name("declarator")
    function = syntax.function_declarator(declarator) if declarator is not None else None
    holder = (function or declarator or node).child_by_field_name("parameters")
    for part in (*syntax.operands(holder), *node.named_children):
        declares = part.type == "declaration" or "parameter_declaration" in part.type
        if declares and part.start_byte < lambda_.start_byte:
            yield part


def _parts(declarator: Node) -> tuple[str, Node | None]:
    """The name that a declarator declares, and its initial value."""
    value = declarator.child_by_field_name("value")
    inner = declarator.child_by_field_name("declarator") if value is not None else declarator
    named = syntax.declared_name(inner or declarator)
    return ("" if named is None else text(named)), value


def _declare(session: Session, node: Node, wanted: set[str], env: Env) -> None:
    constant = syntax.has_word(node, "constexpr") or syntax.has_word(node, "const")
    for declarator in node.children_by_field_name("declarator"):
        named, value = _parts(declarator)
        if named not in wanted:
            continue
        target = declarator.child_by_field_name("declarator") if value is not None else None
        type_ = session.typenames.declared(node, target or declarator, env)
        known = None
        if value is not None and constant and types.is_arithmetic(types.strip(type_)):
            known = session.expressions.emit(value, env).value
        if isinstance(types.strip(type_), types.Auto):
            type_ = _deduced(session, value, env)
        held = types.unqualified(types.strip_reference(type_))
        env.names[named] = Local(named, held, known, literal=known is not None, fixed=True)


def _deduced(session: Session, value: Node | None, env: Env) -> CType:
    """The type of ``auto x = value``, as far as casts and variables tell it."""
    if value is None or any(part.type in _OPAQUE for part in syntax.walk(value)):
        return types.UNKNOWN
    if any(session.names.find(env, name) is None for name in _names(value)):
        return types.UNKNOWN
    return types.unqualified(session.expressions.emit(value, env).decayed)


def _initialised(session: Session, lambda_: Node, env: Env) -> None:
    """``[p = q]`` has a variable of its own."""
    for item in syntax.operands(lambda_.child_by_field_name("captures")):
        left, value = item.child_by_field_name("left"), item.child_by_field_name("right")
        if item.type == "lambda_capture_initializer" and left is not None:
            env.names[text(left)] = Local(text(left), _deduced(session, value, env), fixed=True)


def _home(session: Session, function: Node | None, lambda_: Node) -> Env:
    """The environment of the function around, its template parameters unknown."""
    entry = _entry(session.top, function.start_byte) if function is not None else None
    if entry is None:
        return session.top_env
    env = Env(session.names.scope_env(entry.scope), {})
    for parameter in entry.head or ():
        if parameter.name and parameter.kind != "value":
            env.names[parameter.name] = TypeBound(
                types.Unknown(session.output_unknown(parameter.name, ""))
            )
    return env


def _entry(scope: Scope, start: int) -> FunctionEntry | None:
    """The function whose definition begins at a byte."""
    for group in scope.entries.values():
        for entry in group:
            if isinstance(entry, FunctionEntry) and entry.node.start_byte == start:
                return entry
            if isinstance(entry, index.NamespaceEntry) and entry.inner is not None:
                found = _entry(entry.inner, start)
                if found is not None:
                    return found
    return None
