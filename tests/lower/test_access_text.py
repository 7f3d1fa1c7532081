"""Accesses of code that is not plain C++: what is not understood, and std::swap."""

from __future__ import annotations

from pathlib import Path

import pytest

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


WORDS = """
template <class T, int N> struct vec {
  T d[N]; T *p;
  __device__ T &operator[](int i) { return d[i]; }
  __device__ T &at(int i) { return p[i]; }
  __device__ T *ptr() const { return p; }
};
struct B { float *q; int n; };
struct D : B { int m; };
struct P { D *d; __device__ D *operator->() const { return d; } };
namespace ns { __device__ int twice(const int &i) { return 2 * i; } }
template <class... T> __device__ void all(float *o, T... is) { ((o[is] = 1), ...); }
__device__ void put(float &x) { x = 1; }
template <class T> __constant__ T table[4];
__global__ void k(float *o, vec<float, 4> *w, D *d, int n, P p, cudaTextureObject_t t) {
  int i = threadIdx.x;
  STATEMENT
}
void h(float *o, vec<float, 4> *w, D *d, P p, cudaTextureObject_t t) {
  k<<<1, 32>>>(o, w, d, 3, p, t);
}
"""


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("o[ns::twice(i)] = 1;", "o[twice(i)]"),
        ("w[i][2] = 1;", "w[i][2]"),
        ("w->at(i) = 1;", "w->at(i)"),
        ("vec<float, 4> v{}; v.p = o; v.at(i) = 1;", "v.at(i)"),
        ("vec<float, 4> v{}; v.p = o; v.ptr()[i] = 1;", "v.ptr()[i]"),
        ("d[i].n = 1;", "d[i].n"),
        ("d->q[i] = 1;", "d->q[i]"),
        ("p->m = 1;", "p->m"),
        ("all(o, i);", "o[is]"),
        ("put(o[i]);", "x"),
        ("float &r = o[i]; r = 1;", "r"),
        ("auto go = [=](int j) { return j * n; }; o[go(i)] = 1;", "o[go(i)]"),
        ("((vec<float, 2> *)o)[i].d[1] = 1;", "((vec<float, 2> *) o)[i].d[1]"),
        ("o[(int)table<float>[n]] = 1;", "o[(int) table<float>[n]]"),
        ("o[(int)tex1Dfetch<float>(t, i)] = 1;", "o[(int) tex1Dfetch(t, i)]"),
        ("o[atomicAdd((int *)o, 1)] = 1;", "o[atomicAdd((int *) o, 1)]"),
    ],
)
def test_names_of_the_c_code_are_not_shown(statement: str, shown: str, tmp_path: Path) -> None:
    path = tmp_path / "words.cu"
    path.write_text(WORDS.replace("STATEMENT", statement))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "analysed"
    assert kernel.accesses[-1].access.index == shown
