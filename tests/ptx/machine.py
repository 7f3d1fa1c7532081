"""Runs one block of a kernel, all lanes at once.

Lanes that part at a branch go on one group at a time, those at the lowest instruction first: they
come together where the paths do, as ``nvcc -G`` writes blocks in the order of the source.  A called
function runs to its end for the lanes that call it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .memory import PARAM, STATIC, Bits, Bytes, Mask, Memory
from .operations import OPERATIONS
from .text import Function, Instruction, Module, Place, Unsupported, bits
from .values import WARP_SIZE

_DEPTH = 40  # of calls
_PAGED = 1 << 13  # between variables, so that none shares a page
_ALIGNED = 16
_FLOATS = {"f16": (np.uint16, np.float16), "f32": (np.uint32, np.float32)}

Dim = tuple[int, int, int]
Touch = Callable[[str, str, int, Bits, Mask, Sequence[Place]], None]


class OutOfSteps(Exception):
    """The block takes more instructions than it may."""


@dataclass
class Block:
    """One block of a launch.  ``touch`` is called for each load, store and atomic with its state
    space, what it is, its bytes, the addresses, the active lanes and the places of the calls that
    led there, innermost last.  ``apart`` is set where lanes met a barrier one without the other."""

    module: Module
    block: Dim
    grid: Dim
    index: Dim
    touch: Touch
    steps: int
    lanes: int = 0
    exited: Mask = field(default_factory=lambda: np.zeros(0, bool))
    carry: Mask = field(default_factory=lambda: np.zeros(0, bool))
    apart: bool = False

    def __post_init__(self) -> None:
        x, y, z = self.block
        self.lanes = -(-x * y * z // WARP_SIZE) * WARP_SIZE
        thread = np.arange(self.lanes)
        self.threads = (thread % x, thread // x % y, thread // (x * y))
        self.live = thread < x * y * z
        self.exited, self.carry = np.zeros(self.lanes, bool), np.zeros(self.lanes, bool)
        self.stack = 0  # bytes of local memory in use
        self.addresses: dict[str, int] = {}
        start = STATIC
        for name, size in self.module.statics.items():
            self.addresses[name] = start
            start += -(-size // _PAGED) * _PAGED + _PAGED

    def run(self, kernel: Function, parameters: Sequence[bytes]) -> None:
        """Run ``kernel`` to its end; Unsupported, OutOfSteps."""
        packed = bytearray()
        for parameter, value in zip(kernel.parameters, parameters, strict=True):
            packed += bytes(-len(packed) % _ALIGNED)
            self.addresses[parameter.name] = PARAM + len(packed)
            packed += value
        initial = {self.addresses[n]: value for n, value in self.module.values.items()}
        self.memory = Memory(self.lanes, bytes(packed), initial)
        with np.errstate(all="ignore"):
            self.call(kernel, [], self.live.copy(), ())

    def call(
        self,
        function: Function,
        arguments: Sequence[Bytes],
        active: Mask,
        callers: tuple[Place, ...],
    ) -> list[Bytes]:
        """What ``function`` returns to the ``active`` lanes."""
        if len(callers) > _DEPTH:
            raise Unsupported("recursion")
        frame = Frame(self, function, active, callers)
        frame.parameters = {p.name: a for p, a in zip(function.parameters, arguments, strict=False)}
        for result in function.results:
            frame.parameters[result.name] = np.zeros((self.lanes, max(result.bytes, 1)), np.uint8)
        top = self.stack
        for name, size in function.locals.items():
            frame.locals[name] = self.stack = -(-self.stack // _ALIGNED) * _ALIGNED
            self.stack += size
        frame.run()
        self.stack = top
        return [frame.parameters[result.name] for result in function.results]


class Frame:
    """One call of a function: its registers, and where each lane is."""

    def __init__(
        self, block: Block, function: Function, active: Mask, callers: tuple[Place, ...]
    ) -> None:
        self.block, self.function, self.callers = block, function, callers
        self.parameters: dict[str, Bytes] = {}
        self.locals: dict[str, int] = {}
        self._registers: dict[str, Bits] = {}
        self._active = active
        self._targets = frozenset(function.labels.values())
        self._end = len(function.code)
        self._at = np.where(active, 0, self._end)
        self._waiting = np.zeros(block.lanes, bool)

    def run(self) -> None:
        """Run until every lane has returned or exited."""
        while True:
            self._at[self.block.exited] = self._end
            ready = (self._at < self._end) & ~self._waiting
            if ready.any():
                first = int(self._at[ready].min())
                self._straight_on(first, ready & (self._at == first))
            elif self._waiting.any():
                self._waiting[:] = False
            else:
                return

    def _straight_on(self, at: int, lanes: Mask) -> None:
        """Run ``lanes`` until they part, wait or come to a place that others may come to."""
        while at < self._end and lanes.any():
            step = self.function.code[at]
            self.block.steps -= 1
            if self.block.steps < 0:
                raise OutOfSteps
            taken = lanes
            if step.guard:
                holds = self.register(step.guard) != 0
                taken = lanes & (~holds if step.unless else holds)
            at += 1
            self._at[lanes] = at
            if self._jumps(step, taken):
                return
            if taken.any():
                _execute(self, step, taken)
                lanes = lanes & ~self.block.exited
            if at in self._targets:
                return

    def _jumps(self, step: Instruction, taken: Mask) -> bool:
        """Whether it is an instruction after which lanes are at different places."""
        labels = self.function.labels
        if step.opcode == "bra":
            self._at[taken] = labels[step.operands[0]]
        elif step.opcode == "brx":
            targets = np.array([labels[name] for name in self.function.tables[step.operands[1]]])
            index = self.signed(step.operands[0], "s32")
            self._at[taken] = targets[np.clip(index, 0, len(targets) - 1)][taken]
        elif step.opcode in ("ret", "exit", "trap"):
            self._at[taken] = self._end
            if step.opcode != "ret" or self.function.is_entry:
                self.block.exited |= taken
        elif step.opcode in ("bar", "barrier"):
            self._waits(step, taken)
        else:
            return False
        return True

    def _waits(self, step: Instruction, taken: Mask) -> None:
        if "red" in step.modifiers and taken.any():
            _execute(self, step, taken)
        if "warp" in step.modifiers or "arrive" in step.modifiers:
            return
        self._waiting |= taken
        live = self.block.live & ~self.block.exited
        here = self._active & live
        if (self._waiting | ~here).all():
            self._waiting[:] = False
            self.block.apart |= bool((here != live).any())

    # --- operands -----------------------------------------------------------------------------

    def register(self, name: str) -> Bits:
        """The bits of a register of each lane."""
        found = self._registers.get(name)
        if found is None:
            found = self._registers[name] = np.zeros(self.block.lanes, np.uint64)
        return found

    def raw(self, operand: str) -> Bits:
        """The bits of an operand, of whatever type."""
        if operand in self.function.registers:
            return self.register(operand)
        if operand.startswith("!"):
            return (self.raw(operand[1:]) == 0).astype(np.uint64)
        if operand.startswith("%"):
            return self._special(operand)
        return np.full(self.block.lanes, self._constant(operand), np.uint64)

    def unsigned(self, operand: str, type_: str) -> Bits:
        size = bits(type_)
        value = self.raw(operand)
        return value if size in (1, 64) else value & np.uint64((1 << size) - 1)

    def signed(self, operand: str, type_: str) -> np.ndarray:
        unused = 64 - bits(type_)
        value = self.raw(operand)
        return (value << np.uint64(unused)).view(np.int64) >> np.int64(unused)

    def number(self, operand: str, type_: str) -> np.ndarray:
        """An operand as its type says: ``s32``, ``f64``, ``b16`` (unsigned)."""
        if type_[0] == "s":
            return self.signed(operand, type_)
        if type_[0] != "f":
            return self.unsigned(operand, type_)
        if type_ == "f64":
            return self.raw(operand).view(np.float64)
        if type_ not in _FLOATS:
            raise Unsupported(type_)
        whole, real = _FLOATS[type_]
        return self.raw(operand).astype(whole).view(real)

    def address(self, operand: str) -> Bits:
        """The addresses of ``[a+4]``."""
        found = re.fullmatch(r"\[\s*(%?[\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]", operand)
        if found is None:
            raise Unsupported(operand)
        offset = np.uint64(int(found.group(2) or 0) % (1 << 64))
        return self.raw(found.group(1)) + offset

    def put(self, register: str, value: np.ndarray, lanes: Mask) -> None:
        """Set a register of ``lanes``, cut to its size."""
        if register == "_":
            return
        if value.dtype.kind == "f":
            value = value.view(f"u{value.dtype.itemsize}").astype(np.uint64)
        elif value.dtype != np.uint64:
            value = value.astype(np.int64).view(np.uint64)
        size = bits(self.function.registers[register])
        if 1 < size < 64:
            value = value & np.uint64((1 << size) - 1)
        np.copyto(self.register(register), value, where=lanes)

    def _constant(self, text: str) -> int:
        real = re.fullmatch(r"0[fFdD]([0-9a-fA-F]+)", text)
        if real is not None:
            return int(real.group(1), 16)
        if re.fullmatch(r"-?\d\w*", text):
            return int(text.rstrip("U"), 0) % (1 << 64)
        if text == "WARP_SZ":
            return WARP_SIZE
        name, _, offset = text.partition("+")
        return self._symbol(name.strip()) + int(offset or 0)

    def _symbol(self, name: str) -> int:
        module = self.block.module
        if name in self.locals:
            return self.locals[name]
        if name in module.dynamic:
            return -(-module.shared_bytes // _ALIGNED) * _ALIGNED
        known = module.shared.get(name, self.block.addresses.get(name))
        if known is None:
            raise Unsupported(f"symbol {name}")
        return known

    def _special(self, name: str) -> Bits:
        block, lane = self.block, np.arange(self.block.lanes) % WARP_SIZE
        word, _, axis = name[1:].partition(".")
        if word == "tid":
            return block.threads["xyz".index(axis)].astype(np.uint64)
        dims = {"ntid": block.block, "ctaid": block.index, "nctaid": block.grid}
        if word in dims:
            return np.full(block.lanes, dims[word]["xyz".index(axis)], np.uint64)
        if word == "laneid":
            return lane.astype(np.uint64)
        if word == "warpid":
            return (np.arange(block.lanes) // WARP_SIZE).astype(np.uint64)
        if word.startswith("lanemask_"):
            own = np.uint64(1) << lane.astype(np.uint64)
            below = own - np.uint64(1)
            masks = {"eq": own, "lt": below, "le": own | below, "gt": ~(own | below), "ge": ~below}
            return masks[word[-2:]] & np.uint64(0xFFFFFFFF)
        if word in ("clock", "clock64", "globaltimer", "smid"):
            return np.zeros(block.lanes, np.uint64)
        raise Unsupported(name)


def _execute(frame: Frame, step: Instruction, lanes: Mask) -> None:
    operation = OPERATIONS.get(step.opcode)
    if operation is None:
        raise Unsupported(f"{step.opcode}.{'.'.join(step.modifiers)}")
    operation(frame, step, lanes)
