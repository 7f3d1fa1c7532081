"""Shared arrays whose rows can be moved, and whether accesses keep to the rows.

In: a subject.  Out: arrays with conflicts, whose accesses are all seen and reach nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coalescecheck.advice.offsets import Values
from coalescecheck.advice.trial import Subject, worth_trying
from coalescecheck.analysis import AccessResult
from coalescecheck.ir.kernel import Array, Atomic, Load, Space, Store, expressions, walk
from coalescecheck.ir.origins import origins_in
from coalescecheck.ir.types import PTR

ODD_KINDS = ("wmma", "texture")  # they know the row's length themselves


def candidates(
    subject: Subject, wanted: str = ""
) -> Iterator[tuple[Array, Sequence[AccessResult], int]]:
    """Conflicting arrays with rows, or the ``wanted`` one, their accesses, and the bytes of the
    widest."""
    stored = _stored(subject)
    for array in subject.kernel.arrays.values():
        if array.space is not Space.SHARED or len(array.dims) < 2 or not array.dims[-1]:
            continue
        if array.name in stored or (wanted and array.name != wanted):
            continue  # who reads the pointer reaches the array unseen
        mine = subject.of_array(array.name)
        alone = all(a.array == array.name and a.access.kind not in ODD_KINDS for a in mine)
        if alone and (worth_trying(mine, "shared") or (wanted and mine)):
            yield array, mine, max(p.width for a in mine for p in a.access.pieces)


def _stored(subject: Subject) -> set[str]:
    """The arrays of which a pointer is kept in memory, and not only in a variable of a thread that
    the analysis followed."""
    kernel, origins = subject.kernel, origins_in(subject.kernel)
    lost = {name.lstrip("*") for a in subject.accesses for name in a.array.split("|")
            if name.startswith("*")}  # fmt: skip
    followed = {n for n, a in kernel.arrays.items() if a.space is Space.LOCAL} - lost
    return {
        array
        for stmt in walk(kernel.body)
        if isinstance(stmt, Store | Atomic)
        if not (origins.of(stmt.address) or {""}) <= followed
        for value in expressions(stmt)[1:]
        if value.type == PTR
        for array in origins.known(value)
    }


def keeps_to_rows(subject: Subject, array: Array, mine: Sequence[AccessResult]) -> bool:
    """Whether no access counts through the array as if it had no rows, as ``((T *)tile)[i]``
    does: such an access would go elsewhere in longer rows."""
    direct = re.compile(rf"\b{re.escape(array.name)}\s*\[")
    ids = {a.access.id: bool(direct.search(a.access.index)) for a in mine}
    values = Values(subject.kernel, subject.launch, subject.params)
    row = array.dims[-1] * array.element_size
    for stmt in walk(subject.kernel.body):
        if not isinstance(stmt, Load | Store | Atomic) or stmt.access not in ids:
            continue
        typed, flat = (values.offset(stmt.address, stmt, through_casts=t) for t in (False, True))
        if typed is None or flat is None:
            return False
        strides = any(factor % row == 0 for _, factor in typed.terms)
        below = any(factor % row == 0 for _, factor in flat.terms)
        if not strides and (below or not ids[stmt.access]):
            return False
    return True
