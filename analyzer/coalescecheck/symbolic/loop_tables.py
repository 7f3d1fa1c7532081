"""Loop variables that are run through, one iteration at a time, and become tables over k.

In: variables with constant starts and updates over each other (``s >>= 1``, ``buffer ^= 1``).
Out: their values by iteration.  Where they decide the loop's test, all its iterations are run;
otherwise each group of variables that depend on each other is run until it repeats or settles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import Context, Form, number
from coalescecheck.symbolic.numeric import Evaluator

TABLE_LIMIT = 1024  # iterations that are run through one by one

Row = dict[str, int]
Spend = Callable[[int], None]
"""Is told how many generators an iteration evaluated; it may raise."""


@dataclass(frozen=True, slots=True)
class Change:
    """A variable of a loop: its placeholder, its value before, and after one iteration."""

    generator: int
    start: int
    update: Form
    type: ScalarType

    def after(self, evaluator: Evaluator) -> int | None:
        """What the variable holds after an iteration: unsigned ones wrap; None where a signed one
        overflows, which ends every guarantee of C, or 64 bits are too few to tell."""
        value = int(evaluator.form(self.update))
        bits = self.type.bits
        if bits > 32:
            return value if evaluator.magnitude(self.update) < 1 << 62 else None
        if self.type.kind == "uint":
            return value % (1 << bits)
        return value if -1 << (bits - 1) <= value < 1 << (bits - 1) else None


@dataclass(slots=True)
class Table:
    """Values of some variables, iteration by iteration.

    ``exact``: the rows are all iterations of the loop.  ``periodic``: the rows repeat.
    ``settled``: the last row stays.
    """

    rows: list[Row]
    exact: bool = False
    periodic: bool = False
    settled: bool = False
    final: Row | None = None  # the values when the loop ends

    @property
    def names(self) -> set[str]:
        """The variables."""
        return set(self.rows[0] if self.rows else self.final or ())

    def column(self, ctx: Context, name: str, k: Form) -> Form:
        """The variable at iteration k."""
        rows = self.rows if self.final is None else [*self.rows, self.final]
        values = tuple(row[name] for row in rows)
        if self.settled and len(values) == 2:
            return op.select(ctx, op.truth(ctx, k), number(values[1]), number(values[0]))
        step = values[1] - values[0] if len(values) > 1 else 0
        cut = self.periodic or self.settled
        if not cut and all(b - a == step for a, b in pairwise(values)):
            return number(values[0]) + k.scaled(step)
        index = k
        if self.periodic:
            index = op.floor_remainder(ctx, k, len(values))
        elif self.settled:
            index = op.minimum(ctx, k, number(len(values) - 1))
        return ctx.atom("table", (index,), (min(values), max(values)), values)


@dataclass(slots=True)
class Tables:
    """The tables of one loop, by variable; ``trips`` is its number of iterations, if known."""

    of: dict[str, Table] = field(default_factory=dict)
    trips: int | None = None

    @property
    def most(self) -> int | None:
        """A bound on the iterations: a variable of the loop's test would overflow in the next."""
        ends = [len(t.rows) for t in self.of.values() if not (t.periodic or t.settled)]
        return min(ends, default=None)


def run_through(
    ctx: Context,
    changes: Mapping[str, Change],
    wanted: set[str],
    condition: Form,
    test_first: bool,
    spend: Spend,
) -> Tables:
    """Tables of the ``wanted`` variables, as far as there are any.

    The updates of ``changes`` read nothing but its own placeholders.
    """
    tests = ctx.leaves(condition)
    tested = {n for n, change in changes.items() if change.generator in tests}
    if tests <= {change.generator for change in changes.values()}:
        table = _until_it_ends(ctx, changes, wanted, tested, condition, test_first, spend)
        if table is not None and (table.exact or wanted & table.names):
            trips = len(table.rows) if table.exact else None
            return Tables(dict.fromkeys(table.names, table), trips)
    result = Tables()
    for group in _groups(ctx, changes, wanted):
        table = _until_it_repeats(ctx, {n: changes[n] for n in group}, bool(group & tested), spend)
        if table is not None:
            result.of |= dict.fromkeys(group, table)
    return result


def _needed(ctx: Context, changes: Mapping[str, Change], names: set[str]) -> set[str]:
    """``names`` and what their updates read, directly or not."""
    found: set[str] = set()
    more = names
    while more:
        found |= more
        read = frozenset().union(*(ctx.leaves(changes[n].update) for n in more))
        more = {n for n, change in changes.items() if change.generator in read} - found
    return found


def _groups(ctx: Context, changes: Mapping[str, Change], wanted: set[str]) -> Iterator[set[str]]:
    """The wanted variables with what they need, in groups that share nothing."""
    groups: list[set[str]] = []
    for name in sorted(wanted):
        group = _needed(ctx, changes, {name})
        apart = []
        for other in groups:
            if other & group:
                group |= other
            else:
                apart.append(other)
        groups = [*apart, group]
    yield from groups


def _until_it_ends(
    ctx: Context,
    changes: Mapping[str, Change],
    wanted: set[str],
    tested: set[str],
    condition: Form,
    test_first: bool,
    spend: Spend,
) -> Table | None:
    """All iterations, of the tested variables and those wanted ones that never overflow."""
    deciding = _needed(ctx, changes, tested)
    names = _needed(ctx, changes, wanted) | deciding
    rows: list[Row] = []
    for current, evaluator in _steps(ctx, {n: changes[n] for n in names}, spend):
        lost = names - current.keys()
        if lost & deciding:
            return Table(rows)
        if lost:
            kept = {n for n in wanted if not _needed(ctx, changes, {n}) & lost}
            return _until_it_ends(ctx, changes, kept, tested, condition, test_first, spend)
        goes_on = bool(evaluator.form(condition))
        if test_first and not goes_on:
            return Table(rows, exact=True, final=current)
        rows.append(current)
        if not test_first and not goes_on:
            return Table(rows, exact=True)
    return None


def _until_it_repeats(
    ctx: Context, changes: Mapping[str, Change], tested: bool, spend: Spend
) -> Table | None:
    """The iterations until they repeat, or until one would overflow where the loop tests it."""
    rows: list[Row] = []
    seen: dict[tuple[int, ...], int] = {}
    for current, _ in _steps(ctx, changes, spend):
        if len(current) < len(changes):
            return Table(rows) if tested else None
        first = seen.setdefault(tuple(current.values()), len(rows))
        if first == len(rows):
            rows.append(current)
        elif first == 0:
            return Table(rows, periodic=True)
        else:
            return Table(rows, settled=True) if first == len(rows) - 1 else None
    return None


def _steps(
    ctx: Context, changes: Mapping[str, Change], spend: Spend
) -> Iterator[tuple[Row, Evaluator]]:
    """The variables at the start of each iteration, as often as may be; the last row lacks those
    that overflow."""
    current = {n: change.start for n, change in changes.items()}
    for _ in range(TABLE_LIMIT):
        values = {changes[n].generator: np.asarray(v, np.int64) for n, v in current.items()}
        evaluator = Evaluator(ctx, values)
        yield current, evaluator
        if len(current) < len(changes):
            return
        after = {n: change.after(evaluator) for n, change in changes.items()}
        spend(evaluator.work)
        current = {n: value for n, value in after.items() if value is not None}
