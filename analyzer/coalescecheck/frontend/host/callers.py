"""Who calls a function of host code, and how a function template is instantiated by name.

In: a function definition.  Out: its visible calls, None where they cannot be told.  It must not
know values.
"""

from __future__ import annotations

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import (
    DECLARATORS,
    Scopes,
    ancestors,
    call_of,
    declaration_of,
    expressions,
    function_declarator,
    function_name,
    node_text,
    parameters,
    scope_path,
)


def calls_of(scopes: Scopes, function: Node) -> list[Node] | None:
    """The visible calls of a function definition; None when they cannot be told, because
    overloads take as many arguments or the name is used in another way (its address)."""
    name = function_name(function)
    if name is None:
        return None
    definitions = _definitions(scopes, name)
    if function not in definitions:
        return None
    calls: list[Node] = []
    for node in scopes.occurrences(name):
        if declaration_of(node) is not None or _is_forward(node) or _declared_by(node):
            continue
        call = call_of(node)
        if call is None:
            return None
        if _names_another(call, function):
            continue
        meant = [d for d in definitions if len(definitions) == 1 or _may_mean(call, d)]
        if function in meant:
            if len(meant) > 1:
                return None
            calls.append(call)
    return calls


def instantiations(scopes: Scopes, function: Node, *, elsewhere: bool = True) -> list[Node]:
    """The explicit instantiations of a function template, where one template is meant; those
    that other files have (``extern``) only if ``elsewhere``."""
    name = function_name(function)
    if name is None or len(_definitions(scopes, name)) != 1:
        return []
    found = []
    for node in scopes.occurrences(name):
        around = _declared_by(node)
        if around is not None and around.type == "template_instantiation":
            found.append(around)
    return [each for each in found if elsewhere or not node_text(each).startswith("extern")]


def _definitions(scopes: Scopes, name: str) -> list[Node]:
    """The functions of a name that are defined here, without explicit specialisations."""
    found = [f for f in scopes.functions(name) if f.type == "function_definition"]
    return [f for f in found if not _is_specialisation(f)]


def _declared_by(name: Node) -> Node | None:
    """The declaration whose function is called ``name`` or ``name<arguments>``."""
    node, parent = name, name.parent
    while parent is not None and parent.type in ("template_function", "qualified_identifier"):
        node, parent = parent, parent.parent
    if parent is None or parent.type != "function_declarator":
        return None
    if parent.child_by_field_name("declarator") != node:
        return None
    return next((a for a in ancestors(parent) if a.type not in DECLARATORS), None)


def _is_specialisation(function: Node) -> bool:
    declarator = function_declarator(function)
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    return name is not None and name.type == "template_function"


def _names_another(call: Node, function: Node) -> bool:
    """``lib::f(x)`` does not call an ``f`` that is in no namespace or class."""
    called = call.child_by_field_name("function")
    if called is None or called.type != "qualified_identifier" or scope_path(function):
        return False
    declarator = function_declarator(function)
    own = declarator.child_by_field_name("declarator") if declarator is not None else None
    qualified = own is not None and own.type == "qualified_identifier"
    return not qualified and called.child_by_field_name("scope") is not None


def _may_mean(call: Node, function: Node) -> bool:
    """Whether a function takes the number of arguments that a call has."""
    listed = parameters(function)
    if any("variadic" in p.type for p in listed) or "..." in node_text(
        function_declarator(function)
    ):
        return True
    given = len(expressions(call.child_by_field_name("arguments")))
    needed = sum(p.child_by_field_name("default_value") is None for p in listed)
    return needed <= given <= len(listed)


def _is_forward(name: Node) -> bool:
    """Whether a mention neither calls nor stores a function: a using declaration, an explicit
    instantiation or a friend."""
    kinds = ("using_declaration", "template_instantiation", "friend_declaration")
    return any(a.type in kinds for a in ancestors(name))
