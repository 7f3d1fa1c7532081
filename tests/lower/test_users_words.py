"""Accesses are named as the user wrote them, not as kernel C calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

TEXT = """
#include "tile.cuh"
namespace cfg {{
extern __device__ int width;
}}
template <int N> __device__ float &pick(float (*s)[N], int r, int c) {{ return s[r][c]; }}
#define AT(r, c) tile.at(r, c)
// coalescecheck: block(32,32) grid(4)
__global__ void k(float *out, const float *in)
{{
    __shared__ Tile tile;
    __shared__ float rows[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    auto get = [&](int r, int c) -> float & {{ return rows[r][c]; }};
    {statement}
}}
"""
HEADER = """
struct Tile {
    float cells[32][32], sum;
    __device__ float &at(int r, int c) { return cells[r][c]; }
    __device__ float &operator()(int r, int c) { return cells[r][c]; }
    __device__ float *row(int r) { return cells[r]; }
    __device__ float *operator[](int r) { return cells[r]; }
    __device__ float &operator*() { return cells[0][0]; }
    __device__ void add(float v) { sum = v; at(1, 2) = v; }
};
"""


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        pytest.param("tile.at(y, x) = 1;", ["tile.at(y, x)"], id="a reference from a method"),
        pytest.param("tile(y,  x) = 1;", ["tile(y, x)"], id="from an operator"),
        pytest.param("tile[y][x] = 1;", ["tile[y][x]"], id="from an index"),
        pytest.param("*tile = 1;", ["*tile"], id="from a star"),
        pytest.param("tile.row(y)[x] = 1;", ["tile.row(y)[x]"], id="a pointer from a method"),
        pytest.param("*tile.row(y) = 1;", ["*tile.row(y)"], id="what it points to"),
        pytest.param("pick<32>(rows, y, x) = 1;", ["pick(rows, y, x)"], id="a template"),
        pytest.param("pick(rows, y, x) = 1;", ["pick(rows, y, x)"], id="one without arguments"),
        pytest.param("get(y, x) = 1;", ["get(y, x)"], id="a lambda"),
        pytest.param("AT(y, x) = 1;", ["tile.at(y, x)"], id="a macro"),
        pytest.param("tile.add(1);", ["at(1, 2)", "sum"], id="members in a header"),
        pytest.param("rows[y][abs(x)] = 1;", ["rows[y][abs(x)]"], id="a known function"),
        pytest.param("rows[y][x] = 1;", ["rows[y][x]"], id="no function"),
        pytest.param("rows[y][cfg::width] = 1;", ["rows[y][width]", "width"], id="a namespace"),
        pytest.param("out[x] = __ldg(in + x);", ["*(in + x)", "out[x]"], id="an intrinsic"),
    ],
)
def test_what_an_access_is_called(tmp_path: Path, statement: str, names: list[str]) -> None:
    (tmp_path / "tile.cuh").write_text(HEADER, encoding="utf-8")
    path = tmp_path / "k.cu"
    path.write_text(TEXT.format(statement=statement), encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert sorted(result.access.index for result in kernel.accesses) == names


def test_what_is_proposed_is_named_alike(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct P { float x, y, z, w; __device__ float sum() const { return x + y; } };\n"
        "// coalescecheck: block(64) grid(4)\n"
        "__global__ void k(float *out, const P *in)\n"
        "{ int i = blockIdx.x * 64 + threadIdx.x; out[i] = in[i].sum(); }\n",
        encoding="utf-8",
    )
    found = list(coalescecheck.analyze(path).findings)
    said = [f.description for each in found for f in each.fixes]
    assert "load `x` and the element behind it as one `float2`" in said
    assert not any("self" in words for words in (*said, *(each.message for each in found)))


def test_an_instance_of_a_template_is_no_member_of_it(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T> struct Vec { T x, y; };\n"
        "template <> struct Vec<float> { float x, y; };\n"
        "// coalescecheck: block(64) grid(4)\n"
        "__global__ void k(Vec<float> *out) { out[threadIdx.x].x = 1; }\n",
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert {array.element for array in kernel.arrays.values()} == {"Vec<float>"}


def test_a_type_in_a_namespace(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace geo { struct __align__(4) Pair { float x, y; }; }\n"
        "// coalescecheck: block(64) grid(4)\n"
        "__global__ void k(geo::Pair *out, const geo::Pair *in)\n"
        "{ int i = blockIdx.x * 64 + threadIdx.x; out[i] = in[i]; out[i].x = in[i + 4].y; }\n",
        encoding="utf-8",
    )
    found = list(coalescecheck.analyze(path).findings)
    said = [f"{each.message} {each.reason} {each.advice}" for each in found]
    said += [fix.description for each in found for fix in each.fixes]
    assert any("Pair" in words for words in said)
    assert not any("geo__Pair" in words for words in said)


@pytest.mark.parametrize(
    "shown",
    ["(n & 1 ? o : p)[x]", "*(n ? o : p)", "o[n ? x : n > 2 ? 1 : 2]", "o[(n ? x : 1) + 2]"],
)
def test_choices(tmp_path: Path, shown: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        f"__global__ void k(float *o, float *p, int n) {{ int x = threadIdx.x; {shown} = 1; }}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    assert [result.access.index for result in kernel.accesses] == [shown]


@pytest.mark.parametrize(
    "index", ["x.k", "2 * x.k", "x + 1", "-x", "x.of(1)"], ids=lambda index: index
)
def test_what_is_not_understood_is_shown_as_it_is_written(index: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct Made; __device__ Made make(int);\n"
        "__global__ void k(float *out, int n)\n"
        f"{{ foo_t x = make(n); out[threadIdx.x + {index}] = 1; }}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    (access,) = kernel.accesses
    assert access.access.index == f"out[threadIdx.x + {index}]"
    assert "unknown_t" not in access.reason
    assert "opaque" not in access.reason
