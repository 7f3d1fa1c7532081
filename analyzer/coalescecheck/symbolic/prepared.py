"""What holds of a kernel under every launch: found once, however often it is analysed.

A kernel is interpreted for its launch, for the samples of its verification, and again for every
change of the launch that is tried.
"""

from __future__ import annotations

from functools import lru_cache

from coalescecheck.ir.kernel import Kernel
from coalescecheck.symbolic.liveness import Liveness
from coalescecheck.symbolic.relevance import Relevance


class Prepared:
    """The control-independent facts of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.relevant = Relevance(kernel)
        self.live = Liveness(kernel.body, self.relevant.variable)


class _Same:
    """A kernel as a key: equal to itself alone, so that no kernel is ever read to compare it."""

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __hash__(self) -> int:
        return id(self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.kernel is self.kernel


def prepared(kernel: Kernel) -> Prepared:
    """The facts of ``kernel``; those of the kernels asked about last are kept."""
    return _prepared(_Same(kernel))


@lru_cache(maxsize=2)
def _prepared(same: _Same) -> Prepared:
    return Prepared(same.kernel)
