"""Accesses of code that is not plain C++: what is not understood, and std::swap."""

from __future__ import annotations

from pathlib import Path

import coalescecheck


def test_what_is_not_understood_is_shown_in_the_users_words(tmp_path: Path) -> None:
    path = tmp_path / "words.cu"
    path.write_text(
        "struct A { int a, b; };\n"
        "__global__ void k(A *p, int A::*m, float *o) {\n"
        "  o[threadIdx.x] = p[threadIdx.x].*m;\n"
        "  o[p[threadIdx.x + 1].*m] = 2.f;\n"
        "}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [r.access.index for r in kernel.accesses] == [
        "p[threadIdx.x].*m",
        "o[threadIdx.x]",
        "p[threadIdx.x + 1].*m",
        "o[p[threadIdx.x + 1].*m]",
    ]
    assert kernel.status == "analysed"


def test_swap_reads_and_writes_both(tmp_path: Path) -> None:
    path = tmp_path / "swap.cu"
    path.write_text(
        "__global__ void k(float *a, float *b) {\n"
        "  std::swap(a[threadIdx.x], b[2 * threadIdx.x]);\n"
        "}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [(r.access.op.value, r.array, r.lane_stride_bytes) for r in kernel.accesses] == [
        ("load", "a", 4),
        ("load", "b", 8),
        ("store", "a", 4),
        ("store", "b", 8),
    ]


def test_a_part_of_an_object_of_unknown_class_is_one_access(tmp_path: Path) -> None:
    path = tmp_path / "parts.cu"
    path.write_text(
        "template <class T> __global__ void k(const T *x, Block *y, float *o) {\n"
        "  int i = threadIdx.x;\n"
        "  o[i] = x[i].qs[i & 3] + y[i].m[1].z[i];\n"
        "  y[i].d = 2;\n"
        "}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [(r.access.op.value, r.access.index, r.certainty) for r in kernel.accesses] == [
        ("load", "x[i].qs[i & 3]", "unknown"),
        ("load", "y[i].m[1].z[i]", "unknown"),
        ("store", "o[i]", "exact-symbolic"),
        ("store", "y[i].d", "unknown"),
    ]
    assert kernel.accesses[0].reason == (
        "it is a part of `T`, which is not known: pass `--template T=...`"
    )
    assert kernel.accesses[1].reason.startswith("type `Block` is not declared")
    assert kernel.status == "analysed"
