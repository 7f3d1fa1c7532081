"""Whether every access of a shared array stays in its row, so that rows can be moved.

In: a subject, an array and its accesses.  Out: ``Rows``.  ``KEPT`` needs a simulation in which all
stay in their rows, and columns that hang on nothing but what the simulation had: thread indices
and known sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from coalescecheck.advice.offsets import Values
from coalescecheck.advice.row_simulation import Rows, simulated
from coalescecheck.advice.shared_arrays import keeps_to_rows
from coalescecheck.advice.trial import Subject
from coalescecheck.analysis import AccessResult
from coalescecheck.ir.constants import scalars_of
from coalescecheck.ir.expr import Cast, Expr, children
from coalescecheck.ir.kernel import (
    Array,
    Atomic,
    Kernel,
    Load,
    Store,
    expressions,
    walk,
)
from coalescecheck.ir.origins import origins_in
from coalescecheck.ir.sources import sources_in
from coalescecheck.ir.types import PTR

__all__ = ["Rows", "rows_of"]

_NAME = re.compile(r"[^\W\d](?:[\w.]|\[\d+\])*")


def rows_of(subject: Subject, array: Array, mine: Sequence[AccessResult]) -> Rows:
    """What is known of the accesses ``mine`` of ``array``; found once for a subject."""
    if array.name not in subject.rows:
        subject.rows[array.name] = _found(subject, array, mine)
    return Rows(subject.rows[array.name])


def _found(subject: Subject, array: Array, mine: Sequence[AccessResult]) -> Rows:
    seen, as_launched = simulated(subject, array, mine)
    if seen is Rows.LEFT:
        return seen
    by_form = keeps_to_rows(subject, array, mine)
    if seen is Rows.LIKELY:
        return Rows.LIKELY if by_form else Rows.LEFT
    sure = by_form and _is_settled(subject, array, mine, as_launched=as_launched)
    return Rows.KEPT if sure and not _is_counted(subject.kernel, array.name) else Rows.LIKELY


def _is_settled(
    subject: Subject, array: Array, mine: Sequence[AccessResult], *, as_launched: bool
) -> bool:
    """Whether the columns are the same in every block and for all values that are not known."""
    known = subject.params.keys() if as_launched else ()
    free = set(scalars_of(subject.kernel)) - set(known)
    guards = " ".join(guard for result in mine for guard in result.guards)
    if not as_launched and free & set(_NAME.findall(guards)):
        return False
    launch = subject.launch
    unsettled = (
        "blockIdx",
        *(("threadIdx", "blockDim") if launch.block is None else ()),
        *(("gridDim",) if launch.grid is None else ()),
    )
    values = Values(subject.kernel, launch, subject.params)
    sources = sources_in(subject.kernel)
    ids = {result.access.id for result in mine}
    row = array.dims[-1] * array.element_size
    for stmt in walk(subject.kernel.body):
        if isinstance(stmt, Load | Store | Atomic) and stmt.access in ids:
            offset = values.offset(stmt.address, stmt)
            if offset is None:
                return False
            columns = [term for term, factor in offset.terms if factor % row]
            names = sources.of(columns, limited=True)
            if names & free or any(name.startswith(unsettled) for name in names):
                return False
    return True


def _is_counted(kernel: Kernel, array: str) -> bool:
    """Whether an address in the array becomes a number: what is made of that may hang on the length
    of the rows."""
    origins = origins_in(kernel)
    return any(
        array in origins.known(expr.operand)
        for stmt in walk(kernel.body)
        for expr in _casts(expressions(stmt))
        if expr.operand.type == PTR and expr.type != PTR
    )


def _casts(exprs: Iterable[Expr]) -> Iterator[Cast]:
    waiting = list(exprs)
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, Cast):
            yield expr
        waiting += children(expr)
