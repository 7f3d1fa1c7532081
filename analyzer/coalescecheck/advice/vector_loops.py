"""Scalar accesses of neighbouring iterations of a short loop taken together as one vector access.

``for (k = 0; k < 4; k++) s += p[4 * i + k]`` reads one ``float4``: the loop is unrolled as far as
the vector is wide, and its neighbours are merged as ``vector`` merges those side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coalescecheck.advice.offsets import Values
from coalescecheck.advice.trial import Change, Subject
from coalescecheck.advice.unrolling import Unrolled, counted_loops, unrolled
from coalescecheck.advice.vector import MOST_RUNS, WIDTHS, Run, merged, runs_in, wasteful_accesses
from coalescecheck.ir.kernel import Load, Store


def changes(subject: Subject) -> Iterator[Iterator[Change]]:
    """Every wasteful access of such a loop, the widest vector that fits."""
    wasteful = wasteful_accesses(subject)
    if not wasteful:
        return
    left = MOST_RUNS
    for loop in counted_loops(subject.kernel):
        inside = {s.access for s in loop.loop.body if isinstance(s, Load | Store)} & wasteful
        for access in sorted(inside)[:left]:
            width = subject.kernel.accesses[access].pieces[0].width
            times = (size // width for size in WIDTHS)
            tried = (
                _change(subject, unrolled(subject.kernel, loop, n), access, n)
                for n in times
                if n > 1 and loop.trips % n == 0
            )
            change = next((found for found in tried if found is not None), None)
            if change is not None:
                left -= 1
                yield iter([change])


def _change(subject: Subject, done: Unrolled, access: int, times: int) -> Change | None:
    """The copies of one access as one, where they are neighbours."""
    copies = frozenset(copy for copy, original in done.copies.items() if original == access)
    here = replace(subject, kernel=done.kernel)
    values = Values(done.kernel, subject.launch, subject.params)
    found = runs_in(here, values, done.loop.body, copies | {access})
    run: Run | None = next((run for run in found if len(run.parts) == times), None)
    if run is None:
        return None
    index = subject.kernel.accesses[access].index
    change = merged(here, run, f"for {times} iterations", f"`{index}` of {times} iterations")
    return replace(change, copies=done.copies)
