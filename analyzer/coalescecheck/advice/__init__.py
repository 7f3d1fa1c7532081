"""Tries changes on a kernel and analyses it again, so that advice is never a guess.

One module per kind of change makes ``Change``s; ``trial`` analyses, compares and simulates them.
"""

from __future__ import annotations

from coalescecheck.advice import block_shape, layout, padding, swap, swizzle, vector, vector_loops
from coalescecheck.advice.trial import Subject, retried, tried
from coalescecheck.analysis import Trial

MAKERS = (
    padding.changes,
    swizzle.changes,
    block_shape.changes,
    swap.changes,
    vector.changes,
    vector_loops.changes,
    layout.changes,
)

# changes of one array, which other kernels may have as well
OF_ARRAYS = {"pad": padding.changes, "swizzle": swizzle.changes}

__all__ = ["Subject", "again", "trials"]


def trials(subject: Subject) -> tuple[Trial, ...]:
    """One trial for every change that was tried: the best of its alternatives."""
    return tuple(
        trial
        for make in MAKERS
        for alternatives in make(subject)
        if (trial := tried(subject, alternatives)) is not None
    )


def again(subject: Subject, wanted: Trial, array: str) -> Trial | None:
    """The change ``wanted`` of another kernel or launch, made here to ``array``, whatever it may
    gain; None where it cannot be made or counted here."""
    for alternatives in OF_ARRAYS[wanted.kind](subject, array):
        for change in alternatives:
            if (change.amount, change.operand) == (wanted.amount, wanted.operand):
                return retried(subject, change)
    return None
