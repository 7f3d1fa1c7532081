"""Structs whose members are not at their natural places: ``packed`` and ``#pragma pack``.

In: a class's syntax node and its layout with natural places.  Out: the layout with padding
members where a pragma allows some alignment; it is then written as a packed struct.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tree_sitter import Node

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.rewrite import syntax, types
from coalescecheck.frontend.rewrite.types import Field, Layout

_PRAGMA = re.compile(rb"#[ \t]*pragma[ \t]+pack[ \t]*\(([^)\n]*)\)")
_NATURAL = 16  # the alignment of a type that is not known
_NO_LIMIT = 1 << 30  # without a pragma any declared alignment counts


class PackPragmas:
    """What ``#pragma pack`` says at each place of a file."""

    def __init__(self, code: bytes) -> None:
        self._places: list[int] = []
        self._values: list[int] = []
        saved: list[int] = []
        now = _NO_LIMIT
        for match in _PRAGMA.finditer(code):
            words = [w.strip() for w in match[1].decode("ascii", "replace").split(",")]
            if words[0] == "pop":
                now = saved.pop() if saved else _NO_LIMIT
            elif words[0] == "push":
                saved.append(now)
            numbers = [int(w) for w in words if w.isdecimal()]
            if numbers:
                now = numbers[-1]
            elif words == [""]:
                now = _NO_LIMIT
            self._places.append(match.start())
            self._values.append(now)

    def at(self, place: int) -> int:
        """The greatest alignment of a member that is declared at ``place``, in bytes."""
        before = bisect_right(self._places, place) - 1
        return self._values[before] if before >= 0 else _NO_LIMIT


def pack(layout: Layout, node: Node, pragmas: PackPragmas) -> None:
    """Moves the members of ``layout`` where the attributes and pragmas at ``node`` say.

    Raises UnsupportedConstruct where that cannot be told.
    """
    limit = 1 if _says_packed(node) else pragmas.at(node.start_byte)
    natural = [max(types.align_of(f.type) or _NATURAL, f.align) for f in layout.fields]
    members = syntax.operands(node.child_by_field_name("body"))
    if any(m.type == "field_declaration" and _says_packed(m) for m in members):
        raise UnsupportedConstruct(
            f"the layout of `{layout.shown}` with a packed member: its places"
        )
    if layout.union or all(a <= limit for a in natural):
        return
    fields: list[Field] = []
    at = 0
    for member, align in zip(layout.fields, natural, strict=True):
        size = types.size_of(member.type)
        array = isinstance(member.type, types.Array) and align > 1  # how are elements accessed?
        if member.bits is not None or array or (size is None and limit > 1):
            raise UnsupportedConstruct(f"the layout of packed `{layout.shown}` is not known")
        if limit > 1:
            fields += _gap(len(fields), at, min(align, limit))
            at = -(-at // min(align, limit)) * min(align, limit) + (size or 0)
        fields.append(member)
    fields += _gap(len(fields), at, min(max(natural), limit))
    layout.fields[:] = fields
    layout.packed = True


def _gap(number: int, at: int, align: int) -> list[Field]:
    missing = -at % align
    return [Field(f"pad__{number}", types.Array(types.CHAR, missing))] if missing else []


def _says_packed(node: Node) -> bool:
    found = syntax.children(node, "attribute_specifier", "attribute_declaration")
    return any("packed" in syntax.text(part) for part in found)
