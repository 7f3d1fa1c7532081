"""An array of structs taken apart into one array per member.

The member at byte ``m`` of element ``i``, ``p + size * i + m``, moves to ``p.m + width * i``.  Done
only where every access of the array has this form, so that it can be done to all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coalescecheck import wording
from coalescecheck.advice.offsets import Offset, Values
from coalescecheck.advice.rewriting import with_addresses
from coalescecheck.advice.trial import Change, Subject, all_known, worth_trying
from coalescecheck.analysis import AccessResult
from coalescecheck.ir.expr import ArrayBase, Binary, Const, Expr
from coalescecheck.ir.kernel import Array, Atomic, Load, Space, Store, walk
from coalescecheck.ir.types import I64, PTR

Member = tuple[int, int]  # the byte it starts at, and its width


@dataclass(frozen=True, slots=True)
class Place:
    """Where a member access goes: the member, and the element's number as constant and terms."""

    member: Member
    constant: int
    terms: tuple[tuple[Expr, int], ...]


def changes(subject: Subject) -> Iterator[Iterator[Change]]:
    """For every array of structs with wasteful accesses: its members in arrays of their own."""
    for array in subject.kernel.arrays.values():
        if array.space is not Space.GLOBAL or array.element_kind != "struct":
            continue
        mine = subject.of_array(array.name)
        if array.name in dict(subject.launch.offsets) or not worth_trying(mine, "global"):
            continue
        change = _change(subject, array, mine)
        if change is not None:
            yield iter([change])


def _change(subject: Subject, array: Array, mine: Sequence[AccessResult]) -> Change | None:
    wanted = frozenset(a.access.id for a in mine)
    if any(not a.array for a in subject.accesses if a.requests != 0) or not all_known(mine):
        return None  # a gather of whole structs may find its members in one sector
    places = _places(subject, array, wanted)
    if places is None or _overlap({place.member for place in places.values()}):
        return None
    arrays = _members(subject, array, {place.member for place in places.values()})

    def moved(stmt: Load | Store | Atomic) -> Expr:
        place = places.get((stmt.access, _piece(stmt)))
        return stmt.address if place is None else _address(arrays[place.member].name, place)

    kernel = replace(
        subject.kernel,
        arrays=subject.kernel.arrays | {a.name: a for a in arrays.values()},
        body=with_addresses(subject.kernel.body, moved),
    )
    return Change(
        "layout",
        array.name,
        f"one array per member of `{array.element}`",
        f"store `{wording.array(array.name)}` as one array per member of `{array.element}`",
        kernel,
        subject.launch,
        wanted,
    )


def _places(
    subject: Subject, array: Array, wanted: frozenset[int]
) -> dict[tuple[int, int], Place] | None:
    """The place of every piece of every access; None where one is no member of an element."""
    values = Values(subject.kernel, subject.launch, subject.params)
    places: dict[tuple[int, int], Place] = {}
    for stmt in walk(subject.kernel.body):
        if not isinstance(stmt, Load | Store | Atomic) or stmt.access not in wanted:
            continue
        if subject.kernel.accesses[stmt.access].kind == "vector" or _scalars(stmt) > 1:
            return None  # several members at once
        key = (stmt.access, _piece(stmt))
        offset = values.offset(stmt.address, stmt)
        width = subject.kernel.accesses[stmt.access].pieces[key[1]].width
        place = None if offset is None else _place(offset, array, width)
        if place is None or places.setdefault(key, place) != place:
            return None
    return places


def _place(offset: Offset, array: Array, width: int) -> Place | None:
    size = array.element_size
    if offset.array != array.name or any(factor % size for _, factor in offset.terms):
        return None
    element, start = divmod(offset.constant, size)
    if start + width > size:
        return None
    terms = sorted(((term, factor // size) for term, factor in offset.terms), key=repr)
    return Place((start, width), element, tuple(terms))


def _overlap(members: set[Member]) -> bool:
    """Whether two accesses take different parts of one member."""
    end = 0
    for start, width in sorted(members):
        if start < end:
            return True
        end = start + width
    return False


def _members(subject: Subject, array: Array, members: set[Member]) -> dict[Member, Array]:
    """An array for each member, allocated on its own."""
    names = set(subject.kernel.arrays)
    result: dict[Member, Array] = {}
    for start, width in sorted(members):
        name = f"{array.name}.{start}"
        while name in names:
            name += "'"
        names.add(name)
        result[start, width] = replace(
            array, name=name, element_size=width, element_kind="float", element=f"{width} bytes"
        )
    return result


def _address(name: str, place: Place) -> Expr:
    width = place.member[1]
    address: Expr = Binary("+", ArrayBase(name), Const(I64, place.constant * width), PTR)
    for term, factor in place.terms:
        step = Binary("*", term, Const(I64, factor * width), I64)
        address = Binary("+", address, step, PTR)
    return address


def _scalars(stmt: Load | Store | Atomic) -> int:
    return 1 if isinstance(stmt, Atomic) else 1 + len(stmt.more)


def _piece(stmt: Load | Store | Atomic) -> int:
    return 0 if isinstance(stmt, Atomic) else stmt.piece
