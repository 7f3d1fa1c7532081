"""``__brev``, as transforms permute their data with it, against Python's strings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import coalescecheck


def reversed_bits(value: int) -> int:
    return int(f"{value % 2**32:032b}"[::-1], 2)


CASES: list[tuple[str, Callable[[int], int]]] = [
    ("__brev(i) >> 22", lambda i: reversed_bits(i) >> 22),
    ("__brev(i) >> (32 - n)", lambda i: reversed_bits(i) >> 22),
    ("__brev(~i) & 255", lambda i: reversed_bits(~i) & 255),
    ("__brev(i << 27) + i", lambda i: reversed_bits(i << 27) + i),
]


@pytest.mark.parametrize(("index", "element"), CASES, ids=[c[0] for c in CASES])
def test_counts_of_reversed_bits(tmp_path: Path, index: str, element: Callable[[int], int]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *o, int n) {\n"
        f"  unsigned i = blockIdx.x * 64 + threadIdx.x; o[{index}] = 1; }}\n"
    )
    (kernel,) = coalescecheck.analyze(path, block=64, grid=16, params={"n": 10}).kernels
    (found,) = kernel.accesses
    warps = [{element(32 * w + lane) // 8 for lane in range(32)} for w in range(32)]
    counts = [len(warp) for warp in warps]
    assert found.sectors is not None
    assert (found.sectors.min, found.sectors.max) == (min(counts), max(counts))
    assert found.sectors.mean == sum(counts) / 32
    assert found.verified.simulation == "agrees"
