"""One request of an access, for pictures: where each lane of a warp goes.

In: a question as ``question`` prepares it.  Out: 32 byte offsets from the start of the array.
Nothing is counted from them; they illustrate the counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coalescecheck.ir.kernel import Space
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import Form
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.question import Question

Ints = NDArray[np.int64]
Sample = tuple[int | None, ...]


def sample_lanes(counter: Counter, question: Question) -> Sample:
    """The first whole warp that runs the access in the first block and iteration where one does
    (a warp with inactive lanes where no other is found).

    Empty where lanes depend on something unknown.  Unknown uniform terms count as 0: they move
    all lanes together.
    """
    split, guards = question.split, question.conditions.known
    known = Form({**split.lanes.terms, **split.uniform.terms})
    if question.target.space is Space.LOCAL:
        return ()
    if not all(counter.knows(form, question.ranges) for form in (known, *guards)):
        return ()
    threads = counter.threads((known, *guards))
    for choice in range(3):
        values = threads | {g: _pick(count, choice) for g, count in question.ranges.items()}
        evaluator = Evaluator(counter.ctx, values)
        active = counter.lanes.exists.copy()
        for guard in guards:
            active &= np.broadcast_to(evaluator.form(guard) != 0, (1, *active.shape))[0]
        active &= np.arange(active.shape[1]) < question.target.lanes
        if active.any():
            offsets = np.broadcast_to(evaluator.form(known), (1, *active.shape))[0]
            warp = int(active.sum(axis=1).argmax())
            lanes = zip(offsets[warp].tolist(), active[warp].tolist(), strict=True)
            return tuple(offset if runs else None for offset, runs in lanes)
    return ()


def _pick(count: int, choice: int) -> Ints:
    """The first, the middle or the last of ``count`` values, shaped like a class of them."""
    value = (0, count // 2, count - 1)[choice]
    return np.full((1, 1, 1), value, np.int64)
