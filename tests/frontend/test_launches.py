"""Launch sites: what is the same in every run is known, everything else is not."""

from __future__ import annotations

import pytest

from coalescecheck.frontend.launches import LaunchSite, find_launches, to_launch
from coalescecheck.frontend.preprocess import preprocess
from coalescecheck.launch import Dim3, Launch


def sites(text: str) -> tuple[LaunchSite, ...]:
    return find_launches(preprocess("k.cu", text))


def host(body: str, before: str = "") -> LaunchSite:
    found = sites(f"{before}\nvoid host(int n, int argc, char **argv) {{ {body} }}")
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("k<<<1, 256>>>();", (256, 1, 1)),
        ("k<<<1, dim3(32, 8)>>>();", (32, 8, 1)),
        ("k<<<1, {32, 8}>>>();", (32, 8, 1)),
        ("dim3 b(32, 8); k<<<1, b>>>();", (32, 8, 1)),
        ("dim3 b = dim3(32, 8, 2); k<<<1, b>>>();", (32, 8, 2)),
        ("dim3 b{32, 8}; k<<<1, b>>>();", (32, 8, 1)),
        ("dim3 b = {4, 5, 6}; k<<<1, b>>>();", (4, 5, 6)),
        ("auto b = dim3(16, 16); k<<<1, b>>>();", (16, 16, 1)),
        ("dim3 b; b.x = 32; b.y = 4; k<<<1, b>>>();", (32, 4, 1)),
        ("const int T = 64; dim3 b (T); k<<<1, b>>>();", (64, 1, 1)),
        ("const int T = 8, U = 4; dim3 b (T, T * U); k<<<1, b>>>();", (8, 32, 1)),
        ("int t = 64; dim3 b(t, t / 16); k<<<1, b>>>();", (64, 4, 1)),
        ("int t; t = 64; k<<<1, t>>>();", (64, 1, 1)),
        ("const int t = 64; mystery(t); k<<<1, t>>>();", (64, 1, 1)),
        ("int t = 32; t = 64; k<<<1, t>>>();", (64, 1, 1)),
        ("int t = 32; t *= 2; t++; k<<<1, t - 1>>>();", (64, 1, 1)),
        ("int t = 32; if (n) t = 32; k<<<1, t>>>();", (32, 1, 1)),
        ("int t = 32; if (0) t = 64; k<<<1, t>>>();", (32, 1, 1)),
        ("int t = 32; if (t == 32) { t = 64; } k<<<1, t>>>();", (64, 1, 1)),
        ("int t = 32; k<<<1, t>>>(); t = 64;", (32, 1, 1)),
        ('int t = 32; printf("%d", t); cudaFree(t); k<<<1, t>>>();', (32, 1, 1)),
        ("for (int i = 0; i < n; i++) { int t = 32; k<<<1, t>>>(); t = 64; }", (32, 1, 1)),
        ("auto f = [&] { k<<<1, 128>>>(); };", (128, 1, 1)),
        ("int t = sizeof(float) * 32; k<<<1, t>>>();", (128, 1, 1)),
        ("bool wide = true; k<<<1, wide ? 256 : 128>>>();", (256, 1, 1)),
        ("{ int t = 64; } int t = 32; k<<<1, t>>>();", (32, 1, 1)),
        ("int t = 32; { int t = 64; t = 5; } k<<<1, t>>>();", (32, 1, 1)),
        ("typedef unsigned int uu; uu t = 32; k<<<1, t>>>();", (32, 1, 1)),
        ("cudaLaunchKernel((void *)k, dim3(1), dim3(96), args, 0, 0);", (96, 1, 1)),
    ],
)
def test_known_block(body: str, block: tuple[int, int, int]) -> None:
    assert host(body).block == Dim3(*block)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("k<<<1, n>>>();", id="a parameter nobody passes"),
        pytest.param("int t = atoi(argv[1]); k<<<1, t>>>();", id="atoi"),
        pytest.param("int t = argc > 1 ? 64 : 32; k<<<1, t>>>();", id="a choice at run time"),
        pytest.param("int t = 32; if (n) t = 64; k<<<1, t>>>();", id="assigned in an if"),
        pytest.param("int t = 32; if (n) t++; k<<<1, t>>>();", id="incremented in an if"),
        pytest.param("int t = 32; n && (t = 64); k<<<1, t>>>();", id="assigned behind &&"),
        pytest.param('int t = 32; scanf("%d", &t); k<<<1, t>>>();', id="its address is taken"),
        pytest.param("int t = 32; std::cin >> t; k<<<1, t>>>();", id="read from a stream"),
        pytest.param("int t = 32; parse(t, argv); k<<<1, t>>>();", id="passed to an unknown one"),
        pytest.param("int t = 32; int &r = t; r = n; k<<<1, t>>>();", id="a reference to it"),
        pytest.param("int t = 32; while (n--) { k<<<1, t>>>(); t *= 2; }", id="changed by a loop"),
        pytest.param("for (int t = 1; t < 64; t *= 2) k<<<1, t>>>();", id="a loop's counter"),
        pytest.param("int t; k<<<1, t>>>();", id="never set"),
        pytest.param("int t; if (n) t = 32; else t = 64; k<<<1, t>>>();", id="two branches"),
        pytest.param("switch (n) { case 1: t = 2; } k<<<1, t>>>();", id="declared nowhere"),
        pytest.param("static int t = 32; k<<<1, t>>>(); t = 64;", id="a static that changes"),
        pytest.param("dim3 b(32); if (n) b.y = 2; k<<<1, b>>>();", id="a component may change"),
        pytest.param("dim3 b(32, n); k<<<1, b>>>();", id="one component unknown"),
        pytest.param("int t = 32; auto f = [&] { t = n; }; f(); k<<<1, t>>>();", id="a lambda"),
        pytest.param("int t = 32; auto f = [&] { k<<<1, t>>>(); }; t = 64; f();", id="run later"),
        pytest.param("int t = 0; k<<<1, t>>>();", id="zero threads"),
        pytest.param("again: int t = 1; if (n) goto again; t = 2; k<<<1, t>>>();", id="goto"),
        pytest.param("volatile int t = 32; k<<<1, t>>>();", id="volatile"),
        pytest.param("int t[2] = {32, 64}; k<<<1, t[0]>>>();", id="an array's element"),
        pytest.param("int t = 32, *p = &t; *p = n; k<<<1, t>>>();", id="a pointer to it"),
    ],
)
def test_unknown_block(body: str) -> None:
    assert host(body).block is None


@pytest.mark.parametrize(
    ("before", "expression", "value"),
    [
        ("#define T 32", "T * 2", 64),
        ("const int T = 32;", "T", 32),
        ("constexpr unsigned T = 32;", "T", 32),
        ("static const int T = 32;", "T", 32),
        ("static int T = 32;", "T", 32),
        ("int T = 32;", "T", None),
        ("static int T = 32; void set() { T = 64; }", "T", None),
        ("extern const int T;", "T", None),
        ("enum { A = 5, B, C };", "C", 7),
        ("enum Size { A, B };", "B", 1),
        ("enum class Size { A, B };", "B", None),
        ("namespace cfg { const int T = 8; }", "cfg::T", 8),
        ("namespace cfg { const int T = 8; } using namespace cfg;", "T", 8),
        ("struct Cfg { static constexpr int T = 16; int U = 3; };", "Cfg::T", 16),
        ("struct Cfg { enum { T = 12 }; };", "Cfg::T", 12),
        ("int up(int a, int b) { return (a + b - 1) / b; }", "up(100, 32)", 4),
        ("template <class I> I up(I a, I b) { return (a + b - 1) / b; }", "up(100, 32)", 4),
        ("int up(int a, int b) { if (a % b) return a / b + 1; return a / b; }", "up(9, 4)", 3),
        ("int up(int a) { int b = a * 2; return b; }", "up(8)", 16),
        ("int up(int a) { static int c; return a + c++; }", "up(8)", None),
        ("int up(int a) { return up(a); }", "up(8)", None),
        ("int up(int a); ", "up(8)", None),
        ("const int A = B, B = A;", "A", None),
    ],
)
def test_constants_of_the_file(before: str, expression: str, value: int | None) -> None:
    block = host(f"k<<<1, {expression}>>>();", before).block
    assert block == (Dim3(value) if value is not None else None)


@pytest.mark.parametrize(
    ("calls", "values"),
    [
        ("void m() { run(64); }", [64]),
        ("void m() { run(64); run(64); }", [64]),
        ("void m() { run(64); run(128); }", [64, 128]),
        ("void m(int n) { run(n); }", [None]),
        ("void m() { run(); }", [32]),
        ("void m() { run(64); p = run; }", [None]),
        ("void m() { run(64); } void run(float f) { }", [None]),
        ("", [None]),
    ],
)
def test_a_parameter_is_what_the_visible_calls_give(calls: str, values: list[int | None]) -> None:
    found = sites(f"void run(int t = 32) {{ k<<<1, t>>>(); }}\n{calls}")
    assert [site.block for site in found] == [None if v is None else Dim3(v) for v in values]


def test_each_instance_of_a_wrapper_template_is_a_launch() -> None:
    text = (
        "template <typename T, int B = 64> void run(T *p, int m) { k<T, B><<<m, B>>>(p); }\n"
        "template <typename U> void all(U *p) { run<U, 128>(p, 2); run<U>(p, 3); }\n"
        "int main() { all<float>(0); all<double>(0); run<half, 32>(0, 4); }\n"
    )
    found = [(s.template_args, s.block, s.grid) for s in sites(text)]
    assert found == [
        (("float", "128"), Dim3(128), Dim3(2)),
        (("double", "128"), Dim3(128), Dim3(2)),
        (("float", "64"), Dim3(64), Dim3(3)),
        (("double", "64"), Dim3(64), Dim3(3)),
        (("half", "32"), Dim3(32), Dim3(4)),
    ]


RUN = "template <typename T> void run(T *p) { k<T><<<1, 32>>>(p); }\n"
STREAM = "template <class T> struct Stream { T *p; void fill() { k<T><<<1, 32>>>(p); } };\n"


@pytest.mark.parametrize(
    ("text", "instances"),
    [
        (RUN + "int main() { float *p; run(p); }", ["float"]),
        (RUN + "int main() { float *p; double q[9]; run(p); run(q); run(p + 4); }",
         ["float", "double"]),
        (RUN + "typedef double real; int main() { real *p; run(p); run((int *)p); }",
         ["double", "int"]),
        (RUN + "int main() { unknown_call(run); }", [None]),
        (RUN + "int main() { run(mystery()); }", [None]),
        (RUN + "int *made(int n); int main() { run(made(3)); }", ["int"]),
        (RUN + "template void run<int>(int *); extern template void run(short *p);",
         ["int", "short"]),
        (RUN + "int main() { run(new long[3]); auto p = new char[2]; run(p); }", ["long", "char"]),
        (RUN + "void f() { std::vector<float> v; run(v.data()); run(&v[0]); }", ["float"]),
        (RUN + "void f(thrust::device_vector<int> &v) { run(thrust::raw_pointer_cast(v.data())); }",
         ["int"]),
        (RUN + "void f() { std::unique_ptr<short[]> p; run(p.get()); }", ["short"]),
        (RUN + "struct B { int n; float *data; }; void f(B b, B *c) { run(b.data); run(&c->n); }",
         ["float", "int"]),
        (RUN + "struct Box { float *data; void go() { run(data); run(this->data); } };", ["float"]),
        (RUN + "struct Box { float *data; void go(); }; void Box::go() { run(data); }", ["float"]),
        (RUN + "void f(int *p) { lib::run(p, 3.0); run(p); }", ["int"]),
        # overloads: told apart by the number of arguments, or not at all
        (RUN + "void run(float *p, int n) {} void f(int *p) { run(p); run(p, 2); }", ["int"]),
        (RUN + "void run(float *p) {} void f(int *p) { run(p); }", [None]),
        # an explicit specialisation is no instance of the template
        (RUN + "template <> void run<int>(int *p) {} void f(char *p) { run(p); }", ["char"]),
        # types that only the host function knows are written out
        ("void f(double *p) { using real = double; k<real><<<1, 32>>>(p); }", ["double"]),
        ("template <class T> void run() { using V = vec<T, 4>; k<V><<<1, 32>>>(0); }\n"
         "void f() { run<float>(); }", ["vec<float, 4>"]),
        ("void f(double *p) { k<decltype(*p)><<<1, 32>>>(p); }", [None]),
        ("void f(double *p) { float x = 1; k<decltype(x)><<<1, 32>>>(p); }", ["float"]),
        ("void f(double *p) { float &x = *g; k<decltype(x)><<<1, 32>>>(p); }", [None]),
        ("namespace a { struct v {}; namespace b { void f(v *p) { run(p); } } }\n" + RUN, ["a::v"]),
        ("struct v {}; namespace a { typedef v w; void f(w *p) { run(p); } }\n" + RUN, ["v"]),
        # class templates are instantiated wherever they are named with arguments
        (STREAM + "int main() { Stream<float> s; s.fill(); }", ["float"]),
        (STREAM + "template class Stream<double>; void f(Stream<int> *s);", ["double", "int"]),
        (STREAM + "template <class U> void g() { Stream<U> s; s.fill(); } void f() { g<char>(); }",
         ["char"]),
        (STREAM + "template <class U> void g(U *p) { Stream<U> s; }", [None]),
        (STREAM, [None]),
        ("template <class T> struct A { T *p; void go(); };\n"
         "template <class T> void A<T>::go() { k<T><<<1, 32>>>(p); }\nA<short> a;", ["short"]),
        ("template <class T, class U> struct A { T *p; U *q; void go(); };\n"
         "template <class U, class T> void A<U, T>::go() { run(p); }\n" + RUN + "A<short, int> a;",
         [None]),
        # what PyTorch's macros call once per type
        ('void f(at::Tensor t) { AT_DISPATCH_FLOATING_TYPES_AND_HALF(t.type(), "f", ([&] {\n'
         "  k<scalar_t><<<1, 32>>>(t.data<scalar_t>()); })); }", ["float", "double", "__half"]),
    ],
)  # fmt: skip
def test_template_arguments_of_a_launch_by_the_templates_around_it(
    text: str, instances: list[str | None]
) -> None:
    assert [s.template_args for s in sites(text)] == [(i,) for i in instances]


@pytest.mark.parametrize(
    ("launch", "kernel", "template_args"),
    [
        ("k<<<1, 1>>>();", "k", ()),
        ("a::b::k<<<1, 1>>>();", "a::b::k", ()),
        ("k<16, float><<<1, 1>>>();", "k", ("16", "float")),
        ("a::k<2 * 8, unsigned int><<<1, 1>>>();", "a::k", ("16", "unsigned int")),
        ("k<true><<<1, 1>>>();", "k", ("true",)),
        ("cudaLaunchKernel((void *)k<3>, 1, 1, args, 0, 0);", "k", ("3",)),
        ("cudaLaunchKernel(reinterpret_cast<void *>(&k), 1, 1, args, 0, 0);", "k", ()),
    ],
)
def test_kernel_name(launch: str, kernel: str, template_args: tuple[str, ...]) -> None:
    site = host(launch)
    assert (site.kernel, site.template_args) == (kernel, template_args)


def test_launches_in_macros_and_device_code_are_found() -> None:
    text = (
        "#define LAUNCH(k, t) k<<<4, t>>>(0)\n"
        "void host() {\n  LAUNCH(a, 64);\n}\n"
        "__global__ void parent() { b<<<2, 32>>>(1); }\n"
    )
    found = sites(text)
    assert [(s.kernel, s.block, s.grid, s.line) for s in found] == [
        ("a", Dim3(64), Dim3(4), 3),
        ("b", Dim3(32), Dim3(2), 5),
    ]


def test_a_launch_record_has_arguments_offsets_and_shared_memory() -> None:
    site = host(
        "const int m = 512; float *q = p + 2;\n"
        "k<<<dim3(m / 32, 2), 32, 32 * sizeof(float)>>>(p, p + 4, &p[m], p + n, q, m, n, 2.5f);",
        "float *p;",
    )
    names = ["a", "b", "c", "d", "e", "m", "n", "f"]
    sizes = {"a": 4, "b": 4, "c": None, "d": 4, "e": 4}
    assert to_launch(site, names, sizes) == Launch(
        block=Dim3(32),
        grid=Dim3(16, 2),
        source="host",
        args=(("m", 512),),
        offsets=(("b", 16), ("c", None), ("d", None), ("e", 8)),
        shared_bytes=128,
        file="k.cu",
        line=3,
    )


@pytest.mark.parametrize(
    ("shared", "value"), [("", 0), (", 0", 0), (", 1024, stream", 1024), (", n", None)]
)
def test_shared_bytes(shared: str, value: int | None) -> None:
    assert host(f"k<<<1, 1{shared}>>>();").shared == value


@pytest.mark.parametrize(
    ("body", "moved", "offset"),
    [
        ("k<<<1, 1>>>(p);", False, 0),
        ("k<<<1, 1>>>(p + 8 - 3);", True, 5),
        ("k<<<1, 1>>>((float4 *)p);", False, 0),
        ("k<<<1, 1>>>((float4 *)(p + 1));", True, None),
        ("k<<<1, 1>>>((float4 *)(p + 8));", True, 2),
        ("k<<<1, 1>>>((Unknown *)(p + 8));", True, None),
        ("char *c = (char *)&p[3]; k<<<1, 1>>>(reinterpret_cast<short *>(c + 2));", True, 7),
        ("k<<<1, 1>>>(reinterpret_cast<char *>(p + 0));", True, 0),
        ("float *q; cudaMalloc(&q, n); k<<<1, 1>>>(q);", False, 0),
        ("float *q = p; q += n; k<<<1, 1>>>(q);", True, None),
        ("float *q = n ? p : p + 1; k<<<1, 1>>>(q);", True, None),
    ],
)
def test_pointer_offsets(body: str, moved: bool, offset: int | None) -> None:
    site = host(body, "float *p;")
    assert site.args is not None
    assert (site.args[0].moved, site.args[0].offset) == (moved, offset)
