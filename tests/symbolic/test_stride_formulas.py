"""Closed forms against enumeration: strides, pitches and offsets nobody knows yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

import pytest
import sympy
from summaries import Shape, count, result, warps

from coalescecheck import parse
from coalescecheck.analysis import AccessResult
from property.hardware_in_python import moved_to_start, sectors, wavefronts

Address = Callable[[int, int, int], int]  # threadIdx.x, threadIdx.y, parameter -> bytes

ELEMENTS = {1: "char", 2: "short", 4: "float", 8: "double", 16: "float4"}
STRIDES = range(-200, 201)
PITCHES = range(1, 301)


@dataclass(frozen=True)
class Case:
    """``index`` is C in tx, ty and n; ``element`` gives the same element by plain arithmetic."""

    index: str
    element: Callable[[int, int, int], int]
    width: int = 4
    block: Shape = (32,)
    shared: bool = False
    values: Iterable[int] = STRIDES

    def __str__(self) -> str:
        where = "shared" if self.shared else "global"
        return f"{where} {ELEMENTS[self.width]} [{self.index}] block {self.block}"

    @property
    def found(self) -> AccessResult:
        return _analysed(self)

    def truth(self, n: int) -> frozenset[int]:
        """The counts of all warps of a block when the parameter is n."""
        return _enumerated(self, n)


@cache
def _enumerated(case: Case, n: int) -> frozenset[int]:
    counts = set()
    for warp in warps(case.block):
        lanes = [(lane, case.width * case.element(x, y, n)) for lane, x, y, _ in warp]
        moved = moved_to_start(tuple(lanes))
        units = wavefronts(moved, case.width, "store") if case.shared else None
        counts.add(units or sectors(moved, case.width))
    return frozenset(counts)


@lru_cache
def _analysed(case: Case) -> AccessResult:
    element = ELEMENTS[case.width]
    value = "v" if case.width == 16 else "1"
    shared = f"[[cuda::shared]] _Alignas(16) {element} s[2048];" if case.shared else ""
    index = re.sub(r"\bt([xy])\b", r"(int)threadIdx.\1", case.index)
    body = f"{shared} {'s' if case.shared else 'p'}[{index}] = {value};"
    parameters = f"{element} *p, int n, float4 v"
    return result(body, "s" if case.shared else "p", block=case.block, parameters=parameters)


def _stride(width: int, shared: bool = False, block: Shape = (32,)) -> Case:
    return Case("tx * n", lambda x, y, n: x * n, width, block, shared)


def _row(width: int, block: Shape, shared: bool = False) -> Case:
    return Case("ty * n + tx", lambda x, y, n: y * n + x, width, block, shared, PITCHES)


def _column(width: int, block: Shape, shared: bool = False) -> Case:
    return Case("tx * n + ty", lambda x, y, n: x * n + y, width, block, shared, PITCHES)


BLOCKS: tuple[Shape, ...] = ((16, 16), (8, 8), (32, 8))
CASES = [
    *(_stride(width) for width in ELEMENTS),
    *(_stride(width, shared=True) for width in ELEMENTS),
    *(_stride(4, shared, (16, 4)) for shared in (False, True)),
    *(_row(width, block) for width in (4, 8) for block in BLOCKS),
    *(_column(4, block) for block in BLOCKS),
    *(_row(4, block, shared=True) for block in BLOCKS),
    *(_column(4, block, shared=True) for block in BLOCKS),
    Case("tx * n + 3", lambda x, y, n: x * n + 3),
    Case("tx * (n + 1)", lambda x, y, n: x * (n + 1)),
    Case("tx * (2 * n + 1)", lambda x, y, n: x * (2 * n + 1), shared=True),
    Case("tx * n * 32", lambda x, y, n: x * n * 32),
    Case("tx + n", lambda x, y, n: x + n),
    Case("tx + n", lambda x, y, n: x + n, width=1),
    Case("tx + n", lambda x, y, n: x + n, width=16),
    Case("tx - n", lambda x, y, n: x - n, width=8),
    Case("2 * tx + n", lambda x, y, n: 2 * x + n),
    Case("tx + 4 * n + 2", lambda x, y, n: x + 4 * n + 2),
    Case("(tx ^ 5) * n", lambda x, y, n: (x ^ 5) * n),
    Case("(tx / 8) * n + tx % 8", lambda x, y, n: x // 8 * n + x % 8, values=PITCHES),
    Case("(31 - tx) * n", lambda x, y, n: (31 - x) * n),
    Case("n - tx", lambda x, y, n: n - x),
    Case("tx * n + tx", lambda x, y, n: x * n + x, width=2),
]


def _assumed(found: AccessResult, n: int) -> bool:
    for text in found.assumptions:
        name, sign, limit = text.split()
        assert name == "n"
        if not (n >= int(limit) if sign == ">=" else n != int(limit)):
            return False
    return True


_parsed = lru_cache(parse)


def _value(formula: str, n: int) -> int:
    return int(_parsed(formula).subs(sympy.Symbol("n"), n))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_value_that_meets_the_assumptions_stays_inside_the_counts(case: Case) -> None:
    counted = count(case.found)
    seen = set().union(*(case.truth(n) for n in case.values if _assumed(case.found, n)))
    assert counted.min <= min(seen)
    assert max(seen) <= counted.max


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_least_and_greatest_count_are_reached(case: Case) -> None:
    counted = count(case.found)
    seen = set().union(*(case.truth(n) for n in case.values if _assumed(case.found, n)))
    assert (counted.min, counted.max) == (min(seen), max(seen))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_formula_has_the_enumerated_value_everywhere(case: Case) -> None:
    formula = count(case.found).formula
    if formula is None:
        return
    for n in case.values:
        if _assumed(case.found, n) or "Eq(n, 0)" in formula:
            assert case.truth(n) == {_value(formula, n)}, n


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_condition_in_words_holds(case: Case) -> None:
    """“up to 5 sectors; 4 and exact if n % 8 == 0: pass `--assume`”."""
    words = r"up to (\d+) \w+; (\d+) and exact if n % (\d+) == 0: pass `--assume`"
    found = re.fullmatch(words, case.found.reason)
    if found is None:
        return
    worst, best, divisor = map(int, found.groups())
    for n in (n for n in case.values if _assumed(case.found, n)):
        if n % divisor == 0:
            assert case.truth(n) == {best}, n
        assert max(case.truth(n)) <= worst, n
    assert best < worst


@pytest.mark.parametrize(
    ("stride", "expected"), [(0, 1), (1, 4), (2, 8), (8, 32), (16, 32), (32, 32), (-1, 5)]
)
def test_a_float_stride_costs_what_the_published_table_says(stride: int, expected: int) -> None:
    formula = count(CASES[2].found).formula
    assert formula is not None
    assert _value(formula, stride) == expected
    known = result("o[(int)threadIdx.x * n] = 1;", "o", params={"n": stride})
    assert count(known).min == count(known).max == expected


def test_every_simple_stride_has_a_formula() -> None:
    assert all(count(_stride(width).found).formula for width in ELEMENTS)
    assert count(_stride(4, shared=True).found).formula


@pytest.mark.parametrize(("kind", "least"), [("int", -20), ("unsigned", 0), ("unsigned char", 0)])
def test_a_formula_has_pieces_for_possible_values_only(kind: str, least: int) -> None:
    found = result(
        "o[(int)threadIdx.x * (int)s] = 1;", "o", parameters=f"float *o, {kind} s", grid=(1,)
    )
    formula = count(found).formula
    assert formula is not None
    assert (" < 0)" in formula) is (least < 0)
    for n in range(least, 21):
        lanes = {4 * n * lane // 32 for lane in range(32)}
        assert parse(formula).subs(sympy.Symbol("s"), n) == len(lanes)
