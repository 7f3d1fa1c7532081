"""What a destructor does is not followed: a kernel where one does something is partial."""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import analyze

CLASSES = """
struct Quiet { int *p; __device__ ~Quiet() { /* nothing */ } };
struct Plain { int *p; ~Plain() = default; };
struct Loud { int *p; __device__ ~Loud() { *p = 10; } };
struct Holds { Loud held; int x; };
struct Later { int *p; __device__ ~Later(); };
"""


@pytest.mark.parametrize(
    ("declaration", "named"),
    [
        ("Quiet a{o};", ""),
        ("Plain a{o};", ""),
        ("Loud *a = (Loud *)o;", ""),
        ("Loud a{o};", "Loud"),
        ("Holds a{{o}, 1};", "Loud"),
        ("Loud a[2];", "Loud"),
        ("Later a{o};", "Later"),
    ],
)
def test_a_destructor_that_acts_is_told_of(tmp_path: Path, declaration: str, named: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{CLASSES}__global__ void k(int *o) {{ {declaration} o[threadIdx.x] = 1; }}\n")
    (kernel,) = analyze(path).kernels
    assert kernel.status == ("partial" if named else "analysed")
    assert (f"the destructor of `{named}`" in kernel.reason) == bool(named)
    assert [access.sectors.max for access in kernel.accesses if access.sectors] == [4]
