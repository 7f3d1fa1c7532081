"""C types with sizes, alignments and layouts under the LP64 CUDA ABI, and C's conversions.

In: nothing but other types.  Out: sizes, member offsets, the scalars an object is made of, and
the type that C arithmetic gives.  A size is an ``int``, or an IR expression (i64) where it
depends on a free template value or an unknown type.  This module knows no syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coalescecheck.ir import types as ir
from coalescecheck.ir.expr import Binary, Const, Expr, Var
from coalescecheck.ir.types import ScalarType

Size = int | Expr  # bytes or elements


MAX_VALUE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Void:
    def __str__(self) -> str:
        return "void"


PACKED = "a packed struct"  # in place of the name of an unknown type


@dataclass(frozen=True, slots=True)
class Number:
    """An arithmetic type.  ``unknown`` marks an uninstantiated template type parameter: its
    scalar stands in for arithmetic, its size is the symbol ``sizeof(T)``."""

    scalar: ScalarType
    name: str
    unknown: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Pointer:
    target: CType
    const: bool = False  # the pointee is const
    volatile: bool = False  # the pointee is volatile
    restrict: bool = False

    def __str__(self) -> str:
        return f"{self.target}{'' if isinstance(self.target, Pointer) else ' '}*"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """``length`` is None for ``[]``."""

    element: CType
    length: Size | None

    def __str__(self) -> str:
        extent = self.length if isinstance(self.length, int) else ""
        return f"{self.element}[{extent}]"


@dataclass(frozen=True, slots=True)
class Member:
    """``offset`` in bytes; ``bits`` is (first bit, width) of a bit-field in its unit."""

    name: str
    type: CType
    offset: Size
    volatile: bool = False
    bits: tuple[int, int] | None = None


@dataclass(eq=False, slots=True)
class Record:
    """A struct or union; identity is the type's identity.  ``overlapping`` says that members
    share bytes (a union anywhere inside), so the object can only live in memory."""

    name: str
    members: list[Member] = field(default_factory=list)
    size: Size = 0
    align: int = 1
    complete: bool = False
    overlapping: bool = False
    unknown: str = ""  # the type of unknown size in it, or PACKED

    def __str__(self) -> str:
        return self.name

    def find(self, name: str) -> Member | None:
        """The member called ``name``."""
        return next((member for member in self.members if member.name == name), None)


@dataclass(frozen=True, slots=True)
class Function:
    result: CType
    params: tuple[CType, ...] | None  # None: unspecified

    def __str__(self) -> str:
        return f"{self.result}()"


CType = Void | Number | Pointer | ArrayOf | Record | Function

VOID = Void()
BOOL = Number(ir.BOOL, "bool")
CHAR = Number(ir.I8, "char")
INT = Number(ir.I32, "int")
UINT = Number(ir.U32, "unsigned int")
LONG = Number(ir.I64, "long")
ULONG = Number(ir.U64, "unsigned long")
HALF = Number(ir.F16, "half")
FLOAT = Number(ir.F32, "float")
DOUBLE = Number(ir.F64, "double")

# Words of a C declaration, sorted, to the type they spell (LP64: long has 64 bits).
_SPELLINGS: dict[str, Number] = {
    "bool": BOOL,
    "_Bool": BOOL,
    "char": CHAR,
    "char signed": Number(ir.I8, "signed char"),
    "char unsigned": Number(ir.U8, "unsigned char"),
    "short": Number(ir.I16, "short"),
    "short unsigned": Number(ir.U16, "unsigned short"),
    "int": INT,
    "unsigned": UINT,
    "long": LONG,
    "long unsigned": ULONG,
    "long long": Number(ir.I64, "long long"),
    "long long unsigned": Number(ir.U64, "unsigned long long"),
    "float": FLOAT,
    "double": DOUBLE,
    "double long": DOUBLE,  # nvcc: long double is double in device code
}
_HALF_NAMES = frozenset(
    {"half", "__half", "nv_bfloat16", "__nv_bfloat16", "bfloat16", "_Float16", "__bf16"}
)


def spelled(words: list[str]) -> Number | None:
    """The arithmetic type that declaration words such as ``unsigned long int`` mean."""
    if len(words) == 1 and words[0] in _HALF_NAMES:
        return Number(ir.F16, words[0])
    useful = sorted(words)
    if len(useful) > 1:
        useful = [w for w in useful if w != "int" and (w != "signed" or "char" in useful)]
    elif useful == ["signed"]:
        useful = []
    return _SPELLINGS.get(" ".join(useful) or "int")


def is_half_name(name: str) -> bool:
    """16-bit float types are typedefs in kernel C, known by name."""
    return name in _HALF_NAMES


# --- sizes ------------------------------------------------------------------------------------


def add_sizes(left: Size, right: Size) -> Size:
    """The sum of two sizes, a number where both are."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left == 0:
        return right
    if right == 0:
        return left
    return Binary("+", as_expr(left), as_expr(right), ir.I64)


def multiply_sizes(left: Size, right: Size) -> Size:
    """The product of two sizes, a number where both are."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if left == 1:
        return right
    if right == 1:
        return left
    return Binary("*", as_expr(left), as_expr(right), ir.I64)


def as_expr(size: Size) -> Expr:
    """A size as an i64 expression."""
    return Const(ir.I64, size) if isinstance(size, int) else size


def size_of(ctype: CType) -> Size:
    """Bytes of an object; 1 for void and functions (GNU C pointer arithmetic)."""
    match ctype:
        case Number():
            return Var(f"sizeof({ctype.name})", ir.I64) if ctype.unknown else ctype.scalar.size
        case Pointer():
            return 8
        case ArrayOf():
            return (
                0 if ctype.length is None else multiply_sizes(size_of(ctype.element), ctype.length)
            )
        case Record():
            return ctype.size if ctype.complete else 1
    return 1


def align_of(ctype: CType) -> int:
    """The alignment in bytes that the type guarantees."""
    match ctype:
        case Number():
            return 1 if ctype.unknown else ctype.scalar.size
        case Pointer():
            return 8
        case ArrayOf():
            return align_of(ctype.element)
        case Record():
            return ctype.align
    return 1


def is_unknown(ctype: CType) -> bool:
    """Whether the layout depends on an uninstantiated type."""
    return bool(unknown_type(ctype))


def unknown_type(ctype: CType) -> str:
    """The type that the layout depends on and whose size is not known, "" where there is none."""
    match ctype:
        case Number():
            return ctype.name if ctype.unknown else ""
        case Record():
            return ctype.unknown
        case ArrayOf():
            return unknown_type(ctype.element)
    return ""


def scalar_of(ctype: CType) -> ScalarType | None:
    """The IR type of a number or pointer, None for everything else."""
    match ctype:
        case Number():
            return ctype.scalar
        case Pointer():
            return ir.PTR
    return None


def extents(ctype: CType) -> tuple[list[Size | None], CType]:
    """The lengths of nested array types, outermost first, and the innermost element."""
    lengths: list[Size | None] = []
    while isinstance(ctype, ArrayOf):
        lengths.append(ctype.length)
        ctype = ctype.element
    return lengths, ctype


# --- layout -----------------------------------------------------------------------------------


@dataclass(slots=True)
class LayoutMember:
    """A declared member on its way into a record; ``align`` 0 means the type's own."""

    name: str  # "" for an anonymous struct or union
    type: CType
    align: int = 0
    volatile: bool = False
    bit_width: int | None = None


def lay_out(record: Record, members: list[LayoutMember], *, union: bool, packed: bool) -> None:
    """Complete ``record``: offsets, size and alignment as the CUDA (Itanium, LP64) ABI says."""
    at: Size = 0
    spare = 0  # bits before ``at`` that the last bit-field leaves
    largest: Size = 0
    for member in members:
        align = max(1 if packed else align_of(member.type), member.align)
        size = size_of(member.type)
        unnamed_bits = member.bit_width is not None and not member.name
        record.align = max(record.align, 1 if unnamed_bits else align)
        record.unknown = record.unknown or unknown_type(member.type)
        if member.bit_width is not None and isinstance(size, int) and isinstance(at, int):
            first = _first_bit(0 if union else 8 * at - spare, member.bit_width, 8 * size, packed)
            unit = first // (8 * size) * size
            if member.name:
                bits = (first - 8 * unit, member.bit_width)
                record.members.append(Member(member.name, member.type, unit, member.volatile, bits))
            end = first + member.bit_width
            at, spare = (0, 0) if union else (-(-end // 8), -end % 8)
            largest = _larger(largest, -(-end // 8))
            continue
        spare = 0
        offset: Size = 0 if union else _aligned(at, align)
        _place(record, member, offset)
        at = 0 if union else add_sizes(offset, size)
        largest = _larger(largest, size)
    record.overlapping = record.overlapping or (union and len(record.members) > 1)
    record.size = _aligned(largest if union else at, record.align)
    record.complete = True


def _first_bit(after: int, width: int, unit: int, packed: bool) -> int:
    """Where a bit-field begins: it stays inside one aligned unit of its type (System V ABI)."""
    crosses = after // unit != (after + width - 1) // unit
    return _round_up(after, unit) if not width or (crosses and not packed) else after


def _place(record: Record, member: LayoutMember, offset: Size) -> None:
    inner = member.type
    if isinstance(inner, Record):
        record.overlapping = record.overlapping or inner.overlapping
    if member.name:
        record.members.append(Member(member.name, inner, offset, member.volatile))
    elif isinstance(inner, Record):  # C11 6.7.2.1p13: members of anonymous structs are ours
        for nested in inner.members:
            at = add_sizes(offset, nested.offset)
            record.members.append(
                Member(nested.name, nested.type, at, nested.volatile, nested.bits)
            )


def _round_up(value: int, align: int) -> int:
    return -(-value // align) * align


def _aligned(at: Size, align: int) -> Size:
    """A symbolic offset cannot be rounded; its record is marked unknown by its member."""
    return _round_up(at, align) if isinstance(at, int) else at


def _larger(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return right if isinstance(left, int) else left


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar inside an object, ``offset`` bytes from its start."""

    offset: Size
    type: Number | Pointer
    bits: tuple[int, int] | None = None


def leaves(ctype: CType, offset: Size = 0) -> Iterator[Leaf]:
    """The scalars of an object in order; arrays of unknown length have none."""
    match ctype:
        case Number() | Pointer():
            yield Leaf(offset, ctype)
        case Record():
            for member in ctype.members:
                at = add_sizes(offset, member.offset)
                if member.bits is not None and isinstance(member.type, Number):
                    yield Leaf(at, member.type, member.bits)
                else:
                    yield from leaves(member.type, at)
        case ArrayOf(length=int(length)):
            step = size_of(ctype.element)
            for index in range(length):
                yield from leaves(ctype.element, add_sizes(offset, multiply_sizes(step, index)))


def is_too_large(ctype: CType) -> bool:
    """Whether a value of the type has more scalars than are worth following one by one."""
    size = size_of(ctype)
    return isinstance(size, int) and size > MAX_VALUE_BYTES


def same_shape(left: CType, right: CType) -> bool:
    """Whether an object of one type can be used as the other without reinterpreting bytes."""
    match left, right:
        case Number(), Number():
            return left.scalar == right.scalar and left.unknown == right.unknown
        case Pointer(), Pointer():
            return True
        case Record(), Record():
            return left is right
        case ArrayOf(), ArrayOf():
            return left.length == right.length and same_shape(left.element, right.element)
    return False


# --- arithmetic types -------------------------------------------------------------------------


def promote(ctype: Number) -> Number:
    """Integer promotion (C11 6.3.1.1): anything narrower than int becomes int."""
    if ctype.scalar.is_integer and ctype.scalar.size < 4:
        return INT
    return ctype


def common(left: Number, right: Number) -> Number:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    left, right = promote(left), promote(right)
    if left.scalar == right.scalar:
        return right if right.unknown else left
    if left.unknown or right.unknown:
        return left if left.unknown else right
    if not (left.scalar.is_integer and right.scalar.is_integer):
        floats = [n for n in (left, right) if not n.scalar.is_integer]
        return max(floats, key=lambda n: n.scalar.size)
    if left.scalar.size != right.scalar.size:
        return max(left, right, key=lambda n: n.scalar.size)
    return left if left.scalar.kind == "uint" else right
