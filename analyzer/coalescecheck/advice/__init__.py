"""Tries changes on a kernel and analyses it again, so that advice is never a guess.

One module per kind of change makes ``Change``s; ``trial`` analyses, compares and simulates them.
"""

from __future__ import annotations

from coalescecheck.advice import block_shape, layout, padding, swap, swizzle, vector, vector_loops
from coalescecheck.advice.trial import Subject, tried
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

__all__ = ["Subject", "trials"]


def trials(subject: Subject) -> tuple[Trial, ...]:
    """One trial for every change that was tried: the best of its alternatives."""
    return tuple(
        trial
        for make in MAKERS
        for alternatives in make(subject)
        if (trial := tried(subject, alternatives)) is not None
    )
