"""Values exchanged between the lanes of a warp, and votes of a block.

In: an operation, its arguments per lane and the lanes that take part.  Out: the result per lane.
What a lane reads from a lane that does not take part is undefined, and marked so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.simulate.lanes import Batch, Mask
from coalescecheck.simulate.values import UNDEFINED, Data, Taint, Value, is_tainted, join

Ints = NDArray[np.int64]

_REDUCTIONS: dict[str, Callable[[Data, Data], Data]] = {
    "add": lambda x, m: np.where(m, x, x.dtype.type(0)).sum(axis=1, dtype=x.dtype),
    "min": lambda x, m: np.min(np.where(m, x, _largest(x)), axis=1),
    "max": lambda x, m: np.max(np.where(m, x, _smallest(x)), axis=1),
    "and": lambda x, m: np.bitwise_and.reduce(np.where(m, x, ~x.dtype.type(0)), axis=1),
    "or": lambda x, m: np.bitwise_or.reduce(np.where(m, x, x.dtype.type(0)), axis=1),
    "xor": lambda x, m: np.bitwise_xor.reduce(np.where(m, x, x.dtype.type(0)), axis=1),
}


def exchange(op: str, args: list[Value], mask: Mask, batch: Batch) -> Value | None:
    """The result of a warp or block operation; None when the operation is not known."""
    if op.startswith("shfl"):
        return _shuffle(op, args, mask, batch)
    if op.startswith("block_"):
        return _block_vote(op.removeprefix("block_"), args[0], mask, batch)
    lanes = mask.lanes.reshape(-1, WARP_SIZE)
    if op == "activemask":
        return Value(_spread(_bits(lanes)), mask.taint)
    taint = join(_group_taint(args[0].taint, mask, WARP_SIZE), mask.taint)
    data = np.broadcast_to(args[0].data, (batch.size,)).reshape(-1, WARP_SIZE)
    if len(args) > 1 and np.ndim(args[1].data) and (args[1].data != args[1].data[0]).any():
        # every lane has the result of the lanes in its mask
        named = args[1].data.astype(np.int64)[:, None] >> np.arange(WARP_SIZE) & 1 != 0
        lanes = np.repeat(lanes, WARP_SIZE, axis=0) & named
        data = np.repeat(data, WARP_SIZE, axis=0)
        return _combined(op, data, lanes, join(taint, args[1].taint))
    combined = _combined(op, data, lanes, taint)
    return None if combined is None else Value(_spread(combined.data), combined.taint)


def _combined(op: str, data: Data, lanes: Data, taint: Taint) -> Value | None:
    """The result of each row of lanes; None when the operation is not known."""
    match op:
        case "ballot":
            return Value(_bits((data != 0) & lanes), taint)
        case "any":
            return Value(((data != 0) & lanes).any(axis=1), taint)
        case "all":
            return Value(((data != 0) | ~lanes).all(axis=1), taint)
    reduction = _REDUCTIONS.get(op.removeprefix("reduce_"))
    return None if reduction is None else Value(reduction(data, lanes), taint)


def _shuffle(op: str, args: list[Value], mask: Mask, batch: Batch) -> Value:
    """``__shfl*_sync``: segments of ``width`` lanes; out-of-range lanes keep their own value."""
    data = np.broadcast_to(args[0].data, (batch.size,))
    lane = np.arange(batch.size, dtype=np.int64) % WARP_SIZE
    operand = np.broadcast_to(args[1].data, (batch.size,)).astype(np.int64)
    width = np.int64(WARP_SIZE) if len(args) < 3 else args[2].data.astype(np.int64)
    source, stays = _source(op, lane, operand, np.maximum(width, 1))
    source = np.where(stays, lane, source & (WARP_SIZE - 1))
    index = np.arange(batch.size, dtype=np.int64) - lane + source
    taint: Taint = join(*(arg.taint for arg in args[1:]), mask.taint)
    value_taint = args[0].taint
    taint = join(taint, value_taint if isinstance(value_taint, int) else value_taint[index])
    absent = mask.lanes & ~mask.lanes[index]
    if absent.any():
        taint = join(taint, (absent * UNDEFINED).astype(np.uint8))
    return Value(data[index], taint)


def _source(op: str, lane: Ints, operand: Ints, width: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The lane to read from, and whether the lane keeps its own value instead."""
    start = lane // width * width
    if op == "shfl":
        return start + operand % width, np.zeros(len(lane), dtype=np.bool_)
    if op == "shfl_up":
        return lane - operand, lane - operand < start
    if op == "shfl_down":
        return lane + operand, lane + operand >= start + width
    # xor may reach lower segments but not higher ones (CUDA C++ Programming Guide)
    return lane ^ operand, (lane ^ operand) >= start + width


def _block_vote(op: str, predicate: Value, mask: Mask, batch: Batch) -> Value:
    """``__syncthreads_count``, ``_and``, ``_or`` over the block's threads that arrive."""
    size = batch.lanes_per_block
    true = (np.broadcast_to(predicate.data, (batch.size,)) != 0).reshape(-1, size)
    lanes = mask.lanes.reshape(-1, size)
    taint = join(_group_taint(predicate.taint, mask, size), mask.taint)
    if op == "count":
        result = (true & lanes).sum(axis=1, dtype=np.int32)
    elif op == "and":
        result = (true | ~lanes).all(axis=1).astype(np.int32)
    else:
        result = (true & lanes).any(axis=1).astype(np.int32)
    return Value(np.repeat(result, size), taint)


def _group_taint(taint: Taint, mask: Mask, size: int) -> Taint:
    """What any lane of a group depends on, all of its lanes do."""
    if not is_tainted(taint):
        return 0
    full = np.broadcast_to(np.asarray(taint, dtype=np.uint8), mask.lanes.shape)
    mine = np.where(mask.possible(), full, np.uint8(0)).reshape(-1, size)
    return np.repeat(np.bitwise_or.reduce(mine, axis=1), size)


def _bits(lanes: Data) -> Data:
    return (lanes.astype(np.uint32) << np.arange(WARP_SIZE, dtype=np.uint32)).sum(
        axis=1, dtype=np.uint32
    )


def _spread(per_warp: Data) -> Data:
    return np.repeat(per_warp, WARP_SIZE)


def _largest(data: Data) -> Data:
    return np.inf if data.dtype.kind == "f" else np.iinfo(data.dtype).max


def _smallest(data: Data) -> Data:
    return -np.inf if data.dtype.kind == "f" else np.iinfo(data.dtype).min
