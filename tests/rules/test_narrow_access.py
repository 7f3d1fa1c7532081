"""CC302 on analyses made by hand: what is not to be wider.

Kernels that it reads itself are in ``test_causes``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coalescecheck import rules
from coalescecheck.analysis import AccessResult, Motion
from coalescecheck.ir.kernel import Op, Piece
from hand_made import access, exactly, kernel


def four(count: int = 4, **facts: Any) -> list[AccessResult]:
    """Loads of the four neighbouring floats of each lane, or of another number of them."""
    values: dict[str, Any] = {
        "lane_stride_bytes": 16,
        "pattern": "strided",
        "sectors": exactly(16, 4),
    }
    return [
        access(
            number,
            motion=Motion((16, 0, 0), (), (), offset=4 * number, group=0, divisor=16, start=16),
            **values | facts,
        )
        for number in range(count)
    ]


def told_of(results: list[AccessResult]) -> list[str]:
    chosen = rules.select(("CC302",), ())
    return [str(f.severity) for f in rules.check(kernel(*results), chosen)]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, ["note"]),
        ({"op": Op.STORE}, ["warning"]),
        ({"op": Op.ATOMIC}, []),
        ({"kind": "vector"}, []),  # wider already
        ({"space": "local", "sectors": exactly(16, 4)}, []),
        ({"requests": 0}, []),
        ({"certainty": "bounded"}, []),
        ({"lane_stride_bytes": 8}, []),  # lanes that share elements
        ({"lane_stride_bytes": "4*n"}, []),
    ],
)
def test_accesses_that_may_be_wider(facts: dict[str, Any], expected: list[str]) -> None:
    assert told_of(four(**facts)) == expected


def test_what_the_source_wants_one_by_one_stays() -> None:
    def changed(**facts: Any) -> list[AccessResult]:
        return [replace(each, access=replace(each.access, **facts)) for each in four()]

    assert told_of(changed(volatile=False)) == ["note"]
    assert told_of(changed(volatile=True)) == []
    assert told_of(changed(pieces=(Piece(0, 4), Piece(4, 4)))) == []  # CC303 speaks of it


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (5, None),  # 4 of 5 as one float4, or two float2
        (9, None),  # 8 of 9
        (10, "5 of 8 bytes would do"),  # 8 of 10 as float4: too few
        (11, "5 of 8 bytes would do"),  # 10 of 11
        (12, "3 of 16 bytes would do"),
    ],
)
def test_nine_tenths_of_the_elements_have_to_fit(count: int, words: str | None) -> None:
    results = four(count, lane_stride_bytes=64, sectors=exactly(32, 4))
    found = [f.message for f in rules.check(kernel(*results), rules.select(("CC302",), ()))]
    assert [words is not None and words in each for each in found] == [True] * bool(words)
