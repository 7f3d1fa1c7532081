"""What lanes of a warp get from each other: shuffles, votes, reductions, the lanes that run.

In: an operation, the forms of its arguments, and whether all lanes of the warp are there.  Out: the
form of its value.  What another lane has is known where it is made of thread indices: it is the
same form at that lane's ``threadIdx.x``.
"""

from __future__ import annotations

from collections.abc import Sequence

from coalescecheck.ir.kernel import WarpOp
from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.builtins import Geometry
from coalescecheck.symbolic.form import ZERO, Form, number
from coalescecheck.symbolic.values import Values

_ALL_LANES = number((1 << WARP_SIZE) - 1)
_SAME_OF_ANY = ("any", "all", "reduce_min", "reduce_max", "reduce_and", "reduce_or")
_WIDTHS = (1, 2, 4, 8, 16, 32)


class WarpValues:
    """The values of warp operations under one launch."""

    def __init__(self, values: Values, geometry: Geometry) -> None:
        self._values, self._ctx = values, values.ctx
        block = geometry.block
        # rows of whole warps: threadIdx.x is all that differs, and no lane is missing
        self._in_rows = block is None or block.x % WARP_SIZE == 0

    def of(self, stmt: WarpOp, args: Sequence[Form], together: bool) -> Form:
        """The value of ``stmt``; ``together`` if all lanes that exist run it at once."""
        whole = together and self._in_rows
        if stmt.op.startswith("shfl"):
            return self._shuffled(stmt, args, whole)
        if stmt.op == "activemask" and whole:
            return _ALL_LANES
        varying = any(map(self._ctx.varying, args[1:]))
        if args and not self._ctx.varying(args[0]) and not self._values.is_floating(args[0]):
            if stmt.op in _SAME_OF_ANY:
                return args[0]
            if stmt.op == "ballot" and whole and not varying and args[1:] in ([], [_ALL_LANES]):
                return op.select(self._ctx, args[0], _ALL_LANES, ZERO)
        # lanes with different masks are groups that each have a result of their own
        return self._values.opaque(stmt.var.type, varying, f"a warp-wide {stmt.op}")

    def _shuffled(self, stmt: WarpOp, args: Sequence[Form], whole: bool) -> Form:
        value, lane, width = args
        if not self._ctx.varying(value):
            return value
        if whole and self._is_of_thread(value) and self._is_of_thread(lane):
            found = self._from_lane(stmt.op, value, lane, width)
            if found is not None:
                return self._values.limited(found, stmt.var.type)
        from_one_lane = stmt.op == "shfl" and not self._ctx.varying(lane)
        return self._values.opaque(
            stmt.var.type,
            not (from_one_lane and width == number(WARP_SIZE)),
            "a value from another lane (shuffle)",
        )

    def _is_of_thread(self, form: Form) -> bool:
        """Whether nothing in it differs between lanes but ``threadIdx.x``."""
        return all(s.kind == "tid" or not s.varying for _, s in self._ctx.symbols(form))

    def _from_lane(self, kind: str, value: Form, lane: Form, width: Form) -> Form | None:
        """``value`` at the lane that ``kind`` reads from: CUDA C++ Programming Guide, "Warp Shuffle
        Functions"."""
        if not width.is_constant or width.constant not in _WIDTHS:
            return None
        ctx, segment = self._ctx, width.constant
        x = self._values.builtins.of("threadIdx.x")
        place = op.floor_remainder(ctx, x, segment)  # in its segment
        if kind == "shfl":
            return self._at(value, x - place + op.floor_remainder(ctx, lane, segment))
        if not lane.is_constant or not 0 <= lane.constant < segment:
            return None
        if kind == "shfl_xor":
            return self._at(value, op.bit_xor(ctx, x, lane))
        if kind == "shfl_up":
            return op.select(ctx, op.less(ctx, place, lane), value, self._at(value, x - lane))
        beyond = op.less(ctx, number(segment - 1), place + lane)
        return op.select(ctx, beyond, value, self._at(value, x + lane))

    def _at(self, value: Form, x: Form) -> Form:
        (symbol,) = self._values.builtins.of("threadIdx.x").generators()
        return op.replaced(self._ctx, value, {symbol: x})
