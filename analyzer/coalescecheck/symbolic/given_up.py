"""The accesses of a kernel that is too large to interpret: each is listed as unknown."""

from __future__ import annotations

from coalescecheck.analysis import AccessResult
from coalescecheck.ir.kernel import Atomic, Kernel, Load, Space, Store, walk
from coalescecheck.ir.mentions import mentioned

TOO_LARGE = "the kernel is too large to interpret"


def given_up(kernel: Kernel) -> tuple[AccessResult, ...]:
    """The accesses of a kernel that is too large: they are listed, and nothing is said of them.

    Per-thread arrays are left out, since most of them live in registers.
    """
    arrays = {
        stmt.access: kernel.arrays[base]
        for stmt in walk(kernel.body)
        if isinstance(stmt, Load | Store | Atomic)
        for base in sorted(mentioned(stmt.address).arrays)
    }
    known = ((access, arrays.get(access.id)) for access in kernel.accesses)
    return tuple(
        AccessResult(
            access=access,
            array="" if array is None else array.name,
            space=(access.unresolved_space if array is None else array.space).value,
            width_bytes=access.pieces[0].width if access.pieces else 0,
            address=None,
            lane_stride_bytes=None,
            pattern="irregular",
            certainty="unknown",
            reason=TOO_LARGE,
            requests_per_access=max(len(access.pieces), 1),
        )
        for access, array in known
        if array is None or array.space is not Space.LOCAL
    )
