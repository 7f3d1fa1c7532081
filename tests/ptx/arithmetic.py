"""Arithmetic, comparisons and bits (PTX ISA 8.x, chapters 9.7.1 to 9.7.8).

Floating-point results are rounded once, which is near enough for comparisons; packed halves are
left as they are, for no address is made of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .memory import Bits, Mask
from .text import Instruction, Unsupported, bits
from .values import PACKED, REALS, Numbers, Operation, ones, wrapped

if TYPE_CHECKING:
    from .machine import Frame


def _elementwise(
    function: Callable[..., Numbers], real: Callable[..., Numbers] | None = None
) -> Operation:
    """An operation on numbers of its type; ``real`` is that on floating-point ones."""

    def operation(frame: Frame, step: Instruction, lanes: Mask) -> None:
        target, *operands = step.operands
        type_ = step.modifiers[-1]
        if type_ in PACKED:
            frame.put(target, frame.raw(operands[0]), lanes)
            return
        values = [frame.number(operand, type_) for operand in operands]
        if type_ == "pred":
            values = [value != 0 for value in values]
        if type_[0] != "f":
            frame.put(target, function(*values), lanes)
            return
        result = (real or function)(*values)
        frame.put(target, result.astype(REALS[type_]), lanes)

    return operation


def _with_carry(sign: int, takes: bool) -> Operation:
    """``add.cc``, ``addc``, ``sub.cc`` and ``subc``."""

    def operation(frame: Frame, step: Instruction, lanes: Mask) -> None:
        target, left, right = step.operands
        type_ = step.modifiers[-1]
        if not takes and "cc" not in step.modifiers:
            _PLAIN[sign](frame, step, lanes)
            return
        carry = frame.block.carry if takes else np.zeros(frame.block.lanes, bool)
        pairs = zip(frame.unsigned(left, type_), frame.unsigned(right, type_), carry, strict=True)
        sums = [int(a) + sign * (int(b) + int(c)) for a, b, c in pairs]
        size = 1 << bits(type_)
        if "cc" in step.modifiers:
            over = np.array([not 0 <= total < size for total in sums])
            frame.block.carry = np.where(lanes, over, frame.block.carry)
        frame.put(target, np.array([total % size for total in sums], np.uint64), lanes)

    return operation


_PLAIN = {1: _elementwise(operator.add), -1: _elementwise(operator.sub)}


def _product(frame: Frame, step: Instruction, left: str, right: str) -> Bits:
    type_ = step.modifiers[-1]
    a, b = frame.number(left, type_), frame.number(right, type_)
    if "hi" not in step.modifiers:
        return wrapped(a * b, "u64")
    high = (int(x) * int(y) >> bits(type_) for x, y in zip(a, b, strict=True))
    return np.array([value % (1 << 64) for value in high], np.uint64)


def _multiply(frame: Frame, step: Instruction, lanes: Mask) -> None:
    if step.modifiers[-1][0] in "fb":
        _elementwise(operator.mul)(frame, step, lanes)
        return
    target, left, right = step.operands
    frame.put(target, _product(frame, step, left, right), lanes)


def _multiply_add(frame: Frame, step: Instruction, lanes: Mask) -> None:
    type_ = step.modifiers[-1]
    if type_[0] in "fb":
        _elementwise(lambda a, b, c: a * b + c)(frame, step, lanes)
        return
    if "cc" in step.modifiers or step.opcode == "madc":
        raise Unsupported(step.text)
    target, left, right, added = step.operands
    frame.put(target, _product(frame, step, left, right) + frame.raw(added), lanes)


def _divided(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Quotient and remainder as C has them, toward zero; what a division by 0 gives is all ones."""
    none = b == 0
    by = np.where(none, np.ones_like(b), b)
    if a.dtype == np.int64:
        quotient = np.where(
            (a < 0) != (by < 0), -(np.abs(a) // np.abs(by)), np.abs(a) // np.abs(by)
        )
    else:
        quotient = a // by
    rest = a - quotient * by
    nothing = np.full_like(a, -1) if a.dtype == np.int64 else np.full_like(a, 2**64 - 1)
    return np.where(none, nothing, quotient), rest


def _shift_left(frame: Frame, step: Instruction, lanes: Mask) -> None:
    size = bits(step.modifiers[-1])
    by = frame.unsigned(step.operands[2], "u32")
    moved = frame.raw(step.operands[1]) << np.minimum(by, np.uint64(63))
    frame.put(step.operands[0], np.where(by < size, moved, np.uint64(0)), lanes)


def _shift_right(frame: Frame, step: Instruction, lanes: Mask) -> None:
    type_ = step.modifiers[-1]
    by = np.minimum(frame.unsigned(step.operands[2], "u32"), np.uint64(bits(type_)))
    value = frame.number(step.operands[1], type_)
    moved = value >> np.minimum(by, np.uint64(63)).astype(value.dtype)
    if value.dtype == np.uint64:
        moved = np.where(by < bits(type_), moved, np.uint64(0))
    frame.put(step.operands[0], moved, lanes)


def _unordered(a: Numbers, b: Numbers) -> Numbers:
    return np.isnan(a) | np.isnan(b)


_COMPARISONS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "eq": operator.eq,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lo": operator.lt,
    "ls": operator.le,
    "hi": operator.gt,
    "hs": operator.ge,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": operator.ne,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: ~_unordered(a, b),
    "nan": _unordered,
}
_JOINED = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def _compared(frame: Frame, step: Instruction) -> Numbers:
    type_ = step.modifiers[-1]
    left, right = (frame.number(operand, type_) for operand in step.operands[1:3])
    return _COMPARISONS[step.modifiers[0]](left, right)


def _set_predicate(frame: Frame, step: Instruction, lanes: Mask) -> None:
    holds = _compared(frame, step)
    opposite = ~holds
    if len(step.operands) > 3:
        join = next(_JOINED[m] for m in step.modifiers if m in _JOINED)
        other = frame.raw(step.operands[3]) != 0
        holds, opposite = join(holds, other), join(opposite, other)
    for target, value in zip(step.operands[0].split("|"), (holds, opposite), strict=False):
        frame.put(target, value, lanes)


def _set(frame: Frame, step: Instruction, lanes: Mask) -> None:
    holds, type_ = _compared(frame, step), step.modifiers[-2]
    value = holds.astype(np.float32) if type_[0] == "f" else np.where(holds, ones(bits(type_)), 0)
    frame.put(step.operands[0], value, lanes)


def _select(frame: Frame, step: Instruction, lanes: Mask) -> None:
    target, yes, no, condition = step.operands
    value = np.where(frame.raw(condition) != 0, frame.raw(yes), frame.raw(no))
    frame.put(target, value, lanes)


def _per_lane(function: Callable[..., int]) -> Operation:
    """An operation that Python does lane by lane: ``function(size, signed, *operands)``."""

    def operation(frame: Frame, step: Instruction, lanes: Mask) -> None:
        target, first, *rest = step.operands
        type_ = step.modifiers[-1]
        columns = [frame.unsigned(first, type_), *(frame.raw(operand) for operand in rest)]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        results = [function(bits(type_), type_[0] == "s", *row) % (1 << 64) for row in rows]
        frame.put(target, np.array(results, np.uint64), lanes)

    return operation


def _extract(size: int, signed: bool, value: int, at: int, length: int) -> int:
    at, length = at & 255, length & 255
    field = (value >> at) & ((1 << length) - 1) if at < size else 0
    if signed and length and (value >> min(at + length - 1, size - 1)) & 1:
        held = max(0, min(length, size - at))
        field |= -1 << held
    return field


def _insert(size: int, _: bool, field: int, value: int, at: int, length: int) -> int:
    mask = (((1 << (length & 255)) - 1) << (at & 255)) & ((1 << size) - 1)
    return (value & ~mask) | ((field << (at & 255)) & mask)


def _highest(size: int, signed: bool, value: int) -> int:
    if signed and value >> (size - 1):
        value = ~value % (1 << size)
    return value.bit_length() - 1


def _permute(frame: Frame, step: Instruction, lanes: Mask) -> None:
    if len(step.modifiers) > 1:
        raise Unsupported(step.text)
    low, high, selector = (frame.unsigned(operand, "u32") for operand in step.operands[1:4])
    both, value = low | (high << np.uint64(32)), np.zeros(frame.block.lanes, np.uint64)
    for number in range(4):
        picked = selector >> np.uint64(4 * number)
        byte = (both >> ((picked & np.uint64(7)) * np.uint64(8))) & np.uint64(255)
        signs = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        value |= np.where(picked & np.uint64(8), signs, byte) << np.uint64(8 * number)
    frame.put(step.operands[0], value, lanes)


def _funnel(frame: Frame, step: Instruction, lanes: Mask) -> None:
    low, high, by = (frame.unsigned(operand, "u32") for operand in step.operands[1:4])
    limit = np.uint64(32)
    by = np.minimum(by, limit) if "clamp" in step.modifiers else by % limit
    both = low | (high << limit)
    frame.put(step.operands[0], both >> (limit - by if "l" in step.modifiers else by), lanes)


ARITHMETIC: dict[str, Operation] = {
    "add": _with_carry(1, takes=False),
    "addc": _with_carry(1, takes=True),
    "sub": _with_carry(-1, takes=False),
    "subc": _with_carry(-1, takes=True),
    "mul": _multiply,
    "mad": _multiply_add,
    "madc": _multiply_add,
    "fma": _multiply_add,
    "div": _elementwise(lambda a, b: _divided(a, b)[0], operator.truediv),
    "rem": _elementwise(lambda a, b: _divided(a, b)[1]),
    "min": _elementwise(np.minimum, np.fmin),
    "max": _elementwise(np.maximum, np.fmax),
    "abs": _elementwise(np.abs),
    "neg": _elementwise(np.negative),
    "and": _elementwise(operator.and_),
    "or": _elementwise(operator.or_),
    "xor": _elementwise(operator.xor),
    "not": _elementwise(operator.invert),
    "cnot": _elementwise(lambda a: (a == 0).astype(np.uint64)),
    "shl": _shift_left,
    "shr": _shift_right,
    "shf": _funnel,
    "setp": _set_predicate,
    "set": _set,
    "selp": _select,
    "bfe": _per_lane(_extract),
    "bfi": _per_lane(_insert),
    "bfind": _per_lane(_highest),
    "popc": _per_lane(lambda size, signed, value: value.bit_count()),
    "clz": _per_lane(lambda size, signed, value: size - value.bit_length()),
    "brev": _per_lane(lambda size, signed, value: int(f"{value:0{size}b}"[::-1], 2)),
    "prmt": _permute,
    "sqrt": _elementwise(np.sqrt),
    "rsqrt": _elementwise(lambda a: 1 / np.sqrt(a)),
    "rcp": _elementwise(np.reciprocal),
    "sin": _elementwise(np.sin),
    "cos": _elementwise(np.cos),
    "ex2": _elementwise(np.exp2),
    "lg2": _elementwise(np.log2),
    "tanh": _elementwise(np.tanh),
    "copysign": _elementwise(lambda sign, a: np.copysign(a, sign)),
}
