"""The pictures' own reading of a request against the hardware model, which counts otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck.memory import count_sectors, count_wavefronts
from coalescecheck.report.request import phases_of, sectors_of

WIDTHS = (1, 2, 4, 8, 16)


@st.composite
def requests(draw: st.DrawFn) -> tuple[int, list[int | None]]:
    """Aligned lanes of one width: strides with some lanes moved and some switched off."""
    width = draw(st.sampled_from(WIDTHS))
    step, start = draw(st.integers(-40, 40)), draw(st.integers(0, 64))
    divide = draw(st.sampled_from((1, 2, 4)))
    elements = [start + step * (lane // divide) + 2000 for lane in range(32)]
    for lane in draw(st.lists(st.integers(0, 31), max_size=6)):
        elements[lane] = draw(st.integers(0, 3000))
    off = draw(st.sets(st.integers(0, 31), max_size=31))
    return width, [None if lane in off else width * e for lane, e in enumerate(elements)]


def arrays(offsets: list[int | None]) -> tuple[np.ndarray, np.ndarray]:
    active = np.array([[offset is not None for offset in offsets]])
    return np.array([[offset or 0 for offset in offsets]], np.int64), active


@settings(max_examples=150)
@given(requests())
def test_as_many_sectors_are_drawn_as_are_counted(request_: tuple[int, list[int | None]]) -> None:
    width, offsets = request_
    sectors = sectors_of(offsets, width)
    assert len(sectors) == count_sectors(*arrays(offsets), width)[0]
    asked = {b for o in offsets if o is not None for b in range(o, o + width)}
    assert {32 * s.number + b for s in sectors for b in s.used} == asked


@settings(max_examples=150)
@given(requests(), st.sampled_from(["load", "store", "atomic"]))
def test_as_many_wavefronts_are_drawn_as_are_counted(
    request_: tuple[int, list[int | None]], op: str
) -> None:
    width, offsets = request_
    phases = phases_of(offsets, width, op)
    counted = count_wavefronts(*arrays(offsets), width, op)
    assert sum(len(phase.wavefronts) for phase in phases) == counted.total[0]
    assert len(phases) == counted.ideal[0]
    for phase in phases:
        for wavefront in phase.wavefronts:
            banks = [served.bank for served in wavefront]
            assert len(banks) == len(set(banks))


@pytest.mark.parametrize(
    ("offsets", "wavefronts"),
    [
        pytest.param([4 * lane for lane in range(32)], 1, id="a row"),
        pytest.param([128 * lane for lane in range(32)], 32, id="a column of 32 words"),
        pytest.param([132 * lane for lane in range(32)], 1, id="a padded column"),
        pytest.param([0] * 32, 1, id="one word for all"),
    ],
)
def test_wavefronts_of_textbook_patterns(offsets: list[int | None], wavefronts: int) -> None:
    (phase,) = phases_of(offsets, 4, "load")
    assert len(phase.wavefronts) == wavefronts


def test_sixteen_bytes_per_lane_are_four_phases_of_eight_lanes() -> None:
    phases = phases_of([16 * lane for lane in range(32)], 16, "load")
    assert [phase.lanes for phase in phases] == [tuple(range(at, at + 8)) for at in (0, 8, 16, 24)]
    assert [len(phase.wavefronts) for phase in phases] == [1, 1, 1, 1]
