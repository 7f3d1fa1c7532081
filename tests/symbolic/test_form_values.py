"""Forms of C expressions have C's value in every lane; bounds and flags are true of it."""

from __future__ import annotations

import numpy as np
import pytest
from c_expressions import TYPES, Lane, Meaning, UndefinedInC, conditions, held, meanings
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck.launch import Dim3
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.builtins import Geometry
from coalescecheck.symbolic.form import Context, Form
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.values import Values

BLOCKS = (Dim3(32), Dim3(16, 4), Dim3(5, 7), Dim3(1, 40))
GRID = Dim3(3)


def _threads(block: Dim3) -> list[Lane]:
    return [
        {"threadIdx.x": t % block.x, "threadIdx.y": t // block.x, "blockIdx.x": b}
        for b in range(GRID.x)
        for t in range(block.size)
    ]


def _values(ctx: Context, form: Form, threads: list[Lane]) -> list[int]:
    """The form in every thread."""
    known = {
        g: np.array([t[symbol.name] for t in threads], np.int64) for g, symbol in ctx.symbols(form)
    }
    evaluated = Evaluator(ctx, known).form(form)
    return [int(v) for v in np.broadcast_to(evaluated, (len(threads),))]


def _expected(meaning: Meaning, threads: list[Lane]) -> list[int | None]:
    """C's values; None where C leaves them open."""
    result: list[int | None] = []
    for thread in threads:
        try:
            result.append(meaning.of(thread))
        except UndefinedInC:
            result.append(None)
    return result


def _differs_in_a_warp(values: list[int], size: int) -> bool:
    warps = (
        values[start + w : min(start + w + 32, start + size)]
        for start in range(0, len(values), size)
        for w in range(0, size, 32)
    )
    return any(len(set(warp)) > 1 for warp in warps)


def _check(meaning: Meaning, block: Dim3) -> None:
    ctx = Context()
    values = Values(ctx, Geometry(block, GRID), {})
    form = op.settle(ctx, values.value(meaning.expr, {}), meaning.expr.type)
    if any(symbol.kind == "data" for _, symbol in ctx.symbols(form)):
        return  # given up, with a reason: never wrong
    threads = _threads(block)
    expected = _expected(meaning, threads)
    found = _values(ctx, form, threads)
    bits = 1 << meaning.expr.type.bits
    wrong = [
        (thread, want, got)
        for thread, want, got in zip(threads, expected, found, strict=True)
        if want is not None and (want - got) % bits
    ]
    assert not wrong
    if None not in expected:
        low, high = ctx.bounds(form)
        assert low is None or low <= min(found)
        assert high is None or high >= max(found)
        assert ctx.varying(form) or not _differs_in_a_warp(found, block.size)


@settings(max_examples=400, derandomize=True)
@given(st.sampled_from(TYPES).flatmap(lambda t: meanings(t, 3)), st.sampled_from(BLOCKS))
def test_a_form_has_the_value_c_gives_the_expression(meaning: Meaning, block: Dim3) -> None:
    _check(meaning, block)


@settings(max_examples=200, derandomize=True)
@given(conditions(2), st.sampled_from(BLOCKS))
def test_a_condition_is_one_exactly_where_c_says_so(meaning: Meaning, block: Dim3) -> None:
    _check(meaning, block)


@pytest.mark.parametrize("value", [-(1 << 40), -129, -128, -1, 0, 127, 128, 255, 256, 1 << 33])
def test_held_knows_the_range_of_a_type(value: int) -> None:
    assert held(value, TYPES[2]) == value & 0xFFFFFFFF
