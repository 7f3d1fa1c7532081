"""Longer rows of a shared array: each row starts in another bank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coalescecheck import lower, wording
from coalescecheck.advice.rows import Rows, rows_of
from coalescecheck.advice.shared_arrays import candidates
from coalescecheck.advice.trial import Change, Subject
from coalescecheck.analysis import AccessResult
from coalescecheck.arch import STATIC_SHARED_BYTES
from coalescecheck.ir.kernel import Array, Space

PADS = (1, 2, 4, 8)  # elements; wider pads keep the alignment of vector accesses


def changes(subject: Subject, wanted: str = "") -> Iterator[Iterator[Change]]:
    """For every conflicting shared array with rows: the pads that fit."""
    for array, mine, widest in candidates(subject, wanted):
        rows = rows_of(subject, array, mine)
        if rows is not Rows.LEFT:
            yield _pads(subject, array, mine, widest, in_rows=rows is Rows.KEPT)


def _pads(
    subject: Subject, array: Array, mine: Sequence[AccessResult], widest: int, *, in_rows: bool
) -> Iterator[Change]:
    row = array.dims[-1] * array.element_size
    for pad in PADS:
        wider = row + pad * array.element_size
        if (row % widest == 0 and wider % widest) or not _fits(subject, array, pad):
            continue  # vector accesses of the next row would be misaligned
        padded = _declared(array, pad)
        yield Change(
            "pad",
            array.name,
            f"`{padded}`",
            f"declare `{padded}` instead of `{_declared(array, 0)}`",
            lower.lower(subject.source, pads={array.name: pad}, nulls=subject.launch.nulls),
            subject.launch,
            frozenset(a.access.id for a in mine),
            amount=pad,
            in_rows=in_rows,
        )


def _fits(subject: Subject, array: Array, pad: int) -> bool:
    """Whether the static shared arrays stay below their limit, and together with the dynamic ones
    below what a block gets without asking for more."""
    shared = [a for a in subject.kernel.arrays.values() if a.space is Space.SHARED]
    used = sum(a.size or 0 for a in shared)
    rows = (array.size or 0) // (array.dims[-1] * array.element_size or 1)
    more, dynamic = rows * pad * array.element_size, subject.launch.shared_bytes or 0
    asked_for_more = used + dynamic > STATIC_SHARED_BYTES
    return used + more + (0 if asked_for_more else dynamic) <= STATIC_SHARED_BYTES


def _declared(array: Array, pad: int) -> str:
    *outer, inner = array.dims
    return wording.array(array.name) + "".join(f"[{d}]" for d in (*outer, inner + pad))
