"""What a report prints is read back with the meaning it has in C."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import pytest
import sympy
from summaries import count, result

from coalescecheck import parse

N = (0, 1, 5, 8, 31, 100)


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# index in C, and the same in Python for threadIdx.x = i
INDICES: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("(i ^ 5) * 3 - 7", lambda i, n, m: (i ^ 5) * 3 - 7),
    ("i % 20 * n + i / 20", lambda i, n, m: i % 20 * n + i // 20),
    ("(i - 37) / 5", lambda i, n, m: _truncated(i - 37, 5)),
    ("(i - 37) % 5", lambda i, n, m: (i - 37) - 5 * _truncated(i - 37, 5)),
    ("(i - n) / (m + 3)", lambda i, n, m: _truncated(i - n, m + 3)),
    ("(n - 50 - i) % (m + 3)", lambda i, n, m: int(sympy.sign(n - 50 - i)) * (abs(n - 50 - i) % (m + 3))),  # noqa: E501
    ("i < n ? i : 2 * i", lambda i, n, m: i if i < n else 2 * i),
    ("i == n ? m : i", lambda i, n, m: m if i == n else i),
    ("(i < n && i != m) * i", lambda i, n, m: i if i < n and i != m else 0),
    ("(i < n || i > m + 9) * i", lambda i, n, m: i if i < n or i > m + 9 else 0),
    ("!(i < n || i == m) * i", lambda i, n, m: 0 if i < n or i == m else i),
    ("i & n", lambda i, n, m: i & n),
    ("i | m", lambda i, n, m: i | m),
    ("i << m", lambda i, n, m: i << m),
    ("(n - i) >> m", lambda i, n, m: (n - i) >> m),
    ("(unsigned char)(i * 37)", lambda i, n, m: i * 37 % 256),
    ("(signed char)(i * 37)", lambda i, n, m: (i * 37 + 128) % 256 - 128),
    ("(short)(n * i + 32760)", lambda i, n, m: (n * i + 32760 + (1 << 15)) % (1 << 16) - (1 << 15)),
]  # fmt: skip


@pytest.mark.parametrize(("index", "element"), INDICES, ids=[text for text, _ in INDICES])
def test_an_address_has_the_value_of_the_c_expression(
    index: str, element: Callable[[int, int, int], int]
) -> None:
    body = f"int i = threadIdx.x; o[{index}] = 1;"
    found = result(body, "o", block=(64,), parameters="float *o, int n, int m")
    assert found.address is not None
    address = parse(found.address).subs(sympy.Symbol("o"), 0)
    for n in N:
        for m, i in ((0, 0), (1, 63), (3, 17), (4, 40)):
            at = {"threadIdx_x": i, "n": n, "m": m}
            assert address.subs({sympy.Symbol(k): v for k, v in at.items()}) == 4 * element(i, n, m)


def test_a_table_holds_its_entries() -> None:
    body = "for (int s = 64; s > 0; s = s * 3 / 4) { o[s * n + (int)threadIdx.x] = 1; }"
    found = result(body, "o", block=(32,))
    assert found.address is not None
    assert "table(" in found.address
    steps = []
    s = 64
    while s > 0:
        steps.append(s)
        s = s * 3 // 4
    address = parse(found.address).subs({sympy.Symbol("o"): 0, sympy.Symbol("threadIdx_x"): 2})
    (counter,) = address.free_symbols - {sympy.Symbol("n")}
    values = [address.subs({counter: k, sympy.Symbol("n"): 10}) for k in range(len(steps))]
    assert values == [4 * (10 * s + 2) for s in steps]


NAMES = ("n", "N", "E", "I", "S", "Q", "beta", "pi", "gcd", "lambda_", "Mod", "test")


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_is_right_whatever_the_parameter_is_called(name: str) -> None:
    """Shared floats at stride n take gcd(n, 32) wavefronts, one at stride 0."""
    body = f"[[cuda::shared]] float s[4096]; s[(int)threadIdx.x * {name}] = 1;"
    formula = count(result(body, "s", parameters=f"int {name}")).formula
    assert formula is not None
    read = parse(formula)
    assert read.free_symbols == {sympy.Symbol(name)}
    for n in range(-70, 71):
        assert read.subs(sympy.Symbol(name), n) == (gcd(n, 32) if n else 1)


def test_sympify_alone_reads_a_formula_of_n() -> None:
    body = "[[cuda::shared]] float s[4096]; s[(int)threadIdx.x * (6 * n)] = 1;"
    formula = count(result(body, "s")).formula
    assert formula is not None
    read = sympy.sympify(formula)
    for n in range(-70, 71):
        assert read.subs(sympy.Symbol("n"), n) == (gcd(6 * n, 32) if n else 1)


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "f(x)", "'x'", "x[0]", "a if b else c", "1 +", "f(x, y=1)"]
)  # fmt: skip
def test_what_no_report_holds_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="not a formula"):
        parse(text)
