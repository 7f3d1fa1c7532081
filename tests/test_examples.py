"""The kernels in ``examples_cu`` give the numbers that are published for them.

Sectors of ``patterns.cu`` follow from the definition of a sector (32 bytes, 32 lanes).  Totals
of ``transpose.cu``: 512 x 512 floats are 8192 warp requests of 4 sectors, or of 32 where a store
runs down a column.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import coalescecheck
from coalescecheck import frontend
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.lower import lower
from coalescecheck.report.model import traffic
from coalescecheck.simulate import simulate

EXAMPLES = Path(__file__).parents[1] / "examples_cu"


def analysed(name: str, **options: Any) -> list[KernelAnalysis]:
    report = coalescecheck.analyze(EXAMPLES / name, **options)
    assert report.internal_errors == ()
    assert not report.disagrees
    return list(report.kernels)


@pytest.fixture(scope="module")
def patterns() -> dict[str, KernelAnalysis]:
    return {kernel.name: kernel for kernel in analysed("patterns.cu")}


@pytest.fixture(scope="module")
def transposes() -> dict[str, KernelAnalysis]:
    return {
        kernel.name + "".join(f" {value}" for value in kernel.template.values()): kernel
        for kernel in analysed("transpose.cu")
    }


def accesses(kernel: KernelAnalysis, space: str, op: str) -> list[AccessResult]:
    return [a for a in kernel.accesses if a.space == space and a.access.op == op]


@pytest.mark.parametrize(
    ("name", "sectors", "efficiency"),
    [
        ("contiguous", 4, 1.0),
        ("shifted_by_one", 5, 0.8),
        ("every_second", 8, 0.5),
        ("every_fourth", 16, 0.25),
        ("every_eighth", 32, 0.125),
        ("one_per_line", 32, 0.125),
        ("contiguous_double", 8, 1.0),
        ("contiguous_float4", 16, 1.0),
    ],
)
def test_sectors_of_a_load_by_pattern(
    patterns: dict[str, KernelAnalysis], name: str, sectors: int, efficiency: float
) -> None:
    (load,) = accesses(patterns[name], "global", "load")
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max, load.sectors.mean) == (sectors, sectors, sectors)
    assert load.efficiency == pytest.approx(efficiency)
    assert load.requests == 64 * 256 // 32
    assert load.certainty == "exact"


def test_one_float_for_all_lanes_is_one_sector(patterns: dict[str, KernelAnalysis]) -> None:
    (load,) = accesses(patterns["same_for_all"], "global", "load")
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max, load.pattern) == (1, 1, "broadcast")
    assert load.efficiency == 4 / 32


def test_no_kernel_uses_more_than_it_moves(patterns: dict[str, KernelAnalysis]) -> None:
    both = traffic(list(patterns["same_for_all"].accesses))
    assert both is not None
    # 512 loads use 4 bytes of 1 sector, 512 stores all of 4
    assert both.efficiency == pytest.approx((512 * 4 + 512 * 128) / (512 * 5 * 32))


def test_an_index_from_memory_is_a_range(patterns: dict[str, KernelAnalysis]) -> None:
    pick = next(a for a in patterns["picked_by_data"].accesses if a.array == "in")
    assert pick.sectors is not None
    assert (pick.sectors.min, pick.sectors.max, pick.certainty) == (1, 32, "data-dependent")


@pytest.mark.parametrize(
    ("name", "written", "efficiency", "wavefronts", "races"),
    [
        ("copy", 32_768, 1.0, None, 0),
        ("transpose_naive", 262_144, 0.222, None, 0),
        ("transpose_tile 0 true", 32_768, 1.0, (1, 32), 0),
        ("transpose_tile 1 true", 32_768, 1.0, (1, 1), 0),
        ("transpose_tile 1 false", 32_768, 1.0, (1, 1), 1),
    ],
)
def test_totals_of_the_transposes(
    transposes: dict[str, KernelAnalysis],
    name: str,
    written: int,
    efficiency: float,
    wavefronts: tuple[int, int] | None,
    races: int,
) -> None:
    kernel = transposes[name]
    loads, stores = accesses(kernel, "global", "load"), accesses(kernel, "global", "store")
    read, wrote, both = traffic(loads), traffic(stores), traffic(loads + stores)
    assert read is not None
    assert wrote is not None
    assert both is not None
    assert (read.moved, wrote.moved) == (32_768, written)
    assert both.efficiency == pytest.approx(efficiency, abs=0.001)
    assert len({race.kind for race in kernel.races}) == races
    if wavefronts is not None:
        stored: Any = accesses(kernel, "shared", "store")[0].wavefronts
        loaded: Any = accesses(kernel, "shared", "load")[0].wavefronts
        assert (stored.mean, loaded.mean) == wavefronts


@pytest.mark.parametrize(
    ("stride", "sectors"), [(0, 1), (1, 4), (2, 8), (8, 32), (16, 32), (32, 32), (-1, 5)]
)
def test_the_stride_experiment(stride: int, sectors: int) -> None:
    """A stride of -1 ends one float into the sector of lane 0: 4 sectors below it and that."""
    (free,) = analysed("stride.cu")
    for access in free.accesses:
        assert access.certainty == "exact-symbolic"
        assert access.sectors is not None
        assert access.sectors.formula is not None
        formula = sympy.sympify(access.sectors.formula)
        assert formula.subs(sympy.Symbol("stride"), stride) == sectors
    (known,) = analysed("stride.cu", params={"stride": stride})
    for access in known.accesses:
        assert access.sectors is not None
        assert (access.sectors.min, access.sectors.max) == (sectors, sectors)
        assert (access.certainty, access.requests) == ("exact", (1 << 20) // 32)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transpose_naive", []),
        ("transpose_tile", ["0", "true"]),
        ("transpose_tile", ["1", "true"]),
        ("transpose_tile", ["1", "false"]),
    ],
)
def test_running_the_kernels_gives_the_transpose(name: str, arguments: list[str]) -> None:
    """Even without the barrier, because the simulation runs the threads in lockstep."""
    source = frontend.load(str(EXAMPLES / "transpose.cu"))
    (kernel,) = (
        k for k in source.kernels if k.name == name and list(k.template.values()) == arguments
    )
    matrix = np.arange(512 * 512, dtype=np.float32).reshape(512, 512)
    run = simulate(
        lower(kernel),
        kernel.launches[0],
        buffers={"in": matrix, "out": np.zeros_like(matrix)},
    )
    assert run.complete
    np.testing.assert_array_equal(run.buffers["out"].reshape(512, 512), matrix.T)
    races = {race.kind for race in run.races}
    assert races == ({"RAW"} if arguments == ["1", "false"] else set())
