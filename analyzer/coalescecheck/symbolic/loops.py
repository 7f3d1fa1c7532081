"""Loops in closed form: what each variable is when iteration number k starts.

A first, silent run of the body from placeholder values shows how every variable changes in one
iteration.  A constant step gives ``start + step*k``; a closed set of variables with constant
starts (``s >>= 1``, ``buffer ^= 1``) is run through and becomes a table over k; a step that is
the same for all lanes keeps the lane part and adds a uniform unknown; anything else becomes
unknown, with the right uniform or varying flag.  The second run records the accesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coalescecheck.ir import kernel as ir
from coalescecheck.ir.expr import Binary, Expr, Var, children
from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.cells import cell_type, is_cell
from coalescecheck.symbolic.form import ZERO, Atom, Context, Form, Symbol, number
from coalescecheck.symbolic.loop_tables import Change, Tables, run_through
from coalescecheck.symbolic.reach import LoopInfo
from coalescecheck.symbolic.state import Frame, State
from coalescecheck.symbolic.values import Environment

if TYPE_CHECKING:
    from coalescecheck.symbolic.interpret import Interpreter

GENERATOR_COST = 8  # of evaluating one for one iteration, in variables that are copied
FLAG_ROUNDS = 4  # a flag only ever turns from uniform to varying, along chains of variables


@dataclass(frozen=True, slots=True)
class Header:
    """A variable at the start of an iteration: ``base + placeholder`` while it is unknown."""

    base: Form
    symbol: Form
    start: Form  # value before the loop, without ``base``


@dataclass(slots=True)
class Iteration:
    """What one run of the body gave."""

    end: State | None  # before the next iteration
    normal_exit: Environment | None  # where the loop's own condition ends it
    exits: list[State]
    condition: Form
    escaped: bool  # some jump went further out than this loop
    carry: list[Form]  # what has to hold for another iteration


class LoopSolver:
    """Interprets the loops of one kernel on behalf of its Interpreter."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._it = interpreter
        self._ctx: Context = interpreter.ctx
        self._assigned: dict[int, dict[str, ScalarType]] = {}
        self._stores: dict[int, bool] = {}
        self._flags: dict[int, dict[str, bool]] = {}

    def loop(self, stmt: ir.Loop, state: State) -> State | None:
        """The state after the loop; accesses inside are recorded with their LoopInfo."""
        state = State(self._it.live.before(stmt, state.env), state.path)
        assigned = self._assigned_in(stmt, state.env)
        headers, first, mark = self._explore(stmt, state, assigned)
        if first.end is None or (first.condition == ZERO and not stmt.test_first):
            return self._once(stmt, state)
        counter = Symbol(f"k{stmt.span.line or ''}", "counter", False, 0, None)
        solution, limit, k, exact = self._solve(stmt, headers, first, mark, counter, assigned)
        info = LoopInfo(next(iter(k.generators())), stmt.span, limit)
        env = {n: form for n, form in state.env.items() if not _is_lost(n, first.end)} | solution
        iteration = self._iteration(stmt, env, state, info)
        info.steady = exact or all(self._falls(c, info.counter) for c in info.entry)
        endless = first.condition == op.ONE and not _may_wrap(stmt.condition)
        return self._after(stmt, state, headers, iteration, info, assigned, endless)

    def _once(self, stmt: ir.Loop, state: State) -> State | None:
        """A loop whose body never comes to a second iteration: ``do { } while (0)``."""
        it = self._it
        frame = Frame(stmt.label, state.path)
        current: State | None = state
        left: list[State] = []
        if stmt.test_first:
            current = it.block(stmt.test, state)
            if current is None:
                return None
            condition = it.condition(stmt.condition, current.env)
            inverse = op.negate(self._ctx, condition)
            if inverse != ZERO:
                left = [State(dict(current.env), it.with_condition(current.path, inverse))]
            current.path = it.with_condition(current.path, condition)
        it.frames.append(frame)
        end = it.block(stmt.body, current)
        end = it.join(state.path, frame.continues + ([end] if end else []))
        end = it.block(stmt.step, end)
        if not stmt.test_first:
            end = it.block(stmt.test, end)
        it.frames.pop()
        return it.join(frame.entry, frame.exits + left + ([end] if end else []))

    # --- first run ----------------------------------------------------------------------------

    def _assigned_in(self, stmt: ir.Loop, env: Environment) -> dict[str, ScalarType]:
        known = self._assigned.get(id(stmt))
        if known is None:
            known = self._assigned[id(stmt)] = {v.name: v.type for v in _targets(stmt)}
            self._stores[id(stmt)] = any(isinstance(s, ir.Store) for s in ir.walk((stmt,)))
        cells = [name for name in env if is_cell(name)] if self._stores[id(stmt)] else []
        if not cells:
            return known
        return known | {name: cell_type(name) for name in cells}

    def _explore(
        self, stmt: ir.Loop, state: State, assigned: dict[str, ScalarType]
    ) -> tuple[dict[str, Header], Iteration, int]:
        """Run the body from placeholders until the varying flags no longer change."""
        ctx, it = self._ctx, self._it
        present = [name for name in assigned if name in state.env]
        seen = self._flags.get(id(stmt), {})  # flags only grow, so earlier rounds need no repeat
        flags = {n: seen.get(n, False) or ctx.varying(state.env[n]) for n in present}
        recording, it.recording = it.recording, False
        around = [(f.info, len(f.info.carry)) for f in it.frames if f.info is not None]
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
        it.recording = recording
        for info, known in around:  # jumps of silent runs: they are made again
            del info.carry[known:]
        self._flags[id(stmt)] = flags
        return headers, first, mark

    def _header(self, name: str, start: Form, varying: bool, type_: ScalarType) -> Header:
        if start.generators() & self._it.values.float_generators:
            return Header(ZERO, self._it.values.floating(varying), ZERO)
        base = self._base_part(start)
        low = 0 if type_.kind == "uint" else None
        high = 1 if type_.name == "bool" else None
        symbol = self._ctx.fresh(Symbol(name, "header", varying, low, high))
        return Header(base, symbol, start - base)

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
        frame = Frame(stmt.label, current.path if current else (), info=info)
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

    # --- closed forms -------------------------------------------------------------------------

    def _solve(
        self,
        stmt: ir.Loop,
        headers: dict[str, Header],
        first: Iteration,
        mark: int,
        counter: Symbol,
        assigned: dict[str, ScalarType],
    ) -> tuple[Environment, int | None, Form, bool]:
        """The variables' values at iteration k, the bound on iterations, k itself, and whether
        the bound is the exact number of iterations."""
        ctx = self._ctx
        updates = self._updates(headers, first)
        tables = self._tables(stmt, headers, updates, first.condition, mark, assigned)
        k = ctx.fresh(counter)
        solution = self._solution(headers, updates, tables, k, mark, assigned)
        exact, limit = tables.trips is not None, tables.trips
        if not exact:
            known = (self._limit(stmt, headers, solution, first, k), tables.most)
            limit = min((most for most in known if most is not None), default=None)
        if limit is not None:
            high = max(limit - 1, 0) + (1 if stmt.test else 0)
            k = ctx.fresh(Symbol(counter.name, "counter", False, 0, high))
            solution = self._solution(headers, updates, tables, k, mark, assigned)
        return solution, limit, k, exact

    def _updates(self, headers: dict[str, Header], first: Iteration) -> dict[str, Form]:
        """Values at the end of an iteration, without base, with unchanged variables put in."""
        env = first.end.env if first.end is not None else {}
        raw = {n: env[n] - h.base for n, h in headers.items() if n in env}
        same = {
            next(iter(headers[n].symbol.generators())): headers[n].start
            for n, update in raw.items()
            if update == headers[n].symbol and self._is_header(headers[n].symbol)
        }
        return {n: self._ctx.substitute(update, same) for n, update in raw.items()}

    def _is_header(self, form: Form) -> bool:
        return any(self._is_kind(g, "header") for g in form.generators())

    def _solution(
        self,
        headers: dict[str, Header],
        updates: dict[str, Form],
        tables: Tables,
        k: Form,
        mark: int,
        assigned: dict[str, ScalarType],
    ) -> Environment:
        solution: Environment = {}
        for name, header in headers.items():
            if not self._is_header(header.symbol):
                solution[name] = header.symbol
            elif name not in updates:
                continue
            elif name in tables.of:
                solution[name] = header.base + tables.of[name].column(self._ctx, name, k)
            else:
                value = self._value_at(header, updates[name], k, mark, assigned[name])
                solution[name] = value
        self._swap_pointers(headers, updates, k, solution)
        return solution

    def _value_at(
        self, header: Header, update: Form, k: Form, mark: int, type_: ScalarType
    ) -> Form:
        ctx = self._ctx
        if update in (header.symbol, header.start):
            return header.base + header.start
        delta = update - header.symbol
        if self._is_linear(header, update, mark):
            return header.base + header.start + delta * k
        start = header.base + header.start
        reason = self._it.values.reason_of(delta) or "changed from iteration to iteration"
        if not ctx.varying(delta) and not self._mentions_base(delta):
            unknown = ctx.fresh(Symbol("step", "data", False, None, None, reason=reason))
            return start + unknown.scaled(max(ctx.multiple_of(delta), 1))
        varying = ctx.varying(update) or ctx.varying(start)
        opaque = self._it.values.opaque(type_, varying, reason)
        keeps_base = header.base.terms and not self._mentions_base(update)
        return header.base + opaque if keeps_base else opaque

    def _depends_on_iteration(self, form: Form, mark: int) -> bool:
        """Whether the form contains placeholders or unknowns made while the body ran."""
        return any(
            s.kind in ("header", "data", "counter") or (s.kind == "base" and "#" in s.name)
            for g, s in self._ctx.symbols(form)
            if g >= mark
        )

    def _mentions_base(self, form: Form) -> bool:
        return any(s.kind == "base" for _, s in self._ctx.symbols(form))

    def _swap_pointers(
        self, headers: dict[str, Header], updates: dict[str, Form], k: Form, solution: Environment
    ) -> None:
        """Two pointers exchanged in every iteration (ping-pong buffers) alternate with k."""
        owner = {h.base + h.symbol: name for name, h in headers.items()}
        takes = {name: owner.get(update + headers[name].base) for name, update in updates.items()}
        for a, b in takes.items():
            if b is None or a >= b or takes.get(b) != a:
                continue
            odd = op.floor_remainder(self._ctx, k, 2)
            first = headers[a].base + headers[a].start
            second = headers[b].base + headers[b].start
            solution[a] = op.select(self._ctx, odd, second, first)
            solution[b] = op.select(self._ctx, odd, first, second)

    # --- tables -------------------------------------------------------------------------------

    def _tables(
        self,
        stmt: ir.Loop,
        headers: dict[str, Header],
        updates: dict[str, Form],
        condition: Form,
        mark: int,
        types: dict[str, ScalarType],
    ) -> Tables:
        """What running through variables with constant starts and closed updates gives."""
        tested = self._ctx.leaves(condition)
        closed = {
            n: Change(g, h.start.constant, updates[n], types[n], g in tested)
            for n, h in headers.items()
            if n in updates and h.start.is_constant and self._is_header(h.symbol)
            for g in h.symbol.generators()
        }
        while True:
            members = {change.generator for change in closed.values()}
            keep = {n: c for n, c in closed.items() if self._ctx.leaves(c.update) <= members}
            if keep == closed:
                break
            closed = keep
        wanted = {n for n in closed if not self._is_linear(headers[n], updates[n], mark)}
        if not wanted:
            return Tables()

        def spend(generators: int) -> None:
            self._it.spend(GENERATOR_COST * generators)

        return run_through(self._ctx, closed, wanted, condition, stmt.test_first, spend)

    def _is_linear(self, header: Header, update: Form, mark: int) -> bool:
        """Whether ``start + step*k`` is the variable at iteration k."""
        if update in (header.symbol, header.start):
            return True
        return not self._depends_on_iteration(update - header.symbol, mark)

    # --- iteration counts ---------------------------------------------------------------------

    def _limit(
        self,
        stmt: ir.Loop,
        headers: dict[str, Header],
        solution: Environment,
        first: Iteration,
        k: Form,
    ) -> int | None:
        """An upper bound of the number of iterations, from the loop's condition and breaks."""
        values = {
            next(iter(h.symbol.generators())): solution[n] - h.base
            for n, h in headers.items()
            if n in solution and self._is_header(h.symbol)
        }
        counter = next(iter(k.generators()))
        tests = [first.condition] if stmt.test_first else []
        limits = [self._least(self._ctx.substitute(c, values), counter) for c in tests]
        # an iteration in which a later one is ruled out still runs itself
        carried = [self._least(self._ctx.substitute(c, values), counter) for c in first.carry]
        limits += [None if bound is None else bound + 1 for bound in carried]
        known = [max(bound, 0) for bound in limits if bound is not None]
        return min(known) if known else None

    def _least(self, condition: Form, counter: int) -> int | None:
        """How many k from 0 on can satisfy all parts of ``condition``."""
        bounds = [self._last(part, counter) for part in op.conjuncts(self._ctx, condition)]
        return min((max(b, 0) for b in bounds if b is not None), default=None)

    def _last(self, condition: Form, counter: int) -> int | None:
        """How many k from 0 on can satisfy ``condition``."""
        ctx = self._ctx
        argument, negated = _inequality(ctx, condition)
        if argument is None:
            return None
        slope = argument.terms.get((counter,), 0)
        rest = argument - Form({(counter,): slope} if slope else {})
        if slope == 0 or counter in ctx.leaves(rest):
            return None
        if negated:  # argument != 0
            hit = rest.is_constant and -rest.constant % slope == 0 and -rest.constant // slope >= 0
            return -rest.constant // slope if hit else None
        low = ctx.bounds(rest)[0]
        return None if slope < 0 or low is None else (-1 - low) // slope + 1

    def _falls(self, condition: Form, counter: int) -> bool:
        """Whether the condition, once false at some k, stays false."""
        if counter not in self._ctx.leaves(condition):
            return True
        argument, negated = _inequality(self._ctx, condition)
        if argument is None or negated:
            return False
        slope = argument.terms.get((counter,), 0)
        rest = argument - Form({(counter,): slope} if slope else {})
        return slope > 0 and counter not in self._ctx.leaves(rest)

    # --- after the loop -----------------------------------------------------------------------

    def _after(
        self,
        stmt: ir.Loop,
        state: State,
        headers: dict[str, Header],
        iteration: Iteration,
        info: LoopInfo,
        assigned: dict[str, ScalarType],
        endless: bool,
    ) -> State | None:
        broke = bool(iteration.exits)
        if iteration.normal_exit is None or endless:
            if not broke:
                if not iteration.escaped:
                    self._it.endless[stmt.span] = None
                return None
            if iteration.end is None and len(iteration.exits) == 1:
                return self._left_at_once(iteration.exits[0], info)
        trips = None if broke or info.carry else self._trips(info, stmt.test_first)
        varying_exit = any(
            self._ctx.varying(c) for c in (iteration.condition, *info.entry, *info.carry)
        )
        env = dict(state.env)
        sources = [iteration.normal_exit] if iteration.normal_exit is not None else []
        sources += [s.env for s in iteration.exits]
        for name in assigned:
            at_exit = [source[name] for source in sources if name in source]
            if is_cell(name) and len(at_exit) < len(sources):
                env.pop(name, None)
                continue
            if not at_exit:
                continue
            env[name] = self._final(at_exit, info, trips, varying_exit, assigned[name])
        path = state.path
        if iteration.escaped:
            path = (*path, self._it.values.opaque_condition(varying_exit, "a return in a loop"))
        return State(env, path)

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
        if at_exit[0].generators() & self._it.values.float_generators:
            return self._it.values.floating(varying_exit or any(map(ctx.varying, at_exit)))
        counter = info.counter
        stable = len(set(at_exit)) == 1 and counter not in ctx.leaves(at_exit[0])
        own = any(g > counter and s.kind in ("data", "counter") for g, s in ctx.symbols(at_exit[0]))
        if stable and not own:
            return at_exit[0]
        if trips is not None and len(at_exit) == 1 and not own:
            return ctx.substitute(at_exit[0], {counter: trips})
        varying = varying_exit or any(map(ctx.varying, at_exit))
        reason = self._it.values.reason_of(*at_exit) or "as a loop leaves it"
        base = self._base_part(at_exit[0])
        if base.terms and all(self._base_part(f) == base for f in at_exit):
            return base + self._it.values.opaque(type_, varying, reason)
        return self._it.values.opaque(type_, varying, reason)

    def _trips(self, info: LoopInfo, test_first: bool) -> Form | None:
        """The number of iterations of a loop with one linear condition and no other exit."""
        if len(info.entry) != 1 or not test_first:
            return None
        ctx = self._ctx
        if info.entry[0] == op.ONE and info.limit is not None:
            return number(info.limit)  # no iteration below the bound can fail the test
        argument, negated = _inequality(ctx, info.entry[0])
        if argument is None or negated:
            return None
        slope = argument.terms.get((info.counter,), 0)
        rest = argument - Form({(info.counter,): slope} if slope else {})
        if slope <= 0 or info.counter in ctx.leaves(rest):
            return None
        # smallest k with slope*k + rest >= 0
        return op.maximum(ctx, op.floor_divide(ctx, number(slope - 1) - rest, slope), ZERO)


def _inequality(ctx: Context, condition: Form) -> tuple[Form | None, bool]:
    """(f, False) for ``f < 0``, (f, True) for ``f != 0``, (None, False) for anything else."""
    for form, op_name, negated in ((condition, "lt0", False), (op.ONE - condition, "eq0", True)):
        generators = form.generators()
        if len(form.terms) == 1 and len(generators) == 1 and not form.constant:
            generator = ctx.generators[next(iter(generators))]
            if isinstance(generator, Atom) and generator.op == op_name:
                return generator.args[0], negated
    return None, False


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
