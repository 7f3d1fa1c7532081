"""The integers of an object in constant memory, by name.

In: a type.  Out: ``Element``s; none for unions, whose members share bytes, and for types of
unknown size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from coalescecheck.ir.kernel import Element
from coalescecheck.lower.ctypes import ArrayOf, CType, Number, Record, size_of
from coalescecheck.lower.member_names import inside

MOST = 32  # scalars of one object; a larger one is a table, whose elements nobody gives one by one


def integers_in(ctype: CType) -> tuple[Element, ...]:
    """All integers of an object of this type in the order of memory; none if it is large."""
    scalars = list(islice(_scalars(ctype, "", 0), MOST + 1))
    return tuple(e for e in scalars if e.type.is_integer) if len(scalars) <= MOST else ()


def _scalars(ctype: CType, name: str, offset: int) -> Iterator[Element]:
    match ctype:
        case Number(unknown=False):
            yield Element(name, offset, ctype.scalar)
        case Record(overlapping=False):
            for member in ctype.members:
                if member.bits is None and isinstance(member.offset, int):
                    yield from _scalars(
                        member.type, inside(name, ctype, member), offset + member.offset
                    )
        case ArrayOf(length=int(length)):
            step = size_of(ctype.element)
            for index in range(length if isinstance(step, int) else 0):
                at = offset + index * step if isinstance(step, int) else offset
                yield from _scalars(ctype.element, f"{name}[{index}]", at)
