"""How an address moves with each index, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import Motion

LAUNCH = "// coalescecheck: block(16,8) grid(4,4)\n"
INDICES = "int x = threadIdx.x, y = threadIdx.y;"


def motion_of(body: str, folder: Path, launch: str = LAUNCH) -> Motion:
    """The motion of the only load of ``a``, an array of floats with rows of ``n``."""
    path = folder / "k.cu"
    text = f"__global__ void k(float *o, const float *a, const int *d, int n) {{{INDICES}{body}}}"
    path.write_text(launch + text, encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    (access,) = (each for each in kernel.accesses if each.array == "a")
    assert access.motion is not None
    return access.motion


@pytest.mark.parametrize(
    ("body", "threads", "loops", "trips"),
    [
        pytest.param("o[x] = a[x + 64 * y];", (4, 256, 0), (), (), id="both indices"),
        pytest.param("o[x] = a[y];", (0, 4, 0), (), (), id="one index"),
        pytest.param("o[x] = a[x * n + y];", ("4*n", 4, 0), (), (), id="a parameter"),
        pytest.param("o[x] = a[x * y];", (None, None, 0), (), (), id="no fixed step"),
        pytest.param("o[x] = a[x * x];", (None, 0, 0), (), (), id="a square"),
        pytest.param("o[x] = a[x / 2 + y];", (None, 4, 0), (), (), id="a quotient"),
        pytest.param("o[x] = a[d[y] + x];", (None, None, None), (), (), id="a loaded value"),
        pytest.param(
            "for (int j = 0; j < 3; ++j) for (int k = 9; k > 0; k -= 2) o[x] += a[x + 8 * j + k];",
            (4, 0, 0),
            (32, -8),
            (3, 5),
            id="two loops",
        ),
        pytest.param(
            "for (int j = 0; j < n; ++j) o[x] += a[y];", (0, 4, 0), (0,), (None,), id="idle loop"
        ),
        pytest.param(
            "for (int j = 0; j < n; ++j) o[x] += a[d[j] + j];",
            (None, None, None),
            (None,),
            (None,),
            id="a value that the loop loads",
        ),
    ],
)
def test_steps(
    body: str,
    threads: tuple[object, ...],
    loops: tuple[object, ...],
    trips: tuple[object, ...],
    tmp_path: Path,
) -> None:
    motion = motion_of(body, tmp_path)
    assert (motion.threads, motion.loops, motion.trips) == (threads, loops, trips)


@pytest.mark.parametrize(
    ("body", "offset", "divisor", "start"),
    [
        pytest.param("o[x] = a[4 * x + 3];", 12, 16, 16, id="every fourth float from the third"),
        pytest.param("o[x] = a[8 * x + 4 * y];", 0, 16, 16, id="the lesser of two steps"),
        pytest.param("o[x] = a[n + 4 * x];", 0, 4, 4, id="an unknown offset"),
        pytest.param(
            "for (int k = 0; k < 4; ++k) o[x] += a[4 * x + k];", 0, 4, 16, id="less the inner loop"
        ),
        pytest.param(
            "for (int j = 0; j < 4; ++j) for (int k = 0; k < 4; ++k) o[x] += a[4 * x + 2 * j + k];",
            0,
            4,
            8,
            id="but not less the outer one",
        ),
    ],
)
def test_what_divides_an_address(
    body: str, offset: int, divisor: int, start: int, tmp_path: Path
) -> None:
    motion = motion_of(body, tmp_path)
    assert (motion.offset, motion.divisor, motion.start) == (offset, divisor, start)


def test_without_a_launch_the_rows_of_a_block_still_count(tmp_path: Path) -> None:
    assert motion_of("o[x] = a[x * n + y];", tmp_path, launch="").threads == ("4*n", 4, 0)


def test_addresses_that_differ_by_a_constant_are_one_group(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *o, const float *a) "
        "{ int x = threadIdx.x; o[x] = a[4 * x] + a[4 * x + 2] + a[2 * x]; }",
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    one, two, other = (a.motion for a in kernel.accesses if a.array == "a")
    assert one is not None
    assert two is not None
    assert other is not None
    assert one.group == two.group != other.group
    assert two.offset - one.offset == 8
