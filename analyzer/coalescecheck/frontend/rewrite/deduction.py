"""Template argument deduction: patterns with placeholders against actual types.

In: types.  Out: what each placeholder stands for.  It must not know about syntax.
"""

from __future__ import annotations

from collections.abc import Sequence

from coalescecheck.frontend.ctypes_lp64 import plain
from coalescecheck.frontend.rewrite import index, types
from coalescecheck.frontend.rewrite.env import (
    Argument,
    Binding,
    PackBound,
    TypeBound,
    ValueBound,
)
from coalescecheck.frontend.rewrite.types import CType


def placeholders(head: Sequence[index.TemplateParameter]) -> dict[str, Binding]:
    """Bindings that make a template's parameters visible as unknowns to be deduced."""
    out: dict[str, Binding] = {}
    for parameter in head:
        if not parameter.name:
            continue
        hole = types.Placeholder(parameter.name, parameter.pack)
        bound: Argument = (
            TypeBound(hole) if parameter.kind != "value" else ValueBound(parameter.name, hole)
        )
        out[parameter.name] = PackBound((bound,)) if parameter.pack else bound
    return out


def has_placeholder(item: object) -> bool:
    """Whether a type or argument still holds a placeholder."""
    match item:
        case types.Placeholder() | types.Dependent():
            return True
        case TypeBound(inner):
            return has_placeholder(inner)
        case ValueBound():
            return isinstance(item.type, types.Placeholder)
        case PackBound(items):
            return any(has_placeholder(i) for i in items)
        case types.Pointer() | types.Reference():
            return has_placeholder(item.target)
        case types.Array():
            return has_placeholder(item.element) or (item.count is None and bool(item.extent))
        case types.FunctionType():
            return any(has_placeholder(t) for t in (item.result, *item.parameters))
        case _:
            return False


def is_open(item: object) -> bool:
    """Whether a type or argument holds what nobody knows: a free template parameter, or the type
    of unknown code."""
    match item:
        case types.Unknown():
            return True
        case TypeBound(inner):
            return is_open(inner)
        case ValueBound():
            return item.value is None and not isinstance(item.type, types.Placeholder)
        case PackBound(items):
            return any(is_open(i) for i in items)
        case types.Pointer() | types.Reference():
            return is_open(item.target)
        case types.Array():
            return is_open(item.element)
        case _:
            return False


def may_fit(pattern: object, actual: Argument) -> bool:
    """Whether an argument is what a pattern is for, at least for some value of what is open."""
    return is_open(actual) or unify_argument(pattern, actual, {}, exact=True)


def unify(pattern: CType, actual: CType, found: dict[str, Argument], exact: bool = False) -> bool:
    """Matches an actual type; fills ``found``; False if they contradict.

    ``exact`` compares what has no placeholder too; without it conversions are left to the
    overload ranking.  Qualifiers of the pattern are not part of what is deduced.
    """
    match pattern:
        case types.Placeholder(name):
            if exact and pattern.const and not actual.const:
                return False
            bare = actual if exact else types.unqualified(actual)
            if pattern.const:
                bare = types.unqualified(actual)
            return _bind(name, TypeBound(bare), found)
        case types.Reference(types.Placeholder(name) as target) if not exact:
            bare = types.strip_reference(actual)  # `T &` takes const with it
            if pattern.rvalue and not target.const and _is_object(actual):
                bare = types.Reference(bare)  # `T &&`: a forwarding reference
            return _bind(name, TypeBound(types.unqualified(bare) if target.const else bare), found)
        case types.Reference(target) if exact:
            if not isinstance(actual, types.Reference) or actual.rvalue != pattern.rvalue:
                return False
            return unify(target, actual.target, found, exact)
        case types.Reference(target):
            if isinstance(target, types.Array):
                return unify(target, types.strip_reference(actual), found, exact)
            return unify(target, types.strip(actual), found, exact)
        case types.Pointer(target):
            actual = types.unqualified(actual) if exact else types.decayed(actual)
            if actual == types.NULLPTR:
                return False
            if isinstance(actual, types.Pointer):
                inner = actual.target
                if exact and target.const and not inner.const:
                    return False
                if target.const:
                    inner = types.unqualified(inner)
                return _unify_target(target, inner, found, exact)
            return not exact and not has_placeholder(target)
        case types.Array():
            return _unify_array(pattern, actual, found, exact)
        case types.Dependent():
            return _unify_record(pattern, actual, found)
        case types.FunctionType():
            return _unify_function(pattern, actual, found, exact)
        case _:
            return not exact or types.unqualified(pattern) == types.unqualified(actual)


def _unify_target(target: CType, actual: CType, found: dict[str, Argument], exact: bool) -> bool:
    """Behind a pointer constness is deduced with the type (``T *`` from ``const float *``)."""
    if isinstance(target, types.Placeholder):
        return _bind(target.name, TypeBound(actual), found)
    return unify(target, actual, found, exact)


def _unify_array(
    pattern: types.Array, actual: CType, found: dict[str, Argument], exact: bool
) -> bool:
    if not isinstance(actual, types.Array):
        return False
    if pattern.count is None and pattern.extent and actual.count is not None:
        count = plain(actual.count)
        value = ValueBound(str(actual.count), types.INT, count)
        if not _bind(pattern.extent, value, found):
            return False
    elif pattern.count != actual.count and (pattern.count is not None or exact):
        return False
    if isinstance(pattern.element, types.Placeholder) and not pattern.element.const:
        return _bind(pattern.element.name, TypeBound(actual.element), found)
    return unify(pattern.element, actual.element, found, exact)


def _is_object(actual: CType) -> bool:
    """Whether an argument is an object, and none that may be moved from."""
    return isinstance(actual, types.Reference) and not actual.rvalue


def _unify_record(pattern: types.Dependent, actual: CType, found: dict[str, Argument]) -> bool:
    if not isinstance(actual, types.Record):
        return False
    source = actual.layout.source
    if getattr(source, "template", None) is not pattern.template:
        return False
    actuals: tuple[Argument, ...] = getattr(source, "arguments", ())
    for hole, value in zip(pattern.arguments, actuals, strict=False):
        if not unify_argument(hole, value, found, exact=True):
            return False
    return True


def unify_argument(
    pattern: object, actual: Argument, found: dict[str, Argument], exact: bool
) -> bool:
    """Matches template arguments."""
    match pattern, actual:
        case TypeBound(hole), TypeBound(type_):
            return unify(hole, type_, found, exact)
        case ValueBound(), ValueBound():
            if isinstance(pattern.type, types.Placeholder):
                return _bind(pattern.text, actual, found)
            return pattern.text == actual.text
        case PackBound(items), PackBound(actuals):
            for number, item in enumerate(items):
                rest = _pack_name(item)
                if rest is not None:
                    return _bind(rest, PackBound(actuals[number:]), found)
                if number >= len(actuals):
                    return False
                given = actuals[number]
                if not isinstance(given, TypeBound | ValueBound) or not unify_argument(
                    item, given, found, exact
                ):
                    return False
            return len(items) == len(actuals)
        case _:
            return pattern == actual


def _pack_name(item: object) -> str | None:
    """The name of the pack that a pattern's argument stands for."""
    hole = item.type if isinstance(item, TypeBound | ValueBound) else None
    return hole.name if isinstance(hole, types.Placeholder) and hole.pack else None


def _unify_function(
    pattern: types.FunctionType, actual: CType, found: dict[str, Argument], exact: bool
) -> bool:
    if not isinstance(actual, types.FunctionType):
        return not exact
    wanted, given = pattern.parameters, actual.parameters
    last = wanted[-1] if wanted else None
    if isinstance(last, types.Placeholder) and last.pack:
        rest = PackBound(tuple(TypeBound(t) for t in given[len(wanted) - 1 :]))
        if len(given) < len(wanted) - 1 or not _bind(last.name, rest, found):
            return False
        wanted, given = wanted[:-1], given[: len(wanted) - 1]
    if len(wanted) != len(given):
        return False
    pairs = zip((pattern.result, *wanted), (actual.result, *given), strict=True)
    return all(unify(p, a, found, exact) for p, a in pairs)


def _bind(name: str, value: Argument, found: dict[str, Argument]) -> bool:
    known = found.get(name)
    if known is None:
        found[name] = value
        return True
    return known == value


def freedom(found: dict[str, Argument]) -> tuple[bool, int, int]:
    """How much of its arguments a partial specialisation leaves open, to compare those that fit:
    whether a pack, how many parameters, and how much of the types they stand for."""
    left = 0
    for item in found.values():
        type_ = item.type if isinstance(item, TypeBound) else None
        while type_ is not None:
            left += 1 + type_.const + type_.volatile
            type_ = next(
                (getattr(type_, part) for part in ("target", "element") if hasattr(type_, part)),
                None,
            )
    return any(isinstance(item, PackBound) for item in found.values()), len(found), left
