"""Loops: a body is run once from placeholders and once for the iteration number k.

The first run is silent and shows how each variable changes, so it passes over all that only
computes addresses; ``closed_forms`` says what each variable is when iteration k starts.  The second
run records the accesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coalescecheck.ir import kernel as ir
from coalescecheck.ir.expr import Binary, Expr, Var, children
from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.cells import cell_array, cell_type, is_cell
from coalescecheck.symbolic.closed_forms import ClosedForms, Header, Iteration
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol, number
from coalescecheck.symbolic.leaving import REASON
from coalescecheck.symbolic.reach import LoopInfo
from coalescecheck.symbolic.state import Frame, State
from coalescecheck.symbolic.trips import falls, holds_before, trips_of
from coalescecheck.symbolic.values import Environment

if TYPE_CHECKING:
    from coalescecheck.symbolic.interpret import Interpreter

FLAG_ROUNDS = 4  # a flag only ever turns from uniform to varying, along chains of variables


class LoopSolver:
    """Interprets the loops of one kernel on behalf of its Interpreter."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._it = interpreter
        self._ctx: Context = interpreter.ctx
        self._closed = ClosedForms(interpreter.values, interpreter.spend)
        self._unroller = interpreter.unroller
        self._assigned: dict[int, dict[str, ScalarType]] = {}
        self._flags: dict[int, dict[str, bool]] = {}
        self._both: dict[tuple[frozenset[int], frozenset[int]], frozenset[int]] = {}

    def loop(self, stmt: ir.Loop, state: State) -> State | None:
        """The state after the loop; accesses inside are recorded with their LoopInfo."""
        state = State(self._it.live.before(stmt, state.env), state.path)
        assigned = self._assigned_in(stmt, state.env)
        changes = self._it.prepared.changes(stmt, self._it.live.before(stmt, assigned))
        before, mark, steps = self._it.reached(), len(self._ctx.generators), self._it.steps
        solved = self._solved(stmt, state, assigned, self._within(changes))
        if solved is None:  # its body never comes to a second iteration: ``do { } while (0)``
            return self._unroller.run(stmt, state, 1)
        first, iteration, info, exact = solved
        info.steady = exact or all(falls(self._ctx, c, info.counter) for c in info.entry)
        if self._unroller.helps(info, self._it.steps - steps):
            summed = before.reaches()
            before.restore()
            after = self._unroller.unrolled(stmt, state, info)
            before.replace(self._unroller.better(summed, before.reaches(), mark))
            return after
        endless = first.condition == op.ONE and not _may_wrap(stmt.condition)
        trips = None if iteration.exits else self._trips(stmt, info, exact)
        return self._after(stmt, state, trips, iteration, info, assigned, endless)

    def _trips(self, stmt: ir.Loop, info: LoopInfo, exact: bool) -> Form | None:
        """The number of iterations; None where it is not known, or the test comes last."""
        if exact and stmt.test_first and info.limit is not None:
            return number(info.limit)
        return trips_of(self._ctx, info, stmt.test_first)

    def _within(self, changes: frozenset[int]) -> frozenset[int]:
        """``changes`` as far as they are followed here."""
        around = self._it.followed
        if around is None:
            return changes
        known = self._both.get((changes, around))
        if known is None:
            known = self._both[changes, around] = changes & around
        return known

    def _solved(
        self,
        stmt: ir.Loop,
        state: State,
        assigned: dict[str, ScalarType],
        followed: frozenset[int] | None,
    ) -> tuple[Iteration, Iteration, LoopInfo, bool] | None:
        """Both runs of the body, the first one through the statements ``followed``; None where it
        never comes to its end."""
        it = self._it
        headers, first, mark = self._explore(stmt, state, assigned, followed)
        if first.end is None or (first.condition == ZERO and not stmt.test_first):
            return None
        counter = Symbol(f"k{stmt.span.line or ''}", "counter", False, 0, None)
        solution, limit, k, exact = self._closed.solve(
            stmt, headers, first, mark, counter, assigned
        )
        info = LoopInfo(next(iter(k.generators())), stmt.span, limit)
        env = {n: form for n, form in state.env.items() if not _is_lost(n, first.end)} | solution
        before, ends = it.reached(), it.dead_ends
        iteration = self._iteration(stmt, env, state, info)
        if iteration.end is None and it.dead_ends > ends and followed is not it.followed:
            before.restore()  # the first run has passed over a loop that never ends
            return self._solved(stmt, state, assigned, it.followed)
        return first, iteration, info, exact

    # --- first run ----------------------------------------------------------------------------

    def _assigned_in(self, stmt: ir.Loop, env: Environment) -> dict[str, ScalarType]:
        known = self._assigned.get(id(stmt))
        if known is None:
            known = self._assigned[id(stmt)] = {v.name: v.type for v in _targets(stmt)}
        written = self._it.prepared.written(stmt)
        if not written:
            return known
        cells = [name for name in env if is_cell(name) and cell_array(name) in written]
        return known | {name: cell_type(name) for name in cells}

    def _explore(
        self,
        stmt: ir.Loop,
        state: State,
        assigned: dict[str, ScalarType],
        followed: frozenset[int] | None,
    ) -> tuple[dict[str, Header], Iteration, int]:
        """Run what is ``followed`` of the body from placeholders until the varying flags no longer
        change."""
        ctx, it = self._ctx, self._it
        present = [name for name in assigned if name in state.env]
        seen = self._flags.get(id(stmt), {})  # flags only grow, so earlier rounds need no repeat
        flags = {n: seen.get(n, False) or ctx.varying(state.env[n]) for n in present}
        recording, it.recording = it.recording, False
        around, it.followed = it.followed, followed
        before = it.reached()
        for _ in range(FLAG_ROUNDS):
            mark = len(ctx.generators)
            headers = {
                name: self._header(name, state.env[name], flags[name], assigned[name])
                for name in present
            }
            env = dict(state.env) | {n: h.base + h.symbol for n, h in headers.items()}
            first = self._iteration(stmt, env, state, LoopInfo(-1, stmt.span))
            if first.end is None:
                break
            grown = {
                n: flags[n] or (n in first.end.env and ctx.varying(first.end.env[n]))
                for n in present
            }
            if grown == flags:
                break
            flags = grown
        it.recording, it.followed = recording, around
        before.restore()  # jumps of silent runs are made again
        self._flags[id(stmt)] = flags
        return headers, first, mark

    def _header(self, name: str, start: Form, varying: bool, type_: ScalarType) -> Header:
        if self._it.values.is_floating(start):
            return Header(ZERO, self._it.values.floating(varying), ZERO, None)
        base = self._base_part(start)
        low = 0 if type_.kind == "uint" else None
        high = 1 if type_.name == "bool" else None
        generator = len(self._ctx.generators)
        symbol = self._ctx.fresh(Symbol(name, "header", varying, low, high, bits=type_.bits))
        return Header(base, symbol, start - base, generator)

    def _base_part(self, form: Form) -> Form:
        """The base symbol of an address with exactly one, else 0."""
        bases = [
            m
            for m, c in form.terms.items()
            if len(m) == 1 and c == 1 and self._is_kind(m[0], "base")
        ]
        mixed = [m for m in form.terms if len(m) > 1 and any(self._is_kind(g, "base") for g in m)]
        return Form({bases[0]: 1}) if len(bases) == 1 and not mixed else ZERO

    def _is_kind(self, g: int, kind: str) -> bool:
        generator = self._ctx.generators[g]
        return isinstance(generator, Symbol) and generator.kind == kind

    def _iteration(
        self, stmt: ir.Loop, env: Environment, state: State, info: LoopInfo
    ) -> Iteration:
        """One run of test, body and step under ``info``."""
        it = self._it
        it.spend(8 * len(env))
        current: State | None = State(env, state.path)
        condition, normal_exit = op.ONE, None
        test_info = LoopInfo(info.counter, info.span, _more(info.limit))
        if stmt.test_first and current is not None:
            it.loops.append(test_info)
            current = it.block(stmt.test, current)
            it.loops.pop()
        if stmt.test_first and current is not None:
            condition = it.condition(stmt.condition, current.env)
            normal_exit = dict(current.env)
            info.entry = op.conjuncts(self._ctx, condition)
            current.path = it.with_condition(current.path, condition)
        path = current.path if current else ()
        sets, writes = self._assigned[id(stmt)], it.prepared.written(stmt)
        frame = Frame(stmt.label, path, info=info, sets=sets, writes=writes)
        it.frames.append(frame)
        it.loops.append(info)
        if condition != ZERO:
            current = it.block(stmt.body, current)
            current = it.join(frame.entry, frame.continues + ([current] if current else []))
            current = it.block(stmt.step, current)
        if not stmt.test_first and current is not None:
            current = it.block(stmt.test, current)
        if not stmt.test_first and current is not None:
            condition = it.condition(stmt.condition, current.env)
            normal_exit = dict(current.env)
            info.carry.append(condition)
        it.loops.pop()
        it.frames.pop()
        test_info.carry = [condition, *info.carry]
        return Iteration(current, normal_exit, frame.exits, condition, frame.passed, info.carry)

    # --- after the loop -----------------------------------------------------------------------

    def _after(
        self,
        stmt: ir.Loop,
        state: State,
        trips: Form | None,
        iteration: Iteration,
        info: LoopInfo,
        assigned: dict[str, ScalarType],
        endless: bool,
    ) -> State | None:
        broke = bool(iteration.exits)
        staying = self._staying(iteration, info, trips)
        if iteration.normal_exit is None or endless:
            if not broke:
                self._it.dead_ends += 1
                if not iteration.escaped:
                    self._it.hangs += 1
                    self._it.endless[stmt.span] = None
                return None
            if iteration.end is None and len(iteration.exits) == 1:
                return self._left_at_once(iteration.exits[0], info)
        if info.carry and staying is None:
            trips = None
        varying_exit = any(
            self._ctx.varying(c) for c in (iteration.condition, *info.entry, *info.carry)
        )
        env = dict(state.env)
        sources = [iteration.normal_exit] if iteration.normal_exit is not None else []
        sources += [s.env for s in iteration.exits]
        for name in {n for source in sources for n in env.keys() - source.keys() if is_cell(n)}:
            del env[name]
        for name in assigned:
            at_exit = [source[name] for source in sources if name in source]
            if not at_exit or (name not in env and is_cell(name)):
                continue
            env[name] = self._final(at_exit, info, trips, varying_exit, assigned[name])
        path = state.path
        if iteration.escaped and staying is not None:
            path = self._it.with_condition(path, staying)
        elif iteration.escaped:
            path = (*path, self._it.values.opaque_condition(varying_exit, "a return in a loop"))
        return State(env, path)

    def _staying(self, iteration: Iteration, info: LoopInfo, trips: Form | None) -> Form | None:
        """Whether a thread comes to the regular end of a loop that is only left for further out;
        None where that is not known.  The loops around are told what it is for one iteration of
        theirs."""
        if trips is None:
            return None
        ctx, counter = self._ctx, info.counter
        for frame in self._it.frames:
            carry = [] if frame.info is None else frame.info.carry
            for at, condition in enumerate(carry):
                if counter in ctx.leaves(condition):
                    carry[at] = holds_before(ctx, condition, counter, trips) or condition
        staying = op.ONE
        for condition in info.carry:
            held = holds_before(ctx, condition, counter, trips)
            if held is None:
                return None
            staying = op.both(ctx, staying, held)
        return staying

    def _left_at_once(self, exit_: State, info: LoopInfo) -> State:
        """The state of a break that is always taken in the first iteration."""
        first = {info.counter: ZERO}
        env = {n: self._ctx.substitute(f, first) for n, f in exit_.env.items()}
        return State(env, tuple(self._ctx.substitute(c, first) for c in exit_.path))

    def _final(
        self,
        at_exit: list[Form],
        info: LoopInfo,
        trips: Form | None,
        varying_exit: bool,
        type_: ScalarType,
    ) -> Form:
        ctx = self._ctx
        if self._it.values.is_floating(at_exit[0]):
            return self._it.values.floating(varying_exit or any(map(ctx.varying, at_exit)))
        counter = info.counter
        stable = len(set(at_exit)) == 1 and counter not in ctx.leaves(at_exit[0])
        own = any(g > counter and s.kind in ("data", "counter") for g, s in ctx.symbols(at_exit[0]))
        if stable and not own:
            return at_exit[0]
        if trips is not None and len(at_exit) == 1 and not own:
            return ctx.substitute(at_exit[0], {counter: trips})
        varying = varying_exit or any(map(ctx.varying, at_exit))
        reason = self._it.values.reason_of(*at_exit) or REASON
        if len(at_exit) == 1 and not varying_exit:
            last = self._last(at_exit[0], counter, reason)
            if last is not None:
                return last
        base = self._base_part(at_exit[0])
        if base.terms and all(self._base_part(f) == base for f in at_exit):
            return base + self._it.values.opaque(type_, varying, reason)
        return self._it.values.opaque(type_, varying, reason)

    def _last(self, form: Form, counter: int, reason: str) -> Form | None:
        """``form`` in the last iteration, which is the same for all lanes: what was the same for
        all of them in every iteration is so in the last; None where something was not."""
        ctx = self._ctx
        values: dict[int, Form] = {}
        for g, symbol in ctx.symbols(form):
            if g < counter:
                continue
            if symbol.varying or symbol.kind not in ("data", "counter"):
                return None
            last = Symbol(symbol.name, "data", False, symbol.low, None, symbol.multiple, reason)
            values[g] = ctx.fresh(last)
        return ctx.substitute(form, values)


def _may_wrap(expr: Expr) -> bool:
    """Whether unsigned arithmetic in a condition may wrap: ``i + 1 > 0`` need not hold for ever."""
    if isinstance(expr, Binary) and expr.type.kind == "uint" and expr.op in ("+", "-", "*", "<<"):
        return True
    return any(_may_wrap(child) for child in children(expr))


def _more(limit: int | None) -> int | None:
    return None if limit is None else limit + 1


def _is_lost(name: str, end: State) -> bool:
    """Whether a cell is no longer known when an iteration ends: it is not known in any later."""
    return is_cell(name) and name not in end.env


def _targets(stmt: ir.Stmt) -> Iterator[Var]:
    """The variables that some statement inside assigns."""
    for inner in ir.walk((stmt,)):
        if isinstance(inner, ir.Load):
            yield from (var for _, var in inner.more)
        if isinstance(inner, ir.Assign | ir.Load | ir.WarpOp | ir.Atomic):
            target = inner.var
            if target is not None:
                yield target
