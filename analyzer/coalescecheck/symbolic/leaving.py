"""What a jump takes along out of loops: the lanes of a warp may leave in different iterations.

Inside an iteration its number is the same for all lanes, and so is what they load from one place.
Behind the loop neither is, unless all lanes that leave do so at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.symbolic.cells import cell_array, is_cell
from coalescecheck.symbolic.form import Form, Symbol
from coalescecheck.symbolic.state import Frame, State
from coalescecheck.symbolic.values import Values

REASON = "as a loop leaves it"


def outside_of(values: Values, loops: Sequence[Frame], state: State) -> State:
    """``state`` as it is outside of the ``loops`` that a jump leaves, the innermost first."""
    if not loops:
        return state
    ctx, outermost = values.ctx, loops[-1]
    # where all that decides is the same for the lanes that are still inside, they leave at once
    apart = any(ctx.varying(c) for c in state.path[len(outermost.entry) :])
    first = outermost.info.counter if outermost.info is not None else 0
    known: dict[int, Form] = {}
    done: dict[int, Form] = {}  # of all variables: each finds its symbols in ``known`` first

    def left(form: Form) -> Form:
        for g in sorted(ctx.leaves(form) & ctx.uniform):
            if g >= first and g not in known:
                symbol = ctx.generators[g]
                if isinstance(symbol, Symbol) and _is_of_an_iteration(symbol, apart):
                    known[g] = ctx.fresh(_outside(symbol, apart))
        return ctx.substitute(form, known, done)

    def left_value(form: Form) -> Form:
        if apart and values.is_floating(form):
            return values.floating(True)
        return left(form)

    sets, writes = outermost.sets, outermost.writes
    changed = {
        n: f
        for n, f in state.env.items()
        if n in sets or (writes and is_cell(n) and cell_array(n) in writes)
    }
    env = state.env | {name: left_value(form) for name, form in changed.items()}
    return State(env, tuple(map(left, state.path)))


def _is_of_an_iteration(symbol: Symbol, apart: bool) -> bool:
    """Whether what is the same for all lanes is so in an iteration only, and that matters."""
    loaded = symbol.kind == "data" or (symbol.kind == "base" and "#" in symbol.name)
    return symbol.kind == "counter" or (apart and loaded)


def _outside(symbol: Symbol, apart: bool) -> Symbol:
    if symbol.kind == "counter":
        return replace(symbol, kind="data", varying=apart, reason=REASON)
    return replace(symbol, varying=True)
