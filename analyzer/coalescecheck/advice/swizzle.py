"""Columns of a shared array permuted row by row with XOR: no memory lost, alignment kept.

``tile[r][c]`` becomes ``tile[r][c ^ r]`` in every access.  In bytes that is one expression of the
offset, ``o ^ ((o / row % chunks) * chunk)`` for rows and chunks of powers of two, so that accesses
through pointers and casts are moved alike.  A chunk is what the widest access takes at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from coalescecheck import wording
from coalescecheck.advice.rewriting import with_addresses
from coalescecheck.advice.rows import Rows, rows_of
from coalescecheck.advice.shared_arrays import candidates
from coalescecheck.advice.trial import Change, Subject
from coalescecheck.ir.expr import ArrayBase, Binary, Cast, Const, Expr
from coalescecheck.ir.kernel import Array, Atomic, Load, Store
from coalescecheck.ir.types import I64, PTR

BANKS_BYTES = 128  # of one pass over all banks: shorter rows share it
MOST_DIMS = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    """Sizes in bytes, all powers of two: ``row``, ``chunk``; ``rows`` that share one pass over
    the banks; ``chunks`` of a row."""

    row: int
    chunk: int
    rows: int
    chunks: int

    def swizzled(self, base: ArrayBase, address: Expr) -> Expr:
        """The address that the object at ``address`` has after the change."""
        offset = _op("-", Cast(address, I64), Cast(base, I64))
        line = _op(">>", offset, _log2(self.row * self.rows))
        moved = _op("<<", _op("&", line, _number(self.chunks - 1)), _log2(self.chunk))
        return Binary("+", base, _op("^", offset, moved), PTR)


def changes(subject: Subject, wanted: str = "") -> Iterator[Iterator[Change]]:
    """For every conflicting shared array with rows of a power of two of bytes: its swizzle."""
    for array, mine, widest in candidates(subject, wanted):
        pattern = pattern_of(array, widest)
        if pattern is not None:
            rows = rows_of(subject, array, mine)
            yield iter([_change(subject, array, pattern, rows)])


def pattern_of(array: Array, widest: int) -> Pattern | None:
    """How to swizzle the rows of an array; None where they are no power of two."""
    row, chunk = array.dims[-1] * array.element_size, max(array.element_size, widest)
    if not (_is_power(row) and _is_power(chunk)) or row < 2 * chunk:
        return None
    rows, chunks = max(1, BANKS_BYTES // row), row // chunk
    planes = len(array.dims) > 2
    if planes and (array.dims[-2] % (rows * chunks) or len(array.dims) > MOST_DIMS):
        return None  # the row's number in its plane is not that in the whole array
    return Pattern(row, chunk, rows, chunks)


def _change(subject: Subject, array: Array, pattern: Pattern, rows: Rows) -> Change:
    wanted = frozenset(a.access.id for a in subject.of_array(array.name))
    base = ArrayBase(array.name)

    def moved(stmt: Load | Store | Atomic) -> Expr:
        return pattern.swizzled(base, stmt.address) if stmt.access in wanted else stmt.address

    kernel = replace(subject.kernel, body=with_addresses(subject.kernel.body, moved))
    outer = "".join(f"[{name}]" for name in _outer_names(array))
    operand = _operand(array, pattern)
    name = wording.array(array.name)
    swizzled = f"`{name}{outer}[c ^ {operand}]`"
    length = array.dims[-1]
    flat = f", with r = i / {length} and c = i % {length} where it counts through the array"
    return Change(
        "swizzle",
        array.name,
        swizzled,
        f"use {swizzled} for `{name}{outer}[c]` in every access"
        + (flat if rows is Rows.LEFT and len(array.dims) == 2 else ""),
        kernel,
        subject.launch,
        wanted,
        operand=operand,
        in_rows=rows is Rows.KEPT,
    )


def _outer_names(array: Array) -> list[str]:
    """Names for the indices: ``r`` for the row, ``i`` and ``j`` for what is outside of it."""
    return [*"ij"[: len(array.dims) - 2], "r"]


def _operand(array: Array, pattern: Pattern) -> str:
    """What the column is combined with, as C."""
    text = f"r / {pattern.rows}" if pattern.rows > 1 else "r"
    if len(array.dims) > 2 or -(-array.dims[-2] // pattern.rows) > pattern.chunks:
        text += f" % {pattern.chunks}"
    if pattern.chunk > array.element_size:
        text += f" * {pattern.chunk // array.element_size}"
    return text if text == "r" else f"({text})"


def _is_power(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _log2(value: int) -> Const:
    return _number(value.bit_length() - 1)


def _number(value: int) -> Const:
    return Const(I64, value)


def _op(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, I64)
