"""Only what decides about addresses is run: the same requests and races as when all is run."""

from __future__ import annotations

import numpy as np
import pytest
from ir_builder import BX, TX, KernelBuilder, assign, launch, var

from coalescecheck.ir.kernel import Barrier, If, Kernel, Space
from coalescecheck.ir.types import I32
from coalescecheck.launch import Dim3, Launch
from coalescecheck.simulate import Simulation, course_of, simulate
from property.agreement import lowered
from property.random_kernels import random_kernel

BATCH = 10


def same(whole: Simulation, short: Simulation) -> bool:
    """Whether both made the same requests and saw the same."""
    for one, other in zip(whole.traces, short.traces, strict=True):
        for column in ("sectors", "lines", "wavefronts", "active", "warp", "taint"):
            if not np.array_equal(getattr(one, column), getattr(other, column)):
                return False
    seen = [(run.races, run.out_of_bounds, run.misaligned, run.blocks) for run in (whole, short)]
    return seen[0] == seen[1]


@pytest.mark.parametrize("first", range(0, 60, BATCH))
def test_random_kernels_make_the_same_requests(first: int) -> None:
    steps = [0, 0]
    for seed in range(first, first + BATCH):
        case = random_kernel(seed)
        kernel = lowered(case)
        where = Launch(Dim3(*case.block), Dim3(*case.grid), "cli")
        whole = simulate(kernel, where, params=case.params, max_steps=5000)
        short = simulate(
            kernel, where, params=case.params, max_steps=5000, course=course_of(kernel)
        )
        if whole.blocks == where.grid.size:
            assert same(whole, short), seed
            steps[0] += whole.steps
            steps[1] += short.steps
    assert steps[1] <= steps[0]


@pytest.fixture
def k() -> KernelBuilder:
    builder = KernelBuilder(("n", I32))
    builder.array("out", kind=I32)
    builder.array("in", kind=I32)
    builder.array("s", kind=I32, space=Space.SHARED, size=4096)
    return builder


def both(kernel: Kernel) -> tuple[Simulation, Simulation]:
    where = launch((64,), (2,))
    whole = simulate(kernel, where, params={"n": 3})
    short = simulate(kernel, where, params={"n": 3}, course=course_of(kernel))
    assert same(whole, short)
    return whole, short


def test_sums_that_only_end_in_memory_are_not_run(k: KernelBuilder) -> None:
    v, r = var("v"), var("r")
    i = BX * 64 + TX
    kernel = k.kernel(
        k.load(v, "in", i), assign(r, v * v + v), assign(r, r * r), k.store("out", i, r)
    )
    whole, short = both(kernel)
    assert (whole.steps, short.steps) == (5, 3)  # with the kernel's scope


def test_indices_that_come_back_from_memory_are_run(k: KernelBuilder) -> None:
    v, r = var("v"), var("r")
    kernel = k.kernel(
        k.load(v, "in", TX),
        assign(r, v % 7),
        k.store("in", TX, r),
        k.load(v, "in", TX),
        k.store("out", v, TX),
    )
    whole, short = both(kernel)
    assert whole.steps == short.steps
    assert short.traces[3].sectors.max() <= 1 + 7 * 4 // 32


def test_values_in_shared_memory_decide_about_races(k: KernelBuilder) -> None:
    r = var("r")
    flag = k.kernel(assign(r, TX * 0 + 1), k.store("s", TX * 0, r))
    assert both(flag)[1].races == ()


def test_different_values_in_one_place_race(k: KernelBuilder) -> None:
    r = var("r")
    kernel = k.kernel(assign(r, TX + 1), k.store("s", TX * 0, r), Barrier("block"))
    assert {race.kind for race in both(kernel)[1].races} == {"WAW"}


def test_branches_around_nothing_that_is_seen_are_not_taken(k: KernelBuilder) -> None:
    v, r = var("v"), var("r")
    branch = If((v < 3).expr, (assign(r, v),), (assign(r, v + 1),))
    kernel = k.kernel(k.load(v, "in", TX), assign(r, 0), branch, k.store("out", TX, r))
    whole, short = both(kernel)
    assert short.steps < whole.steps
