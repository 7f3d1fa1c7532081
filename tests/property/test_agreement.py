"""Symbolic counts and simulation, two readings that share nothing but the IR, agree.

More seeds by hand: ``python -m property.agreement FIRST LAST`` in the tests folder.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.agreement import disagreements
from property.random_exits import random_exits
from property.random_kernels import random_kernel

BATCH = 10
SEEDS = 120


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_both_readings_agree_on_the_kernels_of_fixed_seeds(first: int) -> None:
    found = {seed: disagreements(random_kernel(seed)) for seed in range(first, first + BATCH)}
    assert {seed: problems for seed, problems in found.items() if problems} == {}


@pytest.mark.parametrize("first", range(0, SEEDS, 3 * BATCH))
def test_both_readings_agree_on_what_jumps_take_out_of_loops(first: int) -> None:
    seeds = range(first, first + 3 * BATCH)
    found = {seed: disagreements(random_exits(seed), turn=seed) for seed in seeds}
    assert {seed: problems for seed, problems in found.items() if problems} == {}


@settings(max_examples=25, derandomize=True)
@given(st.integers(10**6, 10**9))
def test_both_readings_agree_on_kernels_that_hypothesis_picks(seed: int) -> None:
    assert disagreements(random_kernel(seed)) == []


def test_a_seed_alone_decides_the_kernel() -> None:
    assert random_kernel(7) == random_kernel(7)
    assert len({random_kernel(seed).text for seed in range(20)}) == 20
