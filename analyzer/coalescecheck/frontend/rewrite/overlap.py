"""Base classes whose last bytes the derived class uses for its own members (Itanium C++ ABI).

In: the layout of a class with base classes.  Out: the layout, where C cannot have the members at
their places with one of unknown size before them; or UnsupportedConstruct.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.index import FunctionEntry, RecordEntry, members
from coalescecheck.frontend.rewrite.types import CType, Field, Layout, Record


def check_bases(layout: Layout, bases: list[Record], unknown: Callable[[Layout], CType]) -> None:
    """Moves the first member where it would share its address with an empty base of its class,
    and puts one of an ``unknown`` type before members that may lie inside their base's padding.

    Raises UnsupportedConstruct if empty bases take room of their own.
    """
    if not bases:
        return
    fields = layout.fields
    for base, following in list(pairwise(fields)):
        if base.name.startswith("base__") and _may_overlap(base, following):
            fields.insert(fields.index(following), Field("places__0", unknown(layout)))
            break
    empty: set[str] = set()
    for parent in bases:
        own = set() if parent.layout.fields else _empty_at_begin(parent)
        if own & empty:
            raise UnsupportedConstruct(f"`{layout.shown}` has an empty base twice: their places")
        empty |= own
    first = _first(layout)
    if first is not None and _empty_at_begin(first) & empty:
        if layout.union:
            raise UnsupportedConstruct(f"`{layout.shown}` has an empty class twice: their places")
        fields.insert(0, Field("pad__0", types.Array(types.CHAR, 1)))


def _empty_at_begin(record: Record) -> set[str]:
    """The classes without members that lie at the first byte of an object: two of one class
    never have the same address."""
    found: set[str] = set()
    if not record.layout.fields:
        found.add(record.cname)
    for base in getattr(record.layout.source, "bases", ()):
        if not base.layout.fields:
            found |= _empty_at_begin(base)
    first = _first(record.layout)
    return found if first is None else found | _empty_at_begin(first)


def _first(layout: Layout) -> Record | None:
    """The class of the first member (of an element, if it is an array)."""
    type_ = layout.fields[0].type if layout.fields else None
    while isinstance(type_, types.Array):
        type_ = type_.element
    return type_ if isinstance(type_, Record) else None


def _may_overlap(base: Field, following: Field) -> bool:
    size, align = types.size_of(base.type), types.align_of(following.type)
    if not isinstance(base.type, Record) or _is_plain(base.type):
        return False
    if size is None or align is None:
        return True
    used = _used(base.type)
    if following.bits is not None:
        align = 1
    align = max(align, following.align)
    return -(-used // align) * align < size


def _used(record: Record) -> int:
    """The bytes up to the last padding, also that of the last member; bit-fields end anywhere."""
    layout = record.layout
    size = types.size_of(record) or 0
    if not layout.fields or layout.union:
        return size if layout.fields else 0
    last = layout.fields[-1]
    inner = types.size_of(last.type)
    if last.bits is not None or inner is None:
        return 0
    place = types.offset_in(layout, last.name)
    if place is None:
        return 0
    return place + (_used(last.type) if isinstance(last.type, Record) else inner)


def _is_plain(record: Record) -> bool:
    """Whether it is certainly a class as in C, whose padding nobody else uses."""
    entry = getattr(record.layout.source, "entry", None)
    if not isinstance(entry, RecordEntry):
        return True  # a vector type of CUDA
    if record.layout.bases or entry.node.type == "class_specifier":
        return False
    body = entry.node.child_by_field_name("body")
    for member in syntax.operands(body):
        if member.type == "access_specifier" or syntax.has_word(member, "virtual"):
            return False
        static = syntax.has_word(member, "static", "constexpr")
        if member.child_by_field_name("default_value") is not None and not static:
            return False
    for name, entries in members(entry).entries.items():
        special = name.startswith("~") or name in (entry.name, "operator=")
        if special and any(isinstance(e, FunctionEntry) for e in entries):
            return False
    types_ = [f.type for f in record.layout.fields]
    return all(_is_plain(t) for t in types_ if isinstance(t, Record)) and not any(
        isinstance(t, types.Reference) for t in types_
    )
