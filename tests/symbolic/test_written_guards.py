"""Guards read as a CUDA programmer writes them; what is computed with stays SymPy's syntax."""

from __future__ import annotations

import pytest
from summaries import result

X = "threadIdx.x"
SIGNED = "int x = threadIdx.x, j = x - n;"


@pytest.mark.parametrize(
    ("guard", "written"),
    [
        ("x / n < m", f"{X} / n < m"),
        ("2 * (x % n) < m", f"2*({X} % n) < m"),
        ("(m + x) % n == 3", f"(m + {X}) % n == 3"),
        ("(x ^ 5) + m < n", f"({X} ^ 5) + m < n"),
        ("m << n > 5", "(m << n) > 5"),
        ("x % 8 * n < 64", f"n*({X} % 8) < 64"),
        ("3 >= m", "m < 4"),
        # of what may be negative C's `/` is no floor
        ("(j >> 2) < m", f"((-n + {X}) >> 2) < m"),
        ("(j & 7) < m", f"((-n + {X}) & 7) < m"),
        ("j / 4 < m", f"(-n + {X}) / 4 < m"),
        ("x < n && (m > 3 || x > m)", f"{X} < n; m > 3 || m < {X}"),
        ("!(x < n && x < m)", f"{X} >= n || {X} >= m"),
        ("m + (x < n) == 2", f"({X} < n) + m == 2"),
        ("max(x % 5, 3) * n < m", f"n*max({X} % 5, 3) < m"),
        ("(short)(x + n) < m", f"(short)(n + {X}) < m"),
        ("(unsigned char)(x + n) == m", f"m == (unsigned char)(n + {X})"),
    ],
)
def test_a_guard_is_c(guard: str, written: str) -> None:
    found = result(f"{SIGNED} if ({guard}) o[x] = j;", "o")
    assert "; ".join(found.guards) == written


def test_an_address_is_sympys() -> None:
    found = result(f"{SIGNED} o[x / n * 4 + x % 8] = 1;", "o")
    assert found.address == "16*trunc_div(threadIdx_x, n) + 4*Mod(threadIdx_x, 8) + o"


def test_a_guard_whose_parts_stand_in_each_other_stays_short() -> None:
    steps = " ".join("v = (v / n) * m + v % n + (v < m) * n;" for _ in range(40))
    found = result(f"{SIGNED} int v = x; {steps} if (v < 5 || v == m) o[x] = 1;", "o")
    assert all(len(guard) < 20_000 for guard in found.guards)
