"""What lanes of a warp tell each other, and threads of a block at a barrier (PTX ISA 8.x, chapter
9.7.13)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from .memory import Bits, Mask
from .text import Instruction
from .values import WARP_SIZE, Numbers, Operation

if TYPE_CHECKING:
    from .machine import Frame

_LANE_BITS = np.uint64(1) << np.arange(WARP_SIZE, dtype=np.uint64)


def _by_warp(values: Numbers) -> Numbers:
    return values.reshape(-1, WARP_SIZE)


def _shuffle(frame: Frame, step: Instruction, lanes: Mask) -> None:
    mode = next(m for m in step.modifiers if m in ("up", "down", "bfly", "idx"))
    by, limits = (frame.signed(operand, "u32").astype(np.int64) for operand in step.operands[2:4])
    lane = np.arange(frame.block.lanes) % WARP_SIZE
    segment, last = (limits >> 8) & 31, limits & 31
    highest = (lane & segment) | (last & ~segment)
    by = by & 31
    sources = {
        "up": lane - by,
        "down": lane + by,
        "bfly": lane ^ by,
        "idx": (lane & segment) | (by & ~segment),
    }
    source = sources[mode]
    valid = source >= highest if mode == "up" else source <= highest
    place = np.arange(frame.block.lanes) - lane + np.where(valid, source, lane) % WARP_SIZE
    targets = step.operands[0].split("|")
    frame.put(targets[0], frame.raw(step.operands[1])[place], lanes)
    if len(targets) > 1:
        frame.put(targets[1], valid, lanes)


def _ballot(holds: Mask) -> Bits:
    sums = (_by_warp(holds) * _LANE_BITS).sum(axis=1).astype(np.uint64)
    return np.repeat(sums, WARP_SIZE)


def _vote(frame: Frame, step: Instruction, lanes: Mask) -> None:
    holds = (frame.raw(step.operands[1]) != 0) & lanes
    all_ = np.repeat(_by_warp(holds | ~lanes).all(axis=1), WARP_SIZE)
    any_ = np.repeat(_by_warp(holds).any(axis=1), WARP_SIZE)
    answers = {"ballot": _ballot(holds), "any": any_, "all": all_, "uni": all_ | ~any_}
    kind = next(m for m in step.modifiers if m in answers)
    frame.put(step.operands[0], answers[kind], lanes)


def _active_mask(frame: Frame, step: Instruction, lanes: Mask) -> None:
    frame.put(step.operands[0], _ballot(lanes), lanes)


def _match(frame: Frame, step: Instruction, lanes: Mask) -> None:
    value, (first, *second) = frame.raw(step.operands[1]), step.operands[0].split("|")
    agree = np.zeros(frame.block.lanes, np.uint64)
    for lane in np.nonzero(lanes)[0]:
        warp = slice(lane // WARP_SIZE * WARP_SIZE, lane // WARP_SIZE * WARP_SIZE + WARP_SIZE)
        agree[lane] = _LANE_BITS[(value[warp] == value[lane]) & lanes[warp]].sum()
    if "all" in step.modifiers:
        everyone = agree == _ballot(lanes)
        agree = np.where(everyone, agree, np.uint64(0))
        for target in second:
            frame.put(target, everyone, lanes)
    frame.put(first, agree, lanes)


def _reduce(frame: Frame, step: Instruction, lanes: Mask) -> None:
    kinds: dict[str, Callable[[Iterable[int]], int]] = {
        "add": sum,
        "min": min,
        "max": max,
        "and": lambda values: functools.reduce(operator.and_, values),
        "or": lambda values: functools.reduce(operator.or_, values),
        "xor": lambda values: functools.reduce(operator.xor, values),
    }
    reduce = next(kinds[m] for m in step.modifiers if m in kinds)
    values, result = frame.number(step.operands[1], step.modifiers[-1]), np.zeros(0, np.uint64)
    for warp, active in zip(_by_warp(values), _by_warp(lanes), strict=True):
        total = reduce(warp[active].tolist()) % (1 << 64) if active.any() else 0
        result = np.append(result, np.full(WARP_SIZE, total, np.uint64))
    frame.put(step.operands[0], result, lanes)


def _barrier_reduction(frame: Frame, step: Instruction, lanes: Mask) -> None:
    kinds = {"popc": np.sum, "and": np.all, "or": np.any}
    reduce = next(kinds[m] for m in step.modifiers if m in kinds)
    holds = (frame.raw(step.operands[-1]) != 0)[lanes]
    frame.put(step.operands[0], np.full(frame.block.lanes, int(reduce(holds))), lanes)


WARPS: dict[str, Operation] = {
    "shfl": _shuffle,
    "vote": _vote,
    "activemask": _active_mask,
    "match": _match,
    "redux": _reduce,
    "bar": _barrier_reduction,
    "barrier": _barrier_reduction,
}
