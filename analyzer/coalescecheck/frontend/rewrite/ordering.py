"""Which of two function templates is the more specialised one (C++ [temp.func.order]).

In: the types of their parameters, with placeholders for what is deduced.  Out: a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.env import PackBound, TypeBound, ValueBound
from coalescecheck.frontend.rewrite.types import CType


def more_special(a: Sequence[CType | None], b: Sequence[CType | None]) -> bool:
    """Whether ``a`` takes less than ``b``; None stands for a parameter pack."""
    here, there = _covers_all(b, a), _covers_all(a, b)
    if here != there:
        return here
    return here and _tie(a) > _tie(b)


def more_special_arguments(a: Sequence[object], b: Sequence[object]) -> bool:
    """Whether a partial specialisation for the arguments ``a`` is for less than one for ``b``."""
    here, there = _cover_arguments(b, a), _cover_arguments(a, b)
    return here and not there


def _cover_arguments(patterns: Sequence[object], others: Sequence[object]) -> bool:
    found: dict[str, object] = {}
    pairs = zip(patterns, others, strict=False)
    return all(_covers_argument(p, o, found) for p, o in pairs)


def _covers_all(patterns: Sequence[CType | None], others: Sequence[CType | None]) -> bool:
    """Whether every call that fits ``others`` fits ``patterns``."""
    found: dict[str, object] = {}
    for number, pattern in enumerate(patterns):
        if pattern is None:
            return True
        other = others[number] if number < len(others) else None
        if other is None:
            return number >= len(others)
        if not _covers(_bare(pattern), _bare(other), found):
            return False
    return not any(other is None for other in others[len(patterns) :])


def _bare(type_: CType) -> CType:
    return types.strip(type_)


def _tie(parameters: Sequence[CType | None]) -> tuple[int, int]:
    """Between equals ``const T &`` goes before ``T &``, and that before ``T &&``."""
    references = [p for p in parameters if isinstance(p, types.Reference)]
    return sum(p.target.const for p in references), -sum(p.rvalue for p in references)


def _covers(pattern: CType, other: CType, found: dict[str, object]) -> bool:
    match pattern:
        case types.Placeholder(name):
            if pattern.const and not other.const:
                return False
            rest = types.unqualified(other) if pattern.const else other
            return found.setdefault(name, rest) == rest
        case types.Unknown():
            return True  # not deduced from
        case types.Pointer() if isinstance(other, types.Pointer):
            return _covers(pattern.target, other.target, found)
        case types.Reference() if isinstance(other, types.Reference):
            return _covers(pattern.target, other.target, found)
        case types.Array() if isinstance(other, types.Array):
            same = pattern.count == other.count or (pattern.count is None and pattern.extent != "")
            return same and _covers(pattern.element, other.element, found)
        case types.FunctionType() if isinstance(other, types.FunctionType):
            pairs = zip(pattern.parameters, other.parameters, strict=False)
            alike = len(pattern.parameters) == len(other.parameters)
            return (
                alike
                and _covers(pattern.result, other.result, found)
                and all(_covers(p, o, found) for p, o in pairs)
            )
        case types.Dependent():
            return _covers_class(pattern, other, found)
        case _:
            return pattern == other


def _covers_class(pattern: types.Dependent, other: CType, found: dict[str, object]) -> bool:
    if isinstance(other, types.Dependent):
        template, arguments = other.template, other.arguments
    elif isinstance(other, types.Record):
        source = other.layout.source
        template = getattr(source, "template", None)
        arguments = getattr(source, "arguments", ())
    else:
        return False
    if template is not pattern.template:
        return False
    pairs = zip(pattern.arguments, arguments, strict=False)
    return all(_covers_argument(p, o, found) for p, o in pairs)


def _covers_argument(pattern: object, other: object, found: dict[str, object]) -> bool:
    match pattern, other:
        case TypeBound(inner), TypeBound(type_):
            return _covers(inner, type_, found)
        case ValueBound(), ValueBound():
            if isinstance(pattern.type, types.Placeholder):
                return found.setdefault(pattern.text, other.text) == other.text
            return pattern.text == other.text
        case PackBound(items), PackBound(others):
            for number, item in enumerate(items):
                if _is_pack(item):
                    return True
                if number >= len(others) or _is_pack(others[number]):
                    return False
                if not _covers_argument(item, others[number], found):
                    return False
            return len(items) == len(others)
        case _:
            return pattern == other


def _is_pack(item: object) -> bool:
    hole = item.type if isinstance(item, TypeBound | ValueBound) else None
    return isinstance(hole, types.Placeholder) and hole.pack
