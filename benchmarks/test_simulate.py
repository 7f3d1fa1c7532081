"""Time to simulate the five transposes of ``examples_cu/transpose.cu``, all 256 blocks at N = 512.

python -m pytest benchmarks/test_simulate.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import frontend, lower
from coalescecheck.launch import Dim3, Launch
from coalescecheck.simulate import simulate

EXAMPLE = Path(__file__).parent.parent / "examples_cu" / "transpose.cu"
N = 512
LAUNCH = Launch(block=Dim3(32, 8), grid=Dim3(N // 32, N // 32), source="cli")
KERNELS = frontend.load(str(EXAMPLE)).kernels


def name_of(kernel):
    """``transpose_tile<PAD=1>``"""
    arguments = ",".join(f"{name}={value}" for name, value in kernel.template.items())
    return f"{kernel.name}<{arguments}>" if arguments else kernel.name


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_simulating_a_transpose(benchmark, kernel):
    lowered = lower.lower(kernel)
    run = benchmark(lambda: simulate(lowered, LAUNCH, params={"n": N}))
    assert run.complete
    assert run.blocks == LAUNCH.grid.size
