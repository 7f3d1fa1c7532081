"""The type traits of the standard library that device code uses.

In: names like ``std::conditional_t<…>``.  Out: their type or value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend import ctypes_lp64
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.builtin_types import aligned_storage
from coalescecheck.frontend.rewrite.emit import Mark
from coalescecheck.frontend.rewrite.env import Env
from coalescecheck.frontend.rewrite.ex import Ex, literal
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

NO_TYPE = types.Scalar("no type")
"""What ``enable_if`` is when its condition is false."""

_CHANGING: dict[str, Callable[[CType], CType]] = {
    "remove_reference": types.strip_reference,
    "remove_cv": types.unqualified,
    "remove_const": lambda type_: replace(type_, const=False),
    "remove_volatile": lambda type_: replace(type_, volatile=False),
    "remove_cvref": types.strip,
    "decay": types.decayed,
    "type_identity": lambda type_: type_,
    "add_const": lambda type_: types.qualified(type_, const=True),
    "add_volatile": lambda type_: types.qualified(type_, volatile=True),
    "add_cv": lambda type_: types.qualified(type_, const=True, volatile=True),
    "add_pointer": lambda type_: types.Pointer(types.strip_reference(type_)),
    "add_lvalue_reference": lambda type_: types.Reference(types.strip_reference(type_)),
    "add_rvalue_reference": lambda type_: (
        type_ if isinstance(type_, types.Reference) else types.Reference(type_, rvalue=True)
    ),
    "remove_extent": lambda type_: type_.element if isinstance(type_, types.Array) else type_,
}
_MAX_ALIGN = 16  # of what fits any type, in libstdc++
_ANSWERED = frozenset(
    {"is_same", "is_floating_point", "is_integral", "is_arithmetic", "is_enum", "is_const"}
    | {"is_lvalue_reference", "is_rvalue_reference", "is_reference", "is_class", "is_array"}
    | {"is_pointer", "is_void", "is_signed", "is_unsigned"}
)
_SIGNS = {"make_unsigned": "unsigned ", "make_signed": ""}


def _template_part(node: Node, wanted: str) -> tuple[str, list[Node]] | None:
    """``conditional`` and its arguments, from ``std::conditional<…>::type`` or ``…_t<…>``."""
    short = {"type": "_t", "value": "_v"}[wanted]
    parts: list[Node] = []
    at: Node | None = node
    while at is not None:
        if at.type == "dependent_type":
            at = at.named_children[-1] if at.named_children else None
        elif at.type == "qualified_identifier":
            scope = at.child_by_field_name("scope")
            if scope is not None:
                parts.append(scope)
            at = at.child_by_field_name("name")
        else:
            parts.append(at)
            break
    if not parts:
        return None
    last = parts[-1]
    if last.type in ("template_type", "template_function"):
        name = base_name(last)
        if name.endswith(short):
            return name.removesuffix(short), _arguments(last)
        return (name, _arguments(last)) if name in ("texture", "surface") else None
    if syntax.text(last) == wanted and len(parts) > 1:
        owner = parts[-2]
        if owner.type in ("template_type", "template_function"):
            return base_name(owner), _arguments(owner)
    return None


def _arguments(node: Node) -> list[Node]:
    return syntax.operands(node.child_by_field_name("arguments"))


def type_trait(session: Session, node: Node, env: Env) -> CType | None:
    """The type a trait names; None if it is none of those known here."""
    part = _template_part(node, "type")
    if part is None or not part[1]:
        return None
    name, arguments = part
    if name in ("texture", "surface"):
        return types.Texture(session.typenames.type(arguments[0], env))
    if name == "aligned_storage":
        return _aligned_storage(session, arguments, env)
    if name == "void":
        known = [session.typenames.type(a, env) for a in arguments]
        return NO_TYPE if any(isinstance(t, types.Unknown) for t in known) else types.VOID
    if name == "underlying_type":
        type_ = session.typenames.type(arguments[0], env)
        return types.Scalar(type_.name) if isinstance(type_, types.Scalar) else None
    if name in _CHANGING:
        return _CHANGING[name](session.typenames.type(arguments[0], env))
    if name == "remove_pointer":
        type_ = types.decayed(session.typenames.type(arguments[0], env))
        return type_.target if isinstance(type_, types.Pointer) else type_
    if name in _SIGNS:
        type_ = types.strip(session.typenames.type(arguments[0], env))
        if isinstance(type_, types.Scalar) and types.is_integer(type_):
            bare = type_.name.removeprefix("unsigned ").removeprefix("signed ")
            return types.Scalar(_SIGNS[name] + bare)
        return type_
    if name == "enable_if":
        with session.substitution.attempt(0, 0) as asked:
            holds = session.expressions.constant(arguments[0], env)
        if holds is None and asked.doubted:
            session.substitution.doubt()
        if holds == 0:
            return NO_TYPE
        return session.typenames.type(arguments[1], env) if len(arguments) > 1 else types.VOID
    if name == "conditional" and len(arguments) == 3:
        holds = session.expressions.constant(arguments[0], env)
        if holds is not None:
            return session.typenames.type(arguments[1 if holds else 2], env)
    return None


def _aligned_storage(session: Session, arguments: list[Node], env: Env) -> CType | None:
    size, *given = (session.expressions.constant(argument, env) for argument in arguments)
    align = given[0] if given else _MAX_ALIGN
    if size is None or size < 1 or align is None or align < 1 or align & (align - 1):
        return None
    return aligned_storage(size, align)


def value_trait(session: Session, node: Node, env: Env) -> Ex | None:
    """The value of ``is_same<A, B>::value`` and the like; None if it is not known."""
    part = _template_part(node, "value")
    if part is None or not part[1]:
        return None
    name, arguments = part
    if name not in _ANSWERED:  # `f_v<3>` may be anybody's
        return None
    first = session.typenames.type(arguments[0], env)
    others = [session.typenames.type(a, env) for a in arguments[1:]] if name == "is_same" else []
    answer = holds(name, first, others)
    if answer is None:
        return None
    value = ctypes_lp64.Value(int(answer), ctypes_lp64.BOOL)
    return literal(value, Mark(node.start_byte))


def holds(name: str, first: CType, others: Sequence[CType] = ()) -> bool | None:
    """What the trait ``name`` says of a type (and others); None if it is not known."""
    if isinstance(first, types.Unknown | types.Placeholder | types.Dependent):
        return None
    match name:
        case "is_same" if len(others) == 1:
            return None if isinstance(others[0], types.Unknown) else first == others[0]
        case "is_floating_point":
            return types.is_floating(first)
        case "is_integral":
            return types.is_integer(first) and types.enumeration(first) is None
        case "is_arithmetic":
            return types.is_arithmetic(first) and types.enumeration(first) is None
        case "is_enum":
            return types.enumeration(first) is not None
        case "is_const":
            return first.const
        case "is_lvalue_reference" | "is_rvalue_reference" | "is_reference":
            wanted = name.removeprefix("is_").partition("_")[0]
            rvalue = isinstance(first, types.Reference) and first.rvalue
            known = {"lvalue": not rvalue, "rvalue": rvalue}.get(wanted, True)
            return isinstance(first, types.Reference) and known
        case "is_class":
            return isinstance(first, types.Record) and not first.layout.union
        case "is_array":
            return isinstance(first, types.Array)
        case "is_pointer":
            return isinstance(first, types.Pointer) and not first.null
        case "is_void":
            return first == types.VOID
        case "is_signed" | "is_unsigned":
            kind = types.folding_type(first)
            if kind is None:
                return None
            unsigned = kind.kind in ("uint", "bool")
            return unsigned == (name == "is_unsigned")
        case _:
            return None


_LARGEST = {"float": ("3.402823466e+38f", "1.175494351e-38f", "1.192092896e-07f", "1e39f"),
            "double": ("1.7976931348623158e+308", "2.2250738585072014e-308",
                       "2.2204460492503131e-16", "1e309")}  # fmt: skip


def numeric_limit(session: Session, node: Node, env: Env) -> Ex | None:
    """``std::numeric_limits<T>::max`` of an arithmetic type; None for anything else."""
    last = node
    owner: Node | None = None
    while last.type == "qualified_identifier":
        following = last.child_by_field_name("name")
        owner = last.child_by_field_name("scope")
        if following is None:
            return None
        last = following
    if owner is None or owner.type not in ("template_type", "template_function"):
        return None
    if base_name(owner) != "numeric_limits" or not _arguments(owner):
        return None
    type_ = types.strip(session.typenames.type(_arguments(owner)[0], env))
    return _limit(type_, syntax.text(last), Mark(node.start_byte))


def _limit(type_: CType, which: str, mark: Mark) -> Ex | None:
    kind = types.folding_type(type_)
    if kind is None:
        return None
    if not kind.is_float:
        low, high = ctypes_lp64.limits(kind)
        number = {"max": high, "min": low, "lowest": low}.get(which)
        return None if number is None else literal(ctypes_lp64.Value(number, kind), mark)
    largest, smallest, epsilon, infinity = _LARGEST["float" if kind.bits == 32 else "double"]
    spelled = {"max": largest, "min": smallest, "lowest": f"-{largest}", "epsilon": epsilon,
               "infinity": infinity}.get(which)  # fmt: skip
    return None if spelled is None else Ex((mark, spelled), type_, 14, pure=True)
