"""CC104 on analyses made by hand: which access is turned, which needs the order that there is.

Kernels that it reads itself are in ``test_causes``.
"""

from __future__ import annotations

from typing import Any

import pytest

from coalescecheck import rules
from coalescecheck.analysis import AccessResult, Count, Motion
from coalescecheck.launch import Dim3, Launch
from hand_made import access, exactly, kernel

Steps = tuple[int | str | None, int | str | None, int | str | None]


def moving(number: int, threads: Steps | None, **facts: Any) -> AccessResult:
    """A load whose address moves so many bytes with each thread index."""
    motion = None if threads is None else Motion(threads, (), (), 0, number, 4, 4)
    step = None if threads is None else threads[0]
    values = {"motion": motion, "lane_stride_bytes": step, "sectors": exactly(16, 4)}
    return access(number, **values | facts)


def turned(*accesses: AccessResult, block: tuple[int, ...] = (16, 16)) -> list[int | None]:
    """The accesses that CC104 speaks of."""
    analysis = kernel(*accesses, launch=Launch(Dim3(*block), Dim3(8, 8, 8), "host"))
    return [found.access for found in rules.check(analysis, rules.select(("CC104",), ()))]


@pytest.mark.parametrize(
    ("threads", "facts", "expected"),
    [
        ((512, 4, 0), {}, [0]),
        ((512, -4, 0), {}, [0]),
        (("4*n", 4, 0), {}, [0]),
        ((64, 4, 0), {}, [0]),  # 16 floats: a row of the block
        ((60, 4, 0), {}, []),  # rows that overlap
        ((512, 8, 0), {}, []),  # nor is it contiguous along y
        ((512, 0, 0), {}, []),
        ((None, 4, 0), {}, []),
        (None, {}, []),
        ((512, 4, 0), {"space": "shared", "sectors": None, "wavefronts": exactly(16, 1)}, []),
        # rows of a warp may fill their sectors
        ((512, 4, 0), {"pattern": "strided", "certainty": "bounded",
                       "sectors": Count(4, 16, None, 4)}, []),
        ((512, 4, 0), {"pattern": "strided", "certainty": "exact-symbolic",
                       "sectors": Count(4, 16, None, 4)}, [0]),
        ((512, 4, 0), {"requests": 0}, []),
        ((512, 4, 0), {"space": "local"}, []),
    ],
)  # fmt: skip
def test_what_another_thread_index_would_make_contiguous(
    threads: Steps | None, facts: dict[str, Any], expected: list[int]
) -> None:
    assert turned(moving(0, threads, **facts)) == expected


@pytest.mark.parametrize(
    ("block", "threads", "expected"),
    [
        ((16, 1), (512, 4, 0), []),  # no rows
        ((1, 16), (512, 4, 0), []),  # no columns
        ((2, 2), (512, 4, 0), [0]),
        ((4, 4, 4), (512, 0, 4), [0]),  # along threadIdx.z
        ((4, 4, 1), (512, 0, 4), []),
        ((2, 64), (256, 4, 0), [0]),
        ((2, 64), (252, 4, 0), []),  # 64 floats: a row
    ],
)
def test_blocks_that_can_be_turned(
    block: tuple[int, ...], threads: Steps, expected: list[int]
) -> None:
    assert turned(moving(0, threads), block=block) == expected


@pytest.mark.parametrize(
    ("threads", "facts", "expected"),
    [
        ((512, 0, 0), {}, [0, 1]),  # a row for each threadIdx.x gains, too
        ((4, 512, 0), {}, []),  # a transpose
        ((0, 512, 0), {}, []),  # one address in each row of the block
        ((0, 0, 0), {}, [0]),
        ((512, 512, 0), {}, [0]),  # the same either way
        ((4, 0, 0), {}, [0]),  # all lanes would use one address
        ((8, 4, 0), {}, [0]),
        ((0, 4, 0), {}, [0]),  # would be contiguous
        ((0, 8, 0), {}, []),
        ((8, 8, 0), {}, [0]),
        ((4, None, 0), {}, []),
        (None, {}, []),
        (None, {"space": "local"}, [0]),
        ((0, 4, 0), {"space": "constant"}, []),  # constants lane by lane
        ((4, 512, 0), {"requests": 0}, [0]),
    ],
)
def test_accesses_that_need_the_order_that_there_is(
    threads: Steps | None, facts: dict[str, Any], expected: list[int]
) -> None:
    assert turned(moving(0, (512, 4, 0)), moving(1, threads, **facts)) == expected


def test_one_access_has_to_be_turned_as_a_whole() -> None:
    row, diagonal = moving(0, (512, 0, 0)), moving(1, (4, 4, 0))
    assert turned(row, diagonal) == []
    assert turned(row, moving(1, (512, 4, 0))) == [0, 1]
