"""Evaluation over arrays against Python's own integers, operation by operation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck.symbolic.form import Context, Form, Symbol, number
from coalescecheck.symbolic.numeric import Evaluator

SAMPLES = [-(1 << 31), -1000, -33, -32, -7, -2, -1, 0, 1, 2, 3, 5, 31, 32, 33, 255, 1 << 20]
COUNTS = [0, 1, 2, 5, 31]


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int], int]] = {
    "fdiv": lambda a, b: a // b,
    "fmod": lambda a, b: a % b,
    "cdiv": _truncated,
    "cmod": lambda a, b: a - b * _truncated(a, b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
UNARY: dict[str, Callable[[int], int]] = {
    "lt0": lambda a: int(a < 0),
    "eq0": lambda a: int(a == 0),
    "abs": abs,
    "popc": lambda a: bin(a % (1 << 32)).count("1"),
    "clz": lambda a: 32 - (a % (1 << 32)).bit_length(),
    "ffs": lambda a: (a % (1 << 32) & -(a % (1 << 32))).bit_length(),
    "brev": lambda a: int(f"{a % (1 << 32):032b}"[::-1], 2),
}


def _symbol(ctx: Context, name: str) -> tuple[int, Form]:
    form = ctx.symbol(Symbol(name, "param"))
    return next(iter(form.generators())), form


@pytest.mark.parametrize("op", BINARY)
def test_a_binary_operation_is_the_one_of_python_integers(op: str) -> None:
    ctx = Context()
    (a, left), (b, right) = _symbol(ctx, "a"), _symbol(ctx, "b")
    pairs = [(x, y) for x in SAMPLES for y in SAMPLES if y != 0]
    columns = np.array(pairs, np.int64).T
    found = Evaluator(ctx, {a: columns[0], b: columns[1]}).form(ctx.atom(op, (left, right)))
    assert found.tolist() == [BINARY[op](x, y) for x, y in pairs]


@pytest.mark.parametrize("op", ["shl", "shr"])
def test_a_shift_is_the_one_of_python_integers(op: str) -> None:
    ctx = Context()
    (a, left), (b, right) = _symbol(ctx, "a"), _symbol(ctx, "b")
    pairs = [(x, y) for x in SAMPLES for y in COUNTS]
    columns = np.array(pairs, np.int64).T
    found = Evaluator(ctx, {a: columns[0], b: columns[1]}).form(ctx.atom(op, (left, right)))
    assert found.tolist() == [x << y if op == "shl" else x >> y for x, y in pairs]


@pytest.mark.parametrize("op", UNARY)
def test_a_unary_operation_is_the_one_of_python_integers(op: str) -> None:
    ctx = Context()
    a, form = _symbol(ctx, "a")
    values = Evaluator(ctx, {a: np.array(SAMPLES, np.int64)}).form(ctx.atom(op, (form,)))
    assert values.tolist() == [UNARY[op](x) for x in SAMPLES]


@pytest.mark.parametrize(("bits", "signed"), [(8, 0), (8, 1), (16, 1), (32, 0), (32, 1)])
def test_wrap_reduces_to_the_range_of_a_type(bits: int, signed: int) -> None:
    ctx = Context()
    a, form = _symbol(ctx, "a")
    atom = ctx.atom("wrap", (form,), data=(bits, signed))
    found = Evaluator(ctx, {a: np.array(SAMPLES, np.int64)}).form(atom)
    half = 1 << (bits - 1)
    expected = [(x + half) % (2 * half) - half if signed else x % (2 * half) for x in SAMPLES]
    assert found.tolist() == expected


@settings(max_examples=200, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 3), st.integers(0, 3)), max_size=6),
    st.integers(-500, 500),
    st.integers(-500, 500),
)
def test_a_polynomial_is_the_sum_of_its_terms(
    terms: list[tuple[int, int, int]], x: int, y: int
) -> None:
    ctx = Context()
    (a, left), (b, right) = _symbol(ctx, "a"), _symbol(ctx, "b")
    form, expected = number(0), 0
    for coefficient, power, other in terms:
        term = number(coefficient)
        for factor in [left] * power + [right] * other:
            term = term * factor
        form, expected = form + term, expected + coefficient * x**power * y**other
    values = {a: np.asarray(x, np.int64), b: np.asarray(y, np.int64)}
    found = int(Evaluator(ctx, values).form(form))
    assert (found - expected) % (1 << 64) == 0


def test_a_table_is_looked_up_by_its_index() -> None:
    ctx = Context()
    a, form = _symbol(ctx, "a")
    atom = ctx.atom("table", (form,), data=(4, 9, -2))
    assert Evaluator(ctx, {a: np.array([2, 0, 1], np.int64)}).form(atom).tolist() == [-2, 4, 9]


def test_a_symbol_without_a_value_is_an_error() -> None:
    ctx = Context()
    _, form = _symbol(ctx, "a")
    with pytest.raises(KeyError):
        Evaluator(ctx, {}).form(form + number(1))


@pytest.mark.parametrize(
    ("op", "value", "count", "expected"),
    [
        ("shl", 1, -1, 0),
        ("shl", 3, 64, 0),
        ("shr", 1, -1, 0),
        ("shr", -5, -1, -1),
        ("shr", 9, 64, 0),
    ],
)
def test_counts_beyond_the_width_shift_everything_out(
    op: str, value: int, count: int, expected: int
) -> None:
    """As the PTX ISA clamps them: a negative count is a large unsigned one."""
    assert Context().atom(op, (number(value), number(count))) == number(expected)
