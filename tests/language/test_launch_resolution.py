"""From host code to the configurations that are analysed, through the whole pipeline.

Each case is host code around launches of one kernel, and the blocks, grids and integer arguments
that anyone reading it would expect; what differs from run to run is ``?``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import kernels_in

import coalescecheck
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.launch import Dim3

KERNEL = "__global__ void k(float *p, int n, int m) { if (threadIdx.x < n) p[threadIdx.x] = m; }\n"
TEMPLATE = (
    "template <typename T, int B> __global__ void k(T *p, int n) { p[threadIdx.x * B + n] = 0; }\n"
)


def shown(kernel: KernelAnalysis) -> str:
    """``32x8 of 4 n=5``: block, grid and arguments."""
    parts = [f"{_dims(kernel.launch.block)} of {_dims(kernel.launch.grid)}"]
    parts += [f"{name}={value}" for name, value in kernel.params.items()]
    return " ".join(parts)


def _dims(dims: Dim3 | None) -> str:
    if dims is None:
        return "?"
    sizes = list(dims)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "x".join(map(str, sizes))


CASES = {
    "literals": (
        "void h(float *p) { k<<<4, 256>>>(p, 1000, -3); }", ["256 of 4 n=1000 m=-3"],
    ),
    "constants": (
        "constexpr int T = 128; const int N = 1 << 12;\n"
        "void h(float *p) { k<<<N / T, T>>>(p, N, T); }",
        ["128 of 32 n=4096 m=128"],
    ),
    "assignments in a row": (
        "void h(float *p) { dim3 b, g; b.x = 120; g.x = 7; b.y = b.z = g.y = g.z = 1;\n"
        "int n, m; n = m = 4; k<<<g, b>>>(p, n, m); }\n"
        "void i(float *p) { dim3 b, g, c; b = g = dim3(32, 3); c = g = b;\n"
        "unsigned char narrow; int n = narrow = 300; k<<<c, b>>>(p, n, 1); }\n"
        "void j(float *p, int *q) { dim3 b(8, 8); int n = 3, m = n += 5;\n"
        "k<<<1, b>>>(p, n, m); }",
        ["120 of 7 n=4 m=4", "32x3 of 32x3 n=44 m=1", "8x8 of 1 n=8"],
    ),
    "a switch over the block": (
        "void run(float *p, int t) { dim3 b(t, 2); switch (t) {\n"
        "case 8: k<<<1, b>>>(p, t, 1); break;\n"
        "case 16: { k<<<2, b>>>(p, t, 2); break; } default: k<<<3, b>>>(p, t, 3); } }\n"
        "void h(float *p, int x) { run(p, x); run(p, 2 * x); }",
        ["8x2 of 1 n=8 m=1", "16x2 of 2 n=16 m=2", "? of 3 m=3"],
    ),
    "calls with other blocks": (
        "void run(float *p, int t, int n) { k<<<n / t, t>>>(p, n, 0); }\n"
        "void h(float *p, int x) { run(p, 64, 640); run(p, 128, 256);\n"
        "run(p, 64, 640); run(p, x, 9); }",
        ["64 of 10 n=640 m=0", "128 of 2 n=256 m=0", "? of ? n=9 m=0"],
    ),
    "more calls than anyone reads": (
        "void run(float *p, int t) { k<<<2, t>>>(p, t, 0); }\n"
        "void h(float *p) { run(p, 32); run(p, 64); run(p, 96); run(p, 128); run(p, 160); }",
        ["? of 2 m=0"],
    ),
    "calls that come to a case": (
        "void run(float *p, int t, int n) { switch (t) { case 8: k<<<n, t>>>(p, n, 1); break;\n"
        "case 16: k<<<n, t>>>(p, n, 2); } }\n"
        "void h(float *p) { run(p, 8, 3); run(p, 16, 5); }",
        ["8 of 3 n=3 m=1", "16 of 5 n=5 m=2"],
    ),
    "branches that no call comes to": (
        "void run(float *p, int n, bool b) {\n"
        "if (b) k<<<1, 32>>>(p, n, 1); else k<<<2, n>>>(p, n, 2);\n"
        "switch (n) { case 64: k<<<3, n>>>(p, n, 3); break; case 96: k<<<4, n>>>(p, n, 4); } }\n"
        "void h(float *p) { run(p, 96, true); }",
        ["32 of 1 n=96 m=1", "96 of 4 n=96 m=4"],
    ),
    "a kernel that only such a branch launches": (
        "void h(float *p) { const bool on = false; if (on) k<<<1, 32>>>(p, 1, 1); }",
        ["32 of 1 n=1 m=1"],
    ),
    "cases that others go on in": (
        "void h(float *p, int t) { switch (t) { case 32: case 64: k<<<1, t>>>(p, 1, 1); break;\n"
        "case 96: p++; case 128: k<<<2, t>>>(p, 2, 2); } }",
        ["? of 1 n=1 m=1", "? of 2 n=2 m=2"],
    ),
    "branches on a size": (
        "void h(float *p, int t, bool b) { if (b && (32 == t)) k<<<1, t>>>(p, 1, 1);\n"
        "else if (t == 64) { k<<<2, t>>>(p, 2, 2); } else k<<<3, t>>>(p, 3, 3); }",
        ["32 of 1 n=1 m=1", "64 of 2 n=2 m=2", "? of 3 n=3 m=3"],
    ),
    "a size that changes": (
        "void h(float *p, int t) { dim3 b(t); t /= 2; if (t == 64) k<<<1, b>>>(p, 1, 1); }",
        ["? of 1 n=1 m=1"],
    ),
    "macros": (
        "#define THREADS 64\n#define BLOCKS(n) (((n) + THREADS - 1) / THREADS)\n"
        "void h(float *p) { k<<<BLOCKS(1000), THREADS>>>(p, 1000, 0); }",
        ["64 of 16 n=1000 m=0"],
    ),
    "a ternary of constants": (
        "const bool wide = true;\n"
        "void h(float *p) { k<<<wide ? 8 : 4, wide ? 512 : 256>>>(p, 1, 2); }",
        ["512 of 8 n=1 m=2"],
    ),
    "a ceil-div helper": (
        "static int ceilDiv(int a, int b) { return (a + b - 1) / b; }\n"
        "void h(float *p) { int n = 100; k<<<ceilDiv(n, 32), 32>>>(p, n, 0); }",
        ["32 of 4 n=100 m=0"],
    ),
    "a template helper in a namespace": (
        "namespace util { template <typename T> constexpr T up(T a, T b) { "
        "return (a + b - 1) / b; } }\n"
        "void h(float *p) { k<<<util::up(100, 32), 32>>>(p, 1, 1); }",
        ["32 of 4 n=1 m=1"],
    ),
    "dim3 variables": (
        "void h(float *p) { dim3 block(32, 8); dim3 grid{4, 2, 3}; k<<<grid, block>>>(p, 1, 1); }",
        ["32x8 of 4x2x3 n=1 m=1"],
    ),
    "dim3 members": (
        "void h(float *p) { dim3 b, g; b.x = 16; b.y = 16; g.x = 64 / b.x; g.y = 64 / b.y;"
        " k<<<g, b>>>(p, b.x, g.y); }",
        ["16x16 of 4x4 n=16 m=4"],
    ),
    "a global dim3": (
        "static const dim3 block(64, 2);\nvoid h(float *p) { k<<<block.y, block>>>(p, 1, 1); }",
        ["64x2 of 2 n=1 m=1"],
    ),
    "a parameter with one visible call": (
        "void run(float *p, int n, int t) { k<<<n / t, t>>>(p, n, 0); }\n"
        "int main() { run(0, 2048, 256); }",
        ["256 of 8 n=2048 m=0"],
    ),
    "a parameter with two calls that differ": (
        "void run(float *p, int n, int t) { k<<<n / t, t>>>(p, n, 0); }\n"
        "int main() { run(0, 2048, 256); run(0, 4096, 256); }",
        ["256 of ? m=0"],
    ),
    "wrappers inside wrappers": (
        "void inner(float *p, dim3 g, dim3 b, int n) { k<<<g, b>>>(p, n, 7); }\n"
        "void outer(float *p, int n) { inner(p, dim3(n / 64), dim3(64), n); }\n"
        "int main() { outer(0, 640); }",
        ["64 of 10 n=640 m=7"],
    ),
    "cudaLaunchKernel": (
        "void h(float *p) { int n = 1, m = 2; void *args[] = {&p, &n, &m};\n"
        "cudaLaunchKernel((const void *)k, dim3(3), dim3(32, 4), args, 0, nullptr); }",
        ["32x4 of 3"],
    ),
    "a function pointer that is set once": (
        "void h(float *p) { auto f = &k; f<<<2, 64>>>(p, 1, 1); }", ["64 of 2 n=1 m=1"],
    ),
    "occupancy is decided at run time": (
        "void h(float *p) { int g, b; cudaOccupancyMaxPotentialBlockSize(&g, &b, k);\n"
        "k<<<g, b>>>(p, 5, 6); }",
        ["? of ? n=5 m=6"],
    ),
    "a device property": (
        "void h(float *p) { cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);\n"
        "k<<<d.multiProcessorCount, 128>>>(p, 5, 6); }",
        ["128 of ? n=5 m=6"],
    ),
    "the command line": (
        "int main(int argc, char **argv) { float *p; int n = atoi(argv[1]);\n"
        "k<<<(n + 255) / 256, 256>>>(p, n, 0); }",
        ["256 of ? m=0"],
    ),
    "inside a macro": (
        "#define RUN(kernel, g, b, ...) do { kernel<<<g, b>>>(__VA_ARGS__); check(); } while (0)\n"
        "void check(); void h(float *p) { RUN(k, 5, 96, p, 10, 20); }",
        ["96 of 5 n=10 m=20"],
    ),
    "inside a lambda": (
        "template <typename F> void timed(F f);\n"
        "void h(float *p) { const int t = 64; timed([&] { k<<<2, t>>>(p, t, 1); }); }",
        ["64 of 2 n=64 m=1"],
    ),
    "in a loop whose counter is passed": (
        "void h(float *p) { for (int i = 0; i < 4; i++) k<<<2, 64>>>(p, 9, i); }",
        ["64 of 2 n=9"],
    ),
    "several configurations": (
        "void h(float *p) { k<<<2, 64>>>(p, 1, 1); k<<<2, 128>>>(p, 1, 1);"
        " k<<<2, 64>>>(p, 1, 1); }",
        ["64 of 2 n=1 m=1", "128 of 2 n=1 m=1"],
    ),
    "the same sizes with other arguments": (
        "void h(float *p) { k<<<2, 64>>>(p, 1, 1); k<<<2, 64>>>(p, 2, 1); }",
        ["64 of 2 n=1 m=1", "64 of 2 n=2 m=1"],
    ),
    "no launch in sight": ("", ["? of ?"]),
    "a method of a class": (
        "struct Runner { static const int T = 32; float *p; void go() { k<<<4, T>>>(p, T, 0); } };",
        ["32 of 4 n=32 m=0"],
    ),
    "enumerators and sizeof": (
        "enum { X = 8, Y };\nvoid h(float *p) { k<<<Y, dim3(X, sizeof(double))>>>(p, Y, X); }",
        ["8x8 of 9 n=9 m=8"],
    ),
    "std::min and shifts": (
        "#include <algorithm>\n"
        "void h(float *p) { int n = 5000; k<<<std::min(n >> 5, 100), 1 << 5>>>(p, n, 0); }",
        ["32 of 100 n=5000 m=0"],
    ),
    "ceil of a quotient": (
        "#include <cmath>\nvoid h(float *p) { int n = 1000;"
        " k<<<(int)ceil(n / 256.0), 256>>>(p, n, 0); }",
        ["256 of 4 n=1000 m=0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_configurations(case: str, tmp_path: Path) -> None:
    host, expected = CASES[case]
    assert [shown(kernel) for kernel in kernels_in(tmp_path, KERNEL + host)] == expected


INSTANCES = {
    "explicit arguments": (
        "void h(float *p) { k<float, 2><<<1, 32>>>(p, 0); "
        "k<double, 4><<<1, 64>>>((double *)p, 0); }",
        [("float 2", "32 of 1 n=0"), ("double 4", "64 of 1 n=0")],
    ),
    "arguments that are constants": (
        "const int S = 3;\nvoid h(float *p) { k<float, S * 2><<<1, 32>>>(p, 0); }",
        [("float 6", "32 of 1 n=0")],
    ),
    "a block from a template argument of the wrapper": (
        "template <int B> void run(float *p) { k<float, B><<<2, B>>>(p, 1); }\n"
        "int main() { run<64>(0); run<128>(0); }",
        [("float 64", "64 of 2 n=1"), ("float 128", "128 of 2 n=1")],
    ),
    "a switch over instances": (
        "void h(float *p, int b) { switch (b) {\n"
        "case 32: k<float, 32><<<1, 32>>>(p, 0); break;\n"
        "case 64: k<float, 64><<<1, 64>>>(p, 0); } }",
        [("float 32", "32 of 1 n=0"), ("float 64", "64 of 1 n=0")],
    ),
    "a dispatch macro": (
        "#define CASE(b) case b: k<float, b><<<1, b>>>(p, 0); break;\n"
        "void h(float *p, int b) { switch (b) { CASE(32) CASE(64) } }",
        [("float 32", "32 of 1 n=0"), ("float 64", "64 of 1 n=0")],
    ),
    "a generic lambda with constants": (
        "void h(float *p) { auto go = [&](auto d) { k<float, d><<<1, d * 32>>>(p, 0); };\n"
        "go(std::integral_constant<int, 4>{}); go(std::integral_constant<int, 2>()); }",
        [("float 4", "128 of 1 n=0"), ("float 2", "64 of 1 n=0")],
    ),
    "ways to name the constant": (
        "template <int N> using C = std::integral_constant<int, N>;\n"
        "void h(float *p) { auto go = [&](auto d) { constexpr int D = decltype(d)::value;\n"
        "k<float, D + 1><<<1, 32>>>(p, 0); k<float, d()><<<1, 32>>>(p, 0);\n"
        "k<float, d.value><<<1, 64>>>(p, 0); };\n"
        "constexpr auto six = std::integral_constant<int, 6>{}; go(six); go(C<8>{}); }",
        [("float 7", "32 of 1 n=0"), ("float D + 1", "32 of 1 n=0"), ("float 6", "32 of 1 n=0"),
         ("float 6", "64 of 1 n=0"), ("float C<8>::value", "32 of 1 n=0"),
         ("float C<8>::value", "64 of 1 n=0")],
    ),
    "a generic lambda that a function calls": (
        "template <class F> void over(int n, F f) {\n"
        "if (n == 1) f(std::integral_constant<int, 1>{});\n"
        "else f(std::integral_constant<int, 3>{}); }\n"
        "void h(float *p, int n) { over(n, [&](auto d) { k<float, d><<<1, 32>>>(p, 0); }); }",
        [("float 1", "32 of 1 n=0"), ("float 3", "32 of 1 n=0")],
    ),
    "types of a generic lambda": (
        "void h(float *p, double *q) { auto go = [](auto *x) {\n"
        "k<std::remove_pointer_t<decltype(x)>, 1><<<1, 32>>>(x, 0); }; go(p); go(q); }",
        [("std::remove_pointer_t<float *> 1", "32 of 1 n=0"),
         ("std::remove_pointer_t<double *> 1", "32 of 1 n=0")],
    ),
    "a lambda that is a template": (
        "void h(float *p) { auto go = [&]<int N>() { k<float, N><<<1, 32>>>(p, 0); };\n"
        "go.template operator()<5>(); }",
        [("float 5", "32 of 1 n=0")],
    ),
    "a generic lambda inside another": (
        "void h(float *p) { auto out = [&](auto a) { auto in = [&](auto b) {\n"
        "k<float, a * 10 + b><<<1, 32>>>(p, 0); }; in(std::true_type{}); };\n"
        "out(std::integral_constant<int, 1>{}); out(std::integral_constant<int, 2>{}); }",
        [("float 11", "32 of 1 n=0"), ("float 21", "32 of 1 n=0")],
    ),
    "a generic lambda nobody calls": (
        "void h(float *p) { auto go = [&](auto d) { k<float, d><<<1, 32>>>(p, 0); }; keep(go); }",
        [("float", "32 of 1 n=0")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", INSTANCES, ids=str)
def test_instances(case: str, tmp_path: Path) -> None:
    host, expected = INSTANCES[case]
    found = kernels_in(tmp_path, TEMPLATE + host)
    assert [(" ".join(k.template.values()), shown(k)) for k in found] == expected


def test_each_configuration_says_where_it_comes_from(tmp_path: Path) -> None:
    host = (
        "void a(float *p) {\n  k<<<1, 32>>>(p, 1, 1);\n}\n"
        "#define RUN(b) k<<<1, b>>>(p, 1, 1)\n"
        "void b(float *p) {\n  int t = 64;\n  RUN(t);\n}\n"
    )
    launches = [kernel.launch for kernel in kernels_in(tmp_path, KERNEL + host)]
    assert [(x.source, Path(x.file).name, x.line) for x in launches] == [
        ("host", "launch.cu", 3),
        ("host", "launch.cu", 8),
    ]


def test_a_launch_in_a_header_names_the_header(tmp_path: Path) -> None:
    (tmp_path / "run.h").write_text("inline void h(float *p) {\n  k<<<1, 32>>>(p, 1, 1);\n}\n")
    (kernel,) = kernels_in(tmp_path, f'{KERNEL}#include "run.h"\n')
    assert (Path(kernel.launch.file).name, kernel.launch.line) == ("run.h", 2)


def test_one_configuration_is_reported_once_for_all_its_launches(tmp_path: Path) -> None:
    host = "void h(float *p) { for (int i = 0; i < 2; i++) { k<<<1, 32>>>(p, 1, 1);\n" + (
        "k<<<1, 32>>>(p, 1, 1); } }"
    )
    (kernel,) = kernels_in(tmp_path, KERNEL + host)
    assert kernel.launch.line == 2


OVERLOADS = """
__global__ void k(float *p, int n) { p[n * threadIdx.x] = 0; }
__global__ void k(double *p, int n) { p[n * threadIdx.x] = 0; }
__global__ void k(float *p, float *q) { p[threadIdx.x] = *q; }
template <typename T> __global__ void k(const T *p, long n) {}
"""
SPECIAL = """
template <typename T> __global__ void k(T *p, int n) { p[n * threadIdx.x] = 0; }
template <> __global__ void k(float *p, int n) { p[n * threadIdx.x] = 0; }
template <typename T> void run(T *p, int n) { k<<<1, 32>>>(p, 32); }
"""

KINDS = """
template <typename T, int B> __global__ void k(T *p, int n) { p[threadIdx.x] = B; }
template <int R, typename T, int B> __global__ void k(T *p, int n) { p[R * threadIdx.x] = B; }
template __global__ void k<16, char, 3>(char *, int);
template __global__ void k<short, 3>(short *, int);
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            KINDS + "template <class U> void h(float *f, double *d, U *u) {"
            " k<float, 2><<<1, 32>>>(f, 0); k<8, double, 2><<<1, 64>>>(d, 0);"
            " k<4, U, 2><<<1, 96>>>(u, 0); }",
            ["2 float 2: 32 of 1 n=0", "2 short 3: ? of ?", "3 16 char 3: ? of ?"]
            + [f"3 {first}: {n} of 1 n=0" for first, n in (("4 2", 96), ("8 double 2", 64))],
        ),
        (
            OVERLOADS + "void h(float *f, double *d) { k<<<1, 32>>>(f, 1); k<<<1, 64>>>(d, 2); "
            "k<<<1, 96>>>(f, f); }",
            ["2: 32 of 1 n=1", "3: 64 of 1 n=2", "4: 96 of 1", "5: ? of ?"],
        ),
        (
            SPECIAL + "void h(float *f, unsigned *u) { run(f, 1); run(u, 1); k<<<1, 64>>>(f, 64); "
            "k<float><<<1, 96>>>(f, 96); k<unsigned int><<<1, 128>>>(u, 128); }",
            ["2 unsigned int: 128 of 1 n=128", "2 unsigned: 32 of 1 n=32"]
            + [f"3: {n} of 1 n={n}" for n in (32, 64, 96)],
        ),
        (  # a type that the program names may be either
            OVERLOADS + "void h(real_t *r) { k<<<1, 32>>>(r, 1); }",
            ["2: 32 of 1 n=1", "3: 32 of 1 n=1", "4: ? of ?", "5 real_t: 32 of 1 n=1"],
        ),
    ],
    ids=[
        "kinds of template parameters",
        "overloads",
        "specialisations without arguments",
        "an unknown type",
    ],
)
def test_a_launch_is_one_of_the_kernel_that_takes_its_pointers(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    found = [
        " ".join([str(k.span.line), *k.template.values()]) + ": " + shown(k)
        for k in kernels_in(tmp_path, text)
    ]
    assert sorted(found) == expected


ROWS = "__global__ void k(float *p) { p[threadIdx.y * 8 + threadIdx.x] = 1; }\n"


@pytest.mark.parametrize(
    ("block", "options", "where", "assumptions", "result"),
    [
        # rows of 16 bytes, 32 bytes apart: one sector each
        ("dim3(4, 8, z)", {}, "4x8 of ?", ["blockDim.z is 1"], (8, "exact-symbolic")),
        ("dim3(4, z)", {}, "4x8 of ?", ["blockDim.y is 8"], (8, "exact-symbolic")),
        ("dim3(4, z, 2)", {}, "4x4x2 of ?", ["blockDim.y is 4"], (4, "exact-symbolic")),
        ("dim3(16, z, z)", {}, "16x2 of ?", ["blockDim.y is 2", "blockDim.z is 1"],
         (3, "exact-symbolic")),
        ("dim3(64, z)", {}, "? of 5", ["blockDim.x is a multiple of 32"], (4, "exact-symbolic")),
        ("dim3(z, 4)", {}, "? of 5", ["blockDim.x is a multiple of 32"], (4, "exact-symbolic")),
        ("dim3(4, z)", {"grid": "7"}, "4x8 of ?", ["blockDim.y is 8"], (8, "exact-symbolic")),
        ("dim3(4, z)", {"block": "8,8", "grid": "7"}, "8x8 of 7", [], (4, "exact")),
    ],
)  # fmt: skip
def test_blocks_that_are_known_in_part(
    block: str,
    options: dict[str, str],
    where: str,
    assumptions: list[str],
    result: tuple[int, str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{ROWS}void h(float *p, int z) {{ k<<<5, {block}>>>(p); }}\n")
    (found,) = coalescecheck.analyze(path, **options).kernels
    assert shown(found) == where
    assert list(found.assumptions) == assumptions
    (access,) = found.accesses
    assert access.sectors is not None
    assert (access.sectors.max, access.certainty) == result
    assert access.verified.simulation == "agrees"


@pytest.mark.parametrize(("block", "proposed"), [("dim3(4, 8)", True), ("dim3(4, 8, z)", False)])
def test_no_other_block_is_proposed_for_one_that_is_known_in_part(
    block: str, proposed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *a) {\n"
        "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    a[(blockIdx.y * blockDim.y + threadIdx.y) * 1024 + x] += 1;\n"
        f"}}\nvoid h(float *a, int z) {{ k<<<dim3(256, 128), {block}>>>(a); }}\n"
    )
    findings = coalescecheck.analyze(path).findings
    assert [finding.rule for finding in findings] == ["CC101", "CC101"]
    assert all(("launch with block" in finding.advice) == proposed for finding in findings)


@pytest.mark.parametrize("declared", ["const T *...in", "const T *__restrict__... in", "T... in"])
def test_packs_of_pointers_are_deduced(tmp_path: Path, declared: str) -> None:
    """A float is loaded from the first array and a double from the second."""
    text = (
        "template <class... V> __device__ double sum(V... v) { return (0. + ... + v); }\n"
        f"template <class... T> __global__ void k(double *out, {declared})\n"
        "{ out[threadIdx.x] = sum(in[threadIdx.x]...); }\n"
        "void h(double *o, float *a, double *b) { k<<<1, 32>>>(o, a, b); }"
    )
    (kernel,) = kernels_in(tmp_path, text)
    loads = [a for a in kernel.accesses if a.access.op.value == "load"]
    assert [(a.width_bytes, a.sectors and a.sectors.max) for a in loads] == [(4, 4), (8, 8)]


def test_a_using_directive_of_a_namespace_says_which_kernel_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace a { __global__ void k(float *p) { p[0] = 1; }\n"
        "namespace in { __global__ void k(float *p) { p[1] = 1; } } }\n"
        "namespace b { using namespace a::in; }\n"
        "void run(float *p) { a::k<<<1, 64>>>(p); b::k<<<1, 32>>>(p); }\n"
    )
    found = [(k.name, shown(k)) for k in coalescecheck.analyze(path).kernels]
    assert found == [("a::k", "64 of 1"), ("a::in::k", "32 of 1")]
