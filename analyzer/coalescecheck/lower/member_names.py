"""Names of members in the user's words: what a base class holds is the object's own.

In: the name of an object and a member of its type.  Out: the name of that member.
"""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.lower.ctypes import Member, Record

_BASE = "base__"  # what the front end calls the part of an object that a base class is


def inside(name: str, record: Record, member: Member) -> str:
    """The name of ``member`` of the object ``name``; a base has the name of the whole object,
    unless another member is called as one of its own, which then keeps the longer name."""
    if not member.name.startswith(_BASE):
        return f"{name}.{member.name}"
    own = set(_named_in(member))
    others = (other for m in record.members if m is not member for other in _named_in(m))
    return name if own.isdisjoint(others) else f"{name}.{member.name}"


def _named_in(member: Member) -> Iterator[str]:
    """The names that a member brings into its class."""
    if member.name.startswith(_BASE) and isinstance(member.type, Record):
        for inner in member.type.members:
            yield from _named_in(inner)
    else:
        yield member.name
