"""Loops whose iterations are gone through one by one.

In: a loop that ends after a few iterations.  Out: the state after it, and the accesses of every
iteration.  That is dear, and it shows each access for one iteration only, so it is done where an
iteration by its number says too little: where places of per-thread arrays, or numbers that the
launch fixes, are picked by it (``index[i] = ...``, ``offset += position[d] * stride[d]``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coalescecheck.ir import kernel as ir
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ZERO, Context, Form
from coalescecheck.symbolic.reach import LoopInfo, Reach, Turn
from coalescecheck.symbolic.state import Frame, State

if TYPE_CHECKING:
    from coalescecheck.symbolic.interpret import Interpreter

MOST_ITERATIONS = 16
MOST_COPIES = 64  # of the body of the innermost of several loops


class Unroller:
    """Goes through the iterations of loops of one kernel on behalf of its Interpreter, in so many
    ``steps`` of its work, all loops together."""

    def __init__(self, interpreter: Interpreter, steps: int) -> None:
        self._it = interpreter
        self._steps = steps
        self._ctx: Context = interpreter.ctx
        self._wanted: set[int] = set()  # counters
        self._copies = 1

    def picks(self, address: Form) -> None:
        """Note that the place at ``address`` is not known but for a given iteration."""
        counters = set()
        for g, symbol in self._ctx.symbols(address):
            if symbol.kind == "counter":
                counters.add(g)
            elif symbol.kind != "base":
                return
        self._wanted |= counters

    def helps(self, info: LoopInfo, steps: int) -> bool:
        """Whether more would be known of the loop that was gone through as ``info`` says, in so
        many steps, and is not too dear to get."""
        if info.limit is None or info.counter not in self._wanted:
            return False
        few = info.limit <= MOST_ITERATIONS and self._copies * info.limit <= MOST_COPIES
        return few and steps * info.limit <= self._steps

    def unrolled(self, stmt: ir.Loop, state: State, info: LoopInfo) -> State | None:
        """The state after all iterations of the loop; its accesses are recorded for each."""
        times, before = info.limit or 0, self._it.steps
        self._copies *= max(times, 1)
        after = self.run(stmt, state, times)
        self._steps -= self._it.steps - before
        self._copies //= max(times, 1)
        return after

    def better(self, summed: list[Reach], single: list[Reach], first: int) -> list[Reach]:
        """By access what is known best: ``summed`` up by the iteration's number, or ``single``
        iterations.  What generators from the number ``first`` on stand for was met in the loop."""
        before, after = self._losses(summed, first), self._losses(single, first)
        better = {access for access, lost in before.items() if after.get(access, 0) < lost}
        kept = [reach for reach in summed if reach.access not in better]
        return kept + [reach for reach in single if reach.access in better]

    def _losses(self, reaches: list[Reach], first: int) -> dict[int, int]:
        """By access whether something that was read in the loop decides its place (2), or only
        which lanes are there (1)."""
        losses: dict[int, int] = {}
        for reach in reaches:
            place, lanes = self._is_read((reach.address,), first), self._is_read(reach.path, first)
            losses[reach.access] = max(losses.get(reach.access, 0), 2 * place, lanes)
        return losses

    def _is_read(self, forms: Iterable[Form], first: int) -> bool:
        return any(
            g >= first and (symbol.kind == "data" or (symbol.kind == "base" and "#" in symbol.name))
            for form in forms
            for g, symbol in self._ctx.symbols(form)
        )

    def run(self, stmt: ir.Loop, state: State, times: int) -> State | None:
        """The state after at most so many iterations, after which no thread goes on."""
        it = self._it
        frame = Frame(stmt.label, state.path, hangs=it.hangs)
        left: list[State] = []
        current: State | None = state
        it.frames.append(frame)
        for turn in range(times):
            it.turns.append(Turn(stmt.span, turn, times, len(it.loops)))
            if stmt.test_first:
                current = self._tested(stmt, current, left)
            current = self._iteration(stmt, frame, current)
            it.turns.pop()
            if current is not None and not stmt.test_first:
                last = turn == times - 1
                current = (
                    it.block(stmt.test, current) if last else self._tested(stmt, current, left)
                )
            if current is None:
                break
        if current is not None and stmt.test_first:
            current = it.block(stmt.test, current)
        it.frames.pop()
        return it.out_of(frame, it.join(frame.entry, _present((*frame.exits, *left, current))))

    def _iteration(self, stmt: ir.Loop, frame: Frame, state: State | None) -> State | None:
        if state is None:
            return None
        it, entry = self._it, state.path
        it.spend(8 * len(state.env))
        end = it.block(stmt.body, state)
        end = it.join(entry, _present((*frame.continues, end)))
        frame.continues.clear()
        return it.block(stmt.step, end)

    def _tested(self, stmt: ir.Loop, state: State | None, left: list[State]) -> State | None:
        """Who goes on after the loop's test; the others are ``left``."""
        it = self._it
        state = it.block(stmt.test, state)
        if state is None:
            return None
        condition = it.condition(stmt.condition, state.env)
        inverse = op.negate(self._ctx, condition)
        if inverse != ZERO:
            left.append(State(dict(state.env), it.with_condition(state.path, inverse)))
        if condition == ZERO:
            return None
        return State(state.env, it.with_condition(state.path, condition))


def _present(states: Iterable[State | None]) -> list[State]:
    return [state for state in states if state is not None]
