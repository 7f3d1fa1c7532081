"""What is taken of names that nothing declares: that they are sizes, the same for all threads.

A macro of a header that was not found may as well stand for a number of the thread.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.ir.kernel import Kernel
from coalescecheck.symbolic.fits import SAME
from coalescecheck.symbolic.form import Context
from coalescecheck.symbolic.reach import Reach


class Presumed:
    """The names of one kernel that nothing declares."""

    def __init__(self, ctx: Context, kernel: Kernel) -> None:
        self._ctx = ctx
        self._names = {param.name for param in kernel.params if param.presumed}

    def of(self, reaches: Iterable[Reach]) -> list[str]:
        """What is taken to hold of those that decide where and when an access is."""
        if not self._names:
            return []
        forms = {form for reach in reaches for form in (reach.address, *reach.path)}
        symbols = {symbol for form in forms for _, symbol in self._ctx.symbols(form)}
        found = {symbol.name for symbol in symbols if symbol.kind == "param"} & self._names
        return [f"{name} {SAME}" for name in sorted(found)]
