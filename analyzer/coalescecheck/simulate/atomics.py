"""Atomic operations of many lanes, applied one after the other in lane order.

In: a typed view of memory, the cell and the operands of every lane.  Out: memory changed, and
the value each lane found.  Lane order is one legal order out of many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coalescecheck.simulate.values import Data

Ints = NDArray[np.int64]

_UNORDERED: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _increment(old: Data, limit: Data) -> Data:
    """``atomicInc``: wraps to 0 at the limit."""
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Data, limit: Data) -> Data:
    """``atomicDec``: wraps to the limit at 0 or above the limit."""
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


_UPDATE: dict[str, Callable[..., Data]] = {
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "min": lambda old, x: np.minimum(old, x),
    "max": lambda old, x: np.maximum(old, x),
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "exch": lambda old, x: x,
    "inc": _increment,
    "dec": _decrement,
    "cas": lambda old, compare, x: np.where(old == compare, x, old),
}


def is_known(op: str) -> bool:
    """Whether the operation's effect is known."""
    return op in _UPDATE


def operand_count(op: str) -> int:
    """How many operands one scalar takes."""
    return 2 if op == "cas" else 1


def apply(view: Data, cells: Ints, op: str, operands: list[Data], wanted: bool) -> Data | None:
    """Change ``view[cells]``; the old values in lane order if they are ``wanted``."""
    if not wanted and op in _UNORDERED and len(operands) == 1:
        _UNORDERED[op].at(view, cells, operands[0])
        return None
    if op in ("add", "sub") and view.dtype.kind in "iu":
        return _running_sum(view, cells, operands[0] if op == "add" else -operands[0])
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    sizes = np.diff(starts, append=len(cells))
    old = np.empty(len(cells), dtype=view.dtype)
    for turn in range(int(sizes.max(initial=0))):  # the turn-th lane of every cell
        lanes = order[starts[sizes > turn] + turn]
        found = view[cells[lanes]]
        old[lanes] = found
        view[cells[lanes]] = _UPDATE[op](found, *(operand[lanes] for operand in operands))
    return old


def _running_sum(view: Data, cells: Ints, amounts: Data) -> Data:
    """Integer additions: every lane finds the cell plus what lower lanes added."""
    order = np.argsort(cells, kind="stable")
    sorted_cells, sorted_amounts = cells[order], amounts[order]
    total = np.cumsum(sorted_amounts, dtype=view.dtype)
    before = total - sorted_amounts
    first = np.flatnonzero(np.diff(sorted_cells, prepend=-1))
    group = np.cumsum(np.diff(sorted_cells, prepend=-1) != 0) - 1
    old = np.empty(len(cells), dtype=view.dtype)
    old[order] = view[sorted_cells] + (before - before[first][group])
    np.add.at(view, cells, amounts)
    return old
