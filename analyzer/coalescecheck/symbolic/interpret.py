"""Abstract interpretation of a kernel for one generic thread.

In: an ``ir.Kernel`` and what is known of its launch.  Out: a :class:`Reach` for every piece of
every access that the thread can get to.  Both sides of a branch are followed and joined with
``condition * (then - otherwise) + otherwise``, so no path explodes; loops are summarised by
``loops``.  Nothing here counts sectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from coalescecheck.facts import Fact
from coalescecheck.ir import kernel as ir
from coalescecheck.ir.constants import constants_of
from coalescecheck.ir.expr import Expr, Var
from coalescecheck.ir.slicing import targets
from coalescecheck.ir.types import ScalarType
from coalescecheck.source import Span
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.builtins import Geometry
from coalescecheck.symbolic.cells import Cells, is_cell
from coalescecheck.symbolic.conditions import limiting
from coalescecheck.symbolic.fits import Fit
from coalescecheck.symbolic.form import Context, Form, Symbol, number
from coalescecheck.symbolic.leaving import outside_of
from coalescecheck.symbolic.loops import LoopSolver
from coalescecheck.symbolic.prepared import prepared
from coalescecheck.symbolic.reach import LoopInfo, Reach, Turn
from coalescecheck.symbolic.state import Frame, Progress, State
from coalescecheck.symbolic.unrolled import Unroller
from coalescecheck.symbolic.values import Environment, Values, type_bounds
from coalescecheck.symbolic.warp_values import WarpValues

MAX_STEPS = 120_000  # units of work, about 50 us each; a kernel that needs more is given up
NAMES_PER_STEP = 40  # variables copied or joined for the price of a statement


class TooLarge(Exception):
    """The kernel needs more interpretation steps than any reader would wait for."""


class Interpreter:
    """Runs one kernel, or what of it ``only`` some accesses need; ``reaches`` is the result."""

    def __init__(
        self,
        kernel: ir.Kernel,
        ctx: Context,
        geometry: Geometry,
        params: Mapping[str, int],
        facts: Mapping[str, Fact],
        only: Collection[int] | None = None,
    ) -> None:
        self._facts = facts
        self.kernel = kernel
        self.ctx = ctx
        pointers = [array.name for array in kernel.arrays.values() if array.parameter]
        self.values = Values(ctx, geometry, params, pointers)
        self.unsaid: dict[Fit, None] = {}  # what conditions so far took to hold without showing it
        self._checked: tuple[Fit, ...] = ()  # those on which it depends that this place is reached
        self.reaches: list[Reach] = []
        self.recording = True
        self.endless: dict[Span, None] = {}  # loops that nothing ever ends
        self.dead_ends = 0  # how often a loop without a regular end was come to
        self.hangs = 0  # and how often one that nothing leaves
        self.frames: list[Frame] = []
        self.loops: list[LoopInfo] = []
        self.turns: list[Turn] = []  # iterations of loops that are gone through one by one
        self.steps = 0  # units of work so far
        self.prepared = prepared(kernel)
        self.live, self._relevant = self.prepared.live, self.prepared.relevant
        # statements, by identity; None: all
        self.followed = None if only is None else self.prepared.reaching(only)
        self.unroller = Unroller(self, MAX_STEPS // 24)
        self._solver = LoopSolver(self)
        self._cells = Cells(kernel, ctx)
        self._tables: dict[str, tuple[int, ...] | None] = {}
        self._warp_values = WarpValues(self.values, geometry)

    def run(self) -> list[Reach]:
        """Interpret the whole kernel; TooLarge when it does not end within bounds."""
        env: Environment = {}
        for param in self.kernel.params:
            env[param.name] = self._parameter(param)
        self.block(self.kernel.body, State(env, ()))
        return self.reaches

    def _parameter(self, param: ir.Param) -> Form:
        known = self.values.params.get(param.name)
        if known is not None and param.type.kind != "float":
            return number(known)
        if param.type.kind in ("float", "unknown"):
            return self.values.opaque(param.type, False, f"parameter `{param.name}`")
        low, high = type_bounds(param.type)
        fact = Fact(low, high).narrowed(self._facts.get(param.name, Fact()))
        symbol = Symbol(param.name, "param", False, fact.low, fact.high, fact.multiple)
        return self.ctx.symbol(symbol)

    # --- statements ---------------------------------------------------------------------------

    def block(self, body: tuple[ir.Stmt, ...], state: State | None) -> State | None:
        """The state after ``body``; None when its end is never reached."""
        followed = self.followed
        for stmt in body:
            if state is None:
                return None
            if followed is not None and id(stmt) not in followed:
                continue
            self.spend(0)
            state = self._statement(stmt, state)
        return state

    def spend(self, names: int) -> None:
        """Count one step and the handling of so many variables; TooLarge beyond the bound."""
        self.steps += 1 + names // NAMES_PER_STEP
        if self.steps > MAX_STEPS:
            raise TooLarge

    def _statement(self, stmt: ir.Stmt, state: State) -> State | None:
        self.values.fits.start(self._checked)
        match stmt:
            case ir.Assign() if self._relevant.variable(stmt.var.name):
                value = self.values.value(stmt.value, state.env)
                self.values.fits.assigned(stmt.var.name)
                state.env[stmt.var.name] = self.values.limited(value, stmt.var.type)
            case ir.Load():
                self._load(stmt, state)
            case ir.Store():
                self._store(stmt, state)
            case ir.Atomic():
                address = self._record(stmt.access, 0, stmt.address, state)
                if stmt.var is not None and self._relevant.variable(stmt.var.name):
                    state.env[stmt.var.name] = self._from_memory(stmt.access, stmt.var, True)
                self._cells.forget(state.env, address)
            case ir.If():
                before = self._checked
                return self._after_check(stmt, before, self._if(stmt, state))
            case ir.Loop():
                before = self._checked
                return self._after_check(stmt, before, self._solver.loop(stmt, state))
            case ir.Scope():
                return self._scope(stmt, state)
            case ir.Leave():
                self._jump(stmt.label, state, leaving=True)
                return None
            case ir.Continue():
                self._jump(stmt.label, state, leaving=False)
                return None
            case ir.WarpOp() if self._relevant.variable(stmt.var.name):
                state.env[stmt.var.name] = self._warp_op(stmt, state)
        return state

    def _record(self, access: int, piece: int, address: Expr, state: State) -> Form:
        form = self.values.value(address, state.env)
        if self.recording:
            fits = self.values.fits.relied_on(limiting(self.ctx, state.path))
            around = tuple(self.loops), fits, tuple(self.turns)
            self.reaches.append(Reach(access, piece, form, state.path, *around))
        return form

    def _load(self, stmt: ir.Load, state: State) -> None:
        address = self._record(stmt.access, stmt.piece, stmt.address, state)
        scalars = ((0, stmt.var), *stmt.more)
        wanted = [(at, var) for at, var in scalars if self._relevant.variable(var.name)]
        if not wanted:
            return
        varying = self._cells.may_be_private(address) or self.ctx.varying(address)
        for offset, var in wanted:
            place = address + number(offset)
            state.env[var.name] = self._loaded(stmt.access, place, var, varying, state.env)

    def _loaded(
        self, access: int, address: Form, var: Var, varying: bool, env: Environment
    ) -> Form:
        """What a scalar at ``address`` holds."""
        cell = self._cells.read(env, address, var.type)
        if cell is not None:
            return cell
        if self._cells.may_be_private(address):
            self.unroller.picks(address)
        constant = self._constant_element(address, var.type)
        if constant is None:
            constant = self._launch_constant(address, var.type)
        if constant is not None:
            return constant
        if var.type.kind == "ptr":
            array = self.array_of(address)
            name = f"*{array.name}" if array is not None else "*"
            return self.ctx.fresh(Symbol(f"{name}#{access}", "base", varying))
        return self._from_memory(access, var, varying)

    def _from_memory(self, access: int, var: Var, varying: bool) -> Form:
        index = self.kernel.accesses[access].index
        return self.values.opaque(var.type, varying, f"loaded from `{index}`", index)

    def _store(self, stmt: ir.Store, state: State) -> None:
        address = self._record(stmt.access, stmt.piece, stmt.address, state)
        if not self._relevant.contents(stmt):
            return
        scalars = ((0, stmt.value), *stmt.more)
        values = [(at, each.type, self.values.value(each, state.env)) for at, each in scalars]
        if self._cells.may_be_private(address):
            self.unroller.picks(address)
        self._cells.write(state.env, address, values)

    def array_of(self, address: Form) -> ir.Array | None:
        """The array an address points into, when there is one candidate."""
        names = self.ctx.bases(address)
        return self.kernel.arrays.get(next(iter(names))) if len(names) == 1 else None

    def _constant_element(self, address: Form, type_: ScalarType) -> Form | None:
        """An element of an array whose contents the source gives, read as what it is."""
        array = self.array_of(address)
        if array is None or not array.values or not type_.is_integer:
            return None
        if not array.const:  # the host or another thread may have written it
            return None
        if (array.element_kind, array.element_size) != (type_.kind, type_.size):
            return None
        table = self._table(array)
        if table is None:
            return None
        offset = address - self.ctx.symbol(Symbol(array.name, "base"))
        if self.ctx.multiple_of(offset) % array.element_size:
            return None
        index = op.floor_divide(self.ctx, offset, array.element_size)
        if index.is_constant:
            inside = 0 <= index.constant < len(table)
            return number(table[index.constant]) if inside else None
        low, high = self.ctx.bounds(index)
        if low is None or low < 0 or high is None or high >= len(table):
            return None
        return self.ctx.atom("table", (index,), (min(table), max(table)), table)

    def _table(self, array: ir.Array) -> tuple[int, ...] | None:
        """What an array holds, where that is integers."""
        if array.name not in self._tables:
            values = array.values or ()
            known = tuple(int(value) for value in values if isinstance(value, int))
            self._tables[array.name] = known if len(known) == len(values) else None
        return self._tables[array.name]

    def _launch_constant(self, address: Form, type_: ScalarType) -> Form | None:
        """A number in constant memory that the launch fixes: as good as a parameter."""
        array = self.array_of(address)
        numbers = constants_of(self.kernel).get(array.name) if array is not None else None
        if array is None or numbers is None:
            return None
        offset = address - self.ctx.symbol(Symbol(array.name, "base"))
        if not offset.is_constant:
            self.unroller.picks(address)
        param = numbers.get(offset.constant) if offset.is_constant else None
        return self._parameter(param) if param is not None and param.type == type_ else None

    def _warp_op(self, stmt: ir.WarpOp, state: State) -> Form:
        args = [self.values.value(arg, state.env) for arg in stmt.args]
        together = not self.loops and not any(map(self.ctx.varying, state.path))
        return self._warp_values.of(stmt, args, together)

    # --- branches and scopes ------------------------------------------------------------------

    def _if(self, stmt: ir.If, state: State) -> State | None:
        condition = self.condition(stmt.condition, state.env)
        if condition == op.ONE:
            return self.block(stmt.then, state)
        if condition == number(0):
            return self.block(stmt.otherwise, state)
        env, path = self.live.before(stmt, state.env), state.path
        self.spend(3 * len(env))
        inverse = op.negate(self.ctx, condition)
        then = self.block(stmt.then, State(dict(env), self.with_condition(path, condition)))
        otherwise = self.block(stmt.otherwise, State(env, self.with_condition(path, inverse)))
        return self._joined(stmt, path, [s for s in (then, otherwise) if s is not None])

    def condition(self, expr: Expr, env: Environment) -> Form:
        """The truth value of a condition on which a way through the kernel depends."""
        self.values.fits.start(self._checked)
        condition = self.values.condition(expr, env)
        ways = (condition, op.negate(self.ctx, condition))
        self._checked = self.values.fits.unsaid()
        self.unsaid |= dict.fromkeys(self._checked)
        self.values.fits.decided(c for way in ways for c in op.conjuncts(self.ctx, way))
        return condition

    def _after_check(
        self, stmt: ir.If | ir.Loop, before: tuple[Fit, ...], after: State | None
    ) -> State | None:
        """``after`` a statement.  If it depended on what its condition does not show, so do the
        variables that it sets, and all that follows where one of its branches leaves what is
        around it."""
        if self._checked == before:
            return after
        inside = list(ir.walk((stmt,)))
        for name in {name for each in inside for name in targets(each)}:
            self.values.fits.relies(name, self._checked)
        own = {each.label for each in inside if isinstance(each, ir.Loop | ir.Scope)}
        jumps = (each for each in inside if isinstance(each, ir.Leave | ir.Continue))
        if all(jump.label in own for jump in jumps):
            self._checked = before
        return after

    def with_condition(self, path: tuple[Form, ...], condition: Form) -> tuple[Form, ...]:
        """``path`` and everything ``condition`` demands."""
        new = tuple(c for c in op.conjuncts(self.ctx, condition) if c not in path and c != op.ONE)
        return path + new

    def _scope(self, stmt: ir.Scope, state: State) -> State | None:
        frame = Frame(stmt.label, state.path, hangs=self.hangs)
        self.frames.append(frame)
        end = self.block(stmt.body, state)
        self.frames.pop()
        exits = frame.exits + ([end] if end is not None else [])
        return self.out_of(frame, self._joined(stmt, frame.entry, exits))

    def out_of(self, frame: Frame, after: State | None) -> State | None:
        """The state ``after`` a construct: all the lanes that came in come there, if none left for
        further out and none hangs in a loop."""
        if after is not None and not frame.passed and frame.hangs == self.hangs:
            after.path = frame.entry
        return after

    def _joined(
        self, stmt: ir.If | ir.Scope, entry: tuple[Form, ...], states: list[State]
    ) -> State | None:
        """The state after ``stmt``, with the variables that are still needed."""
        if len(states) > 1:
            states = [State(self.live.after(stmt, s.env), s.path) for s in states]
        return self.join(entry, states)

    def _jump(self, label: str, state: State, leaving: bool) -> None:
        """Hand ``state`` to the frame named ``label``; tell the frames in between."""
        loops: list[Frame] = []
        for frame in reversed(self.frames):
            target = frame.label == label
            if frame.info is not None and (leaving or not target):
                taken = self.conjunction(state.path[len(frame.entry) :])
                frame.info.carry.append(op.negate(self.ctx, taken))
            if target:
                outside = outside_of(self.values, loops, state)
                (frame.exits if leaving else frame.continues).append(outside)
                return
            frame.passed = True
            if frame.info is not None:
                loops.append(frame)

    def reached(self) -> Progress:
        """Where the run stands."""
        return Progress(self.reaches, self.frames)

    def conjunction(self, conditions: Iterable[Form]) -> Form:
        """All of ``conditions`` as one truth value."""
        result = op.ONE
        for condition in conditions:
            result = op.both(self.ctx, result, condition)
        return result

    def join(self, entry: tuple[Form, ...], states: list[State]) -> State | None:
        """One state for several ways out of a construct entered under ``entry``."""
        if not states:
            return None
        if len(states) == 1:
            return states[0]
        conditions = [self.conjunction(s.path[len(entry) :]) for s in states]
        result = states[-1].env
        for state, condition in zip(reversed(states[:-1]), reversed(conditions[:-1]), strict=True):
            result = self._merged(condition, state.env, result)
        covered = number(0)
        for condition in conditions:
            covered = op.either(self.ctx, covered, condition)
        return State(result, self.with_condition(entry, covered))

    def _merged(self, condition: Form, then: Environment, other: Environment) -> Environment:
        merged = dict(other)
        for name, a in then.items():
            b = other.get(name)
            if b is None:
                if not is_cell(name):  # set on one side only: whoever reads it was on that side
                    merged[name] = a
            elif a is not b and a != b:
                merged[name] = self._choice(condition, a, b)
        for name in other.keys() - then.keys():
            if is_cell(name):
                del merged[name]
        return merged

    def _choice(self, condition: Form, then: Form, otherwise: Form) -> Form:
        for one, other in ((then, otherwise), (otherwise, then)):
            if self.values.is_unset(one):  # whoever reads it was on the other side
                return other
        if self.values.is_floating(then) or self.values.is_floating(otherwise):
            varying = any(self.ctx.varying(f) for f in (condition, then, otherwise))
            return self.values.floating(varying)
        chosen = op.select(self.ctx, condition, then, otherwise)
        if len(chosen.terms) > 48:
            varying = any(self.ctx.varying(f) for f in (condition, then, otherwise))
            symbol = Symbol("data", "data", varying, reason="the expression is too large")
            return self.ctx.fresh(symbol)
        return chosen
