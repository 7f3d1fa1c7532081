"""What is found once for a kernel, however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from coalescecheck.ir.kernel import Kernel

T = TypeVar("T")


class _Same:
    """A kernel as a key: equal to itself alone, so that no kernel is ever read to compare it."""

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __hash__(self) -> int:
        return id(self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.kernel is self.kernel


def per_kernel(find: Callable[[Kernel], T]) -> Callable[[Kernel], T]:
    """``find`` with its answers kept for the kernels asked about last: the one that is analysed and
    the one that is tried instead."""

    @lru_cache(maxsize=2)
    def kept(same: _Same) -> T:
        return find(same.kernel)

    @wraps(find)
    def of(kernel: Kernel) -> T:
        return kept(_Same(kernel))

    return of
