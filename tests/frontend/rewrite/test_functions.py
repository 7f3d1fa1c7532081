"""Device functions, methods, templates and lambdas, written on demand."""

from __future__ import annotations

import re

import pytest
import rewriting

from coalescecheck.errors import UnsupportedConstruct


def checked(text: str, **template: str) -> rewriting.KernelC:
    """The kernel of ``text``; both judges accept it and nothing had to be said about it."""
    kernel = rewriting.rewritten(text, **template)
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
    assert kernel.diagnostics == ()
    return kernel


def test_references_are_pointers() -> None:
    kernel = checked(
        "template <typename T> __device__ void swap(T &a, T &b) { T t = a; a = b; b = t; }\n"
        "__global__ void k(float *a, int i) { swap(a[i], a[i + 1]); int x = 1, y = 2; swap(x, y); }"
    )
    assert rewriting.function(kernel, "swap__float") == ["float t = *a;", "*a = *b;", "*b = t;"]
    assert rewriting.body(kernel) == [
        "swap__float(&a[i], &a[i + 1]);",
        "int x = 1;",
        "int y = 2;",
        "swap__int(&x, &y);",
    ]


def test_the_closest_overload_is_called() -> None:
    kernel = checked(
        "__device__ int f(int x) { return 1; } __device__ int f(float x) { return 2; }\n"
        "__device__ int f(const float *x) { return 3; }\n"
        "template <typename T> __device__ int f(T *x, T y) { return 4; }\n"
        "__global__ void k(float *a, short s) { a[0] = f(s) + f(a[1]) + f(a) + f(a, a[2]); }"
    )
    assert rewriting.body(kernel) == ["a[0] = f(s) + f__2(a[1]) + f__3(a) + f__float(a, a[2]);"]


def test_templates_by_explicit_arguments_recursion_and_specialisation() -> None:
    kernel = checked(
        "template <int N> __device__ int f() { return N * f<N - 1>(); }\n"
        "template <> __device__ int f<0>() { return 1; }\n"
        "__global__ void k(int *a) { a[0] = f<2>(); }"
    )
    assert rewriting.function(kernel, "f__2") == ["return 2 * f__1();"]
    assert rewriting.function(kernel, "f__1") == ["return 1 * f();"]
    assert rewriting.function(kernel, "f") == ["return 1;"]


def test_default_arguments_are_written() -> None:
    kernel = checked(
        "constexpr int W = 8; __device__ int f(int a, int b = W * 2) { return a + b; }\n"
        "__global__ void k(int *a) { a[0] = f(1); }"
    )
    assert rewriting.body(kernel) == ["a[0] = f(1, 16);"]


def test_recursion_gets_a_prototype() -> None:
    kernel = checked(
        "__device__ void f(int *p, int n) { if (n) f(p, n - 1); }\n"
        "__global__ void k(int *a) { f(a, 3); }"
    )
    assert kernel.text is not None
    assert "static void f(int *p, int n);\n" in kernel.text


CLASSES = """
struct Grid {
    float *d; int pitch; int width = 4;
    __device__ Grid(float *p, int n) : d(p), pitch(n) { }
    __device__ float &operator()(int r, int c) { return d[r * pitch + c]; }
    __device__ int size() const { return pitch * width; }
    __device__ float sum(int r) const;
};
__device__ float Grid::sum(int r) const { return d[r] + size(); }
struct Wide : public Grid { float w; __device__ float get(int i) const { return d[i] * w; } };
__device__ Grid operator+(const Grid &a, int n) { return Grid(a.d + n, a.pitch); }
"""


def test_classes_become_functions_with_self() -> None:
    kernel = checked(
        CLASSES + "__global__ void k(float *a, Wide *w, int n) {\n"
        "Grid g(a, n); g(1, n) = 2; a[0] = g.sum(3) + w->get(n) + w->size(); g = g + 1; }"
    )
    assert rewriting.function(kernel, "Grid__new") == [
        "Grid object;",
        "Grid *self = &object;",
        "self->d = p;",
        "self->pitch = n;",
        "self->width = 4;",
        "return object;",
    ]
    assert rewriting.function(kernel, "Grid__call") == ["return &self->d[r * self->pitch + c];"]
    assert rewriting.function(kernel, "Wide__get") == ["return self->base__Grid.d[i] * self->w;"]
    assert rewriting.body(kernel) == [
        "Grid g = Grid__new(a, n);",
        "*Grid__call(&g, 1, n) = 2;",
        "a[0] = Grid__sum(&g, 3) + Wide__get(w, n) + Grid__size(&w->base__Grid);",
        "g = add(&g, 1);",
    ]


def test_class_templates() -> None:
    kernel = checked(
        "template <typename T, int N> struct Vec { T d[N]; static constexpr int size = N;\n"
        "  __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += d[i]; return s; }\n"
        "}; template <typename T> struct Wide;\n"
        "template <> struct Wide<float> { typedef float4 type; };\n"
        "template <typename T, int N> __device__ int length(const Vec<T, N> &v) { return N; }\n"
        "__global__ void k(Vec<float, 3> *v, float *a) { a[Vec<float, 3>::size] = v[1].sum();\n"
        "  a[0] = length(v[2]); typename Wide<float>::type *w = (Wide<float>::type *)a;\n"
        "  w[0].x = 1; }"
    )
    assert rewriting.body(kernel) == [
        "a[3] = Vec__float__3__sum(&v[1]);",
        "a[0] = length__float__3(&v[2]);",
        "float4 *w = (float4 *)a;",
        "w[0].x = 1;",
    ]


def test_the_shared_memory_idiom() -> None:
    kernel = checked(
        "template <typename T> struct SharedMemory { __device__ operator T *() {\n"
        "  extern __shared__ int raw[]; return (T *)raw; } };\n"
        "template <typename T> __global__ void k(T *a) { T *s = SharedMemory<T>(); s[0] = a[0]; }",
        T="float",
    )
    assert rewriting.function(kernel, "SharedMemory__float__to") == [
        "[[cuda::shared]] extern int raw[];",
        "return (float *)raw;",
    ]


def test_function_objects_and_packs() -> None:
    kernel = checked(
        "struct Add { __device__ float operator()(float a, float b) const { return a + b; } };\n"
        "template <typename F> __device__ float apply(F f, float a, float b) { return f(a, b); }\n"
        "template <typename... Ts> __device__ int count(Ts... xs) { return sizeof...(xs); }\n"
        "__global__ void k(float *a) { a[0] = apply(Add(), a[1], a[2]) + count(1, a, 2.f); }"
    )
    assert rewriting.body(kernel) == [
        "a[0] = apply__Add((Add){0}, a[1], a[2]) + count__int__float_p__float(1, a, 2.f);"
    ]
    assert rewriting.function(kernel, "count__int__float_p__float") == ["return 3;"]


def test_lambdas_take_what_they_capture() -> None:
    kernel = checked(
        "template <typename F> __device__ void each(int n, F f)\n"
        "{ for (int i = 0; i < n; i++) f(i); }\n"
        "__global__ void k(float *a, int n) { float sum = 0; __shared__ float t[32];\n"
        "  auto at = [&](int i) { return a[i] + t[i]; };\n"
        "  each(n, [&](int i) { sum += at(i); }); a[0] = sum; }"
    )
    assert re.fullmatch(r"each__lambda__\d+\(n, &sum, a, &t\);", rewriting.body(kernel)[2])
    assert kernel.text is not None
    assert "(const float *" not in kernel.text
    assert "return a[i] + (*t)[i];" in kernel.text
    assert "*sum += lambda__" in kernel.text


def test_a_copy_of_a_struct_reads_only_what_is_used() -> None:
    """A struct by const reference stays where it is: only its fields are read."""
    kernel = checked(
        "struct S { float x, y[31]; }; __device__ float f(const S &s) { return s.x; }\n"
        "__global__ void k(S *s, float *a, int i)\n"
        "{ a[0] = f(s[i]); const S &r = s[i]; a[1] = r.x; }"
    )
    assert rewriting.body(kernel) == ["a[0] = f(&s[i]);", "const S *r = &s[i];", "a[1] = r->x;"]


TEMPLATE = (
    "template <typename T, int B, bool LAST = false> __global__ void __launch_bounds__(2 * 64)\n"
    "k(T *a, const T *b) { __shared__ T t[B]; a[threadIdx.x + B] = b[sizeof(T)];\n"
    "if constexpr (LAST) a[0] = t[1]; }\n"
)


def test_a_template_with_arguments() -> None:
    kernel = checked(TEMPLATE, T="double", B="32", LAST="true")
    assert rewriting.body(kernel) == [
        "[[cuda::shared]] double t[32];",
        "a[threadIdx.x + 32] = b[8ul];",
        "{",
        "a[0] = t[1];",
        "}",
    ]
    assert kernel.template == {"T": "double", "B": "32", "LAST": "true"}
    assert kernel.max_threads == 128


def test_an_undeclared_type_is_one_wherever_it_was_used_as_one() -> None:
    text = "__global__ void k(real *a) { real x = (real)-1; a[0] = x; }"
    kernel = rewriting.rewritten(text)
    assert kernel.text is not None
    assert rewriting.gcc_errors(kernel) == ""
    assert '[[cuda::unknown_type("")]] typedef long real;' in kernel.text
    assert rewriting.body(kernel) == ["real x = (real)-1;", "a[0] = x;"]


def test_an_undeclared_name_may_be_a_value_first_and_a_type_later() -> None:
    text = "__global__ void k(float *a) { a[unit] = 0; unit v = 3; a[1] = v; }"
    kernel = rewriting.rewritten(text)
    assert rewriting.gcc_errors(kernel) == ""
    assert rewriting.body(kernel) == ["a[unit] = 0;", "unit__2 v = 3;", "a[1] = v;"]


def test_a_template_without_arguments_stays_free() -> None:
    kernel = checked(TEMPLATE)
    assert kernel.text is not None
    assert "[[cuda::unknown_type]] typedef long T;" in kernel.text
    assert "[[cuda::free]] extern const int B;" in kernel.text
    assert rewriting.body(kernel) == [
        "[[cuda::shared]] T t[B];",
        "a[threadIdx.x + B] = b[sizeof(T)];",
    ]
    assert kernel.template == {}


def test_an_explicit_specialisation_has_its_own_body() -> None:
    text = (
        "template <typename T> __global__ void k(T *a) { a[0] = 1; }\n"
        "template <> __global__ void k<float>(float *a) { a[0] = 2; }\n"
    )
    assert rewriting.body(rewriting.rewritten(text, T="float")) == ["a[0] = 2;"]
    assert rewriting.body(rewriting.rewritten(text, T="int")) == ["a[0] = 1;"]


UNKNOWN = {
    "an unknown function": (
        "a[i] = mystery(a, i);", "a[i] = mystery(a, i);", "",
    ),
    "an unknown name": (
        "a[i] = b[i + OFFSET];", "a[i] = b[i + OFFSET];",
        "`OFFSET` is not declared in what could be read: its value stays symbolic",
    ),
    "an unknown method keeps its arguments": (
        "Reducer r; a[i] = r.sum(b[i]);", "a[i] = method__sum(&r, b[i]);",
        "method `sum` is not known: its value is unknown",
    ),
    "an unknown element stays an access": (
        "Tensor t; t[i] = a[i];", "*opaque__1(t, i) = a[i];",
        "element of `Tensor` is not understood: this access is unknown",
    ),
    "what an unknown function points to is described without our own names": (
        "*mystery(i) = a[i];", "*opaque__1(mystery(i)) = a[i];",
        "`*` of something whose type is not known is not understood: this access is unknown",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_code_costs_one_expression(source: str, expected: str, message: str) -> None:
    text = f"__global__ void k(float *a, const float *b, int i) {{ {source} }}"
    kernel = rewriting.rewritten(text)
    assert rewriting.body(kernel)[-1] == expected
    assert rewriting.gcc_errors(kernel) == ""
    rewriting.parsed(kernel)
    said = [d.message for d in kernel.diagnostics if not d.message.startswith("type")]
    assert said == ([message] if message else [])
    assert rewriting.lost_accesses(text, kernel) == ""


def test_a_class_that_is_its_own_element_without_end() -> None:
    text = "template <int N> struct F { F<N + 1> next; };\n__global__ void k(F<0> *f) { }\n"
    with pytest.raises(UnsupportedConstruct, match="without end"):
        rewriting.rewritten(text)


def test_a_function_template_that_calls_itself_without_end() -> None:
    """It costs one call, not the kernel."""
    kernel = rewriting.rewritten(
        "template <int N> __device__ void f(int *a) { a[N] = 0; f<N + 1>(a); }\n"
        "__global__ void k(int *a) { f<0>(a); a[1] = 2; }"
    )
    assert rewriting.body(kernel) == ["f__0(a);", "a[1] = 2;"]
    assert [d.message for d in kernel.diagnostics] == [
        "`f` calls too many instances of functions: its value is unknown"
    ]
    assert rewriting.gcc_errors(kernel) == ""
