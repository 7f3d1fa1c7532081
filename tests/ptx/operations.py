"""Moves, conversions and calls (PTX ISA 8.x, chapters 9.7.9 and 9.7.12), and all operations."""

from __future__ import annotations

import functools
import operator
import re
from typing import TYPE_CHECKING

import numpy as np

from .arithmetic import ARITHMETIC
from .memory import Mask
from .text import Instruction, Unsupported, bits, separated, several
from .traffic import TRAFFIC
from .values import REALS, Operation, extended, ones, wrapped
from .warps import WARPS

if TYPE_CHECKING:
    from .machine import Frame

_ROUNDINGS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_RUNTIME = {"vprintf": 4, "malloc": 8, "free": 0}  # bytes of what they return: zeros


def _declare_parameter(frame: Frame, step: Instruction, lanes: Mask) -> None:
    name, size = step.operands
    frame.parameters[name] = np.zeros((frame.block.lanes, max(int(size), 1)), np.uint8)


def _move(frame: Frame, step: Instruction, lanes: Mask) -> None:
    to, of = step.operands
    if to.startswith("{"):
        targets = several(to)
        size = bits(step.modifiers[-1]) // len(targets)
        value = frame.raw(of)
        for number, target in enumerate(targets):
            frame.put(target, value >> np.uint64(size * number), lanes)
        return
    parts = several(of)
    size = bits(step.modifiers[-1]) // len(parts)
    value = frame.raw(parts[0])
    if len(parts) > 1:
        pieces = (
            (frame.raw(part) & ones(size)) << np.uint64(size * number)
            for number, part in enumerate(parts)
        )
        value = functools.reduce(operator.or_, pieces)
    frame.put(to, value, lanes)


def _convert(frame: Frame, step: Instruction, lanes: Mask) -> None:
    to, of = step.modifiers[-2:]
    if not all(re.fullmatch(r"[su]\d+|f16|f32|f64", type_) for type_ in (to, of)):
        raise Unsupported(step.text)
    value = frame.number(step.operands[1], of)
    low, high = (-(1 << bits(to) - 1), (1 << bits(to) - 1) - 1) if to[0] == "s" else (0, None)
    if of[0] == "f":
        value = value.astype(np.float64)
        for name, rounding in _ROUNDINGS.items():
            if name in step.modifiers:
                value = rounding(value)
    if to[0] == "f":
        frame.put(step.operands[0], value.astype(REALS[to]), lanes)
        return
    if of[0] == "f" or "sat" in step.modifiers:
        most = (1 << bits(to)) - 1 if high is None else high
        numbers = (0 if v != v else max(low, min(most, _whole(v))) for v in value.tolist())
        value = np.array([n % (1 << 64) for n in numbers], np.uint64)
    frame.put(step.operands[0], extended(wrapped(value, to), to), lanes)


def _whole(value: float) -> int:
    return int(max(-(2.0**70), min(2.0**70, value)))


def _call(frame: Frame, step: Instruction, lanes: Mask) -> None:
    has_results = step.operands[0].startswith("(")
    results = separated(step.operands[0][1:-1]) if has_results else []
    name, *lists = step.operands[has_results:]
    arguments = separated(lists[0][1:-1]) if lists else []
    block = frame.block
    if name == "__assertfail":
        block.exited |= lanes
    elif name in _RUNTIME:
        for result in results:
            frame.parameters[result] = np.zeros((block.lanes, _RUNTIME[name]), np.uint8)
    elif name not in block.module.functions:
        raise Unsupported(f"call of {name}")
    else:
        given = [frame.parameters[argument].copy() for argument in arguments]
        callers = (*frame.callers, step.place) if step.place else frame.callers
        returned = block.call(block.module.functions[name], given, lanes, callers)
        frame.parameters |= dict(zip(results, returned, strict=True))


def _nothing(frame: Frame, step: Instruction, lanes: Mask) -> None:
    """A fence, a hint, or a write that nothing here reads."""


def _zeros(frame: Frame, step: Instruction, lanes: Mask) -> None:
    """What a texture holds."""
    for target in several(step.operands[0]):
        frame.put(target, np.zeros(frame.block.lanes, np.uint64), lanes)


OPERATIONS: dict[str, Operation] = {
    **ARITHMETIC,
    **TRAFFIC,
    **WARPS,
    ".param": _declare_parameter,
    "mov": _move,
    "cvt": _convert,
    "call": _call,
    "membar": _nothing,
    "fence": _nothing,
    "nanosleep": _nothing,
    "prefetch": _nothing,
    "tex": _zeros,
    "tld4": _zeros,
    "suld": _zeros,
    "sust": _nothing,
}
