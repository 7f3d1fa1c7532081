"""Members of structs are where C++ has them, or nobody knows where."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import KernelAnalysis

KERNEL = """
{struct}
__global__ void k(float *out, const S *in) {{ out[threadIdx.x] = in[threadIdx.x].f; }}
"""


def analysed(folder: Path, text: str) -> KernelAnalysis:
    path = folder / "k.cu"
    path.write_text(text, encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path, block="32").kernels
    return kernel


@pytest.mark.parametrize(
    ("struct", "sectors"),
    [  # sizes of S by g++: 32, 32, 48 and 12 bytes
        ("struct S { char c; int n __attribute__((aligned(16))), m; float f; };", 32),
        ("struct S { char c; int n alignas(16); float f; };", 32),
        ("struct S { char c; [[gnu::aligned(16)]] int n, m; float f; };", 32),
        ("struct S { char c; int n, m() const; float f; };", 12),
    ],
)
def test_members_are_where_their_alignment_puts_them(
    tmp_path: Path, struct: str, sectors: int
) -> None:
    load, _ = analysed(tmp_path, KERNEL.format(struct=struct)).accesses
    assert load.sectors is not None
    assert (load.sectors.min, load.sectors.max) == (sectors, sectors)
    assert load.certainty.startswith("exact")


@pytest.mark.parametrize(
    "struct",
    [
        "struct S { char c; int n STARTS_AT(16), m; float f; };",
        "struct S { char c; int n alignas(16), m; float f; };",
        "struct S { char c; int n alignas(16) = 3, m; float f; };",
        "struct S { char c; struct { int n STARTS_AT(16), m; }; float f; };",
        "struct S { int a; int S::*member; float f; };",
    ],
)
def test_behind_what_is_not_read_no_place_is_known(tmp_path: Path, struct: str) -> None:
    """The access is there all the same, and nothing exact is said of it."""
    load, store = analysed(tmp_path, KERNEL.format(struct=struct)).accesses
    assert (load.access.op, store.access.op) == ("load", "store")
    assert not load.certainty.startswith("exact")


def test_an_alignment_behind_a_name_loses_no_kernel(tmp_path: Path) -> None:
    text = """
    __global__ void k(int *out, const char *in) {
        char pair alignas(int)[4];
        *(int *)pair = 0;
        pair[1] = in[threadIdx.x];
        out[threadIdx.x] = *(int *)pair;
    }"""
    kernel = analysed(tmp_path, text)
    found = [(a.access.op, a.sectors.mean if a.sectors else None) for a in kernel.accesses]
    assert (kernel.status, found) == ("analysed", [("load", 1), ("store", 4)])


def test_arrays_are_aligned_as_is_said_behind_them(tmp_path: Path) -> None:
    declared = """
        __shared__ float s[64] __attribute__((aligned(16))), t[2][4]__attribute__((__aligned__(8)));
        __shared__ int q[2] __align__(32), u;  // not understood
        __shared__ int v[2] __align__(32);
        extern __shared__ char d[] __attribute__(( aligned(8 * 8) ));
        s[0] = t[0][0] = v[0] = d[0] = 1;
    """
    kernel = analysed(tmp_path, f"__global__ void k(int i) {{ {declared} }}")
    aligned = {name: kernel.arrays[name].align for name in "stvd"}
    assert aligned == {"s": 16, "t": 8, "v": 32, "d": 64}
    assert len(kernel.accesses) == 4
    assert all(access.certainty.startswith("exact") for access in kernel.accesses)
