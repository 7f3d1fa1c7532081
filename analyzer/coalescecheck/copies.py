"""One source access, reached through several inlined calls, as one result.

A helper function that is called from ten places is lowered ten times.  Where the copies have the
same numbers they are one access to the reader, with the requests of all of them; copies that
never run are left out beside one that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from math import gcd

from coalescecheck.analysis import AccessResult, AccessTotals, Motion, Verified

# What may differ between copies: identity, and how often they run.
_OWN = {"access", "address", "guards", "loops", "requests", "totals", "verified",
        "sample_lanes", "unique_sectors", "assumptions", "motion", "array", "names"}  # fmt: skip
_SHARED = tuple(f.name for f in fields(AccessResult) if f.name not in _OWN)
_COPY = re.compile(r"\.\d+$")  # the number of a per-thread array in a further copy of its function


def merged(accesses: Iterable[AccessResult]) -> tuple[AccessResult, ...]:
    """The accesses with equal copies put together, in the order of the first copy."""
    groups: dict[tuple[object, ...], AccessResult] = {}
    for access in accesses:
        key = _key(access)
        before = groups.get(key)
        groups[key] = access if before is None else _joined(before, access)
    running = {_place(a) for a in groups.values() if a.requests != 0}
    return tuple(a for a in groups.values() if a.requests != 0 or _place(a) not in running)


def _place(result: AccessResult) -> tuple[object, ...]:
    access = result.access
    return (access.span, access.op, access.kind, access.index, access.element, access.pieces)


def _key(result: AccessResult) -> tuple[object, ...]:
    array = _COPY.sub("", result.array) if result.space == "local" else result.array
    return (*_place(result), array, *(getattr(result, name) for name in _SHARED))


def _joined(one: AccessResult, other: AccessResult) -> AccessResult:
    known = one.requests is not None and other.requests is not None
    return replace(
        one,
        requests=(one.requests or 0) + (other.requests or 0) if known else None,
        totals=_sum(one.totals, other.totals),
        verified=_verdict(one.verified, other.verified),
        unique_sectors=None,  # copies may touch the same sectors
        motion=_motion(one.motion, other.motion),
        assumptions=tuple(dict.fromkeys(one.assumptions + other.assumptions)),
    )


def _sum(one: AccessTotals | None, other: AccessTotals | None) -> AccessTotals | None:
    if one is None or other is None:
        return None
    return AccessTotals(
        *(getattr(one, f.name) + getattr(other, f.name) for f in fields(AccessTotals))
    )


def _motion(one: Motion | None, other: Motion | None) -> Motion | None:
    """That of the first copy, where the others step alike."""
    if one is None or other is None:
        return None
    same = (one.threads, one.loops, one.trips) == (other.threads, other.loops, other.trips)
    divisor, start = gcd(one.divisor, other.divisor), gcd(one.start, other.start)
    return replace(one, divisor=divisor, start=start) if same else None


def _verdict(one: Verified, other: Verified) -> Verified:
    """The worse verdict; a copy that was checked speaks for one that was not reached."""
    order = ("not-run", "agrees", "disagrees")
    simulation = max(one.simulation, other.simulation, key=order.index)
    return Verified(
        simulation,
        max(one.gpu, other.gpu, key=order.index),
        max(one.warps_checked, other.warps_checked),
        one.reason if simulation == order[0] else "",
    )
