"""Template arguments that nobody gives: what depends on them is said to be unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

HALVES = """
template <int N> struct Halves {
    static __device__ void clear(float *x)
    {
        for (int i = 0; i < N; ++i) x[i] = 0;
        Halves<N / 2>::clear(x);
        Halves<N - N / 2>::clear(x + N / 2);
    }
};
template <> struct Halves<1> { static __device__ void clear(float *) {} };
template <int N> __global__ void k(float *out) { Halves<N>::clear(out + N * threadIdx.x); }
"""
POINTERS = """
template <typename T> __device__ void put(T *p, int i) { p[2 * i] = 0; }
__device__ void put(float *p, int i) { p[i] = 0; }
template <typename T> __global__ void k(T *out) { put(out, threadIdx.x); }
"""


UNDECLARED = """
template <typename T> struct Holder;
template <> struct Holder<lib::Half> { static __device__ int of(int i) { return 2 * i; } };
template <> struct Holder<lib::Whole> { static __device__ int of(int i) { return 8 * i; } };
template <typename T> __device__ int hold(int i);
template <> __device__ int hold<lib::Half>(int i) { return 2 * i; }
template <> __device__ int hold<lib::Whole>(int i) { return 8 * i; }
__global__ void k(float *out)
{
    out[Holder<lib::Whole>::of(threadIdx.x)] = 0;
    out[hold<lib::Half>(threadIdx.x)] = 0;
}
"""


@pytest.mark.parametrize(
    ("text", "said", "accesses"),
    [
        # Halves<N> is read, for N other than 1; what is inside it is not
        (HALVES, "which specialisation of `Halves` is meant is not known", 1),
        (POINTERS, "which `put` takes these arguments is not known: its value is unknown", 0),
    ],
    ids=["sizes that may be the last one", "a pointer that may be to float"],
)
def test_no_function_is_taken_for_the_one_meant(
    text: str, said: str, accesses: int, tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    report = coalescecheck.analyze(path)
    (kernel,) = report.kernels
    assert (kernel.status, len(kernel.accesses)) == ("partial", accesses)
    (file,) = report.files
    assert said in [diagnostic.message for diagnostic in file.diagnostics]


PLACES = """
template <int N, int M> struct Place { static __device__ int of(int i) { return 8 * i; } };
template <int N> struct Place<N, 2> { static __device__ int of(int i) { return 2 * i; } };
template <> struct Place<1, 1> { static __device__ int of(int i) { return i; } };
template <int N, int M> __global__ void k(float *out) { out[Place<N, M>::of(threadIdx.x)] = 0; }
void h(float *out) { WHERE k<<<1, 32>>>(out); }
"""


def test_a_specialisation_for_values_nobody_gives_is_assumed_away(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(PLACES.replace("WHERE", ""))
    (kernel,) = coalescecheck.analyze(path).kernels
    assert list(kernel.assumptions) == ["M != 2", "N != 1 || M != 1"]
    (access,) = kernel.accesses
    assert access.sectors is not None
    assert (access.sectors.max, access.certainty) == (32, "exact-symbolic")
    assert access.verified.simulation == "agrees"


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ({"N": "1", "M": "1"}, "--template N=1 --template M=1"),
        ({"M": "2"}, "--template M=2"),
        ({"N": "1", "M": "3"}, ""),
    ],
)
def test_a_value_against_such_an_assumption_is_refused(
    values: dict[str, str], refused: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(PLACES.replace("WHERE", ""))
    options = {"params": {name: int(value) for name, value in values.items()}}
    (kernel,) = coalescecheck.analyze(path, **options).kernels
    assert (kernel.status == "failed") == bool(refused)
    assert refused in kernel.reason
    (kernel,) = coalescecheck.analyze(path, templates=values).kernels
    assert kernel.status == "analysed"
    (access,) = kernel.accesses
    assert access.sectors is not None
    expected = {("1", "1"): 4, (None, "2"): 8, ("1", "3"): 32}
    assert access.sectors.max == expected[values.get("N"), values["M"]]


@pytest.mark.parametrize(
    ("text", "template", "sectors"),
    [
        (HALVES, {"N": "2"}, [8]),
        (POINTERS, {"T": "float"}, [4]),
        (POINTERS, {"T": "int"}, [8]),
        (UNDECLARED, {}, [32, 8]),  # types of a header that is not there are told by name
    ],
)
def test_given_arguments_tell(
    text: str, template: dict[str, str], sectors: list[int], tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    (kernel,) = coalescecheck.analyze(path, templates=template, block="32", grid="1").kernels
    assert [a.sectors.max for a in kernel.accesses if a.sectors is not None] == sectors


def test_an_object_of_unknown_size_costs_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""
template <int N> struct S { int n; float w[N]; __device__ float first() { return w[0]; } };
template <int N> __global__ void k(float *p)
{
    p[threadIdx.x] = S<N>{1}.first();
    p[2 * threadIdx.x] = S<N>().first();
}
""")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "analysed"
    assert [
        (a.access.op, a.sectors.min, a.sectors.max)
        for a in kernel.accesses
        if a.array == "p" and a.sectors is not None
    ] == [("store", 4, 4), ("store", 8, 8)]


def test_the_type_of_what_nobody_declares_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""
template <typename T> __global__ void k(T *p) { p[threadIdx.x] = 0; }
void h(int n) { k<decltype(nobody)><<<1, 32>>>(nullptr); }
""")
    (kernel,) = coalescecheck.analyze(path, templates={"T": "decltype(nobody)"}).kernels
    assert [access.certainty for access in kernel.accesses] == ["unknown"]
