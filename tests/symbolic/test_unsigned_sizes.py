"""Unsigned arithmetic on sizes nobody knows: what would be wrong if it wrapped is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from summaries import count, result, results

from property.hardware_in_python import sectors

WORD = 1 << 32
PARAMETERS = "float *o, unsigned n, unsigned m, int s"
Element = Callable[[int, int], int]  # threadIdx.x and n, in Python's integers


def _sectors(element: Element, n: int) -> int:
    """Of the 32 lanes' floats, by the hardware's rule."""
    return sectors(tuple((i, 4 * element(i, n)) for i in range(32)), 4)


# what a wrap changes, the assumption that rules it out, and the element in C
NAMED: list[tuple[str, str, Element]] = [
    ("i * n", "n*threadIdx.x < 2**32", lambda i, n: i * n % WORD),
    ("i * n + 1", "n*threadIdx.x + 1 < 2**32", lambda i, n: (i * n + 1) % WORD),
    ("i * (n << 1)", "2*n*threadIdx.x < 2**32", lambda i, n: i * (2 * n % WORD) % WORD),
]


@pytest.mark.parametrize(("index", "assumption", "element"), NAMED, ids=[n[0] for n in NAMED])
def test_a_size_that_scales_lanes_is_taken_to_leave_them_below_2_to_the_32(
    index: str, assumption: str, element: Element
) -> None:
    found = result(f"unsigned i = threadIdx.x; o[{index}] = 1;", "o", parameters=PARAMETERS)
    assert assumption in found.assumptions
    assert (count(found).min, count(found).max) == (32, 32)
    for n in (64, 1 << 26):  # meet it
        assert _sectors(element, n) == 32
    wrapped = _sectors(element, 1 << 31)
    assert wrapped < 32
    known = result(
        f"unsigned i = threadIdx.x; o[{index}] = 1;",
        "o",
        parameters=PARAMETERS,
        params={"n": 1 << 31},
    )
    assert (count(known).min, count(known).max) == (wrapped, wrapped)
    assert not known.assumptions


@pytest.mark.parametrize("index", ["i - 1", "y * n - 1 + x", "y * n + x - 1"])
def test_rows_that_begin_before_an_index_wrap_at_its_start_alone(index: str) -> None:
    body = "unsigned x = blockIdx.x*8 + threadIdx.x, y = blockIdx.y*8 + threadIdx.y, i = y*n + x;"
    found = result(
        f"{body} o[{index}] = 1;", "o", parameters=PARAMETERS, block=(8, 8, 1), grid=None
    )
    assert any(text.endswith("< 2**32") for text in found.assumptions)
    assert any(text.startswith("warps not cut by") for text in found.assumptions)
    assert "n >= 14" in found.assumptions
    seen: set[int] = set()
    for n in (*range(14, 40), 1 << 10, 1 << 26):
        for bx, by, warp in ((0, 0, 1), (3, 0, 0), (1, 2, 1), (0, 5, 0)):
            lanes = [(8 * bx + t % 8) + n * (8 * by + 4 * warp + t // 8) for t in range(32)]
            if min(lanes) > 0 and max(lanes) < WORD:
                seen.add(sectors(tuple((t, 4 * (i - 1)) for t, i in enumerate(lanes)), 4))
    assert (min(seen), max(seen)) == (count(found).min, count(found).max) == (7, 8)


OTHER_NAMED = [
    ("(i + n) / m + 5 * i", "n + threadIdx.x < 2**32"),
    ("i / (m + 3) + 5 * i", "m + 3 < 2**32"),
    ("i % s + 2 * i", "s >= 0"),
]


@pytest.mark.parametrize(("index", "assumption"), OTHER_NAMED)
def test_what_is_divided_or_compared_is_taken_to_fit(index: str, assumption: str) -> None:
    body = f"unsigned i = threadIdx.x; o[{index}] = 1;"
    found = result(body, "o", parameters=PARAMETERS, assume=("n >= 1",))
    assert (count(found).min, count(found).max) != (1, 32)
    assert assumption in found.assumptions


def test_a_guard_that_bounds_a_size_is_taken_not_to_wrap() -> None:
    """With n = 2**30 the guard holds, and lanes lie far apart."""
    body = "if (n * 4 < 8) { o[(int)threadIdx.x * (int)n] = 1; }"
    found = result(body, "o", parameters=PARAMETERS)
    assert count(found).max == 4
    assert "4*n < 2**32" in found.assumptions


# a wrap is harmless: 2**32 elements are a whole number of lines
HARMLESS: list[tuple[str, Element]] = [
    ("i + n", lambda i, n: (i + n) % WORD),
    ("n * 4 - i", lambda i, n: (n * 4 - i) % WORD),
    ("(n * 8 + i) / 8", lambda i, n: (n * 8 + i) % WORD // 8),
    ("(n * 16 + i) >> 1", lambda i, n: (n * 16 + i) % WORD >> 1),
    ("((n * 8 + i) & ~7u) + i", lambda i, n: (((n * 8 + i) % WORD & ~7) + i) % WORD),
    ("(n * 32 + i) % 16 * 2", lambda i, n: (n * 32 + i) % WORD % 16 * 2),
]


@pytest.mark.parametrize(("index", "element"), HARMLESS, ids=[text for text, _ in HARMLESS])
def test_where_a_wrap_changes_nothing_nothing_is_said(index: str, element: Element) -> None:
    found = result(f"unsigned i = threadIdx.x; o[{index}] = 1;", "o", parameters=PARAMETERS)
    assert not any("2**32" in text for text in found.assumptions)
    for n in (0, 5, 8, WORD - 16, WORD - 5, WORD - 1, WORD // 4 - 1, WORD // 8 - 1, WORD // 16 - 1):
        counted = _sectors(element, n)
        assert count(found).min <= counted <= count(found).max, n


@pytest.mark.parametrize("index", ["i * s", "(i + s) / 3", "i / (s + 3)", "(int)(i * n) * 2"])
def test_signed_values_are_taken_to_fit_without_a_word(index: str) -> None:
    found = result(f"int i = threadIdx.x; o[{index}] = 1;", "o", parameters=PARAMETERS)
    assert not any("2**32" in text or ">= 0" in text for text in found.assumptions)


@pytest.mark.parametrize("kind", ["unsigned", "unsigned long"])
def test_lanes_below_0_have_the_greatest_values(kind: str) -> None:
    """``i - n`` of an unknown ``n`` wraps for the lanes before ``n``: any of them may be chosen."""
    i = "(int)threadIdx.x"
    found = result(f"o[({kind})({i} - n) > threadIdx.x ? 8 : 0] = 1;", "o", grid=(1,))
    assert count(found).max >= 2  # n = 5: lanes 0..4 take the one, the others the other
    ranged = result(f"if (({kind})({i} - n) < 8) o[threadIdx.x] = 1;", "o", grid=(1,))
    assert (count(ranged).min, count(ranged).max) == (1, 4)  # 8 lanes at most: no whole warp
    assert ranged.certainty == "bounded"
    wide = result(f"if (({kind})({i} - n) < 64) o[threadIdx.x] = 1;", "o", grid=(1,))
    assert any("threadIdx.x >= n" in text for text in wide.assumptions)


@pytest.mark.parametrize(("scale", "width", "whole"), [(1, 31, False), (1, 32, True),
                                                       (4, 64, False), (4, 128, True)])  # fmt: skip
def test_a_window_must_be_as_wide_as_a_warp_to_let_one_through(
    scale: int, width: int, whole: bool
) -> None:
    i = f"{scale} * (int)threadIdx.x"
    found = result(f"if ({i} >= n && {i} < n + {width}) o[threadIdx.x] = 1;", "o", grid=(1,))
    assert (count(found).min, count(found).max) == (4 if whole else 1, 4)


@pytest.mark.parametrize(
    ("index", "named"),
    [
        ("(unsigned)({i} - n)", False),  # -1 and 0 are in different sectors, wrapped or not
        ("(unsigned long)(unsigned)({i} - n) * 4", False),
        ("(unsigned long)(unsigned)({i} - n) * 3 + threadIdx.x", True),  # -3 + 5 and 0 + 4 are not
        ("(unsigned long)(unsigned)({i} - n) + 5", True),
    ],
)
def test_what_wraps_in_32_bits_and_goes_on_in_64_is_named(index: str, named: bool) -> None:
    found = result(f"o[{index.format(i='(int)threadIdx.x')}] = 1;", "o", grid=(1,))
    assert any("0 <= threadIdx.x - n" in a or "0 <= -n" in a for a in found.assumptions) == named


def test_what_is_compared_before_it_is_converted_has_to_fit() -> None:
    """``threadIdx.x - n`` below 0 wraps, is the greater one, and is below 0 again as an ``int``:
    floats -40 to -9 at n = 40 are 4 sectors, and 1 where nothing wraps."""
    body = "o[min((int)max(5u, threadIdx.x - n), 0)] = 1;"
    found = result(body, "o", parameters=PARAMETERS)
    assert found.assumptions == ("-n + threadIdx.x >= 0",)
    assert (count(found).min, count(found).max) == (1, 1)
    known = result(body, "o", parameters=PARAMETERS, params={"n": 40})
    assert (count(known).min, count(known).max) == (4, 4)


# a signed number below 0 in an unsigned sum; the element is what C makes of it
SUMS: list[tuple[str, Callable[[int, int], int]]] = [
    ("(int)i - 3 + 24 * blockIdx.x", lambda i, b: i - 3 + 24 * b),
    ("(unsigned)-(int)i + blockIdx.x", lambda i, b: b - i),
    ("(8 - 7 * (int)i) / 5 + i + blockIdx.x", lambda i, b: int((8 - 7 * i) / 5) + i + b),
    ("i - 5 + 30 * blockIdx.x", lambda i, b: i - 5 + 30 * b),
    ("i - blockIdx.x", lambda i, b: i - b),
]


@pytest.mark.parametrize(("index", "element"), SUMS, ids=[s[0] for s in SUMS])
def test_what_is_below_0_before_a_block_is_added_need_not_be_after(
    index: str, element: Callable[[int, int], int]
) -> None:
    found = result(f"unsigned i = threadIdx.x; o[{index}] = 1;", "o", parameters=PARAMETERS)
    assert not found.assumptions
    counts = {_sectors(lambda i, b: element(i, b) % WORD, b) for b in range(200)}
    assert (count(found).min, count(found).max) == (min(counts), max(counts))


def test_a_size_is_added_to_what_has_wrapped() -> None:
    body = "o[(unsigned)-(int)threadIdx.x + n] = 1;"
    found = result(body, "o", parameters=PARAMETERS)
    counts = {_sectors(lambda i, n: (n - i) % WORD, n) for n in range(200)}
    assert counts == {4, 5}
    assert (count(found).min, count(found).max) == (4, 5)


def test_a_hash_keeps_its_wrap() -> None:
    body = "o[(n * 2654435761u + threadIdx.x * n) >> 20] = 1;"
    found = result(body, "o", parameters=PARAMETERS)
    assert (found.certainty, count(found).min, count(found).max) == ("bounded", 1, 32)


@pytest.mark.parametrize("guard", ["0u - n <= threadIdx.x", "threadIdx.y - n <= threadIdx.x"])
def test_what_is_below_0_for_every_size_decides_nothing(guard: str) -> None:
    """``-n`` is the greatest of numbers from n = 1 on: no thread goes on then, all do at 0."""
    body = f"if ({guard}) o[threadIdx.x] = 1;"
    for params, requests in (({}, None), ({"n": 0}, 1), ({"n": 4}, 0)):
        (found,) = results(body, parameters=PARAMETERS, grid=(1,), params=params)
        assert found.requests == requests


# what holds while ``d = threadIdx.x - n`` does not wrap, after which nothing of n is left in it;
# the sectors at n = 40, where d is -40 and more as an ``int``, for one warp
FOLDED = [
    ("if ((int)max(d, 3u) > 0) o[threadIdx.x] = 1;", 0),
    ("if ((int)max(d, 3u) < 0) return; o[threadIdx.x] = 1;", 0),
    ("if (s < 7 && (int)max(d, 3u) > 0) o[threadIdx.x] = 1;", 0),
    ("bool all = (int)max(d, 3u) > 0; if (all) o[threadIdx.x] = 1;", 0),
    ("int x = 8; if ((int)max(d, 3u) > 0) x = 1; o[threadIdx.x * x] = 1;", 32),
    ("if ((int)max(d, 3u) > 0) { if (n < 50) o[threadIdx.x] = 1; }", 0),
    # 29 + i - 40 is below 0 for 11 lanes, and compared with an unsigned number
    ("if (threadIdx.x + threadIdx.y < 29 + min((int)max(d, 3u), 3)) o[threadIdx.x] = 1;", 2),
    (
        "int x = 0; for (int i = 0; i < min((int)max(d, 3u), 1); i++) x++; o[threadIdx.x * x] = 1;",
        1,
    ),
]


@pytest.mark.parametrize(("body", "wrapped"), FOLDED)
def test_a_condition_that_no_longer_shows_what_it_relies_on_has_it_said(
    body: str, wrapped: int
) -> None:
    body = f"unsigned d = threadIdx.x - n; {body}"
    found = result(body, "o", parameters=PARAMETERS, grid=(1,))
    assert (count(found).min, count(found).max) == (4, 4)
    assert "-n + threadIdx.x >= 0" in found.assumptions
    (known,) = results(body, parameters=PARAMETERS, grid=(1,), params={"n": 40, "s": 0})
    assert not known.assumptions
    assert (count(known).max if known.requests else 0) == wrapped


def test_code_that_is_dead_while_nothing_wraps_says_so() -> None:
    body = "unsigned d = threadIdx.x - n; if ((int)max(d, 3u) < 0) o[threadIdx.x] = 1;"
    (found,) = results(body, parameters=PARAMETERS, grid=(1,))
    assert (found.requests, found.certainty) == (0, "exact-symbolic")
    assert found.assumptions == ("-n + threadIdx.x >= 0",)
    (known,) = results(body, parameters=PARAMETERS, grid=(1,), params={"n": 40})
    assert known.requests == 1


@pytest.mark.parametrize("guard", ["false && (int)max(d, 3u) < 0", "threadIdx.x < 40"])
def test_a_condition_that_relies_on_nothing_says_nothing(guard: str) -> None:
    body = f"unsigned d = threadIdx.x - n; if (!({guard})) return; o[threadIdx.x] = 1;"
    (found,) = results(body, parameters=PARAMETERS, grid=(1,))
    assert (found.assumptions, found.certainty) == ((), "exact")
