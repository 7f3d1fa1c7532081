"""Masks: divergence, loops with break and continue, nested scopes, early returns."""

from __future__ import annotations

import numpy as np
import pytest
from ir_builder import BX, TX, KernelBuilder, assign, launch, var

from coalescecheck.errors import UsageError
from coalescecheck.ir.kernel import Continue, If, Leave, Loop, Scope
from coalescecheck.ir.types import I32
from coalescecheck.launch import Dim3, Launch
from coalescecheck.simulate import UNDEFINED, simulate


def results(k, *body, block=(32,), grid=(1,), size=None, params=None):
    """Run a kernel that stores ``r`` to ``out[global thread]``; what it stored."""
    r = var("r")
    kernel = k.kernel(assign(r, 0), *body, k.store("out", BX * block[0] + TX, r))
    out = np.full(size or block[0] * grid[0], -1, dtype=np.int32)
    done = simulate(kernel, launch(block, grid), buffers={"out": out}, params=params or {})
    assert done.complete
    return done.buffers["out"].tolist(), done


@pytest.fixture
def k():
    builder = KernelBuilder(("n", I32))
    builder.array("out", kind=I32)
    return builder


def count_to(limit, *body, label="l", i="i"):
    counter = var(i)
    return assign(counter, 0), Loop(
        label, (), (counter < limit).expr, body, (assign(counter, counter + 1),)
    )


def when(condition, *then, otherwise=()):
    return If(condition.expr, tuple(then), tuple(otherwise))


R, I = var("r"), var("i")  # noqa: E741


def test_both_branches_run_for_their_lanes(k):
    body = when((TX % 2).eq(0), assign(R, TX), otherwise=[assign(R, 100 + TX)])
    got, _ = results(k, body)
    assert got == [t if t % 2 == 0 else 100 + t for t in range(32)]


def test_lanes_leave_a_loop_at_different_trips(k):
    got, _ = results(k, *count_to(TX, assign(R, R + I)))
    assert got == [sum(range(t)) for t in range(32)]


def test_break_and_continue_take_only_their_lanes_along(k):
    body = (
        when(I.eq(TX), Leave("l")),
        when((I % 3).eq(0), Continue("l")),
        assign(R, R + I),
    )
    got, _ = results(k, *count_to(20, *body))
    assert got == [sum(i for i in range(min(t, 20)) if i % 3) for t in range(32)]


def test_a_do_loop_runs_once_before_its_test(k):
    loop = Loop("d", (), (I < TX).expr, (assign(R, R + 1), assign(I, I + 1)), (), False)
    got, _ = results(k, assign(I, 0), loop)
    assert got == [max(1, t) for t in range(32)]


def test_leaving_an_outer_loop_from_an_inner_one(k):
    j = var("j")
    inner = Loop(
        "in", (), (j < 4).expr,
        (assign(R, R + 1), when((I * 4 + j).eq(TX), Leave("out"))),
        (assign(j, j + 1),),
    )  # fmt: skip
    got, _ = results(k, *count_to(4, assign(j, 0), inner, label="out"))
    assert got == [min(t, 15) + 1 for t in range(32)]


def test_an_inlined_return_ends_only_its_own_scope(k):
    call = Scope("f", (when(TX < 8, assign(R, 1), Leave("f")), assign(R, 2)))
    got, _ = results(k, call, assign(R, R * 10))
    assert got == [10 if t < 8 else 20 for t in range(32)]


def test_a_return_of_some_threads_ends_the_kernel_for_them(k):
    got, done = results(k, when(var("n") <= BX * 32 + TX, Leave("kernel")), assign(R, TX),
                        grid=(2,), params={"n": 40})  # fmt: skip
    assert got == [*range(32), *range(8), *[-1] * 24]
    assert done.traces[-1].active.tolist() == [32, 8]
    assert done.traces[-1].sectors.tolist() == [4, 1]


def test_nested_divergence_comes_back_together(k):
    inner = when(TX < 4, assign(R, 1), otherwise=[assign(R, 2)])
    body = (when(TX < 16, inner, otherwise=[assign(R, 3)]), assign(R, R + 10))
    got, _ = results(k, *body)
    assert got == [11] * 4 + [12] * 12 + [13] * 16


def test_padded_lanes_of_the_last_warp_never_run(k):
    got, done = results(k, assign(R, TX), block=(33,))
    assert got == list(range(33))
    assert done.traces[0].active.tolist() == [32, 1]


def test_a_variable_set_in_one_branch_keeps_its_value_elsewhere(k):
    x = var("x")
    body = (assign(x, 5), when(TX < 3, assign(x, 7)), *count_to(2, assign(x, x + 1)), assign(R, x))
    got, _ = results(k, *body)
    assert got == [9 if t < 3 else 7 for t in range(32)]


def test_an_endless_loop_meets_the_limit_of_steps(k):
    kernel = k.kernel(Loop("l", (), (TX >= 0).expr, (assign(R, TX),), ()))
    done = simulate(kernel, launch((32,)), max_steps=50)
    assert not done.complete
    assert "limit" in done.reason


def test_patience_is_for_what_reaches_no_other_access(k):
    first, *others = (k.store("out", TX, TX + i) for i in range(5))
    wait = count_to(10, assign(R, TX))  # more than 20 statements
    body = (first, *(part for store in others for part in (*wait, store)))
    done = simulate(k.kernel(*body), launch((32,)), patience=60)
    assert done.complete
    assert done.steps > 100
    held_up = simulate(k.kernel(*wait, *wait, *wait, *body), launch((32,)), patience=60)
    assert not held_up.complete
    assert held_up.steps == 61
    bounded = simulate(k.kernel(*body), launch((32,)), patience=60, max_steps=100)
    assert [trace.requests for trace in bounded.traces] == [1, 1, 1, 0, 0]


def test_an_unknown_parameter_that_decides_a_branch_is_told(k):
    kernel = k.kernel(when(var("n") > TX, k.store("out", TX, TX)), k.store("out", 32 + TX, TX))
    done = simulate(kernel, launch((32,)))
    assert not done.complete
    assert "unknown value" in done.reason
    assert done.traces[0].any_taint == UNDEFINED
    assert done.traces[1].any_taint == 0


def test_what_only_some_lanes_might_have_assigned_is_unknown_afterwards(k):
    x = var("x")
    kernel = k.kernel(assign(x, TX), when(var("n") > TX, assign(x, 0)), k.store("out", x, TX))
    done = simulate(kernel, launch((32,)))
    assert done.traces[0].taint.tolist() == [UNDEFINED]


def test_blocks_can_be_chosen(k):
    kernel = k.kernel(k.store("out", BX * 32 + TX, BX))
    out = np.full(128, -1, np.int32)
    done = simulate(kernel, launch((32,), (4,)), buffers={"out": out}, blocks=[(2, 0, 0)])
    assert done.buffers["out"].tolist() == [-1] * 64 + [2] * 32 + [-1] * 32
    assert done.blocks == 1
    assert done.traces[0].warp.tolist() == [2]


def test_a_launch_without_a_block_cannot_be_simulated(k):
    kernel = k.kernel(k.store("out", TX, TX))
    with pytest.raises(UsageError, match="block"):
        simulate(kernel, Launch(None, Dim3(1), "assumed"))
