"""Finding kernels, and places: what the rest of the tool is told about the source."""

from __future__ import annotations

import re

import pytest
import rewriting
from pycparser import c_ast

FOUND = {
    "a plain one": ("__global__ void k(int *a) { }", ["k"]),
    "in namespaces": ("namespace a { namespace { namespace b { __global__ void k() { } } } }",
                      ["a::b::k"]),
    "extern C": ('extern "C" __global__ void k() { } extern "C" { __global__ void l() { } }',
                 ["k", "l"]),
    "static and with launch bounds": (
        "static __global__ void __launch_bounds__(128, 2) k() { }", ["k"]),
    "a static member": ("struct S { template <int N> static __global__ void k() { } };", ["S::k"]),
    "in a class template": (
        "template <typename T> struct S { static __global__ void k(T *a) { } };", ["S::k"]),
    "not a prototype": ("__global__ void k(); __global__ void k() { }", ["k"]),
    "not a device function": ("__device__ void f() { } void host() { }", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "names"), FOUND.values(), ids=FOUND)
def test_found(text: str, names: list[str]) -> None:
    assert [k.name for k in rewriting.declared(text)] == names
    for name in names:
        kernel = rewriting.rewritten(text, name)
        assert rewriting.gcc_errors(kernel) == ""
        assert kernel.function == name.replace("::", "__")


def test_what_the_launch_side_is_told() -> None:
    (kernel,) = rewriting.declared(
        "constexpr int MAX = 256; template <typename T, int B = 4 * 8, class... Ts>\n"
        "__global__ void __launch_bounds__(MAX) k(T *a, const float4 *b, int n);\n"
        "template <typename T, int B, class... Ts>\n"
        "__global__ void __launch_bounds__(MAX) k(T *a, const float4 *b, int n) { }\n"
        "template __global__ void k<float, 64>(float *, const float4 *, int);\n"
        "template <> __global__ void k<int, 2>(int *a, const float4 *b, int n) { }\n"
    )
    assert kernel.template_params == (
        ("type", "T", None), ("value", "B", "4 * 8"), ("pack", "Ts", None),
    )  # fmt: skip
    assert [(p.name, p.is_pointer, p.element_size) for p in kernel.parameters] == [
        ("a", True, None),
        ("b", True, 16),
        ("n", False, None),
    ]
    assert kernel.max_threads == 256
    assert kernel.instantiations == (("float", "64"),)
    assert kernel.specialisations == (("int", "2"),)
    assert str(kernel.span) == "k.cu:4:40"


PLACED = """\
struct V { float x, y; };
__device__ float twice(const float *p, int i)
{
    return 2 * p[i];
}
__global__ void k(float *a, const float *b, V *v, int n)
{
    __shared__ float tile[8][33];
    float &r = a[n + 1];
    r += b[n] * tile[n][n + 2];
    *(a + n) = *b + v[n].x;
    v->y = (*v).x + reinterpret_cast<float4 *>(a)[n].z;
    *reinterpret_cast<float4 *>(&a[n * 4]) = make_float4(b[1], b[2], twice(b, n), 0);
    atomicAdd(&a[3], a[4]);
}
"""
ACCESSES = {
    # what pycparser points at -> what the user sees there
    "p[i]": (4, 16),
    "a[n + 1]": (9, 16),
    "b[n]": (10, 10),
    "tile[n]": (10, 17),
    "*(a + n)": (11, 5),
    "*b": (11, 16),
    "v[n]": (11, 21),
    "v->y": (12, 5),
    "(*v).x": (12, 12),
    "reinterpret_cast<float4 *>(a)[n]": (12, 21),
    "*reinterpret_cast<float4 *>(&a[n * 4])": (13, 5),
    "a[n * 4]": (13, 34),
    "b[1]": (13, 58),
    "b[2]": (13, 64),
    "a[3]": (14, 16),
    "a[4]": (14, 22),
}


def test_every_access_is_found_where_the_user_wrote_it() -> None:
    kernel = rewriting.rewritten(PLACED)
    places: set[tuple[int, int]] = set()

    def visit(node: c_ast.Node) -> None:
        wanted = (c_ast.ArrayRef, c_ast.UnaryOp, c_ast.StructRef)
        if isinstance(node, wanted) and node.coord is not None:
            span = kernel.source_map.span(node.coord.line, node.coord.column)
            places.add((span.line, span.column))
        for child in node:
            visit(child)

    visit(rewriting.parsed(kernel))
    lines = PLACED.splitlines()
    for shown, (line, column) in ACCESSES.items():
        assert lines[line - 1][column - 1 :].startswith(shown.split("[")[0][:4]), shown
        assert (line, column) in places, shown


def test_the_statement_of_every_line_is_mapped() -> None:
    kernel = rewriting.rewritten(PLACED)
    assert kernel.text is not None
    for number, line in enumerate(kernel.text.splitlines(), 1):
        match = re.search(r"\S", line)
        if match is None or line.startswith(("typedef", "extern", "}")):
            continue
        span = kernel.source_map.span(number, match.start() + 1)
        assert span.file == "k.cu"
        assert span.line > 0


LOSSY = """
__global__ void k(const float *__restrict__ a, float (*b)[4], int *c[3])
{
    for (int i = 0; i < 3; i++) {
        if (a[i] > 0 && b[i][1] < *a) *c[i] = (int)a[2];
        else b[i][i] += a[i] ? a[1] : *(a + i);
        switch (c[0][0]) { case 1: c[1] = c[2]; }
    }
}
"""


def test_nothing_is_lost() -> None:
    kernel = rewriting.rewritten(LOSSY)
    assert rewriting.lost_accesses(LOSSY, kernel) == ""
    assert rewriting.gcc_errors(kernel) == ""


def test_enumerators_made_of_each_other_are_read_once() -> None:
    doubled = ", ".join(f"E{n} = E{n - 1} + E{n - 1}" for n in range(1, 31))
    text = f"enum {{ E0 = 1, {doubled} }};\n__global__ void k(int* a) {{ a[E30] = 0; }}"
    assert "a[1073741824] = 0;" in rewriting.body(rewriting.rewritten(text))
