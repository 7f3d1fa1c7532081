"""Addresses that a kernel keeps in memory, to be loaded again as pointers.

In: a kernel.  Out: the arrays that may hold addresses of other than global memory: what such a
pointer is for is not known when it is loaded.
"""

from __future__ import annotations

from coalescecheck.ir.kernel import Atomic, Kernel, Space, Store, expressions, walk
from coalescecheck.ir.origins import origins_in
from coalescecheck.ir.per_kernel import per_kernel


class KeptPointers:
    """Answers for one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._everywhere = False
        self._holders: set[str] = set()
        origins = origins_in(kernel)
        near = {name for name, array in kernel.arrays.items() if array.space is not Space.GLOBAL}
        for stmt in walk(kernel.body) if near else ():
            if not isinstance(stmt, Store | Atomic):
                continue
            address, *values = expressions(stmt)
            pointers = [v for v in values if v.type.size == 8 and v.type.kind != "float"]
            if not any(near & origins.known(value) for value in pointers):
                continue
            holders = origins.of(address)
            self._everywhere |= holders is None
            self._holders |= holders or set()

    def may_be_near(self, name: str) -> bool:
        """Whether a pointer loaded from the array ``name`` (empty: from somewhere) may point to
        shared, constant or local memory."""
        return self._everywhere or (name in self._holders if name else bool(self._holders))


@per_kernel
def kept_pointers(kernel: Kernel) -> KeptPointers:
    """The addresses that ``kernel`` keeps in memory."""
    return KeptPointers(kernel)
