"""C type syntax to C types: typedefs, structs, unions, enums, pointers, arrays, functions.

In: pycparser type nodes and a context (scopes, and an evaluator for array extents and
enumerators).  Out: ``Declared`` types.  It allocates nothing and emits no statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pycparser import c_ast

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Const
from coalescecheck.lower import arith, ctypes
from coalescecheck.lower.context import Context, TypeName
from coalescecheck.lower.ctypes import (
    INT,
    ArrayOf,
    CType,
    Function,
    LayoutMember,
    Number,
    Pointer,
    Record,
    Size,
)
from coalescecheck.lower.values import Fixed, Scalar, Value

MAX_BYTES = 1 << 40  # of one object: more than any GPU has


@dataclass(frozen=True, slots=True)
class Declared:
    """A type with the qualifiers of the object it declares."""

    type: CType
    const: bool = False
    volatile: bool = False


def markers(node: c_ast.Node) -> dict[str, str | None]:
    """The attributes of a declaration as ``{"shared": None, "unroll": "4"}``."""
    return {
        attribute.name: attribute.arguments
        for specifier in node.attributes or ()
        for attribute in specifier.attributes
    }


def resolve(cx: Context, node: c_ast.Node) -> Declared:
    """The type that a declarator (``TypeDecl``, ``PtrDecl`` …) or type name spells."""
    match node:
        case c_ast.Typename() | c_ast.Decl() | c_ast.Typedef():
            return resolve(cx, node.type)
        case c_ast.TypeDecl():
            base = _base(cx, node.type)
            const = base.const or "const" in node.quals
            return Declared(base.type, const, base.volatile or "volatile" in node.quals)
        case c_ast.PtrDecl():
            target = resolve(cx, node.type)
            restrict = "restrict" in node.quals
            pointer = Pointer(target.type, target.const, target.volatile, restrict)
            return Declared(pointer, "const" in node.quals, "volatile" in node.quals)
        case c_ast.ArrayDecl():
            element = resolve(cx, node.type)
            return replace(element, type=_array_of(cx, element.type, node))
        case c_ast.FuncDecl():
            return Declared(Function(resolve(cx, node.type).type, _parameters(cx, node.args)))
        case c_ast.Struct() | c_ast.Union() | c_ast.Enum():
            return _base(cx, node)
    raise cx.unsupported(node, "a type that is not plain C")


def _array_of(cx: Context, element: CType, node: c_ast.ArrayDecl) -> ArrayOf:
    """The array type, of a size that an object can have."""
    length = None if node.dim is None else constant_size(cx, node.dim)
    if isinstance(length, int) and length < 0:
        raise cx.unsupported(node, f"an array of {length} elements")
    size = 0 if length is None else ctypes.multiply_sizes(ctypes.size_of(element), length)
    if isinstance(size, int) and size > MAX_BYTES:
        raise cx.unsupported(node, f"an array of {size} bytes")
    return ArrayOf(element, length)


def _base(cx: Context, node: c_ast.Node) -> Declared:
    match node:
        case c_ast.IdentifierType():
            return _named(cx, node)
        case c_ast.Struct() | c_ast.Union():
            return Declared(_record(cx, node))
        case c_ast.Enum():
            define_enumerators(cx, node)
            return Declared(INT)
        case c_ast.AttributedType():
            return _base(cx, node.type)
        case c_ast.TypeOf():
            return resolve_typeof(cx, node)
    raise cx.unsupported(node, "a type that is not plain C")


def _named(cx: Context, node: c_ast.IdentifierType) -> Declared:
    if node.names == ["void"]:
        return Declared(ctypes.VOID)
    if len(node.names) == 1:
        entity = cx.lookup(node.names[0])
        if isinstance(entity, TypeName):
            return Declared(entity.type, entity.const, entity.volatile)
    number = ctypes.spelled(node.names)
    if number is None:
        raise cx.unsupported(node, f"the type `{' '.join(node.names)}` is not declared")
    return Declared(number)


def resolve_typeof(cx: Context, node: c_ast.TypeOf) -> Declared:
    """``typeof(expression)`` or ``typeof(type)``."""
    if isinstance(node.expr, c_ast.Typename):
        return resolve(cx, node.expr)
    with cx.block():
        return Declared(cx.evaluate(cx, node.expr).type)


def _parameters(cx: Context, args: c_ast.ParamList | None) -> tuple[CType, ...] | None:
    if args is None:
        return None
    types = []
    for param in args.params:
        if isinstance(param, c_ast.EllipsisParam):
            return None
        types.append(parameter_type(resolve(cx, param)).type)
    return () if types == [ctypes.VOID] else tuple(types)


def parameter_type(declared: Declared) -> Declared:
    """Array and function parameters are pointers (C11 6.7.6.3p7)."""
    match declared.type:
        case ArrayOf():
            pointer = Pointer(declared.type.element, declared.const, declared.volatile)
            return Declared(pointer)
        case Function():
            return Declared(Pointer(declared.type))
    return declared


def constant_size(cx: Context, node: c_ast.Node) -> Size:
    """An array extent: a number, or an expression of free template values."""
    with cx.block() as effects:
        value = cx.evaluate(cx, node)
    if effects or not isinstance(value, Scalar):
        cx.warn(node, "an array extent that is not a constant: addresses that need it are unknown")
        return cx.undefined("extent", "an extent that is not a constant", ir.I64, True)
    expr = arith.cast(value.expr, ir.I64)
    number = arith.constant_int(expr)
    return expr if number is None else number


def constant_int(cx: Context, node: c_ast.Node) -> int | None:
    """The value of an integer constant expression, None if it is not one."""
    with cx.block() as effects:
        value = cx.evaluate(cx, node)
    if effects or not isinstance(value, Scalar):
        return None
    return arith.constant_int(value.expr)


def alignment(cx: Context, specifiers: Iterable[c_ast.Node] | None) -> int:
    """The strictest ``_Alignas`` of a declaration in bytes, 0 without one."""
    strictest = 0
    for specifier in specifiers or ():
        wanted = specifier.alignment
        if isinstance(wanted, c_ast.Typename):
            value: int | None = ctypes.align_of(resolve(cx, wanted).type)
        else:
            value = constant_int(cx, wanted)
        strictest = max(strictest, value or 0)
    return strictest


# --- structs, unions, enums -------------------------------------------------------------------


def _record(cx: Context, node: c_ast.Struct | c_ast.Union) -> Record:
    record = _tagged(cx, node)
    if node.decls is None or record.complete:
        return record
    members = [member for decl in node.decls for member in _members(cx, decl)]
    packed = "packed" in markers(node)
    ctypes.lay_out(record, members, union=isinstance(node, c_ast.Union), packed=packed)
    # an instruction per byte: the width of an access to a packed member is not its type's
    record.unknown = record.unknown or (ctypes.PACKED if packed else "")
    return record


def _tagged(cx: Context, node: c_ast.Struct | c_ast.Union) -> Record:
    if node.name is None:
        return Record("struct")
    scopes = cx.tags[-1:] if node.decls is not None else reversed(cx.tags)
    for scope in scopes:
        if node.name in scope:
            return scope[node.name]
    record = Record(node.name)
    cx.tags[-1][node.name] = record
    return record


def _members(cx: Context, decl: c_ast.Node) -> Iterable[LayoutMember]:
    if not isinstance(decl, c_ast.Decl):
        return
    declared = resolve(cx, decl)
    width = None if decl.bitsize is None else constant_int(cx, decl.bitsize)
    if width is not None and not _is_width(width, declared.type, decl.name):
        raise cx.unsupported(decl, f"a bit-field of {width} bits")
    align = alignment(cx, decl.align)
    yield LayoutMember(decl.name or "", declared.type, align, declared.volatile, width)


def _is_width(width: int, type_: CType, name: str | None) -> bool:
    """Whether a bit-field can have so many bits; C++ allows more than its type has, as padding, but
    the layout is then another one."""
    least, size = (1 if name else 0), ctypes.size_of(type_)
    return least <= width <= (8 * size if isinstance(size, int) else width)


def define_enumerators(cx: Context, node: c_ast.Enum) -> None:
    """Enumerators are int constants (C11 6.7.2.2); wide ones keep their value as long."""
    following = 0
    for enumerator in node.values.enumerators if node.values else ():
        if enumerator.value is not None:
            value = constant_int(cx, enumerator.value)
            if value is None:
                raise cx.unsupported(enumerator, "an enumerator that is not a constant")
            following = value
        cx.define(enumerator.name, Fixed(_int_constant(following)))
        following += 1


def _int_constant(value: int) -> Value:
    if -(2**31) <= value < 2**31:
        return Scalar(INT, Const(ir.I32, value))
    return Scalar(ctypes.LONG, arith.integer(value))


def define_typedef(cx: Context, node: c_ast.Typedef) -> None:
    """A typedef; 16-bit floats and unknown template types are known by name and marker."""
    declared = resolve(cx, node.type)
    ctype = declared.type
    if ctypes.is_half_name(node.name):
        ctype = ctypes.spelled([node.name]) or ctype
    elif "unknown_type" in markers(node) and isinstance(ctype, Number):
        ctype = Number(ctype.scalar, node.name, unknown=True)
    elif isinstance(ctype, Record) and ctype.name in ("struct", ""):
        ctype.name = node.name
    cx.define(node.name, TypeName(ctype, declared.const, declared.volatile))
