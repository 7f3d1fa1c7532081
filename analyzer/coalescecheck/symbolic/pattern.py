"""The shape of an access between neighbouring lanes: its stride and the name of its pattern."""

from __future__ import annotations

import numpy as np

from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.form import Context, Form, Symbol, number
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.outcome import Outcome

Stride = int | Form | None


def lane_stride(ctx: Context, counter: Counter, lanes: Form) -> Stride:
    """Bytes between neighbouring lanes of one row of the block, if it is one value.

    The row runs along ``threadIdx.x``, or along the first dimension that is not 1.
    """
    step = _derivative(ctx, counter, lanes)
    if step is not None:
        return step.constant if step.is_constant else step
    if any(s.kind != "tid" for _, s in ctx.symbols(lanes)):
        return None
    values = Evaluator(ctx, counter.threads((lanes,))).form(lanes)
    table = np.broadcast_to(values, (1, *counter.lanes.exists.shape))[0]
    same_row = (np.diff(counter.lanes.y) == 0) & (np.diff(counter.lanes.z) == 0)
    if counter.lanes.x.max() == 0:
        same_row = np.ones_like(same_row)
    steps = np.unique(np.diff(table)[same_row & counter.lanes.exists[:, 1:]])
    return int(steps[0]) if len(steps) == 1 else None


def _derivative(ctx: Context, counter: Counter, lanes: Form) -> Form | None:
    """The change of a polynomial from one lane to the next; None if it is no such."""
    axis = next((a for a in "xyz" if getattr(counter.lanes, a).max() > 0), "x")
    threads = {
        g: s.name for g, s in ctx.symbols(lanes) if s.kind == "tid" and s.name.endswith(axis)
    }
    direct = lanes.generators()
    if any(not isinstance(ctx.generators[g], Symbol) for g in direct):
        return None
    if not threads:
        return number(0) if not any(ctx.generators[g].varying for g in direct) else None
    g = next(iter(threads))
    moved = ctx.substitute(lanes, {g: Form({(g,): 1}) + number(1)})
    step = moved - lanes
    return None if ctx.varying(step) else step


def pattern_name(
    stride: Stride, outcome: Outcome, width: int, gathers: bool, same: bool, banked: bool
) -> str:
    """coalesced | misaligned | strided | broadcast | gather | irregular; what is ``banked`` has
    no sectors to be aligned to."""
    if gathers:
        return "gather"
    if same:
        return "broadcast"
    cost = outcome.units.max if outcome.units.mean is None else outcome.units.mean
    if cost <= outcome.ideal + 1e-9:
        return "coalesced"
    if stride in (width, -width) and not banked:
        return "misaligned"
    if stride is not None and stride != 0:
        return "strided"
    return "irregular"
