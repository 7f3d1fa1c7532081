"""The weighted classes of uniform values against all combinations, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.domain import Rows, Switch, classes
from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol, number
from coalescecheck.symbolic.numeric import Evaluator

COUNTS = st.lists(st.integers(1, 9), min_size=1, max_size=3)
FACTORS = st.lists(st.integers(-40, 40), min_size=3, max_size=3)


def _symbols(ctx: Context, counts: list[int]) -> list[Form]:
    return [ctx.symbol(Symbol(f"u{i}", "bid", False, 0, c - 1)) for i, c in enumerate(counts)]


def _id(form: Form) -> int:
    return next(iter(form.generators()))


def _every(ctx: Context, symbols: list[Form], counts: list[int], forms: list[Form]) -> Counter:
    """How often each tuple of the forms' values occurs over all combinations."""
    seen: Counter = Counter()
    for values in product(*map(range, counts)):
        known = {_id(s): np.asarray(v, np.int64) for s, v in zip(symbols, values, strict=True)}
        evaluator = Evaluator(ctx, known)
        seen[tuple(int(evaluator.form(form)) for form in forms)] += 1
    return seen


def _of(rows: Rows, columns: list[np.ndarray]) -> Counter:
    seen: Counter = Counter()
    for row in range(rows.size):
        seen[tuple(int(c[row]) for c in columns)] += int(rows.weight[row])
    return seen


@settings(max_examples=150, derandomize=True)
@given(COUNTS, FACTORS, st.integers(-99, 99), st.sampled_from([4, 32, 128]), st.booleans())
def test_shifts_have_the_weights_of_all_combinations(
    counts: list[int], factors: list[int], constant: int, modulus: int, joined: bool
) -> None:
    ctx = Context()
    symbols = _symbols(ctx, counts)
    shift = number(constant)
    for symbol, factor in zip(symbols, factors, strict=False):
        shift = shift + symbol.scaled(factor)
    if joined and len(symbols) > 1:
        shift = shift + symbols[0] * symbols[1] + op.floor_divide(ctx, symbols[-1], 3).scaled(5)
    ranges = {_id(s): c for s, c in zip(symbols, counts, strict=True)}
    rows = classes(ctx, ranges, shift, (), (), modulus)
    assert rows is not None
    truth: Counter = Counter()
    for (value,), weight in _every(ctx, symbols, counts, [shift]).items():
        truth[(value % modulus,)] += weight
    assert _of(rows, [rows.shift]) == truth


@settings(max_examples=150, derandomize=True)
@given(COUNTS, FACTORS, FACTORS, st.integers(-60, 60), st.sampled_from(["lt0", "eq0", "ne0"]))
def test_a_switch_turns_the_same_lanes_on_equally_often(
    counts: list[int], factors: list[int], guard: list[int], constant: int, kind: str
) -> None:
    ctx = Context()
    symbols = _symbols(ctx, counts)
    lane = ctx.symbol(Symbol("threadIdx.x", "tid", True, 0, 31))
    shift, uniform = ZERO, number(constant)
    for symbol, factor, slope in zip(symbols, factors, guard, strict=False):
        shift, uniform = shift + symbol.scaled(factor), uniform + symbol.scaled(slope)
    ranges = {_id(s): c for s, c in zip(symbols, counts, strict=True)}
    rows = classes(ctx, ranges, shift, (Switch(kind, uniform, lane, 0, 31),), (), 128)
    assert rows is not None
    truth: Counter = Counter()
    for (address, value), weight in _every(ctx, symbols, counts, [shift, uniform]).items():
        truth[(address % 128, _lanes_on(kind, value))] += weight
    found: Counter = Counter()
    for row in range(rows.size):
        on = _lanes_on(kind, int(rows.switches[0][row]))
        found[(int(rows.shift[row]), on)] += int(rows.weight[row])
    assert found == truth


def _lanes_on(kind: str, uniform: int) -> int:
    tests = {
        "lt0": lambda lane: uniform + lane < 0,
        "eq0": lambda lane: uniform + lane == 0,
        "ne0": lambda lane: uniform + lane != 0,
    }
    return sum(1 << lane for lane in range(32) if tests[kind](lane))


@settings(max_examples=60, derandomize=True)
@given(COUNTS, FACTORS)
def test_a_raw_generator_keeps_every_value(counts: list[int], factors: list[int]) -> None:
    ctx = Context()
    symbols = _symbols(ctx, counts)
    shift = ZERO
    for symbol, factor in zip(symbols, factors, strict=False):
        shift = shift + symbol.scaled(factor)
    ranges = {_id(s): c for s, c in zip(symbols, counts, strict=True)}
    rows = classes(ctx, ranges, shift, (), (_id(symbols[0]),), 128)
    assert rows is not None
    truth: Counter = Counter()
    for (address, value), weight in _every(ctx, symbols, counts, [shift, symbols[0]]).items():
        truth[(address % 128, value)] += weight
    assert _of(rows, [rows.shift, rows.raw[_id(symbols[0])]]) == truth


@pytest.mark.parametrize("count", [1, 31, 32, 33, 65535, 10**9])
def test_a_long_axis_is_folded_by_its_period(count: int) -> None:
    ctx = Context()
    (symbol,) = _symbols(ctx, [count])
    rows = classes(ctx, {_id(symbol): count}, symbol.scaled(4), (), (), 128)
    assert rows is not None
    assert rows.size <= 32
    assert int(rows.weight.sum()) == count
    assert [int(w) for w in rows.weight] == [len(range(r, count, 32)) for r in range(rows.size)]


def test_too_many_combinations_are_refused_not_sampled() -> None:
    ctx = Context()
    symbols = _symbols(ctx, [1 << 12, 1 << 12])
    ranges = {_id(s): 1 << 12 for s in symbols}
    product_of_both = symbols[0] * symbols[1]
    switch = Switch("lt0", product_of_both, ZERO, None, None)
    assert classes(ctx, ranges, ZERO, (switch,), (), 128) is None
