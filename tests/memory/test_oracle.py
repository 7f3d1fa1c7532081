"""Counts against a brute-force model in pure Python that shares nothing with the package."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck import memory

WIDTHS = (1, 2, 4, 8, 16, 32)
PHASES = {1: 1, 2: 1, 4: 1, 8: 2, 16: 4}


def touched(lanes, width, size):
    return {byte // size for a in lanes if a is not None for byte in range(a, a + width)}


def bank_load(lanes, width, atomic):
    wanted = [{b // 4 for b in range(a, a + width)} for a in lanes if a is not None]
    banks = {}
    for words in wanted:
        for word in words:
            banks.setdefault(word % 32, []).append(word)
    counts = [len(w) if atomic else len(set(w)) for w in banks.values()]
    return max(counts, default=0)


def wavefronts(lanes, width, op):
    phases = PHASES[width]
    if op == "load" and any(
        all(lanes[n] is None or lanes[n ^ x] is None or lanes[n] == lanes[n ^ x] for n in range(32))
        for x in (1, 2)
    ):
        phases = max(1, phases // 2)
    size = 32 // phases
    loads = [
        bank_load(lanes[p * size : (p + 1) * size], width, op == "atomic") for p in range(phases)
    ]
    return sum(loads), sum(n > 0 for n in loads), max(loads)


@st.composite
def requests(draw, widths=WIDTHS, aligned=False):
    width = draw(st.sampled_from(widths))
    reach = draw(st.sampled_from((64, 512, 8192)))
    step = width if aligned else draw(st.sampled_from((1, width)))
    address = st.integers(-reach // step, reach // step).map(lambda k: k * step)
    spread = draw(st.sampled_from((1, 2, 4, 32)))  # neighbouring lanes may share an address
    few = draw(st.lists(address, min_size=32 // spread, max_size=32 // spread))
    lanes = [few[n // spread] for n in range(32)]
    off = draw(st.sets(st.integers(0, 31), max_size=31))
    return width, [None if n in off else a for n, a in enumerate(lanes)]


def arrays(lanes):
    active = np.array([[a is not None for a in lanes]])
    return np.array([[a or 0 for a in lanes]], dtype=np.int64), active


@settings(max_examples=300)
@given(requests())
def test_footprints_equal_sets_of_bytes(request_):
    width, lanes = request_
    found = memory.footprint(*arrays(lanes), width)
    assert int(found.sectors[0]) == len(touched(lanes, width, 32))
    assert int(memory.count_pairs(*arrays(lanes), width)[0]) == len(touched(lanes, width, 64))
    assert int(found.lines[0]) == len(touched(lanes, width, 128))
    assert int(found.unique_bytes[0]) == len(touched(lanes, width, 1))


@settings(max_examples=300)
@given(requests(widths=tuple(PHASES), aligned=True), st.sampled_from(("load", "store", "atomic")))
def test_wavefronts_equal_bank_by_bank_counting(request_, op):
    width, lanes = request_
    found = memory.count_wavefronts(*arrays(lanes), width, op)
    got = (int(found.total[0]), int(found.ideal[0]), int(found.degree[0]))
    assert got == wavefronts(lanes, width, op)


@settings(max_examples=100)
@given(requests(widths=(1, 2, 4, 8), aligned=True))
def test_lanes_per_word_equal_a_tally_of_words(request_):
    _, lanes = request_
    words = Counter(a // 4 for a in lanes if a is not None)
    most = max(words.values(), default=0)
    assert memory.count_lanes_per_word(*arrays(lanes)).tolist() == [most]


@settings(max_examples=100)
@given(requests(), st.integers(-9, 9))
def test_a_shape_stands_for_all_requests_moved_by_lines(request_, lines):
    width, lanes = request_
    addresses, active = arrays(lanes)
    both = np.concatenate([addresses, addresses + 128 * lines])
    shapes = memory.distinct_shapes(both, np.concatenate([active, active]))
    assert len(shapes.addresses) == 1
    found = memory.count_sectors(shapes.addresses, shapes.active, width)[shapes.of]
    assert found.tolist() == 2 * memory.count_sectors(addresses, active, width).tolist()


@pytest.mark.parametrize(
    ("offset", "width", "sectors"),
    [
        pytest.param(lambda lane: 8, 4, 4, id="one index in all lanes fills one line"),
        pytest.param(lambda lane: 4 * lane, 4, 32, id="an index per lane touches 32 lines"),
        pytest.param(lambda lane: 16, 16, 16, id="four words of one index fill four lines"),
        pytest.param(lambda lane: 5, 1, 4, id="bytes stay in the word of their lane"),
    ],
)
def test_local_memory_is_interleaved_by_word(offset, width, sectors):
    offsets = np.array([[offset(lane) for lane in range(32)]], dtype=np.int64)
    where = memory.interleave(offsets, np.ones((1, 32), dtype=np.bool_), width)
    assert memory.count_sectors(*where).tolist() == [sectors]


def test_many_requests_count_like_each_alone():
    rng = np.random.default_rng(7)
    addresses = rng.integers(0, 4096, (500, 32)) * 8
    active = rng.random((500, 32)) < 0.8
    active[:, 3] = True
    together = memory.count_wavefronts(addresses, active, 8, "load").total
    alone = [
        int(memory.count_wavefronts(addresses[i : i + 1], active[i : i + 1], 8, "load").total[0])
        for i in range(500)
    ]
    assert together.tolist() == alone
