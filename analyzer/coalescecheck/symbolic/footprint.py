"""Which sectors an access touches at all: in a block, and in a whole launch.

In: questions as ``question`` prepares them.  Out: the distinct sectors, listed one by one, so that
warps, iterations and accesses that share sectors can be told from those that waste them.  Only
where every address is known and the list stays short; None otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from coalescecheck.analysis import ArrayTraffic, Total, Touched, UniqueSectors
from coalescecheck.arch import LINE_BYTES, PAIR_BYTES, SECTOR_BYTES
from coalescecheck.ir.kernel import Op, Space
from coalescecheck.launch import WARP_SIZE, Dim3
from coalescecheck.symbolic.arithmetic import in_64_bits
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.question import Question

Ints = NDArray[np.int64]
LIMIT = 1 << 18  # addresses that are listed at once
DENSE = 64  # a table of so many places per value is faster than sorting


@dataclass(frozen=True, slots=True)
class Footprint:
    """Numbers of sectors from the start of the array, ascending: of each sampled block (first,
    middle, last), and of the launch (None: not listed)."""

    blocks: tuple[Ints, ...]
    launch: Ints | None

    def joined(self, other: Footprint) -> Footprint:
        """What is touched by either."""
        launch = None
        if self.launch is not None and other.launch is not None:
            launch = _unique(np.concatenate([self.launch, other.launch]))
        blocks = zip(self.blocks, other.blocks, strict=True)
        return Footprint(tuple(_unique(np.concatenate(pair)) for pair in blocks), launch)

    @property
    def unique(self) -> UniqueSectors:
        """The numbers of sectors."""
        launch = None if self.launch is None else len(self.launch)
        return UniqueSectors(self._mean(SECTOR_BYTES), launch)

    @property
    def touched(self) -> Touched:
        """The mean over the sampled blocks, in pieces of all sizes."""
        return Touched(*(self._mean(size) for size in (SECTOR_BYTES, PAIR_BYTES, LINE_BYTES)))

    def _mean(self, size: int) -> float:
        per_piece = size // SECTOR_BYTES
        counts = [len(_unique(block // per_piece)) for block in self.blocks]
        return sum(counts) / len(counts)


class Enumerator:
    """Lists the sectors of one kernel's accesses under one launch."""

    def __init__(self, ctx: Context, counter: Counter, grid: Dim3 | None) -> None:
        self._ctx, self._counter, self._grid = ctx, counter, grid
        self._listed: dict[object, Footprint | None] = {}

    def of(self, questions: Iterable[Question]) -> Footprint | None:
        """The footprint of the pieces of one access together."""
        result: Footprint | None = None
        for question in questions:
            found = self._of(question)
            if found is None:
                return None
            result = found if result is None else result.joined(found)
        return result

    def _of(self, question: Question) -> Footprint | None:
        """The footprint of one piece; pieces with the same addresses are listed once."""
        if self._grid is None or not self._is_known(question):
            return None
        guards, ranges = question.conditions.known, question.ranges.items()
        key = (question.target.width, _address(question), *guards, *ranges)
        if key not in self._listed:
            self._listed[key] = self._list(question, self._grid)
        return self._listed[key]

    def _list(self, question: Question, grid: Dim3) -> Footprint | None:
        blocks = []
        for block in _samples(grid):
            found = self._distinct(question, self._block(question, block))
            if found is None:
                return None
            blocks.append(found)
        return Footprint(tuple(blocks), self._distinct(question, {}))

    def _is_known(self, question: Question) -> bool:
        split = question.split
        bases = self._ctx.bases(question.reach.address)
        return (
            question.conditions.complete
            and (len(bases) <= 1 or bases <= self._ctx.bases(split.lanes))
            and not split.unknown.terms
            and all(info.limit is not None for info in question.reach.loops)
            and self._counter.knows(split.lanes, question.ranges)
        )

    def _block(self, question: Question, block: tuple[int, int, int]) -> dict[int, int]:
        """Values of the block indices among the question's symbols."""
        values: dict[int, int] = {}
        for g in question.ranges:
            generator = self._ctx.generators[g]
            if isinstance(generator, Symbol) and generator.kind == "bid":
                values[g] = block["xyz".index(generator.name[-1])]
        return values

    def _distinct(self, question: Question, fixed: dict[int, int]) -> Ints | None:
        """The sectors for all values of what is not ``fixed``: as sums of independent parts where
        no condition joins them, else one by one."""
        free = question.ranges.keys() - fixed.keys()
        guards = question.conditions.known
        if not any(self._ctx.leaves(guard) & free for guard in guards):
            return self._summed(question, fixed)
        starts = self._values(_address(question), question, fixed, guarded=True)
        return None if starts is None else _sectors(starts, question.target.width)

    def _summed(self, question: Question, fixed: dict[int, int]) -> Ints | None:
        running = self._values(ZERO, question, fixed, guarded=True)
        if running is None or not len(running):
            return running
        address = _address(question)
        parts = []
        for part in self._parts(address, question.ranges.keys() - fixed.keys()):
            threads = any(s.kind == "tid" for _, s in self._ctx.symbols(part))
            values = self._values(part, question, fixed, guarded=threads)
            if values is None:
                return None
            parts.append(values)
        whole = [values for values in parts if not (values % SECTOR_BYTES).any()]
        fine = [values for values in parts if (values % SECTOR_BYTES).any()]
        starts = _sums(np.full(1, in_64_bits(address.constant), np.int64), fine)
        if starts is None:
            return None
        sectors = _sectors(starts, question.target.width)
        return _sums(sectors, [values // SECTOR_BYTES for values in whole])

    def _parts(self, address: Form, free: Iterable[int]) -> list[Form]:
        """The address without its constant, in groups of terms that share no free symbol."""
        lanes = -1  # stands for all thread indices: conditions may join them
        groups: list[tuple[set[int], Form]] = [({lanes}, Form({}))]
        known = set(free)
        for monomial, coefficient in address.terms.items():
            if not monomial:
                continue
            term = Form({monomial: coefficient})
            leaves = set(self._ctx.leaves(term)) & known
            if any(s.kind == "tid" for _, s in self._ctx.symbols(term)):
                leaves.add(lanes)
            together = [group for group in groups if group[0] & leaves]
            groups = [group for group in groups if not group[0] & leaves]
            for own, form in together:
                leaves |= own
                term = term + form
            groups.append((leaves, term))
        return [form for _, form in groups if form.terms]

    def _values(
        self, form: Form, question: Question, fixed: dict[int, int], guarded: bool
    ) -> Ints | None:
        """The distinct values of a form: over all threads that run the access (``guarded``), or
        of one that no thread index is in."""
        guards, lanes = question.conditions.known if guarded else [], self._counter.lanes
        threads = self._counter.threads((form, *guards))
        used = {g for part in (form, *guards) for g in self._ctx.leaves(part)}
        axes = [g for g in question.ranges if g in used and g not in fixed]
        total = prod(question.ranges[g] for g in axes)
        if total * (lanes.warps * WARP_SIZE if guarded else 1) > LIMIT:
            return None
        values = threads | {g: np.full((1, 1, 1), v, np.int64) for g, v in fixed.items()}
        shape = [question.ranges[g] for g in axes]
        if axes:
            places = np.unravel_index(np.arange(total), shape)
            values |= {g: at[:, None, None] for g, at in zip(axes, places, strict=True)}
        evaluator = Evaluator(self._ctx, values)
        found = evaluator.form(form)
        if guarded:
            active = np.broadcast_to(lanes.exists, (total, *lanes.exists.shape))
            for guard in guards:
                active = active & (evaluator.form(guard) != 0)
            found = np.broadcast_to(found, active.shape)[active]
        return _unique(np.ravel(found))


def _address(question: Question) -> Form:
    return question.split.lanes + question.split.uniform


def _sectors(starts: Ints, width: int) -> Ints:
    """The sectors of accesses of up to 32 bytes that start there."""
    first, last = starts // SECTOR_BYTES, (starts + (width - 1)) // SECTOR_BYTES
    return _unique(first if (first == last).all() else np.concatenate([first, last]))


def _unique(values: Ints) -> Ints:
    """The different values, ascending; marked in a table where they lie close together."""
    if not len(values):
        return values
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span > DENSE * len(values):
        ordered = np.sort(values)  # np.unique hashes first, which costs several times more
        fresh = np.ones(len(ordered), np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        return ordered[fresh]
    table = np.zeros(span, np.bool_)
    table[values - low] = True
    return np.flatnonzero(table).astype(np.int64) + low


def _sums(start: Ints, parts: list[Ints]) -> Ints | None:
    """All different sums of one value of each part; None where they are too many."""
    for values in sorted(parts, key=len):
        if len(values) * len(start) > LIMIT:
            return None
        start = _unique((start[:, None] + values[None, :]).ravel())
    return start


def _samples(grid: Dim3) -> list[tuple[int, int, int]]:
    """The first, a middle and the last block."""
    last = (grid.x - 1, grid.y - 1, grid.z - 1)
    middle = (grid.x // 2, grid.y // 2, grid.z // 2)
    return list(dict.fromkeys(((0, 0, 0), middle, last)))


# --- arrays -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Collected:
    requested: Total = field(default_factory=lambda: Total(0, 0))
    needed: Total = field(default_factory=lambda: Total(0, 0))
    reads: list[Footprint | None] = field(default_factory=list)
    writes: list[Footprint | None] = field(default_factory=list)


class Arrays:
    """Puts the accesses of each global array together."""

    def __init__(self) -> None:
        self._found: dict[str, _Collected] = {}

    def add(
        self,
        names: str,
        space: str,
        op: Op,
        footprint: Footprint | None,
        requested: Total | None,
        needed: Total | None = None,
    ) -> None:
        """One access; ``names`` are the arrays it may touch, joined by ``|``.  ``needed`` are the
        sectors its requests could do with."""
        if space != Space.GLOBAL.value or not names:
            return
        several = names.split("|")
        for name in several:
            entry = self._found.setdefault(name, _Collected())
            least = Total(0, requested.max) if requested and len(several) > 1 else requested
            entry.requested += least or Total(0, None)
            if op is Op.LOAD:
                entry.needed += (needed if len(several) == 1 else None) or Total(0, None)
            side = entry.reads if op is Op.LOAD else entry.writes
            side.append(None if len(several) > 1 else footprint)

    def traffic(self) -> tuple[ArrayTraffic, ...]:
        """One record per array, in the order of the accesses."""
        return tuple(_traffic(name, entry) for name, entry in self._found.items())


def _traffic(name: str, entry: _Collected) -> ArrayTraffic:
    everything = _union([*entry.reads, *entry.writes])
    reads, writes = _union(entry.reads), _union(entry.writes)
    return ArrayTraffic(
        name,
        entry.requested,
        None if everything is None else everything.unique,
        reads.touched if reads else None if entry.reads else Touched(0.0, 0.0, 0.0),
        writes.touched if writes else None if entry.writes else Touched(0.0, 0.0, 0.0),
        entry.needed,
    )


def _union(footprints: list[Footprint | None]) -> Footprint | None:
    result: Footprint | None = None
    for footprint in {id(footprint): footprint for footprint in footprints}.values():
        if footprint is None:
            return None
        result = footprint if result is None else result.joined(footprint)
    return result
