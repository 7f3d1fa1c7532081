"""Types of launch arguments, as far as declarations say them.

In: an argument.  Out: its base type's source and how many pointers are around it.  Casts,
``&``, ``*``, ``[]``, sums with a pointer, members of classes in sight, containers and functions
with a declared result are followed.  It must not know kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import parse_type
from coalescecheck.frontend.host.binding import Context, spelled
from coalescecheck.frontend.host.deduction import (
    POINTERS,
    ArgumentType,
    class_and_arguments,
    parsed,
)
from coalescecheck.frontend.host.scopes import (
    Declaration,
    ancestors,
    expressions,
    node_text,
    template_parameters,
)
from coalescecheck.frontend.spelling import HOST_LAMBDA

if TYPE_CHECKING:
    from coalescecheck.frontend.host.values import HostValues

_MAX_DEPTH = 8  # variables and calls followed one after another
# Containers whose elements lie behind a pointer that one of the functions below gives.
_CONTAINERS = frozenset(
    {"vector", "array", "device_vector", "host_vector", "unique_ptr", "shared_ptr", "device_ptr"}
)
_TO_POINTER = frozenset({"data", "get", "begin"})
_FREE_TO_POINTER = frozenset({"raw_pointer_cast", "data", "to_address"})


def argument_type(
    values: HostValues, node: Node, context: Context, depth: int = 0
) -> ArgumentType | None:
    """The type of an argument, None where no declaration in sight says it."""
    if depth > _MAX_DEPTH:
        return None
    match node.type:
        case "parenthesized_expression" if len(expressions(node)) == 1:
            return argument_type(values, expressions(node)[0], context, depth + 1)
        case "identifier":
            return _of_name(values, node, context, depth)
        case "field_expression":
            return _of_member(values, node, context, depth)
        case "cast_expression":
            return _of_descriptor(values, node.child_by_field_name("type"), context)
        case "call_expression":
            return _of_call(values, node, context, depth)
        case "new_expression":
            return _named(values, node.child_by_field_name("type"), 1, context)
        case "compound_literal_expression":
            return _of_construction(values, node.child_by_field_name("type"), context)
        case "number_literal":
            return _of_literal(node_text(node))
        case "lambda_expression":
            return ArgumentType(f"{HOST_LAMBDA}{node.start_byte}", 0)
        case "pointer_expression" | "subscript_expression":
            return _of_place(values, node, context, depth)
        case "binary_expression":
            left = node.child_by_field_name("left")
            found = argument_type(values, left, context, depth + 1) if left is not None else None
            return found if found is not None and found.depth else None
        case "unary_expression":
            return _of_negative(values, node, context, depth)
    return None


def _of_literal(text: str) -> ArgumentType:
    """C++ [lex.fcon]; integers that need more than an int do not occur as such arguments."""
    text = text.lower().replace("'", "")
    if text.startswith("0x"):
        return ArgumentType("unsigned int" if "u" in text else "int", 0)
    if "." in text or "e" in text:
        return ArgumentType("float" if text.endswith("f") else "double", 0)
    wide = "long long" if text.rstrip("u").endswith("l") else "int"
    return ArgumentType(f"unsigned {wide}" if "u" in text else wide, 0)


def _of_negative(
    values: HostValues, node: Node, context: Context, depth: int
) -> ArgumentType | None:
    inner = node.child_by_field_name("argument")
    if inner is None or node_text(node)[:1] not in "-+":
        return None
    found = argument_type(values, inner, context, depth + 1)
    return found if found is not None and found.base in ("float", "double", "int") else None


def _of_place(values: HostValues, node: Node, context: Context, depth: int) -> ArgumentType | None:
    """``&x``, ``*p`` and ``p[i]``, through containers too."""
    inner = node.child_by_field_name("argument")
    found = argument_type(values, inner, context, depth + 1) if inner is not None else None
    if found is None:
        return None
    if node_text(node)[:1] == "&":
        return ArgumentType(found.base, found.depth + 1)
    if found.depth:
        return ArgumentType(found.base, found.depth - 1)
    element = _element(found)
    return element if node.type == "subscript_expression" else None


def _element(container: ArgumentType) -> ArgumentType | None:
    name, arguments = class_and_arguments(container.base)
    if name not in _CONTAINERS or not arguments or container.depth:
        return None
    return parsed(arguments[0].removesuffix("[]"))


# -- names -------------------------------------------------------------------------------------


def _of_name(values: HostValues, node: Node, context: Context, depth: int) -> ArgumentType | None:
    declaration = values.scopes.resolve(node_text(node), node)
    if declaration is None:
        declaration = _out_of_line_member(values, node)
    return None if declaration is None else type_of_declaration(values, declaration, context, depth)


def type_of_declaration(
    values: HostValues, declaration: Declaration, context: Context, depth: int = 0
) -> ArgumentType | None:
    """The type of a variable, None where its declaration does not say it."""
    if declaration.kind not in ("variable", "parameter", "member"):
        return None
    if any(s not in POINTERS and s != "reference_declarator" for s in declaration.shape):
        return None
    stars = sum(shape in POINTERS for shape in declaration.shape)
    if declaration.kind == "parameter":
        passed = context.bound.get(f"decltype({node_text(declaration.name)})")
        if declaration.type == "auto" and passed is not None and passed.source is not None:
            return parsed(passed.source)
    if declaration.type == "auto":
        if declaration.init is None or declaration.kind == "parameter":
            return None
        return argument_type(values, declaration.init, context, depth + 1)
    return _named(values, declaration.holder.child_by_field_name("type"), stars, context)


def _out_of_line_member(values: HostValues, node: Node) -> Declaration | None:
    """``d_data`` in ``void Solver<T>::run()``: the one data member of that name."""
    for around in ancestors(node):
        if around.type != "function_definition":
            continue
        declarator = around.child_by_field_name("declarator")
        named = declarator.child_by_field_name("declarator") if declarator is not None else None
        if named is None or named.type != "qualified_identifier":
            return None
        scope = class_and_arguments(node_text(named.child_by_field_name("scope")))[0]
        return _member(values, scope, node_text(node))
    return None


def _of_member(values: HostValues, node: Node, context: Context, depth: int) -> ArgumentType | None:
    """``object.member`` and ``this->member`` of a class in sight that is no template."""
    owner, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
    if owner is None or field is None:
        return None
    if node_text(owner) == "this":
        declaration = values.scopes.resolve(node_text(field), node)
        declaration = declaration or _out_of_line_member(values, field)
        if declaration is None:
            return None
        return type_of_declaration(values, declaration, context, depth)
    found = argument_type(values, owner, context, depth + 1)
    if found is None or "<" in found.base:
        return None
    member = _member(values, found.base.rsplit("::", 1)[-1], node_text(field))
    return None if member is None else type_of_declaration(values, member, Context(), depth)


def _member(values: HostValues, class_name: str, name: str) -> Declaration | None:
    """The one data member called ``name`` of the one class called ``class_name``."""
    found = [
        d
        for d in values.scopes.declarations(name)
        if d.kind == "member" and _class_name(d.scope) == class_name
    ]
    return found[0] if len(found) == 1 else None


def _class_name(scope: Node) -> str:
    name = node_text(scope.child_by_field_name("name"))
    if not name and scope.parent is not None and scope.parent.type == "type_definition":
        name = node_text(scope.parent.child_by_field_name("declarator"))
    return name


# -- calls -------------------------------------------------------------------------------------


def _of_call(values: HostValues, node: Node, context: Context, depth: int) -> ArgumentType | None:
    function = node.child_by_field_name("function")
    if function is None:
        return None
    cast = _of_cast(values, function, context)
    made = cast or _of_construction(values, function, context)
    made = made or _of_pointer_to_elements(values, node, function, context, depth)
    return made or _of_result(values, node, function, context)


def _of_cast(values: HostValues, function: Node, context: Context) -> ArgumentType | None:
    """``reinterpret_cast<float *>(p)`` and ``float(x)``."""
    if function.type in ("primitive_type", "sized_type_specifier"):
        return _named(values, function, 0, context)
    if function.type == "identifier" and node_text(function) in context.bound:
        return _named(values, function, 0, context)
    if function.type != "template_function":
        return None
    if not node_text(function.child_by_field_name("name")).endswith("_cast"):
        return None
    given = expressions(function.child_by_field_name("arguments"))
    return _of_descriptor(values, given[0], context) if len(given) == 1 else None


def _of_pointer_to_elements(
    values: HostValues, node: Node, function: Node, context: Context, depth: int
) -> ArgumentType | None:
    """``v.data()``, ``p.get()``, ``thrust::raw_pointer_cast(v.data())``, ``(&v[0])``."""
    given = expressions(node.child_by_field_name("arguments"))
    if function.type == "field_expression" and not given:
        owner = function.child_by_field_name("argument")
        if node_text(function.child_by_field_name("field")) not in _TO_POINTER or owner is None:
            return None
        container = argument_type(values, owner, context, depth + 1)
        element = _element(container) if container is not None else None
        return None if element is None else ArgumentType(element.base, element.depth + 1)
    name = node_text(function).rsplit("::", 1)[-1]
    if name not in _FREE_TO_POINTER or len(given) != 1:
        return None
    found = argument_type(values, given[0], context, depth + 1)
    if found is None or found.depth:
        return found
    element = _element(found)
    return None if element is None else ArgumentType(element.base, element.depth + 1)


def _of_result(
    values: HostValues, node: Node, function: Node, context: Context
) -> ArgumentType | None:
    """The declared result of the one function of that name in sight, if it is no template."""
    if function.type not in ("identifier", "qualified_identifier"):
        return None
    found = values.scopes.functions(node_text(function))
    known: set[ArgumentType | None] = set()
    for each in found:
        if template_parameters(each):
            return None
        stars = 0
        declarator = each.child_by_field_name("declarator")
        while declarator is not None and declarator.type in (*POINTERS, "reference_declarator"):
            stars += declarator.type in POINTERS
            inner = declarator.child_by_field_name("declarator")
            declarator = inner or next(iter(declarator.named_children), None)
        known.add(_named(values, each.child_by_field_name("type"), stars, Context()))
    return known.pop() if len(known) == 1 else None


def _of_construction(
    values: HostValues, named: Node | None, context: Context
) -> ArgumentType | None:
    """``Functor<float>()`` and ``Functor{}`` of a class in sight."""
    if named is None:
        return None
    class_name = named
    while class_name.type in ("template_type", "template_function", "qualified_identifier"):
        inner = class_name.child_by_field_name("name")
        if inner is None:
            return None
        class_name = inner
    if not values.types.is_class(node_text(class_name)):
        return None
    return _named(values, named, 0, context)


# -- spelling ----------------------------------------------------------------------------------


def _of_descriptor(
    values: HostValues, descriptor: Node | None, context: Context
) -> ArgumentType | None:
    if descriptor is None:
        return None
    depth = 0
    declarator = descriptor.child_by_field_name("declarator")
    while declarator is not None:
        if declarator.type not in POINTERS:
            return None
        depth += 1
        declarator = declarator.child_by_field_name("declarator")
    return _named(values, descriptor.child_by_field_name("type"), depth, context)


def _named(
    values: HostValues, type_: Node | None, depth: int, context: Context
) -> ArgumentType | None:
    """A type as the kernel's own scope can read it; builtin types behind an alias by their name."""
    if type_ is None or node_text(type_) in ("", "auto", "void"):
        return None
    text = spelled(values, type_, context)
    if text is None:
        return None
    found = parsed(text)
    alias = None if parse_type(found.base) else values.type_name(found.base, type_)
    return ArgumentType(alias or found.base, found.depth + depth)
