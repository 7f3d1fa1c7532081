"""C types of the program being rewritten: what they are, how C spells them, how large they are.

In: nothing but the types themselves.  Out: spellings, sizes and alignments under the LP64 CUDA
ABI, conversions.  It must not know about syntax trees or scopes; records carry their layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from coalescecheck.frontend import ctypes_lp64


@dataclass(frozen=True, slots=True)
class CType:
    """Base of all types; qualifiers belong to the type they qualify."""

    const: bool = field(default=False, kw_only=True)
    volatile: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """One enumeration of the program; ``scope`` is the namespace or class it is in."""

    scoped: bool
    scope: object


@dataclass(frozen=True, slots=True)
class Scalar(CType):
    """An arithmetic type or void, by its C spelling (``unsigned int``, ``float``, ``__half``);
    ``enum`` tells an enumeration from the integer type below it."""

    name: str
    enum: Enumeration | None = None


@dataclass(frozen=True, slots=True)
class Pointer(CType):
    """An address of ``target``; ``null`` is the type of ``nullptr``."""

    target: CType
    restrict: bool = field(default=False, compare=False)
    null: bool = False


@dataclass(frozen=True, slots=True)
class Reference(CType):
    """A C++ reference; kernel C spells it as a pointer."""

    target: CType
    rvalue: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Array(CType):
    """``count`` elements; ``extent`` is the C text of a count that is no constant."""

    element: CType
    count: int | None
    extent: str = ""


@dataclass(frozen=True, slots=True)
class FunctionType(CType):
    """A function; only ever used behind a pointer."""

    result: CType
    parameters: tuple[CType, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A data member; ``bits`` is the width of a bit-field, ``align`` a declared
    alignment in bytes.  An anonymous struct or union has no name.  C sees no ``const`` member,
    so that constructors can set it."""

    name: str
    type: CType
    bits: int | None = None
    align: int = 0
    const: bool = False
    mutable: bool = False


@dataclass(slots=True, eq=False)
class Layout:
    """The members of a struct or union.  ``align`` is a declared minimum alignment in bytes.

    ``bases`` maps a base class's C name to the field which holds it.  ``source`` is what the
    record came from, for whoever resolves its methods; the types do not look into it.
    ``hidden``: a variable has its name, so that C needs ``struct`` before it.
    """

    cname: str
    union: bool = False
    fields: list[Field] = field(default_factory=list)
    align: int = 0
    bases: dict[str, str] = field(default_factory=dict)
    complete: bool = True
    packed: bool = False
    source: object = None
    shown: str = ""
    extent: tuple[object, int | None, int | None] | None = field(default=None, repr=False)
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Record(CType):
    """A struct, class or union; two are the same if their C names are."""

    cname: str
    layout: Layout = field(compare=False, repr=False)

    @property
    def spelled(self) -> str:
        """Its name as a type in C."""
        tag = "union " if self.layout.union else "struct "
        return f"{tag if self.layout.hidden else ''}{self.cname}"


@dataclass(frozen=True, slots=True)
class Unknown(CType):
    """A type nobody knows: a free template parameter, or (``""``) the result of unknown code."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Placeholder(CType):
    """A template parameter inside a pattern that is being deduced; a ``pack`` takes the rest."""

    name: str
    pack: bool = False


@dataclass(frozen=True, slots=True)
class Dependent(CType):
    """A class template applied to arguments with placeholders; ``template`` identifies it."""

    template: object
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Closure(CType):
    """The type of one lambda expression; nothing of it exists at run time."""

    cname: str
    source: object = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupType(CType):
    """A cooperative group: ``block``, ``grid``, ``tile``, ``coalesced``; ``size`` of a tile."""

    kind: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Texture(CType):
    """A texture reference; C sees its handle."""

    element: CType


@dataclass(frozen=True, slots=True)
class Auto(CType):
    """A type to be taken from the initialiser, with its reference if ``kept``."""

    kept: bool = False  # `decltype(auto)`


VOID = Scalar("void")
BOOL = Scalar("bool")
CHAR = Scalar("char")
INT = Scalar("int")
UINT = Scalar("unsigned int")
LONG = Scalar("long")
ULONG = Scalar("unsigned long")
FLOAT = Scalar("float")
DOUBLE = Scalar("double")
LONG_DOUBLE = Scalar("long double")
HALF = Scalar("__half")
NULLPTR = Pointer(VOID, null=True)
UNKNOWN = Unknown()

HALF_NAMES = frozenset({"half", "__half", "nv_bfloat16", "__nv_bfloat16"})

_ARITHMETIC: dict[str, tuple[str, int, int]] = {
    # spelling: (kind, size in bytes, conversion rank)
    "bool": ("uint", 1, 0),
    "char": ("int", 1, 1),
    "signed char": ("int", 1, 1),
    "unsigned char": ("uint", 1, 1),
    "short": ("int", 2, 2),
    "unsigned short": ("uint", 2, 2),
    "int": ("int", 4, 3),
    "unsigned int": ("uint", 4, 3),
    "long": ("int", 8, 4),
    "unsigned long": ("uint", 8, 4),
    "long long": ("int", 8, 5),
    "unsigned long long": ("uint", 8, 5),
    "float": ("float", 4, 7),
    "double": ("float", 8, 8),
    "long double": ("float", 8, 9),  # nvcc reads and steps by 8 bytes, see `has_long_double`
    **dict.fromkeys(HALF_NAMES, ("float", 2, 6)),
}

T = TypeVar("T", bound=CType)


def qualified(type_: T, *, const: bool = False, volatile: bool = False) -> T:
    """``type_`` with more qualifiers."""
    if not (const or volatile):
        return type_
    if isinstance(type_, Array):
        element = qualified(type_.element, const=const, volatile=volatile)
        return replace(type_, element=element)
    return replace(type_, const=type_.const or const, volatile=type_.volatile or volatile)


def unqualified(type_: T) -> T:
    """``type_`` without its own qualifiers (a pointer's target keeps its)."""
    if type_.const or type_.volatile:
        return replace(type_, const=False, volatile=False)
    return type_


def strip(type_: CType) -> CType:
    """The type of an expression: no reference, no qualifiers."""
    if isinstance(type_, Reference):
        type_ = type_.target
    return unqualified(type_)


def decayed(type_: CType) -> CType:
    """The type of an expression used as a value: arrays become pointers."""
    type_ = strip(type_)
    match type_:
        case Array():
            return Pointer(type_.element)
        case FunctionType():
            return Pointer(type_)
        case _:
            return type_


def is_function(type_: CType) -> bool:
    """Whether a type is a pointer to functions."""
    return isinstance(type_, Pointer) and isinstance(type_.target, FunctionType)


def is_arithmetic(type_: CType) -> bool:
    return isinstance(type_, Scalar) and type_.name in _ARITHMETIC


def enumeration(type_: CType) -> Enumeration | None:
    """The enumeration that ``type_`` is, None for all other types."""
    return type_.enum if isinstance(type_, Scalar) else None


def is_integer(type_: CType) -> bool:
    return _kind(type_) in ("int", "uint")


def is_floating(type_: CType) -> bool:
    return _kind(type_) == "float"


def _kind(type_: CType) -> str:
    return _ARITHMETIC.get(type_.name, ("", 0, 0))[0] if isinstance(type_, Scalar) else ""


def promoted(type_: CType) -> CType:
    """The integer promotions."""
    type_ = unqualified(type_)
    if is_integer(type_) and isinstance(type_, Scalar):
        small = _ARITHMETIC[type_.name][2] < 3
        return INT if small else Scalar(type_.name)
    return type_


def usual_conversion(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions (C23 6.3.1.8); unknown operands stay unknown."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN if a != b else a
    a, b = promoted(a), promoted(b)
    if not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        return a
    if a.name not in _ARITHMETIC or b.name not in _ARITHMETIC:
        return a
    (kind_a, size_a, rank_a), (kind_b, size_b, rank_b) = _ARITHMETIC[a.name], _ARITHMETIC[b.name]
    if kind_a == kind_b or "float" in (kind_a, kind_b):
        return a if rank_a >= rank_b else b
    unsigned, signed = (a, b) if kind_a == "uint" else (b, a)
    if _ARITHMETIC[unsigned.name][2] >= _ARITHMETIC[signed.name][2]:
        return unsigned
    if size_a == size_b:  # long long against unsigned long: neither holds the other
        return Scalar("unsigned " + signed.name)
    return signed


def folding_type(type_: CType) -> ctypes_lp64.CType | None:
    """The constant evaluator's type for ``type_``."""
    if isinstance(type_, Scalar) and type_.name not in HALF_NAMES:
        return ctypes_lp64.parse_type(type_.name)
    return None


def has_auto(type_: CType) -> bool:
    """Whether a type is to be completed from an initialiser (``auto``, ``auto *``, ``auto &``)."""
    while isinstance(type_, Pointer | Reference):
        type_ = type_.target
    return isinstance(type_, Auto)


def size_of(type_: CType) -> int | None:
    """Size in bytes under the LP64 CUDA ABI; None if it is not known."""
    match type_:
        case Scalar():
            entry = _ARITHMETIC.get(type_.name)
            return entry[1] if entry else None
        case Pointer() | Reference() | Texture():
            return 8
        case Array():
            element = size_of(type_.element)
            return None if element is None or type_.count is None else element * type_.count
        case Record():
            return _record_extent(type_.layout)[0]
        case _:
            return None


def has_long_double(type_: CType) -> bool:
    """Whether a type is long double or an array of it: nvcc gives it 16 bytes in sizeof and in
    the places of members, 8 in the steps of pointers."""
    while isinstance(type_, Array):
        type_ = type_.element
    return unqualified(type_) == LONG_DOUBLE


def align_of(type_: CType) -> int | None:
    """Alignment in bytes under the LP64 CUDA ABI; None if it is not known."""
    match type_:
        case Array():
            return align_of(type_.element)
        case Record():
            return _record_extent(type_.layout)[1]
        case _:
            return size_of(type_)


def _record_extent(layout: Layout) -> tuple[int | None, int | None]:
    """Size and alignment of a struct or union, kept while it stays; not with bit-fields."""
    state = (len(layout.fields), layout.align, layout.complete, layout.packed)
    if layout.extent is not None and layout.extent[0] == state:
        return layout.extent[1:]
    offset, align, known = 0, max(1, layout.align), layout.complete
    for member in layout.fields:
        size, own = size_of(member.type), align_of(member.type)
        if size is None or own is None or member.bits is not None:
            known = False
            break
        own = 1 if layout.packed else max(own, member.align)
        align = max(align, own)
        offset = max(offset, (0 if layout.union else -(-offset // own) * own) + size)
    size = -(-max(offset, 1) // align) * align
    layout.extent = (state, size, align) if known else (state, None, None)
    return layout.extent[1:]


def offset_of(record: Record, path: Sequence[str]) -> int | None:
    """Where a member is inside ``record``, in bytes; None if that is not known."""
    total, at = 0, record
    for name in path:
        place = offset_in(at.layout, name)
        member = next((f for f in at.layout.fields if f.name == name), None)
        if place is None or member is None or not isinstance(member.type, Record):
            return None
        total, at = total + place, member.type
    return total


def offset_in(layout: Layout, name: str) -> int | None:
    """The bytes before a field, None behind members of unknown size and bit-fields."""
    offset = 0
    for member in layout.fields:
        size, own = size_of(member.type), align_of(member.type)
        if size is None or own is None or member.bits is not None:
            return None
        own = 1 if layout.packed else max(own, member.align)
        offset = 0 if layout.union else -(-offset // own) * own
        if member.name == name:
            return offset
        offset += size
    return None


def spell(type_: CType) -> str:
    """C spelling of an abstract type, as in a cast."""
    return declare(type_, "")


def declare(type_: CType, name: str) -> str:
    """C declaration of ``name`` with ``type_``, without qualifying attributes or semicolon."""
    inner = name
    while True:
        match type_:
            case Pointer() | Reference():
                words = _qualifiers(type_)
                if isinstance(type_, Pointer) and type_.restrict:
                    words += "restrict "
                inner = f"*{words}{inner}"
                type_ = type_.target
                if isinstance(type_, Array | FunctionType):
                    inner = f"({inner.rstrip()})"
            case Array():
                extent = type_.extent if type_.count is None else str(type_.count)
                inner = f"{inner}[{extent}]"
                type_ = type_.element
            case FunctionType():
                parameters = ", ".join(spell(p) for p in type_.parameters) or "void"
                inner = f"{inner}({parameters})"
                type_ = type_.result
            case _:
                base = f"{_qualifiers(type_)}{base_name(type_)}"
                inner = inner.rstrip()
                return f"{base} {inner}" if inner else base


def base_name(type_: CType) -> str:
    """The name of a type that is no declarator."""
    match type_:
        case Scalar():
            return type_.name
        case Record():
            return type_.spelled
        case Unknown():
            return type_.name or "unknown_t"
        case Closure() | GroupType():
            return "int"
        case Texture():
            return "unsigned long long"
        case Placeholder():
            return type_.name
        case _:
            return "unknown_t"


def _qualifiers(type_: CType) -> str:
    return ("const " if type_.const else "") + ("volatile " if type_.volatile else "")


def suffix(type_: CType) -> str:
    """The suffix which tells instances of an overloaded intrinsic apart (``unsigned_int``)."""
    text = spell(decayed(type_))
    return text.replace("*", "_").replace(" ", "_").replace("(", "_").replace(")", "_")


def mangled(parts: Sequence[str]) -> str:
    """A C identifier made of ``parts`` (template arguments, qualified names)."""
    text = "__".join(parts)
    return "".join(c if c.isalnum() or c == "_" else _ESCAPES.get(c, "_") for c in text)


_ESCAPES = {"-": "m", "*": "p", "&": "r"}


def strip_reference(type_: CType) -> CType:
    """What a reference refers to, qualifiers kept."""
    return type_.target if isinstance(type_, Reference) else type_
