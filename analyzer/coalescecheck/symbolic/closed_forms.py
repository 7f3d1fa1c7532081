"""The variables of a loop in closed form: what each is when iteration number k starts.

A silent run of the body from placeholder values has shown how every variable changes in one
iteration.  A constant step gives ``start + step*k``; a closed set of variables with constant
starts (``s >>= 1``, ``buffer ^= 1``) is run through and becomes a table over k; halves of any
start are ``start >> k``, and what goes round a ring is ``(start + step*k) % size``; a step that is
the same for all lanes, or a new value with the lane part of the first, keeps the lane part and adds
a uniform unknown; anything else becomes unknown, with the right uniform or varying flag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coalescecheck.ir import kernel as ir
from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol, number, single_atom
from coalescecheck.symbolic.loop_tables import Change, Tables, run_through
from coalescecheck.symbolic.state import State
from coalescecheck.symbolic.trips import greatest_trips
from coalescecheck.symbolic.values import Environment, Values

SHIFTS = (1, 2, 3, 4)  # by which loops move a variable down
MOST = 1 << 31  # of a variable that is halved, or goes round
GENERATOR_COST = 8  # of evaluating one for one iteration, in variables that are copied


@dataclass(frozen=True, slots=True)
class Header:
    """A variable at the start of an iteration: ``base + placeholder`` while it is unknown.

    ``generator`` is the placeholder's, None where ``symbol`` is what the variable always is.
    """

    base: Form
    symbol: Form
    start: Form  # value before the loop, without ``base``
    generator: int | None


@dataclass(slots=True)
class Iteration:
    """What one run of the body gave."""

    end: State | None  # before the next iteration
    normal_exit: Environment | None  # where the loop's own condition ends it
    exits: list[State]
    condition: Form
    escaped: bool  # some jump went further out than this loop
    carry: list[Form]  # what has to hold for another iteration


class ClosedForms:
    """Solves the loops of one kernel; ``spend`` takes the work that is done."""

    def __init__(self, values: Values, spend: Callable[[int], None]) -> None:
        self._ctx: Context = values.ctx
        self._values, self._spend = values, spend

    def solve(
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
            known = [self._limit(stmt, headers, solution, first, k), tables.most]
            known += self._until_zero(stmt, headers, updates, first.condition)
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
        same: dict[int, Form] = {}
        for name, update in raw.items():
            header = headers[name]
            if header.generator is not None and update == header.symbol:
                same[header.generator] = header.start
        return {n: self._ctx.substitute(update, same) for n, update in raw.items()}

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
            if header.generator is None:
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
        halved = self._halved(header, update)
        if halved:
            return op.shift_right(ctx, header.start, k.scaled(halved))
        turned = self._turned(header, update)
        if turned is not None:
            step, size = turned
            later = op.floor_remainder(ctx, header.start + k.scaled(step), size)
            high = ctx.bounds(header.start)[1]
            inside = high is not None and high < size
            return later if inside else op.select(ctx, op.truth(ctx, k), later, header.start)
        delta = update - header.symbol
        if self._is_linear(header, update, mark):
            return header.base + header.start + delta * k
        start = header.base + header.start
        reason = self._values.reason_of(delta) or "changed from iteration to iteration"
        # the same step for all lanes, or a new value that is as far from the first for all lanes
        for apart in (delta, update - header.start):
            if not ctx.varying(apart) and not self._mentions_base(apart):
                unknown = ctx.fresh(Symbol("step", "data", False, None, None, reason=reason))
                return start + unknown.scaled(max(ctx.multiple_of(apart), 1))
        varying = ctx.varying(update) or ctx.varying(start)
        opaque = self._values.opaque(type_, varying, reason)
        keeps_base = header.base.terms and not self._mentions_base(update)
        return header.base + opaque if keeps_base else opaque

    def _halved(self, header: Header, update: Form) -> int:
        """By how many bits a variable that is not negative moves down in an iteration: ``s /= 2``;
        0 where it does not."""
        ctx, symbol = self._ctx, header.symbol
        low, high = ctx.bounds(header.start)
        if header.base.terms or low is None or low < 0 or high is None or high >= MOST:
            return 0
        if ctx.leaves(update) != {header.generator} or (update - symbol).is_constant:
            return 0  # no quotient of the variable; to make them all takes longer
        for bits in SHIFTS:
            divisor = number(1 << bits)
            quotients = (op.divide(ctx, symbol, divisor), op.shift_right(ctx, symbol, number(bits)))
            if update in quotients:
                return bits
        return 0

    def _turned(self, header: Header, update: Form) -> tuple[int, int] | None:
        """The step and the size of a ring that a variable goes round: ``i = (i + 1) % 32``."""
        atom = single_atom(self._ctx, update)
        low, high = self._ctx.bounds(header.start)
        if atom is None or header.base.terms or low is None or low < 0 or high is None:
            return None
        if atom.op not in ("fmod", "cmod") or not atom.args[1].is_constant:
            return None
        step, size = atom.args[0] - header.symbol, atom.args[1].constant
        forward = step.is_constant and step.constant >= 0 and high + step.constant < MOST
        return (step.constant, size) if forward else None

    def _until_zero(
        self, stmt: ir.Loop, headers: dict[str, Header], updates: dict[str, Form], condition: Form
    ) -> Iterator[int]:
        """Bounds on the iterations of a loop that ends when a variable that is halved is 0."""
        for name, header in headers.items():
            bits = self._halved(header, updates[name]) if name in updates else 0
            if not bits or header.generator is None or not stmt.test_first:
                continue
            if self._ctx.substitute(condition, {header.generator: ZERO}) == ZERO:
                most = self._ctx.bounds(header.start)[1] or 0
                yield -(-most.bit_length() // bits)

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
            n: Change(h.generator, h.start.constant, updates[n], types[n], h.generator in tested)
            for n, h in headers.items()
            if h.generator is not None and n in updates and h.start.is_constant
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
            self._spend(GENERATOR_COST * generators)

        return run_through(self._ctx, closed, wanted, condition, stmt.test_first, spend)

    def _is_linear(self, header: Header, update: Form, mark: int) -> bool:
        """Whether ``start + step*k`` is the variable at iteration k."""
        if update in (header.symbol, header.start):
            return True
        return not self._depends_on_iteration(update - header.symbol, mark)

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
            h.generator: solution[n] - h.base
            for n, h in headers.items()
            if h.generator is not None and n in solution
        }
        counter = next(iter(k.generators()))
        tests = [first.condition] if stmt.test_first else []
        limits = [
            greatest_trips(self._ctx, self._ctx.substitute(c, values), counter) for c in tests
        ]
        # an iteration in which a later one is ruled out still runs itself
        carried = [
            greatest_trips(self._ctx, self._ctx.substitute(c, values), counter) for c in first.carry
        ]
        limits += [None if bound is None else bound + 1 for bound in carried]
        known = [max(bound, 0) for bound in limits if bound is not None]
        return min(known) if known else None
