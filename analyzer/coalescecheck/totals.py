"""Sums over a whole launch of a kernel.

In: the results of its accesses.  Out: requests, sectors, wavefronts and bank conflicts as exact
integers where everything is known, as bounds where it is not.  Knows nothing of how an access
was counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from coalescecheck.analysis import AccessResult, AccessTotals, KernelTotals, Total
from coalescecheck.ir.kernel import Op, Space

NOTHING = Total(0, 0)
ANYTHING = Total(0, None)
UNKNOWN = AccessTotals(ANYTHING, ANYTHING, ANYTHING, ANYTHING)


def kernel_totals(accesses: Iterable[AccessResult], complete: bool) -> KernelTotals:
    """The totals of a kernel; ``complete``: no access of it is missing from ``accesses``.

    An access whose memory space is not known may belong to both spaces.  Numbers that rest on
    printed assumptions are bounds, never exact.
    """
    accesses = list(accesses)
    loads = [a for a in accesses if a.access.op is Op.LOAD]
    stores = [a for a in accesses if a.access.op is Op.STORE]
    atomics = [a for a in accesses if a.access.op is Op.ATOMIC]

    def total(some: list[AccessResult], space: Space, field: str) -> Total:
        start = NOTHING if complete else ANYTHING
        mine = (_of(a) for a in some if a.space == space.value or not _has_space(a))
        return reduce(Total.__add__, (getattr(each, field) for each in mine), start)

    return KernelTotals(
        global_requests=total(accesses, Space.GLOBAL, "requests"),
        global_sectors=total(accesses, Space.GLOBAL, "units"),
        global_load_sectors=total(loads, Space.GLOBAL, "units"),
        global_store_sectors=total(stores, Space.GLOBAL, "units"),
        global_atomic_sectors=total(atomics, Space.GLOBAL, "units"),
        shared_requests=total(accesses, Space.SHARED, "requests"),
        shared_wavefronts=total(accesses, Space.SHARED, "units"),
        shared_bank_conflicts=total(accesses, Space.SHARED, "excess"),
    )


def _has_space(access: AccessResult) -> bool:
    """Whether the access is known to be in the space it is filed under."""
    if access.space == Space.TEXTURE.value:
        return True
    return access.certainty != "unknown" or (bool(access.array) and "|" not in access.array)


def _of(access: AccessResult) -> AccessTotals:
    found = access.totals
    if found is None:
        return UNKNOWN
    if not access.assumptions:
        return found
    parts = (found.requests, found.units, found.ideal, found.excess)
    return AccessTotals(*(Total(part.min, part.max, assumed=True) for part in parts))
