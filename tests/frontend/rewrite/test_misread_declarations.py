"""Declarations, captures and sequences that the grammar takes for others: nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

HEAD = """
struct V { int x, y; __device__ V(int a, int b) : x(a), y(b) {} };
struct H {
    int x;
    __host__ __device__ friend H operator*(int k, const H &h) { return H{k * h.x}; }
    __device__ operator int() const { return x + 100; }
};
struct P { int x, y; };
struct A { int v[2]; __device__ A(const int *p, int i) : v{p[i], p[0]} {} };
template <int... I> __device__ int all(const int *a, other::list<int, I...>)
{ return (a[I] + ...); }
template <int N> __device__ int three(int a) { return N + a; }
"""


def analysed(folder: Path, statement: str, *, inside: bool) -> coalescecheck.KernelAnalysis:
    """A kernel with a statement, in itself or in a function that it calls."""
    path = folder / "kernel.cu"
    body = f"int s = 0, j = 1; {statement} return s;"
    parameters = "const int *p, const int *q, int i"
    call = f"[=] {{ {body} }}()" if inside else "f(p, q, i)"
    path.write_text(
        f"{HEAD}__device__ int f({parameters}) {{ {'return 0;' if inside else body} }}\n"
        f"__global__ void k(int *o, {parameters}) {{ o[threadIdx.x] = {call}; }}\n",
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path, block=(32,), grid=(1,)).kernels
    return kernel


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("int (x)(p[i]); s = x;", ["p[i]"]),
        ("V (v)(p[i], q[0]); s = v.y;", ["p[i]", "q[0]"]),
        ("int (x) = p[i], (*y) = s ? &s : &j, z = q[0]; s = x + z;", ["p[i]", "q[0]"]),
        ("const int *r(p + i); s = *r;", ["*r"]),
        ("int a(j * i), b(p[a]); s = b;", ["p[a]"]),
        ("if (int k(p[i]); k > 2) s = q[k];", ["p[i]", "q[k]"]),
        ("auto l = [x(p[i]), y{q[0]}] { return x + y; }; s = l();", ["p[i]", "q[0]"]),
        ("P r{p[i], q[0]}; auto [a, b](r); auto [c, d]{r}; s = a + d;", ["p[i]", "q[0]"]),
        ("A a(p, i); s = a.v[1];", ["p[i]", "p[0]"]),
        ("s = q[(j = 2, p[i])]; (s += 1, j = 3);", ["j = 2, p[i]", "q[j = 2, p[i]]"]),
        ("s = (j += p[i], q[j]);", ["p[i]", "j += p[i], q[j]"]),
        ("bool b = (s < j, p[i] > (q[0])); s = b;", ["p[i]", "q[0]"]),
        ("int three = 1; s = ::three<3>(p[i]) + three;", ["p[i]"]),
        ("int *m = new int(p[i]); new (m) int{q[0]};", ["p[i]", "q[0]"]),
        ("(unsigned &)j = p[i]; s = j;", ["p[i]"]),
        ("H a{p[i]}; H b = 2 * a; s = b.x + q[0];", ["p[i]", "q[0]"]),
        ("int d __attribute__((unused)) = p[i]; s = d;", ["p[i]"]),
    ],
)
def test_every_access_is_listed(
    tmp_path: Path, statement: str, expected: list[str], inside: bool
) -> None:
    kernel = analysed(tmp_path, statement, inside=inside)
    assert [a.access.index for a in kernel.accesses if a.access.op == "load"] == expected
    if "new" not in statement:
        assert kernel.status == "analysed"


def test_what_the_parser_loses_in_a_called_function_is_said(tmp_path: Path) -> None:
    kernel = analysed(tmp_path, "P r{.x{p[i]}}; s = r.x;", inside=False)
    assert kernel.status == "partial"
    assert kernel.reason == "syntax error: `.x` is lost; numbers near it may be missing"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("auto f = [](int a) { int t[2]{a}; return [=] { return t[0]; }; }; s = f(2)();", "that c"),
        ("auto f = [&]<int N>(int a) { s += p[a + N]; }; f(i);", "with these arguments"),
    ],
)
def test_lambdas_that_are_not_followed_are_said(tmp_path: Path, statement: str, what: str) -> None:
    kernel = analysed(tmp_path, statement, inside=False)
    assert kernel.status == "partial"
    assert kernel.reason.startswith(f"a lambda {what}")


def test_a_pack_that_cannot_be_deduced_is_not_empty(tmp_path: Path) -> None:
    statement = "s = all(p, other::make_list<int, 3>());"
    kernel = analysed(tmp_path, statement, inside=False)
    assert kernel.status == "partial"
    assert kernel.reason.startswith("`all()` is not known: what it accesses is not seen")


def test_specifiers_behind_a_type_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "template <class T> T const &__device__ __host__ least(const T &a, const T &b)\n"
        "{ return a < b ? a : b; }\n"
        "__global__ void k(float *o, int n) { o[least(n, 3) * threadIdx.x] = 1; }\n"
        "void run(float *o) { k<<<1, 32>>>(o, 2); }\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert (kernel.status, kernel.reason) == ("analysed", "")
    assert kernel.accesses[0].lane_stride_bytes == 8


def test_operands_that_are_not_evaluated_read_nothing(tmp_path: Path) -> None:
    kernel = analysed(tmp_path, "s = noexcept(p[4]) + sizeof(q[5]);", inside=True)
    assert [a.access.index for a in kernel.accesses if a.access.op == "load"] == []
    assert kernel.status == "analysed"


@pytest.mark.parametrize(
    ("objects", "seen"),
    [("o[i], o[threadIdx.x]", True), ("o[(int)p[i]], o[threadIdx.x]", False)],
)
def test_swaps_that_find_their_objects_through_memory_are_said_to_be_lost(
    tmp_path: Path, objects: str, seen: bool
) -> None:
    kernel = analysed(tmp_path, f"std::swap({objects});", inside=True)
    assert (kernel.status == "analysed") == seen
    loads = [a.access.index for a in kernel.accesses if a.access.op == "load"]
    assert loads.count("p[i]") <= 1


@pytest.mark.parametrize(
    ("attributes", "block"),
    [
        ("__launch_bounds__(NT, 1, 2)", 64),
        ("__launch_bounds__(int(sizeof(float4)) * (4 + 4), (1), min(2, (1)))", 128),
        ("__launch_bounds__(NT, 1, 1) __cluster_dims__(2, 1, 1) __maxnreg__(32)", 64),
        ("__block_size__((64, 1, 1), (2, 1, 1))", None),
    ],
)
def test_bounds_of_clusters_lose_nothing(
    tmp_path: Path, attributes: str, block: int | None
) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        f"#define NT 64\n__global__ void {attributes} k(float *o) {{ o[2 * threadIdx.x] = 1; }}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert (kernel.status, kernel.reason) == ("analysed", "")
    assert (kernel.launch.block.x if kernel.launch.block else None) == block
    assert kernel.accesses[0].lane_stride_bytes == 8
