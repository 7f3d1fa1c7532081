"""CUDA's integer functions have the values that the CUDA Math API gives them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from summaries import count, result, results

from property.hardware_in_python import sectors
from property.kernel_texts import PRELUDE

FUNCTIONS = "".join(line for line in PRELUDE.splitlines(True) if "__" in line and "(" in line)
PARAMETERS = "char *o, unsigned n, int s, unsigned long long w"
WORD = 1 << 32


def _u24(value: int) -> int:
    return value % (1 << 24)


def _s24(value: int) -> int:
    return (value + (1 << 23)) % (1 << 24) - (1 << 23)


# the value at n = 0x80000003, s = -5, w = 2**40 + 3
CONSTANTS = [
    ("__popc(n)", 3),
    ("__clz(n >> 3)", 3),
    ("__ffs(n + 1)", 3),
    ("__brev(n)", 0xC0000001),
    ("__popcll(w)", 3),
    ("__clzll(w)", 23),
    ("__ffsll(w - 3)", 41),
    ("__brevll(w)", 0xC000000000800000),
    ("__clzll(n)", 32),
    ("__brevll(n)", 0xC000000100000000),
    ("__umul24(n, 0x1000002u)", 6),
    ("__umul24(n * 2, 0xfffffff)", 6 * 0xFFFFFF),
    ("__mul24(s, 3)", -15),
    ("__mul24(s, 0x7ffffff)", 5),
    ("__umulhi(n, 6)", 3),
    ("__umulhi(n, 0xffffffffu)", 0x80000002),
    ("__mulhi(s, 0x40000000)", -2),
    ("__mul64hi(s, 3)", -1),
    ("__umul64hi(w << 8, 0x300ull << 20)", (((1 << 40) + 3) << 8) * (0x300 << 20) >> 64),
    ("__umul64hi(~0ull, ~0ull)", (1 << 64) - 2),
    ("__hadd(s, 2)", -2),
    ("__rhadd(s, 2)", -1),
    ("__uhadd(n, 0xffffffffu)", 0xC0000001),
    ("__urhadd(n, 0xfffffffeu)", 0xC0000001),
    ("__sad(s, 4, 10u)", 19),
    ("__usad(n, 5, 1u)", 0x7FFFFFFF),
    ("__funnelshift_l(n, 5, 4)", 0x58),
    ("__funnelshift_l(n, 5, 36)", 0x58),
    ("__funnelshift_lc(n, 5, 36)", 0x80000003),
    ("__funnelshift_r(n, 5, 4)", 0x58000000),
    ("__funnelshift_r(n, 5, 32)", 0x80000003),
    ("__funnelshift_rc(n, 5, 99)", 5),
    ("__byte_perm(n, 0x44332211, 0x3210)", 0x80000003),
    ("__byte_perm(n, 0x44332211, 0x0123)", 0x03000080),
    ("__byte_perm(n, 0x44332211, 0x7054)", 0x44032211),
    ("__byte_perm(n, 0x44332211, 0x6533)", 0x33228080),
]  # fmt: skip


@pytest.mark.parametrize(("call", "value"), CONSTANTS, ids=[c for c, _ in CONSTANTS])
def test_of_known_numbers(call: str, value: int) -> None:
    """The step from lane to lane is the value's distance from one that is written out."""
    wanted = f"{value % (1 << 64)}ull"
    for distance in (0, 3, 40):
        body = f"o[threadIdx.x * ((unsigned long long){call} - {wanted} + {distance})] = 1;"
        known = {"n": 0x80000003, "s": -5, "w": (1 << 40) + 3}
        found = result(
            body, "o", parameters=PARAMETERS, params=known, grid=(1,), functions=FUNCTIONS
        )
        assert found.lane_stride_bytes == distance
        assert found.certainty == "exact"


Lane = Callable[[int], int]
i = "threadIdx.x"
VARYING: list[tuple[str, Lane]] = [
    (f"__popc({i}) * 32", lambda i: 32 * i.bit_count()),
    (f"__popcll({i} * 5ull) * 32", lambda i: 32 * (5 * i).bit_count()),
    (f"__clzll({i}) * 32", lambda i: 32 * (64 - i.bit_length())),
    (f"__ffsll({i} * 4ll) * 32", lambda i: 32 * (4 * i & -4 * i).bit_length()),
    (f"__brev({i}) >> 23", lambda i: int(f"{i:032b}"[::-1], 2) >> 23),
    (f"__umulhi({i} * 100u, 0x33333334u) * 8", lambda i: i * 100 // 5 * 8),
    (f"__mulhi((int){i} - 16, 1 << 29) * 64", lambda i: (i - 16 >> 3) * 64),
    (f"__umul64hi({i}, 1ull << 50) + {i}", lambda i: i),
    (f"__mul64hi((int){i} - 16, 3) * 64", lambda i: -64 * (i < 16)),
    (f"__mul24({i} + 0x7ffff0, 2)", lambda i: _s24(i + 0x7FFFF0) * 2),
    (f"__umul24({i} + 0xfffff0, 2)", lambda i: _u24(i + 0xFFFFF0) * 2),
    (f"__uhadd({i}, 7) * 8", lambda i: (i + 7) // 2 * 8),
    (f"__hadd((int){i}, -7) * 8", lambda i: (i - 7 >> 1) * 8),
    (f"__rhadd((int){i}, -7) * 8", lambda i: (i - 6 >> 1) * 8),
    (f"__sad({i}, 20, 0u) * 32", lambda i: 32 * abs(i - 20)),
    (f"__funnelshift_l({i}, {i}, 5)", lambda i: i << 5),
    (f"__funnelshift_l({i} << 27, 0, 5) * 32", lambda i: 32 * i),
    (f"__funnelshift_r({i} << 4, 0, 4) * 32", lambda i: 32 * i),
    (f"__funnelshift_rc(0, {i}, 70) * 32", lambda i: 32 * i),
    (f"__byte_perm({i}, 0, 0x4404)", lambda i: i << 8),
    (f"__byte_perm({i} * 16u, 3, 0x5104) - 3",
     lambda i: i * 16 % 256 << 8 | i * 16 // 256 << 16),
]  # fmt: skip


@pytest.mark.parametrize(("index", "element"), VARYING, ids=[v[0] for v in VARYING])
def test_of_lanes(index: str, element: Lane) -> None:
    body = f"o[{index}] = 1;"
    found = result(body, "o", parameters=PARAMETERS, grid=(1,), functions=FUNCTIONS)
    truth = sectors(tuple((i, 1 << 40 | element(i) % (1 << 36)) for i in range(32)), 1)
    assert (count(found).min, count(found).max) == (truth, truth)
    assert found.certainty == "exact"


UNKNOWN: list[tuple[str, Callable[[int, int], int]]] = [
    (f"{i} + __umulhi(n, 8) * 32", lambda i, n: i + (n >> 29) * 32),
    (f"{i} + __umulhi({i}, n)", lambda i, n: i + (i * n >> 32)),
    (f"{i} * 4 + __popcll(n) * 4", lambda i, n: i * 4 + n.bit_count() * 4),
    (f"{i} * __funnelshift_l(n, n, 3) % 4096", lambda i, n: i * ((n << 3 | n >> 29) % WORD) % 4096),
    (f"{i} + __byte_perm(n, {i}, 0x1032)", lambda i, n: i + (n >> 16 | n << 16) % WORD),
    (f"{i} * 32 + __uhadd(n, n)", lambda i, n: i * 32 + n),
    (f"__funnelshift_l({i}, {i}, n) % 4096",
     lambda i, n: (i << n % 32 | i << 32 >> 32 - n % 32) % WORD % 4096),
]  # fmt: skip


@pytest.mark.parametrize(("index", "element"), UNKNOWN, ids=[u[0] for u in UNKNOWN])
def test_of_sizes(index: str, element: Callable[[int, int], int]) -> None:
    body = f"o[{index}] = 1;"
    found = result(body, "o", parameters=PARAMETERS, grid=(1,), functions=FUNCTIONS)
    for n in (0, 1, 7, 40, 1000, 12345, 1 << 20, (1 << 29) + 5, WORD - 1):
        truth = sectors(tuple((i, 1 << 40 | element(i, n)) for i in range(32)), 1)
        assert count(found).min <= truth <= count(found).max, n


@pytest.mark.parametrize(
    ("index", "assumption"),
    [("__mul24(threadIdx.x, s)", "abs(s) < 2**23"), ("__umul24(threadIdx.x, n)", "abs(n) < 2**24")],
)
def test_sizes_are_taken_to_fit_into_24_bits(index: str, assumption: str) -> None:
    body = f"o[{index} * 32] = 1;"
    found = result(body, "o", parameters=PARAMETERS, grid=(1,), functions=FUNCTIONS)
    assert assumption in found.assumptions
    known = {"s": 1 << 24, "n": 1 << 24}
    (cut,) = results(body, parameters=PARAMETERS, params=known, grid=(1,), functions=FUNCTIONS)
    assert count(cut).max == 1
