"""Races in shared memory, by small kernels and against a brute-force search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_builder import TX, KernelBuilder, launch, var

from coalescecheck.ir.kernel import Barrier, If
from coalescecheck.ir.types import I8, I32
from coalescecheck.simulate import simulate

X = var("x")


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
    st.sampled_from(["read", "write", "block", "warp"]),
    st.lists(st.integers(0, 5), min_size=64, max_size=64),
    st.sets(st.integers(0, 63), min_size=1, max_size=6),
)


def brute(steps):
    """Every pair of accesses of two threads to one place, in their order."""
    events, found = [], set()
    epoch, warp_epoch = 0, 0
    for number, (what, places, lanes) in enumerate(steps):
        if what == "block":
            epoch += 1
        elif what == "warp":
            warp_epoch += 1
        else:
            new = [(t, places[t], what, number, epoch, warp_epoch) for t in sorted(lanes)]
            for t, place, kind, n, e, w in new:
                for t2, place2, kind2, n2, e2, w2 in events:
                    synced = t // 32 == t2 // 32 and w != w2
                    if t != t2 and place == place2 and e == e2 and not synced:
                        pair = {("write", "read"): "RAW", ("read", "write"): "WAR",
                                ("write", "write"): "WAW"}.get((kind2, kind))  # fmt: skip
                        if pair:
                            found.add((n2, n, pair))
            events += new
    return found


@settings(max_examples=60)
@given(st.lists(STEP, min_size=2, max_size=6))
def test_every_reported_race_is_one_and_racy_places_are_noticed(steps):
    k = KernelBuilder()
    k.shared("s", 8, kind=I32)
    for name in ("places", "lanes"):
        k.array(name, kind=I32)
    p, on = var("p"), var("on")
    body, order, places, lanes = [], [], [], []
    for number, (what, where, who) in enumerate(steps):
        if what in ("block", "warp"):
            body.append(Barrier(what))
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
    assert bool(got) == bool(expected)
