"""Launch configurations and template arguments that only classes and templates of C++ tell.

``?`` is what differs from run to run, or what another instance than the one looked at decides.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import kernels_in

CODE = """
#include <type_traits>
template <int N> struct Traits {
    static constexpr int threads = 32 * N;
    enum { rows = 2 * N };
};
template <> struct Traits<9> { static const int threads = 64; };
template <typename T, int D> struct PerValue { static const int value = D * sizeof(T) / 16; };
namespace ns { template <int N> struct Inner { static constexpr int n = N + 1; }; }
constexpr int twice(int x) { return 2 * x; }
template <typename T> constexpr int bits = 8 * sizeof(T);
struct P {};
constexpr int N = 2;
template <int V> __global__ void k(float *a) { a[threadIdx.x * V] = 0; }
"""

CASES = {
    "a constant of a class template": (
        "template <int N> void h(float *p) { k<1><<<1, Traits<N>::threads>>>(p); }\n"
        "void run(float *p) { h<4>(p); h<9>(p); }",
        ["1: 128", "1: 64"],
    ),
    "an alias of it, in an expression": (
        "template <int N> void h(float *p) { using Tr = Traits<N>;\n"
        "constexpr int t = Tr::threads; k<Tr::rows + t / 32><<<1, t * 2>>>(p); }\n"
        "void run(float *p) { h<4>(p); }",
        ["12: 256"],
    ),
    "its class is a template argument": (
        "template <typename Tr> void h(float *p) { k<Tr::rows><<<1, Tr::threads>>>(p); }\n"
        "void run(float *p) { h<Traits<3>>(p); }",
        ["6: 96"],
    ),
    "types and local constants as arguments": (
        "template <typename T, int D> void h(float *p) { constexpr int d = D / 2;\n"
        "k<PerValue<T, d>::value><<<1, 32>>>(p); }\n"
        "void run(float *p) { h<float, 64>(p); h<double, 64>(p); }",
        ["8: 32", "16: 32"],
    ),
    "traits": (
        "template <typename K> void h(float *p) {\n"
        "k<std::is_same<K, P>::value ? 3 : 5><<<1, 32>>>(p);\n"
        "k<std::is_same_v<K, P> ? 7 : 9><<<1, 32>>>(p); }\n"
        "void run(float *p) { h<P>(p); h<int>(p); }",
        ["3: 32", "5: 32", "7: 32", "9: 32"],
    ),
    "sizes of types, templates of variables": (
        "template <typename T> void h(float *p) { k<sizeof(T)><<<1, bits<T>>>>(p); }\n"
        "void run(float *p) { h<double>(p); h<float4>(p); }",
        ["8: 64", "16: 128"],
    ),
    "a namespace around": (
        "namespace ns { template <int M> void h(float *p) { k<Inner<M>::n><<<1, 32>>>(p); } }\n"
        "void run(float *p) { ns::h<6>(p); }",
        ["7: 32"],
    ),
    "what a caller passes, by its own names": (
        "template <int T> void callee(float *p, int n) { k<T><<<1, n>>>(p); }\n"
        "template <int N> void caller(float *p) { callee<3>(p, Traits<N>::threads); }\n"
        "void run(float *p) { caller<4>(p); }",
        ["3: 128"],
    ),
    "a name means another thing in the callee": (
        "template <int N> void callee(float *p, int n) { k<N><<<1, n>>>(p); }\n"
        "void run(float *p) { callee<8>(p, Traits<N>::threads); }",
        ["8: 64"],
    ),
    "a type of another function": (
        "template <typename T> void callee(float *p, int n) { k<1><<<1, n>>>(p); }\n"
        "template <typename T> void caller(float *p) { callee<char>(p, 32 * sizeof(T)); }\n"
        "void run(float *p) { caller<short>(p); }",
        ["1: ?"],
    ),
    "what other files instantiate": (
        "template <int M, int B> void inner(float *p) { k<M><<<1, M * B>>>(p); }\n"
        "template <int M> void h(float *p) { inner<M, 32>(p); inner<M, 64>(p); }\n"
        + "".join(f"extern template void h<{n}>(float *);" for n in range(5, 50))
        + "template void h<4>(float *);",
        ["4: 128", "4: 256"],
    ),
    "only what other files instantiate": (
        "template <int M> void h(float *p) { k<M><<<1, M * 32>>>(p); }\n"
        "extern template void h<2>(float *); extern template void h<3>(float *);",
        ["2: 64", "3: 96"],
    ),
    "known only at run time": (
        "void run(float *p, int N) { k<1><<<1, Traits<1>::threads * N>>>(p);\n"
        "k<2><<<1, twice(N)>>>(p); k<3><<<1, twice(32)>>>(p); }",
        ["1: ?", "2: ?", "3: 64"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_constants_of_classes_and_templates(case: str, tmp_path: Path) -> None:
    host, expected = CASES[case]
    found = [
        f"{kernel.template['V']}: {kernel.launch.block.x if kernel.launch.block else '?'}"
        for kernel in kernels_in(tmp_path, CODE + host)
    ]
    assert sorted(found) == sorted(expected)
