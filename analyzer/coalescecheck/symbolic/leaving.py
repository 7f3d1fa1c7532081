"""What a jump takes along out of loops: the lanes of a warp may leave in different iterations.

Inside an iteration its number is the same for all lanes, and so is what they load from one place.
Behind the loop neither is, unless all lanes that leave do so at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.symbolic.form import Form, Symbol
from coalescecheck.symbolic.state import Frame, State
from coalescecheck.symbolic.values import Values

REASON = "as a loop leaves it"
_OF_AN_ITERATION = ("counter", "data", "base")


def outside_of(values: Values, loops: Sequence[Frame], state: State) -> State:
    """``state`` as it is outside of the ``loops`` that a jump leaves, the innermost first."""
    if not loops:
        return state
    ctx, outermost = values.ctx, loops[-1]
    if not any(ctx.varying(c) for c in state.path[len(outermost.entry) :]):
        return state  # what decides is the same for all lanes that are still inside
    first = outermost.info.counter if outermost.info is not None else 0
    lanes: dict[int, Form] = {}

    def left(form: Form, name: str = "") -> Form:
        if name in outermost.sets and not values.float_generators.isdisjoint(form.generators()):
            return values.floating(True)
        for g, symbol in ctx.symbols(form):
            if g >= first and g not in lanes and _changes(symbol):
                lanes[g] = ctx.fresh(_by_lane(symbol))
        return ctx.substitute(form, lanes)

    env = {name: left(form, name) for name, form in state.env.items()}
    return State(env, tuple(map(left, state.path)))


def _changes(symbol: Symbol) -> bool:
    """Whether it is one value in an iteration and another one in the next."""
    return symbol.kind in _OF_AN_ITERATION and not symbol.varying


def _by_lane(symbol: Symbol) -> Symbol:
    kind = "data" if symbol.kind == "counter" else symbol.kind
    return replace(symbol, kind=kind, varying=True, reason=symbol.reason or REASON)
