"""Loads, stores, atomics and copies (PTX ISA 8.x, chapters 9.7.9 and 9.7.13)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .memory import LOCAL, SHARED, Bits, Bytes, Mask
from .text import Instruction, Unsupported, bits, several
from .values import PACKED, REALS, Operation, extended, ones

if TYPE_CHECKING:
    from .machine import Frame

_SPACES = ("param", "global", "shared", "local", "const")
_WINDOWS = {"shared": SHARED, "local": LOCAL}


def _space(step: Instruction) -> str:
    names = (modifier.split("::")[0] for modifier in step.modifiers)
    return next((name for name in names if name in _SPACES), "")


def _touch(frame: Frame, step: Instruction, op: str, at: Bits, width: int, lanes: Mask) -> None:
    space = _space(step)
    if space in ("local", "param", "const"):
        return
    places = (*frame.callers, step.place) if step.place else frame.callers
    for name, some in frame.block.memory.spaces(at, lanes, space):
        frame.block.touch(name, op, width, at, some, places)


def _parameter(operand: str) -> tuple[str, int]:
    found = re.fullmatch(r"\[\s*([\w$%]+)\s*(?:\+\s*(\d+))?\s*\]", operand)
    assert found is not None, operand
    return found.group(1), int(found.group(2) or 0)


def _load(frame: Frame, step: Instruction, lanes: Mask) -> None:
    targets, type_ = several(step.operands[0]), step.modifiers[-1]
    width = bits(type_) // 8
    size, data = width * len(targets), None
    if _space(step) == "param":
        name, offset = _parameter(step.operands[1])
        held = frame.parameters.get(name)
        data = None if held is None else held[:, offset : offset + size]
    if data is None:
        at = frame.address(step.operands[1])
        _touch(frame, step, "load", at, size, lanes)
        space = "" if _space(step) in ("param", "const") else _space(step)
        data = frame.block.memory.load(at, lanes, size, space)
    for number, target in enumerate(targets):
        wide = np.zeros((frame.block.lanes, 8), np.uint8)
        wide[:, :width] = data[:, number * width : (number + 1) * width]
        value = wide.view(np.uint64)[:, 0]
        frame.put(target, extended(value, type_), lanes)


def _bytes(frame: Frame, operand: str, width: int) -> Bytes:
    return np.ascontiguousarray(frame.raw(operand)).view(np.uint8).reshape(-1, 8)[:, :width]


def _store(frame: Frame, step: Instruction, lanes: Mask) -> None:
    width = bits(step.modifiers[-1]) // 8
    parts = [_bytes(frame, part, width) for part in several(step.operands[1])]
    data = np.concatenate(parts, axis=1)
    if _space(step) == "param":
        name, offset = _parameter(step.operands[0])
        frame.parameters[name][lanes, offset : offset + data.shape[1]] = data[lanes]
        return
    at = frame.address(step.operands[0])
    _touch(frame, step, "store", at, data.shape[1], lanes)
    frame.block.memory.store(at, lanes, data, _space(step))


def _atomic(frame: Frame, step: Instruction, lanes: Mask) -> None:
    type_, returns = step.modifiers[-1], step.opcode == "atom"
    where, *given = step.operands[1:] if returns else step.operands
    if type_ in (*PACKED, "f16", "b128") or {"v2", "v4"} & set(step.modifiers):
        raise Unsupported(step.text)
    kind = next(m for m in step.modifiers if m in _ATOMICS)
    at, width, memory = frame.address(where), bits(type_) // 8, frame.block.memory
    _touch(frame, step, "atomic", at, width, lanes)
    values = [frame.raw(operand) & ones(8 * width) for operand in given]
    before = np.zeros(frame.block.lanes, np.uint64)
    for lane in np.nonzero(lanes)[0]:
        alone = np.zeros(frame.block.lanes, bool)
        alone[lane] = True
        held = memory.load(at, alone, width, _space(step))
        old = int.from_bytes(held[lane].tobytes(), "little")
        before[lane] = old
        new = _ATOMICS[kind](type_, old, *(int(value[lane]) for value in values))
        held[lane] = np.frombuffer((new % (1 << 8 * width)).to_bytes(width, "little"), np.uint8)
        memory.store(at, alone, held, _space(step))
    if returns:
        frame.put(step.operands[0], before, lanes)


def _as_number(type_: str, value: int) -> Any:
    if type_[0] == "f":
        return np.array([value], f"u{bits(type_) // 8}").view(REALS[type_])[0]
    half = 1 << (bits(type_) - 1)
    return (value ^ half) - half if type_[0] == "s" else value


def _sum(type_: str, old: int, value: int) -> int:
    if type_[0] != "f":
        return old + value
    total = _as_number(type_, old) + _as_number(type_, value)
    return int.from_bytes(np.array([total], REALS[type_]).tobytes(), "little")


def _chosen(choose: Callable[[Any, Any], bool]) -> Callable[[str, int, int], int]:
    return lambda type_, old, value: (
        old if choose(_as_number(type_, old), _as_number(type_, value)) else value
    )


_ATOMICS: dict[str, Callable[..., int]] = {
    "add": _sum,
    "min": _chosen(operator.lt),
    "max": _chosen(operator.gt),
    "and": lambda _, old, value: old & value,
    "or": lambda _, old, value: old | value,
    "xor": lambda _, old, value: old ^ value,
    "exch": lambda _, old, value: value,
    "cas": lambda _, old, compared, value: value if old == compared else old,
    "inc": lambda _, old, limit: 0 if old >= limit else old + 1,
    "dec": lambda _, old, limit: limit if old == 0 or old > limit else old - 1,
}


def _copy_async(frame: Frame, step: Instruction, lanes: Mask) -> None:
    """``cp.async``; what commits and waits does nothing here."""
    if not step.operands or not step.operands[0].startswith("["):
        return
    if len(step.operands) != 3 or "bulk" in step.modifiers:
        raise Unsupported(step.text)
    to, of, width = *map(frame.address, step.operands[:2]), int(step.operands[2])
    places = (*frame.callers, step.place) if step.place else frame.callers
    frame.block.touch("global", "load", width, of, lanes, places)
    frame.block.touch("shared", "store", width, to, lanes, places)
    memory = frame.block.memory
    memory.store(to, lanes, memory.load(of, lanes, width, ""), "shared")


def _convert_address(frame: Frame, step: Instruction, lanes: Mask) -> None:
    value, start = frame.raw(step.operands[1]), np.uint64(_WINDOWS.get(_space(step), 0))
    if start and "to" in step.modifiers:
        value = value - start
    elif start:
        value = np.where(value < start, value + start, value)
    frame.put(step.operands[0], value, lanes)


def _is_in_space(frame: Frame, step: Instruction, lanes: Mask) -> None:
    address, (space,) = frame.raw(step.operands[1]), step.modifiers
    window = address & ~ones(44)
    inside = {name: window == np.uint64(start) for name, start in _WINDOWS.items()}
    found = inside.get(space.split("::")[0], ~(inside["shared"] | inside["local"]))
    frame.put(step.operands[0], found, lanes)


TRAFFIC: dict[str, Operation] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "cp": _copy_async,
    "cvta": _convert_address,
    "isspacep": _is_in_space,
}
