"""Formulas as a reader sees them, and that they still say the same."""

import pytest
import sympy

from coalescecheck.report.formula import in_words
from coalescecheck.symbolic.reading import parse

CASES = {
    "32": "32",
    "4*n + 1": "4*n + 1",
    "Piecewise((1, Eq(Mod(n, 32), 0)), (2, True))": "1 if n % 32 == 0, else 2",
    "Piecewise((1, Eq(stride, 0)), (4*stride, (stride > 0) & (stride < 8)), (32, True))": (
        "1 if stride == 0, 4*stride if 0 < stride < 8, else 32"
    ),
    "Piecewise((floor(31*Abs(n)/8 + 7/8) + 1, (n > -8) & (n < 0)), (32, True))": (
        "floor(31*abs(n)/8 + 7/8) + 1 if -8 < n < 0, else 32"
    ),
    "Piecewise((2, (n > 0) & (m < 8)), (1, True))": "2 if n > 0 and m < 8, else 1",
    "Mod(n + 1, 4)*2": "(n + 1) % 4 * 2",
}


@pytest.mark.parametrize(("formula", "words"), CASES.items())
def test_in_words(formula, words):
    assert in_words(formula) == words


@pytest.mark.parametrize("text", ["", "1 +", "n = 3", "(" * 5000])
def test_what_is_no_formula_stays(text):
    assert in_words(text) == text


@pytest.mark.parametrize("formula", CASES)
@pytest.mark.parametrize("n", [-9, -3, 0, 1, 5, 8, 32, 33])
def test_the_words_mean_the_formula(formula, n):
    value = parse(formula).subs({sympy.Symbol(name): n for name in ("n", "stride", "m")})
    names = {"n": n, "stride": n, "m": n, "abs": abs, "floor": sympy.floor}
    for piece in in_words(formula).removeprefix("else ").split(", "):
        count, _, condition = piece.removeprefix("else ").partition(" if ")
        # exact fractions, as C would not have them
        exact = count.replace("/8", "*sympy.Rational(1, 8)")
        if not condition or eval(condition, names):
            assert eval(exact, names | {"sympy": sympy}) == value
            return
    pytest.fail("no piece holds")
