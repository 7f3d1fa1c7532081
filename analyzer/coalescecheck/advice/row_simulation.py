"""A kernel run as it is and with longer rows of one shared array: do accesses stay in their rows?

In: a subject, an array and its accesses.  Out: ``Rows`` as the samples show them.  An access that
means ``tile[r][c]`` is at the same row and column in both runs; one that counts on through the
array, as ``tile[0][i]`` does, is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from coalescecheck import lower
from coalescecheck.advice.trial import Subject
from coalescecheck.analysis import AccessResult
from coalescecheck.ir.kernel import Array, Kernel
from coalescecheck.sampling import Sample, samples
from coalescecheck.simulate import AccessTrace, Course, Simulation, course_of, simulate
from coalescecheck.verify import SMALL_VALUE

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_STEPS = 1000  # statements executed for one sample


class Rows(IntEnum):
    """What is known: an access leaves its row; none was seen to; none does."""

    LEFT = 0
    LIKELY = 1
    KEPT = 2


@dataclass(frozen=True, slots=True)
class _Longer:
    """Rows of ``row`` bytes that become ``pad`` bytes longer."""

    row: int
    pad: int

    def moved(self, offsets: Ints) -> Ints:
        """Where the bytes at ``offsets`` are in the longer rows."""
        return offsets + offsets // self.row * self.pad


def simulated(subject: Subject, array: Array, mine: Sequence[AccessResult]) -> tuple[Rows, bool]:
    """What the samples show, and whether they have the sizes of the launch itself."""
    widest = max(p.width for a in mine for p in a.access.pieces)
    pad = max(1, widest // array.element_size)  # vectors stay aligned
    kernel = subject.kernel
    longer = lower.lower(subject.source, pads={array.name: pad}, nulls=subject.launch.nulls)
    courses = course_of(kernel), course_of(longer)
    rule = _Longer(array.dims[-1] * array.element_size, pad * array.element_size)
    for most in (None, SMALL_VALUE):
        answers = []
        given = samples(kernel, subject.launch, subject.params, subject.facts, most)
        for sample in given:
            runs = (_run(kernel, sample, courses[0]), _run(longer, sample, courses[1]))
            answers.append(_compared(*runs, rule, mine, whole=_is_whole(runs, sample)))
        if min(answers) is not Rows.LIKELY:
            return min(answers), not any(sample.reduced for sample in given)
    return Rows.LIKELY, False


def _is_whole(runs: Sequence[Simulation], sample: Sample) -> bool:
    return all(run.blocks == len(sample.blocks) for run in runs)


def _run(kernel: Kernel, sample: Sample, course: Course) -> Simulation:
    return simulate(
        kernel,
        sample.launch,
        params=sample.params,
        blocks=sample.blocks,
        max_steps=MAX_STEPS,
        keep_addresses=True,
        detect_races=False,
        course=course,
    )


def _compared(
    one: Simulation, other: Simulation, rule: _Longer, mine: Sequence[AccessResult], *, whole: bool
) -> Rows:
    """What two runs tell, of the kernel and of the one with longer rows."""
    ids = {result.access.id: result for result in mine}
    answer = Rows.KEPT if whole else Rows.LIKELY
    for number, (before, after) in enumerate(zip(one.traces, other.traces, strict=True)):
        result = ids.get(number)
        if before.any_taint or (result is not None and not before.requests and result.requests):
            answer = min(answer, Rows.LIKELY if result is not None else answer)
            continue
        if whole and before.requests != after.requests:
            return Rows.LEFT
        if not _same(before, after, rule if result is not None else None):
            return Rows.LEFT
        if result is not None and not _inside(before, rule, result):
            return Rows.LEFT
    return answer


def _same(before: AccessTrace, after: AccessTrace, rule: _Longer | None) -> bool:
    """Whether the same lanes go to the same places, those of the array as ``rule`` moves them."""
    count = min(before.requests, after.requests)  # a run may have stopped early
    one, other = _lanes(before, count), _lanes(after, count)
    if one is None or other is None:
        return False
    wanted = one[0] if rule is None else rule.moved(one[0])
    return bool(np.array_equal(one[1], other[1]) and np.all((wanted == other[0]) | ~one[1]))


def _inside(trace: AccessTrace, rule: _Longer, result: AccessResult) -> bool:
    """Whether no lane takes bytes of two rows at once."""
    lanes = _lanes(trace, trace.requests)
    width = max(piece.width for piece in result.access.pieces)
    if lanes is None or result.requests_per_access > 1:
        return lanes is not None
    return bool(np.all((lanes[0] % rule.row + width <= rule.row) | ~lanes[1]))


def _lanes(trace: AccessTrace, count: int) -> tuple[Ints, Bools] | None:
    """Addresses and masks of the first ``count`` requests."""
    if trace.addresses is None or trace.masks is None:
        return None
    return trace.addresses[:count], trace.masks[:count]
