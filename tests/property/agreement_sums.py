"""The sums, L1 stages and unique sectors of one access against its whole simulation."""

from __future__ import annotations

import numpy as np

from coalescecheck.analysis import AccessResult, Count
from coalescecheck.simulate import AccessTrace


def sums(result: AccessResult, trace: AccessTrace, when: str) -> list[str]:
    """Totals and L1 stages that do not contain what was simulated."""
    name = f"#{result.access.id} {result.access.index} ({when})"
    return [f"{name}: {problem}" for problem in (*_totals(result, trace), *_l1(result, trace))]


def equal_sums(result: AccessResult, trace: AccessTrace) -> list[str]:
    """What is said to be known and is not what was simulated; the launch is known."""
    name = f"#{result.access.id} {result.access.index}"
    found = sums(result, trace, "known parameters")
    if result.certainty == "exact" and result.requests is not None and result.totals is not None:
        totals = result.totals
        exact = (totals.requests, totals.units, totals.ideal, totals.excess)
        found += [f"{name}: exact but {total}" for total in exact if total.exact is None]
    sectors = unique_sectors(result, trace)
    unique = result.unique_sectors
    if unique is not None and unique.launch is not None and unique.launch != sectors:
        found.append(f"{name}: {unique.launch} unique sectors derived, {sectors} simulated")
    return found


def unique_sectors(result: AccessResult, trace: AccessTrace) -> int:
    """Different sectors among all recorded addresses."""
    assert trace.addresses is not None
    assert trace.masks is not None
    own = np.broadcast_to(trace.array[:, None].astype(np.int64) << 40, trace.addresses.shape)
    starts, width = (trace.addresses + own)[trace.masks], result.width_bytes
    return len(np.unique(np.concatenate([starts // 32, (starts + width - 1) // 32])))


def _totals(result: AccessResult, trace: AccessTrace) -> list[str]:
    totals = result.totals
    if totals is None:
        return []
    banked = result.space in ("shared", "constant")
    units = int((trace.wavefronts if banked else trace.sectors).sum())
    ideal = int((trace.ideal_wavefronts if banked else trace.ideal_sectors).sum())
    pairs = (
        (trace.requests, totals.requests),
        (units, totals.units),
        (ideal, totals.ideal),
        (units - ideal, totals.excess),
    )
    return [
        f"total {simulated} simulated, {total} derived"
        for simulated, total in pairs
        if simulated < total.min or (total.max is not None and simulated > total.max)
    ]


def _l1(result: AccessResult, trace: AccessTrace) -> list[str]:
    l1 = result.l1_wavefronts
    if l1 is None or not trace.requests:
        return []
    stages = ((l1.data, trace.l1_data), (l1.tag, -(-trace.lines // 4)))
    return [
        f"L1 {count} derived, {values.min()}..{values.max()} mean {values.mean()} simulated"
        for count, values in stages
        if not _agrees(result, count, values)
    ]


def _agrees(result: AccessResult, count: Count, values: np.ndarray) -> bool:
    if not count.min <= values.min() <= values.max() <= count.max:
        return False
    known = result.certainty == "exact" and result.requests is not None
    return not known or count.mean is None or abs(count.mean - float(values.mean())) < 1e-9
