"""Tries changes on the kernel and analyses it again, so that advice is never a guess.

In: a kernel and its results.  Out: trials with the numbers before and after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coalescecheck import lower
from coalescecheck.analysis import AccessResult, PadTrial
from coalescecheck.facts import Fact
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir.kernel import Array, Kernel, Space
from coalescecheck.launch import Launch
from coalescecheck.symbolic import summarize

PADS = (1, 2, 4, 8)  # elements; wider pads keep the alignment of vector accesses


def pad_trials(
    source: KernelC,
    kernel: Kernel,
    launch: Launch,
    params: Mapping[str, int],
    facts: Mapping[str, Fact],
    accesses: Sequence[AccessResult],
) -> tuple[PadTrial, ...]:
    """For every conflicting shared array with rows: the kernel analysed again with padded rows."""
    trials = []
    for array in kernel.arrays.values():
        mine = [a for a in accesses if a.array == array.name and a.wavefronts is not None]
        if array.space is not Space.SHARED or len(array.dims) < 2 or not _conflicts(mine):
            continue
        for pad in PADS:
            trial = _trial(source, array, pad, launch, params, facts, mine)
            trials.append(trial)
            if all(trial.after[a.access.id] <= _ideal(a) for a in mine):
                break
    return tuple(trials)


def _trial(
    source: KernelC,
    array: Array,
    pad: int,
    launch: Launch,
    params: Mapping[str, int],
    facts: Mapping[str, Fact],
    mine: Sequence[AccessResult],
) -> PadTrial:
    padded = lower.lower(source, pads={array.name: pad})
    wanted = {a.access.id for a in mine}
    summary = summarize(padded, launch, params, texts=False, facts=facts, only=wanted, samples=True)
    again = {r.access.id: r for r in summary.accesses}
    return PadTrial(
        array.name,
        _declared(array, 0),
        _declared(array, pad),
        pad,
        {a.access.id: _cost(a) for a in mine},
        {a.access.id: _cost(again[a.access.id]) for a in mine},
        {a.access.id: again[a.access.id].sample_lanes for a in mine},
    )


def _conflicts(accesses: Sequence[AccessResult]) -> bool:
    return any(_cost(a) > _ideal(a) for a in accesses)


def _cost(access: AccessResult) -> float:
    """Wavefronts per request: the mean, or the maximum where there is none."""
    count = access.wavefronts
    if count is None:
        return 0.0
    return float(count.max if count.mean is None else count.mean)


def _ideal(access: AccessResult) -> float:
    return float(access.wavefronts.ideal or 0) if access.wavefronts is not None else 0.0


def _declared(array: Array, pad: int) -> str:
    *outer, inner = array.dims
    return array.name + "".join(f"[{d}]" for d in (*outer, inner + pad))
