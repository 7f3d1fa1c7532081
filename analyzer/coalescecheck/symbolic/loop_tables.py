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
from coalescecheck.symbolic.form import Atom, Context, Form, number
from coalescecheck.symbolic.numeric import Evaluator

TABLE_LIMIT = 1024  # iterations that are run through one by one
WORDS = 1 << 32  # beyond it, a value that an operation reads may have wrapped
FAR = 1 << 62  # beyond it, a 64-bit value is not followed

Row = dict[str, int]
Spend = Callable[[int], None]
"""Is told how many generators an iteration evaluated; it may raise."""


@dataclass(frozen=True, slots=True)
class Change:
    """A variable of a loop: its placeholder, its value before, and after one iteration.

    ``tested``: the loop's condition reads it.
    """

    generator: int
    start: int
    update: Form
    type: ScalarType
    tested: bool

    def held(self, value: int) -> int | None:
        """What the variable holds when this is assigned; None where that is not followed."""
        if self.type.bits >= 64 or not self.type.is_integer:
            return value if abs(value) < FAR else None
        value %= 1 << self.type.bits
        negative = self.type.kind == "int" and value >> (self.type.bits - 1)
        return value - (1 << self.type.bits) if negative else value


class _Overflow(Exception):
    """A variable left its type's range; ``ends``: the loop has ended by then."""

    def __init__(self, ends: bool) -> None:
        super().__init__()
        self.ends = ends


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
        """A bound on the iterations: a variable that the loop tests would overflow in the next."""
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
    if tests <= {change.generator for change in changes.values()}:
        deciding = {n for n, change in changes.items() if change.generator in tests}
        needed = _needed(ctx, changes, wanted | deciding)
        table = _until_it_ends(ctx, {n: changes[n] for n in needed}, condition, test_first, spend)
        if table is not None:
            return Tables(dict.fromkeys(needed, table), len(table.rows) if table.exact else None)
    result = Tables()
    for group in _groups(ctx, changes, wanted):
        table = _until_it_repeats(ctx, {n: changes[n] for n in group}, spend)
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
    condition: Form,
    test_first: bool,
    spend: Spend,
) -> Table | None:
    rows: list[Row] = []
    try:
        for current, evaluator in _steps(ctx, changes, spend, decided=True):
            goes_on = bool(evaluator.form(condition))
            if test_first and not goes_on:
                return Table(rows, exact=True, final=current)
            rows.append(current)
            if not test_first and not goes_on:
                return Table(rows, exact=True)
    except _Overflow as overflow:
        return Table(rows) if overflow.ends else None
    return None


def _until_it_repeats(ctx: Context, changes: Mapping[str, Change], spend: Spend) -> Table | None:
    rows: list[Row] = []
    seen: dict[tuple[int, ...], int] = {}
    try:
        for current, _ in _steps(ctx, changes, spend, decided=False):
            first = seen.setdefault(tuple(current.values()), len(rows))
            if first == len(rows):
                rows.append(current)
            elif first == 0:
                return Table(rows, periodic=True)
            else:
                return Table(rows, settled=True) if first == len(rows) - 1 else None
    except _Overflow as overflow:
        return Table(rows) if overflow.ends else None
    return None


def _steps(
    ctx: Context, changes: Mapping[str, Change], spend: Spend, decided: bool
) -> Iterator[tuple[Row, Evaluator]]:
    """The variables at the start of each iteration, as often as may be.

    ``decided``: the loop's condition is evaluated at every step.  Raises _Overflow.
    """
    read = {arg for change in changes.values() for arg in _read_by_atoms(ctx, change.update)}
    wraps = {n: _wraps_alike(ctx, change.update) for n, change in changes.items()}
    current = {n: change.held(change.start) for n, change in changes.items()}
    for _ in range(TABLE_LIMIT):
        row = {n: value for n, value in current.items() if value is not None}
        if len(row) < len(current):
            raise _Overflow(ends=False)
        values = {changes[n].generator: np.asarray(v, np.int64) for n, v in row.items()}
        evaluator = Evaluator(ctx, values)
        yield row, evaluator
        if any(abs(int(evaluator.form(arg))) > WORDS for arg in read):
            raise _Overflow(ends=False)
        for name, change in changes.items():
            value = int(evaluator.form(change.update))
            far = evaluator.magnitude(change.update) >= FAR  # the sum itself may have wrapped
            current[name] = None if far else change.held(value)
            if current[name] != value:
                _check(change, decided, wraps[name])
        spend(evaluator.work)


def _check(change: Change, decided: bool, wraps: bool) -> None:
    """A variable overflows.  Raises _Overflow unless it is known to wrap.

    Overflow of a signed variable that ends the loop is undefined; where the end of the loop is
    not known, an unsigned one is taken not to pass it, either.
    """
    undefined = change.type.kind == "int" and change.type.bits == 32
    if change.tested and (undefined or not decided):
        raise _Overflow(ends=True)
    if not wraps:
        raise _Overflow(ends=False)


def _read_by_atoms(ctx: Context, form: Form) -> Iterator[Form]:
    """What operations inside ``form`` read, other than reductions to a type's range."""
    for g in form.generators():
        generator = ctx.generators[g]
        if isinstance(generator, Atom):
            for arg in generator.args:
                if generator.op != "wrap":
                    yield arg
                yield from _read_by_atoms(ctx, arg)


def _wraps_alike(ctx: Context, form: Form) -> bool:
    """Whether reducing the form to a type's range gives what C holds: not where an operation
    has read an unreduced value."""
    return all(
        not isinstance(atom, Atom) or (atom.op == "wrap" and _wraps_alike(ctx, atom.args[0]))
        for atom in (ctx.generators[g] for g in form.generators())
    )
