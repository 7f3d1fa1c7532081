"""How well an argument fits a parameter, as C++ ranks conversions (over.ics.rank).

In: two types.  Out: a cost, 0 for the same type, None where nothing converts.  Below 1 only
qualifiers and references differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import syntax, traits, types, user_conversions
from coalescecheck.frontend.rewrite.ex import Ex
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session

OF_INTEGER = 30.0  # a pointer: no integer but a literal 0 is one
OF_ZERO = 2.0  # a pointer made of that
FORBIDDEN = 50.0  # what C++ does not convert is called all the same where nothing else is


class ConversionRanks:
    """Ranks conversions among the classes of one session."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def cost(self, wanted: CType, actual: CType) -> float | None:
        """0 for the same type, more for conversions, None where there is none."""
        wanted_bare = types.strip(wanted)
        bare = (
            types.strip(actual) if isinstance(wanted_bare, types.Array) else (types.decayed(actual))
        )
        penalty = 0.0
        if isinstance(wanted, types.Reference):
            penalty = binding_cost(wanted, actual)
        if wanted_bare == bare or _same_rows(wanted_bare, bare):
            return penalty
        if bare == types.NULLPTR and not isinstance(wanted_bare, types.Record | types.Unknown):
            return (2.0 if isinstance(wanted_bare, types.Pointer) else FORBIDDEN) + penalty
        if not self._is_bound(wanted_bare, bare):
            penalty = _temporary_cost(wanted)
        if (
            isinstance(wanted, types.Reference)
            and penalty >= FORBIDDEN
            and not isinstance(bare, types.Unknown)
        ):
            return penalty
        if isinstance(wanted_bare, types.GroupType) and isinstance(bare, types.GroupType):
            return 1.0
        if isinstance(wanted_bare, types.Unknown) or isinstance(bare, types.Unknown):
            return 2.0
        if wanted_bare == traits.NO_TYPE:
            return None
        if isinstance(wanted_bare, types.Pointer):
            return self._pointer_cost(wanted_bare, bare)
        if isinstance(wanted_bare, types.Record) or isinstance(bare, types.Record):
            cost = self._record_cost(wanted_bare, bare)
            return None if cost is None else cost + penalty
        if types.is_arithmetic(wanted_bare) and types.is_arithmetic(bare):
            own, target = types.enumeration(bare), types.enumeration(wanted_bare)
            if target is not None or (own is not None and own.scoped):
                return FORBIDDEN  # no enumeration comes from a number, a scoped one is none
            if types.promoted(bare) == wanted_bare or (bare, wanted_bare) == (
                types.FLOAT,
                types.DOUBLE,
            ):
                return 1.0 + penalty
            crossing = types.is_floating(bare) != types.is_floating(wanted_bare)
            return (2.001 if crossing else 2.0) + penalty  # C++ ranks them alike
        if wanted_bare == types.BOOL and isinstance(bare, types.Pointer):
            return 2.6
        return None

    def _is_bound(self, wanted: CType, actual: CType) -> bool:
        """Whether a reference to ``wanted`` refers to the object itself, not to a converted one."""
        if isinstance(wanted, types.Record) and isinstance(actual, types.Record):
            return self._s.records.base_path(actual, wanted.cname) is not None
        scalars = (types.Scalar, types.Pointer, types.Record)
        return not (isinstance(wanted, scalars) and isinstance(actual, scalars))

    def _pointer_cost(self, wanted: types.Pointer, actual: CType) -> float | None:
        if not isinstance(actual, types.Pointer):
            return OF_INTEGER if types.is_integer(actual) else self._record_cost(wanted, actual)
        if wanted.null:
            return None
        to, source = wanted.target, actual.target
        if types.unqualified(to) == types.unqualified(source) or _same_rows(to, source):
            return 0.1 if to.const or not source.const else FORBIDDEN
        dropped = FORBIDDEN if source.const and not to.const else 0.0
        added = 0.05 if to.const and not source.const else 0.0
        if types.unqualified(to) == types.VOID:
            return 2.3 + dropped + added
        if types.unqualified(source) == types.VOID:
            return 2.4  # C++ does not convert it
        if isinstance(to, types.Record) and isinstance(source, types.Record):
            path = self._s.records.base_path(source, to.cname)
            return None if path is None else 2.0 + 0.01 * len(path) + dropped + added
        unknown = types.Unknown | types.FunctionType
        return 2.5 if isinstance(to, unknown) or isinstance(source, types.Unknown) else None

    def _record_cost(self, wanted: CType, actual: CType) -> float | None:
        if isinstance(wanted, types.Record) and isinstance(actual, types.Record):
            path = self._s.records.base_path(actual, wanted.cname)
            if path is not None:
                return 2.0 + 0.01 * len(path)
        if isinstance(actual, types.Record):
            cost = user_conversions.by_operator(self._s, wanted, actual)
            if cost is not None:
                return cost
        if isinstance(wanted, types.Record):
            return user_conversions.by_constructor(self._s, wanted, actual)
        return None


def zeros_among(arguments: Sequence[tuple[Ex, Node]]) -> list[int]:
    """The places of the arguments that are a literal 0, which may become a pointer."""
    return [
        place
        for place, (ex, node) in enumerate(arguments)
        if node.type == "number_literal"
        and types.is_integer(ex.type)
        and ex.value is not None
        and ex.value.number == 0
    ]


def receiver_cost(entry: FunctionEntry, receiver: CType) -> float:
    """How badly a method fits the object it is called on."""
    const = syntax.is_const_method(entry.declarator)
    is_object = isinstance(receiver, types.Reference) and not receiver.rvalue
    bound = syntax.child(entry.declarator, "ref_qualifier")
    wanted = syntax.text(bound) if bound is not None else ""
    if (wanted == "&&" and is_object) or (wanted == "&" and not is_object and not const):
        return FORBIDDEN
    cost = 0.01 if wanted == "&" and not is_object else 0.0
    if const == types.strip_reference(receiver).const:
        return cost
    return cost + 0.02 if const else FORBIDDEN


def binding_cost(wanted: types.Reference, actual: CType) -> float:
    """How badly a reference fits an object (which comes as a reference) or a value."""
    is_object = isinstance(actual, types.Reference) and not actual.rvalue
    const = types.strip_reference(actual).const
    if wanted.rvalue:
        return FORBIDDEN if is_object or (const and not wanted.target.const) else 0.0
    if wanted.target.const:
        return 0.0 if const and is_object else 0.02
    return 0.0 if is_object and not const else FORBIDDEN


def _temporary_cost(wanted: CType) -> float:
    """How badly a reference fits a value of another type: it refers to a converted copy."""
    if not isinstance(wanted, types.Reference) or wanted.rvalue:
        return 0.0
    return 0.02 if wanted.target.const else FORBIDDEN


def _same_rows(to: CType, source: CType) -> bool:
    """``const float[8]`` and ``float[8]``: qualifiers of an array are those of its elements."""
    if not (isinstance(to, types.Array) and isinstance(source, types.Array)):
        return False
    if to.count != source.count or (source.const and not to.const):
        return False
    left, right = to.element, source.element
    return types.unqualified(left) == types.unqualified(right) or _same_rows(left, right)
