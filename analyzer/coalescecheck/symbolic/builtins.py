"""CUDA's own variables as forms: thread and block indices, dimensions, lane and warp numbers."""

from __future__ import annotations

from dataclasses import dataclass

from coalescecheck.launch import Dim3
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import Context, Form, Symbol, number

AXES = ("x", "y", "z")
MAX_BLOCK = (1024, 1024, 64)  # CUDA C++ Programming Guide, "Technical Specifications"
MAX_GRID = ((1 << 31) - 1, 65535, 65535)


@dataclass(frozen=True, slots=True)
class Geometry:
    """What is known of the launch: block and grid (None: unknown), dynamic shared memory in
    bytes, and the blocks to look at, as their indices (None: all)."""

    block: Dim3 | None
    grid: Dim3 | None
    shared_bytes: int | None = None
    blocks: tuple[tuple[int, int, int], ...] | None = None


class Builtins:
    """The variables under one launch; a form keeps what is found out about it, so each is made
    once."""

    def __init__(self, ctx: Context, geometry: Geometry) -> None:
        self._ctx, self._geometry = ctx, geometry
        self._known: dict[str, Form] = {}

    def of(self, name: str) -> Form:
        """The variable ``name``, such as ``threadIdx.x``."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._new(name)
        return known

    def _new(self, name: str) -> Form:
        """``threadIdx.x`` and its kin; dimensions are numbers where the launch is known."""
        head, _, axis = name.partition(".")
        at = AXES.index(axis) if axis else 0
        block, grid = self._geometry.block, self._geometry.grid
        match head:
            case "threadIdx":
                last = MAX_BLOCK[at] - 1 if block is None else block[at] - 1
                if last == 0:
                    return number(0)
                if block is None and axis != "x":
                    return self._axis(name, "row", 0, last)
                return self._ctx.symbol(Symbol(name, "tid", True, 0, last))
            case "blockIdx":
                if self._geometry.blocks is not None:
                    return self._sampled(tuple(b[at] for b in self._geometry.blocks))
                high = None if grid is None else grid[at] - 1
                return number(0) if high == 0 else self._axis(name, "bid", 0, high)
            case "blockDim":
                if block is not None:
                    return number(block[at])
                multiple = 32 if axis == "x" else 1
                low = multiple if axis == "x" else 1
                return self._axis(name, "bdim", low, MAX_BLOCK[at], multiple)
            case "gridDim":
                return self._axis(name, "gdim", 1, None) if grid is None else number(grid[at])
            case "laneid":
                return op.floor_remainder(self._ctx, self.linear_thread(), 32)
            case "warpid":
                return op.floor_divide(self._ctx, self.linear_thread(), 32)
        if self._geometry.shared_bytes is not None:
            return number(self._geometry.shared_bytes)
        return self._axis(name, "param", 0, None)

    def _axis(self, name: str, kind: str, low: int, high: int | None, multiple: int = 1) -> Form:
        return self._ctx.symbol(Symbol(name, kind, False, low, high, multiple))

    def _sampled(self, values: tuple[int, ...]) -> Form:
        """A block index that takes these values, one per sampled block."""
        if len(set(values)) == 1:
            return number(values[0])
        block = self._ctx.symbol(Symbol("block", "bid", False, 0, len(values) - 1))
        return self._ctx.atom("table", (block,), (min(values), max(values)), values)

    def linear_thread(self) -> Form:
        """x + y*Dx + z*Dx*Dy."""
        x, y, z = (self.of(f"threadIdx.{axis}") for axis in AXES)
        row, column = self.of("blockDim.x"), self.of("blockDim.y")
        return x + y * row + z * row * column
