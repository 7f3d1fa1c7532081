"""A change, analysed and simulated like the kernel itself, and compared with it.

In: a ``Subject`` and ``Change``s of it.  Out: a ``Trial`` with the numbers before and after.
A change is dropped where a number of an access it touches is not known, where the simulation does
not agree with its numbers, or where it brings a race.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from coalescecheck.analysis import WORTHWHILE, AccessResult, Count, Trial
from coalescecheck.facts import Fact
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir.kernel import Kernel
from coalescecheck.launch import Launch
from coalescecheck.racing import Meeting
from coalescecheck.symbolic import Summary, summarize
from coalescecheck.verify import verify

WASTEFUL = 2.0  # times the ideal: from here on changes of the whole kernel are tried


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel under one launch with its results; ``simulated`` tells whether they were checked.
    ``meetings`` look like races in it.  ``rows`` keeps what was found of accesses of shared
    arrays."""

    source: KernelC
    kernel: Kernel
    launch: Launch
    params: Mapping[str, int]
    facts: Mapping[str, Fact]
    accesses: Sequence[AccessResult]
    assumptions: Sequence[str] = ()
    meetings: frozenset[Meeting] = frozenset()
    simulated: bool = False
    rows: dict[str, IntEnum] = field(default_factory=dict, compare=False)

    def of_array(self, name: str) -> list[AccessResult]:
        """The accesses that reach this array and perhaps others."""
        return [a for a in self.accesses if name in a.array.split("|")]


@dataclass(frozen=True, slots=True)
class Change:
    """The kernel and launch after a change.  ``wanted`` are ids of the accesses it may touch;
    those ``together`` become one access.  ``copies`` are accesses of the kernel that were made for
    the change, with those they were made from.  The other fields are those of ``Trial``."""

    kind: str
    array: str
    change: str
    description: str
    kernel: Kernel
    launch: Launch
    wanted: frozenset[int]
    together: frozenset[int] = frozenset()
    copies: Mapping[int, int] = field(default_factory=dict)
    amount: int = 0
    operand: str = ""
    in_rows: bool = False

    def results(self, subject: Subject) -> list[AccessResult]:
        """What is known of the accesses before the change; copies cost what their originals do."""
        of = {a.access.id: a for a in subject.accesses}
        made = [
            replace(of[original], access=replace(of[original].access, id=copy))
            for copy, original in self.copies.items()
            if original in of
        ]
        return [*subject.accesses, *made]


def tried(subject: Subject, alternatives: Iterable[Change]) -> Trial | None:
    """The best of ``alternatives``; if none helps the last one, None if none could be counted."""
    done: list[tuple[Trial, Change, Summary]] = []
    for change in alternatives:
        summary, trial = _analysed(subject, change)
        if trial is None:
            continue
        done.append((trial, change, summary))
        if trial.helps and _is_ideal(subject, trial):
            break
    done.sort(key=lambda each: (not each[0].helps, sum(each[0].after.values())))
    for trial, change, summary in done:
        if not trial.helps:
            return max((each[0] for each in done), key=lambda t: t.amount)
        checked = _checked(subject, change, summary, trial)
        if checked is not None:
            return checked
    return None


def retried(subject: Subject, change: Change) -> Trial | None:
    """What a change costs that was found for another kernel, whether or not it gains here."""
    wanted, known = change.wanted, subject.facts
    summary = summarize(
        change.kernel, change.launch, subject.params, texts=False, facts=known, only=wanted
    )
    trial = _compared(subject, change, summary)
    return None if trial is None else _checked(subject, change, summary, trial)


def waste(access: AccessResult) -> float:
    """Cost over the least possible where it can be judged, else 0."""
    count = access.wavefronts or access.sectors
    if count is None or not count.ideal or access.certainty in ("data-dependent", "unknown"):
        return 0.0
    return _cost(count) / count.ideal


def worth_trying(accesses: Iterable[AccessResult], space: str) -> bool:
    """Whether one of the accesses in this space costs noticeably more than it must."""
    limit = WASTEFUL if space == "global" else WORTHWHILE
    return any(a.space == space and waste(a) >= limit for a in accesses)


def all_known(accesses: Iterable[AccessResult]) -> bool:
    """Whether the costs of all that run are known, so that none can get worse unseen."""
    running = (a for a in accesses if a.requests != 0 and a.space != "local")
    return all(a.certainty not in ("data-dependent", "unknown") for a in running)


def _analysed(subject: Subject, change: Change) -> tuple[Summary, Trial | None]:
    """The accesses for which the change is made are counted first, where they are few: most
    often that is enough."""
    bad = {a.access.id for a in change.results(subject) if waste(a) >= WORTHWHILE} & change.wanted
    first = frozenset(bad) if 2 * len(bad) < len(change.wanted) else change.wanted
    for wanted in dict.fromkeys((first, change.wanted)):
        summary = summarize(
            change.kernel,
            change.launch,
            subject.params,
            texts=False,
            facts=subject.facts,
            only=wanted,
            samples=True,
        )
        trial = _compared(subject, replace(change, wanted=wanted), summary)
        if trial is None or not trial.helps:
            break
    return summary, trial


def _compared(subject: Subject, change: Change, summary: Summary) -> Trial | None:
    again = {r.access.id: r for r in summary.accesses}
    mine = [
        a for a in change.results(subject) if a.access.id in change.wanted and _count(a) is not None
    ]
    after: dict[int, float] = {}
    for old in mine:
        new = again.get(old.access.id)
        count = None if new is None else _count(new)
        gone = new is not None and new.requests == 0
        if new is None or (count is None and not (gone and old.access.id in change.together)):
            return None
        after[old.access.id] = max(_cost(count), _cost(_count(old)) * _growth(old, new))
    before = {a.access.id: _cost(_count(a)) for a in mine}
    for costs in (before, after):
        total = sum(costs[i] for i in change.together)
        costs.update(dict.fromkeys(change.together, total))
        for copy in change.copies:
            costs.pop(copy, None)
    return Trial(
        change.kind,
        change.array,
        change.change,
        change.description,
        before,
        after,
        {i: again[i].sample_lanes for i in after if i not in change.together},
        frozenset(i for i in after if _is_bound(_count(again[i]))),
        tuple(text for text in summary.assumptions if text not in subject.assumptions),
        change.amount,
        change.operand,
        change.in_rows,
    )


def _count(access: AccessResult) -> Count | None:
    return access.sectors if access.wavefronts is None else access.wavefronts


def _cost(count: Count | None) -> float:
    """Sectors or wavefronts per request: the mean, or the maximum where there is none."""
    if count is None:
        return 0.0
    return float(count.max if count.mean is None else count.mean)


def _is_bound(count: Count | None) -> bool:
    return count is not None and count.mean is None and count.min != count.max


def _growth(old: AccessResult, new: AccessResult) -> float:
    """How many times more the whole launch costs, where it does: fewer units per request do not
    help where there are more requests."""
    if old.totals is None or new.totals is None:
        return 0.0
    before, after = old.totals.units.exact, new.totals.units.exact
    return after / before if before and after and after > before else 0.0


def _is_ideal(subject: Subject, trial: Trial) -> bool:
    least = {a.access.id: count.ideal or 0 for a in subject.accesses if (count := _count(a))}
    return all(cost <= least.get(i, 0) for i, cost in trial.after.items())


def _checked(subject: Subject, change: Change, summary: Summary, trial: Trial) -> Trial | None:
    """The trial, unless a simulation of the changed kernel contradicts its numbers or has a new
    race; it says whether the simulation came to all of them."""
    if not subject.simulated:
        return trial
    if summary.reason:
        return None
    checked = verify(
        change.kernel, change.launch, subject.params, subject.facts, summary, subject.meetings
    )
    if checked.problems or checked.races:
        return None
    ran = [a for a in checked.accesses if a.access.id in trial.after and a.requests != 0]
    return replace(trial, simulated=all(a.verified.simulation == "agrees" for a in ran))
