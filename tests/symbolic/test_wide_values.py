"""64-bit unsigned values that lose bits: the lanes' places are those of C, or no number is given.

The expected counts are the hardware's rule over addresses that Python computes modulo 2**64.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from summaries import count, result

from property.hardware_in_python import sectors

WORD, DOUBLE = 1 << 32, 1 << 64
BLOCKS, BLOCK = 4, 128
Element = Callable[[int], int]

# the element in C and in Python, of thread i of the grid; the first three of any grid
KNOWN: list[tuple[str, Element]] = [
    ("i << 60 >> 55", lambda i: (i << 60) % DOUBLE >> 55),
    ("i << 32 >> 32", lambda i: i),
    ("(i << 58 >> 57) + i", lambda i: ((i << 58) % DOUBLE >> 57) + i),
    ("(i << 32 | 5) >> 31", lambda i: 2 * i),
    ("(unsigned)(i * 0x100000001ull) * 2", lambda i: 2 * (i * 0x100000001 % WORD)),
    ("(unsigned)(i * 0x80000001ull) & 4095", lambda i: i * 0x80000001 % WORD & 4095),
]
OPEN: list[tuple[str, Element]] = [
    ("(i << 61) / 0x2000000000000000ull + 2 * i", lambda i: i % 8 + 2 * i),
    ("(i * 0x2000000000000000ull) % 7 + i", lambda i: (i << 61) % DOUBLE % 7 + i),
    (
        "(long)(i << 61) / 0x1000000000000000l + i + 100",
        lambda i: (i % 8 - 8 * (i % 8 > 3)) * 2 + i + 100,
    ),
    ("(i << 60 > 5ull ? 3 : 2) * i", lambda i: (3 if i % 16 else 2) * i),
    ("(i << 60 == 0ull ? 3 : 2) * i", lambda i: (2 if i % 16 else 3) * i),
    ("(i << 60 ? 3 : 2) * i", lambda i: (3 if i % 16 else 2) * i),
]


def _counts(element: Element) -> tuple[int, int]:
    found = [
        sectors(tuple((lane, 4 * element(first + lane)) for lane in range(32)), 4)
        for first in range(0, BLOCKS * BLOCK, 32)
    ]
    return min(found), max(found)


def _body(index: str) -> str:
    return f"unsigned long i = blockIdx.x * 128ul + threadIdx.x; o[{index}] = 1;"


@pytest.mark.parametrize(("index", "element"), KNOWN, ids=[k[0] for k in KNOWN])
def test_bits_that_are_shifted_or_cut_off_are_gone(index: str, element: Element) -> None:
    found = result(_body(index), "o", block=(BLOCK,), grid=(BLOCKS,))
    assert found.certainty == "exact"
    assert (count(found).min, count(found).max) == _counts(element)


@pytest.mark.parametrize(("index", "element"), KNOWN[:3], ids=[k[0] for k in KNOWN[:3]])
def test_the_low_bits_of_any_block_are_known(index: str, element: Element) -> None:
    found = result(_body(index), "o", block=(BLOCK,))
    assert found.certainty == "exact-symbolic"
    assert (count(found).min, count(found).max) == _counts(element)


@pytest.mark.parametrize(("index", "element"), [*KNOWN, *OPEN], ids=[k[0] for k in KNOWN + OPEN])
@pytest.mark.parametrize("grid", [(BLOCKS,), None])
def test_every_use_of_values_beyond_64_bits_has_true_bounds(
    index: str, element: Element, grid: tuple[int] | None
) -> None:
    found = result(_body(index), "o", block=(BLOCK,), grid=grid)
    low, high = _counts(element)
    assert count(found).min <= low <= high <= count(found).max
