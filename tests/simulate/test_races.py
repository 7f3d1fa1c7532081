"""Races in shared memory, by small kernels and against a brute-force search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_builder import TX, E, KernelBuilder, launch, var, wrap

from coalescecheck.ir.expr import Select
from coalescecheck.ir.kernel import Barrier, If
from coalescecheck.ir.types import I8, I32, U32
from coalescecheck.simulate import simulate

X = var("x")


def halves():
    """``sync()`` of ``tiled_partition<16>``."""
    return Barrier("warp", mask=(wrap(0xFFFF, U32) << (TX / 16 % 2 * 16).to(U32)).expr)


def of(mask):
    """``if (mask >> threadIdx.x & 1) __syncwarp(mask);``"""
    mine = (wrap(mask, I32) >> TX) & 1
    first = (TX < 32).expr
    barrier = If(mine.eq(1).expr, (Barrier("warp", mask=wrap(mask, U32).expr),), ())
    return If(first, (barrier,), ())


def races(build, block=(64,), kind=I32):
    k = KernelBuilder()
    k.shared("s", 256, kind=kind)
    done = simulate(k.kernel(*build(k)), launch(block))
    return {(r.first, r.second, r.kind, r.same_warp) for r in done.races}


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(
            lambda k: [k.store("s", TX, TX), k.load(X, "s", TX)],
            set(), id="a thread reads what it wrote itself",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), k.load(X, "s", (TX + 32) % 64)],
            {(0, 1, "RAW", False)}, id="another warp's value without a barrier",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), Barrier("block"), k.load(X, "s", (TX + 32) % 64)],
            set(), id="with a barrier",
        ),
        pytest.param(
            lambda k: [k.load(X, "s", (TX + 32) % 64), k.store("s", TX, TX + 1)],
            {(0, 1, "WAR", False)}, id="overwriting what another warp reads",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), k.load(X, "s", TX + 1 - (TX % 2) * 2)],
            {(0, 1, "RAW", True)}, id="a neighbour of the same warp",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), Barrier("warp"), k.load(X, "s", TX + 1 - TX % 2 * 2)],
            set(), id="a neighbour after __syncwarp",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), Barrier("warp"), k.load(X, "s", (TX + 32) % 64)],
            {(0, 1, "RAW", False)}, id="__syncwarp does not order other warps",
        ),
        pytest.param(
            lambda k: [k.store("s", 0, 1)], {(0, 0, "WAW", False)} - {(0, 0, "WAW", False)},
            id="all threads set one flag to one value",
        ),
        pytest.param(
            lambda k: [k.store("s", TX % 32, TX)],
            {(0, 0, "WAW", False)}, id="two warps write different values in one statement",
        ),
        pytest.param(
            lambda k: [k.store("s", TX / 2, TX)],
            {(0, 0, "WAW", True)}, id="neighbours write different values in one request",
        ),
        pytest.param(
            lambda k: [k.atomic("add", "s", 0, 1), k.atomic("max", "s", 0, 1)],
            set(), id="atomics among each other",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), k.atomic("add", "s", (TX + 32) % 64, 1)],
            {(0, 1, "WAW", False)}, id="an atomic on a value just stored",
        ),
        pytest.param(
            lambda k: [k.atomic("add", "s", TX, 1), k.load(X, "s", (TX + 32) % 64)],
            {(0, 1, "RAW", False)}, id="a plain read of an atomic's result",
        ),
        pytest.param(
            lambda k: [If(TX.eq(0).expr, (k.store("s", 0, 1),), ()), k.load(X, "s", 0)],
            {(0, 1, "RAW", True), (0, 1, "RAW", False)}, id="a broadcast without a barrier",
        ),
        pytest.param(
            lambda k: [k.load(X, "s", 0), If(TX.eq(0).expr, (k.store("s", 0, 1),), ())],
            {(0, 1, "WAR", False), (0, 1, "WAR", True)},
            id="a thread overwrites what all have read",
        ),
        pytest.param(
            lambda k: [
                If(((TX - 28) * (TX - 31)).eq(0).expr, (k.store("s", 1, 7),), ()),
                If(TX.eq(31).expr, (k.load(X, "s", 1),), ()),
            ],
            {(0, 1, "RAW", True)}, id="one of two writers reads, the other may still write",
        ),
        pytest.param(
            lambda k: [
                If(TX.eq(3).expr, (k.store("s", 1, 7),), ()),
                If(TX.eq(40).expr, (k.store("s", 1, 7),), ()),
                If(TX.eq(40).expr, (k.load(X, "s", 1),), ()),
            ],
            {(0, 2, "RAW", False)}, id="the writer before the last",
        ),
        pytest.param(
            lambda k: [
                If(((TX - 28) * (TX - 31)).eq(0).expr, (k.store("s", 1, 7),), ()),
                Barrier("warp"),
                If(TX.eq(31).expr, (k.load(X, "s", 1),), ()),
            ],
            set(), id="one of two writers reads after __syncwarp",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), halves(), k.load(X, "s", TX + 1 - TX % 2 * 2)],
            set(), id="a neighbour after a barrier of 16 lanes",
        ),
        pytest.param(
            lambda k: [k.store("s", TX, TX), halves(), k.load(X, "s", TX + 16 - TX / 16 % 2 * 32)],
            {(0, 1, "RAW", True)}, id="the other half after a barrier of 16 lanes",
        ),
        pytest.param(
            lambda k: [
                If((TX % 32).eq(31).expr, (k.load(X, "s", TX / 32),), ()),
                halves(),
                If((TX % 32).eq(0).expr, (k.store("s", TX / 32, TX + 1),), ()),
            ],
            {(0, 1, "WAR", True)}, id="half 0 overwrites what half 1 has read",
        ),
        pytest.param(
            lambda k: [
                k.load(X, "s", TX / 32), halves(),
                If((TX % 32).eq(0).expr, (k.store("s", TX / 32, TX + 1),), ()),
            ],
            {(0, 1, "WAR", True)}, id="and what all have read",
        ),
        pytest.param(
            lambda k: [
                k.store("s", TX, TX), halves(), Barrier("warp"),
                k.load(X, "s", TX + 16 - TX / 16 % 2 * 32),
            ],
            set(), id="the other half after __syncwarp, too",
        ),
        pytest.param(
            lambda k: [
                k.store("s", TX, TX), Barrier("warp"), halves(),
                k.load(X, "s", TX + 16 - TX / 16 % 2 * 32),
            ],
            set(), id="the other half after a __syncwarp before",
        ),
        pytest.param(  # 5 waits with 6, then 6 with 7
            lambda k: [
                If(TX.eq(5).expr, (k.store("s", 0, 1),), ()), of(0x60), of(0xC0),
                If(TX.eq(7).expr, (k.load(X, "s", 0),), ()),
            ],
            set(), id="one after the other",
        ),
        pytest.param(
            lambda k: [
                If(TX.eq(5).expr, (k.store("s", 0, 1),), ()), of(0xC0), of(0x60),
                If(TX.eq(7).expr, (k.load(X, "s", 0),), ()),
            ],
            {(0, 1, "RAW", True)}, id="but not the other way round",
        ),
    ],
)  # fmt: skip
def test_races_are_found_where_they_are(build, expected):
    found = races(build)
    if any(kind == "WAR" for _, _, kind, _ in expected):  # two readers of a place are remembered
        assert found <= expected
        assert found
    else:
        assert found == expected


def test_bytes_of_one_word_do_not_race():
    assert races(lambda k: [k.store("s", TX, TX.to(I8))], kind=I8) == set()


def test_blocks_do_not_race_with_each_other():
    k = KernelBuilder()
    k.shared("s", 64, kind=I32)
    kernel = k.kernel(k.store("s", TX, TX), k.load(X, "s", TX))
    assert simulate(kernel, launch((64,), (4,))).races == ()


def test_a_race_on_made_up_indices_is_not_certain():
    k = KernelBuilder()
    k.shared("s", 64, kind=I32)
    k.array("in", kind=I32)
    kernel = k.kernel(k.load(X, "in", TX), k.store("s", X, TX))
    assert {r.certain for r in simulate(kernel, launch((64,))).races} == {False}


STEP = st.tuples(
    st.sampled_from(["read", "write", "block", "warp", "some"]),
    st.lists(st.integers(0, 5), min_size=64, max_size=64),
    st.sets(st.integers(0, 63), min_size=1, max_size=6),
)


def groups(what, lanes):
    """The threads that a barrier orders among each other."""
    if what == "block":
        return [set(range(64))]
    warps = [set(range(32)), set(range(32, 64))]
    return warps if what == "warp" else [warp & lanes for warp in warps]


def brute(steps):
    """Every pair of accesses of two threads to one place that no barrier orders.  An access comes
    before what a thread does if that thread knows of it: its own, and what it hears of in a
    barrier."""
    events, found = [], set()
    for number, (what, places, lanes) in enumerate(steps):
        if what in ("block", "warp", "some"):
            for group in groups(what, lanes):
                for *_, known in events:
                    if known & group:
                        known |= group
            continue
        for t in sorted(lanes):
            for place2, kind2, n2, known in events:
                pair = {("write", "read"): "RAW", ("read", "write"): "WAR",
                        ("write", "write"): "WAW"}.get((kind2, what))  # fmt: skip
                if places[t] == place2 and t not in known and pair:
                    found.add((n2, number, pair))
        events += [(places[t], what, number, {t}) for t in sorted(lanes)]
    return found


def some(lanes):
    """Each of these threads waits with the others of its warp."""
    low, high = (sum(1 << t - at for t in lanes if at <= t < at + 32) for at in (0, 32))
    mine = (TX < 32).expr
    mask = Select(mine, wrap(low, U32).expr, wrap(high, U32).expr, U32)
    waits = ((E(mask) >> (TX % 32).to(U32)) & 1).eq(1).expr
    return If(waits, (Barrier("warp", mask=mask),), ())


@settings(max_examples=80)
@given(st.lists(STEP, min_size=2, max_size=7))
def test_every_reported_race_is_one_and_racy_places_are_noticed(steps):
    k = KernelBuilder()
    k.shared("s", 8, kind=I32)
    for name in ("places", "lanes"):
        k.array(name, kind=I32)
    p, on = var("p"), var("on")
    body, order, places, lanes = [], [], [], []
    for number, (what, where, who) in enumerate(steps):
        if what in ("block", "warp", "some"):
            body.append(some(who) if what == "some" else Barrier(what))
            continue
        index = 64 * len(places) + TX
        get = (k.load(p, "places", index), k.load(on, "lanes", index))
        # unique values, so that no write is silent
        act = k.load(X, "s", p) if what == "read" else k.store("s", p, 1000 * number + TX + 1)
        order.append((len(k.accesses) - 1, number))
        body += [*get, If(on.eq(1).expr, (act,), ())]
        places.append(where)
        lanes.append([int(t in who) for t in range(64)])
    if not places:
        return
    done = simulate(
        k.kernel(*body), launch((64,)),
        buffers={"places": np.array(places, np.int32), "lanes": np.array(lanes, np.int32)},
    )  # fmt: skip
    number_of = dict(order)
    got = {(number_of[r.first], number_of[r.second], r.kind) for r in done.races}
    got = {race for race in got if race[0] != race[1]}
    expected = brute(steps)
    assert got <= expected
    if not any(what == "some" for what, *_ in steps):  # two of a place's threads are remembered
        assert bool(got) == bool(expected)
