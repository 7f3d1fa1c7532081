"""Which races one barrier would end.

In: a kernel and its races as pairs of accesses.  Out: for each the place of a barrier; races with
the same place lack the same one.  A barrier orders two accesses from any place that every thread
passes on the way from the earlier to the later one, for iterations of a loop around its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from coalescecheck.analysis import Barrier
from coalescecheck.ir.kernel import Atomic, If, Kernel, Load, Loop, Scope, Stmt, Store

Pair = tuple[int, int]  # the earlier and the later access


def missing_barriers(kernel: Kernel, levels: Sequence[Sequence[Pair]]) -> Mapping[Pair, Barrier]:
    """A barrier for each pair, as few as a simple search finds.

    Pairs of a later level take part in the barriers of an earlier one where those order them too.
    Two accesses that no barrier can come between have none.
    """
    text = _read(kernel)
    groups: list[_Group] = []
    for pairs in levels:
        gaps = {pair: frozenset(text.gaps(pair)) for pair in dict.fromkeys(pairs)}
        waiting = {pair: places for pair, places in gaps.items() if places}
        for pair in tuple(waiting) if groups else ():
            places = waiting[pair]
            group = max(groups, key=partial(_likeness, places))
            if group.gaps & places:
                group.take(pair, waiting.pop(pair))
        while waiting:
            groups.append(_largest(waiting))
            for pair in groups[-1].pairs:
                del waiting[pair]
    return {pair: text.barrier(group) for group in groups for pair in group.pairs}


def _likeness(places: frozenset[int], group: _Group) -> float:
    """The share of places that both have, among those of either."""
    return len(group.gaps & places) / len(group.gaps | places)


def _largest(waiting: Mapping[Pair, frozenset[int]]) -> _Group:
    """The most pairs that one barrier orders; of several the one that may be at most places, which
    is in between all that has to be and not in the midst of some of it."""
    members: dict[int, list[Pair]] = {}
    for pair, places in waiting.items():
        for gap in places:
            members.setdefault(gap, []).append(pair)
    most = max(map(len, members.values()))
    groups = []
    for pairs in dict.fromkeys(tuple(members[gap]) for gap in sorted(members)):
        if len(pairs) == most:
            groups.append(_Group())
            for pair in pairs:
                groups[-1].take(pair, waiting[pair])
    return max(groups, key=lambda group: len(group.gaps))


@dataclass(slots=True)
class _Group:
    """Pairs that one barrier orders, from any of ``gaps``."""

    gaps: frozenset[int] = frozenset()
    pairs: list[Pair] = field(default_factory=list)

    def take(self, pair: Pair, gaps: frozenset[int]) -> None:
        self.gaps = self.gaps & gaps if self.pairs else gaps
        self.pairs.append(pair)


@dataclass(slots=True)
class _Text:
    """A kernel as a row of accesses and of ends of branches and loops; gap ``g`` is before place
    ``g``.  ``around`` has the branches and loops around each gap, outermost first; ``loops``
    their first and last gap."""

    kernel: Kernel
    at: dict[int, int] = field(default_factory=dict)
    around: list[tuple[int, ...]] = field(default_factory=list)
    loops: dict[int, tuple[int, int]] = field(default_factory=dict)

    def gaps(self, pair: Pair) -> Iterator[int]:
        """Where a barrier orders the two accesses."""
        one, two = (self.at.get(access) for access in pair)
        if one is None or two is None:
            return
        here, there = self.around[one], self.around[two]
        ways = [*range(one + 1, two + 1)]
        if one >= two:  # the loop around both goes round
            loop = next((s for s in reversed(here) if s in self.loops and s in there), None)
            if loop is None:
                return
            first, last = self.loops[loop]
            ways = [*range(one + 1, last + 1), *range(first, two + 1)]
        for gap in ways:
            inside = self.around[gap]
            if all((s in here) + (s in there) >= (1 if s in self.loops else 2) for s in inside):
                yield gap

    def barrier(self, group: _Group) -> Barrier:
        """Between the nearest accesses on both sides of it; where it has to be in a loop, and one
        of these is not, beside the other."""
        gap = min(group.gaps)
        firsts = sorted({self.at[one] for one, _ in group.pairs})
        seconds = sorted({self.at[two] for _, two in group.pairs})
        after = max((p for p in firsts if p < gap), default=firsts[-1])
        before = min((p for p in seconds if p >= gap), default=seconds[0])
        access = {place: access for access, place in self.at.items()}
        one, two = (self.kernel.accesses[access[place]].span for place in (after, before))
        again = [self.at[one] >= self.at[two] for one, two in group.pairs]
        loop = next((s for s in reversed(self.around[gap]) if s in self.loops), 0)
        if any(again) and not all(again) and loop not in self.around[after]:
            return Barrier(None, two)
        if any(again) and not all(again) and loop not in self.around[before]:
            return Barrier(one, None)
        return Barrier(one, two, again=after >= before)


def _read(kernel: Kernel) -> _Text:
    text = _Text(kernel)
    around = text.around
    here: tuple[int, ...] = ()
    for each in _in_order(kernel.body):
        if isinstance(each, _End):
            if here[-1] in text.loops:
                text.loops[here[-1]] = here[-1], len(around)
            around.append(here)
            here = here[:-1]
        elif isinstance(each, _Start):
            around.append(here)
            here = (*here, len(around))
            if each.loop:
                text.loops[len(around)] = len(around), len(around)
        elif isinstance(each, Load | Store | Atomic):
            text.at.setdefault(each.access, len(around))
            around.append(here)
    return text


@dataclass(frozen=True, slots=True)
class _Start:
    """Of a branch, or of a loop."""

    loop: bool


class _End:
    """Of the last branch or loop that began."""


def _in_order(body: Sequence[Stmt]) -> Iterator[Stmt | _Start | _End]:
    """Every statement, outer before inner, with the ends of branches and loops."""
    waiting: list[Stmt | _Start | _End] = [*reversed(body)]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Scope):
            waiting += reversed(each.body)
        elif isinstance(each, If):
            for branch in (each.otherwise, each.then):
                waiting += [_End(), *reversed(branch), _Start(loop=False)]
        elif isinstance(each, Loop):
            inside = (*each.test, *each.body, *each.step)
            waiting += [_End(), *reversed(inside), _Start(loop=True)]
