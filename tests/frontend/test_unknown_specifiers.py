"""Words of headers that were not found, in front of declarations: ``HDI int f()``."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.frontend import load
from coalescecheck.report.model import Report

CODE = """
C10_HOST_DEVICE constexpr auto FOUR = 4;
EXPORT static const unsigned long FIVE{5};
C10_DEVICE inline int twice(int x) { return 2 * x; }
template <typename T> static LIB_API HDI T thrice(T x) { return 3 * x; }
template <int N> struct S {
    int v;
    HDI S(int x) : v(x) {}
    HDI explicit S(const float &x);
    HDI bool ok() const { return v > 0; }
    HDI S &operator+=(int x) { v += x; return *this; }
    HDI ~S() {}
};
template <int N> HDI S<N>::S(const float &x) : v((int)x) {}
EXPORT __global__ void k(float *o)
{
    int i = threadIdx.x;
    S<3> s(i);
    s += i;
    if (s.ok()) o[s.v] = 1.f;
    o[twice(i)] = 2.f;
    o[thrice(i)] = 3.f;
    o[FOUR * i] = o[FIVE * i];
    if (i > 99) printf("ERROR in kernel (%d)", i);
}
void run(float *p) { k<<<1, 32>>>(p); }
"""


def analysed(folder: Path, text: str) -> Report:
    path = folder / "kernel.cu"
    path.write_text(text)
    report = coalescecheck.analyze(path)
    assert report.internal_errors == ()
    return report


def test_they_are_taken_for_specifiers(tmp_path: Path) -> None:
    report = analysed(tmp_path, f'#include "missing.h"\n{CODE}')
    (kernel,) = report.kernels
    assert (kernel.status, kernel.reason) == ("analysed", "")
    assert [access.lane_stride_bytes for access in kernel.accesses] == [8, 8, 12, 20, 16]
    said = [
        d.message.split("`")[1]
        for f in report.files
        for d in f.analysis.diagnostics
        if "taken for" in d.message
    ]
    assert sorted(said) == ["C10_DEVICE", "C10_HOST_DEVICE", "EXPORT", "HDI", "LIB_API"]


@pytest.mark.parametrize(
    "text",
    [
        "LIB_T f(int x) { return x; }",
        "typedef int LIB_T; LIB_T const f(int x) { return x; }",
        "struct LIB_T { int x; }; LIB_T *f(int x) { return 0; }",
        "LIB_T LIB_API f(int x) { return x; }",
    ],
)
def test_types_are_none(text: str, tmp_path: Path) -> None:
    report = analysed(tmp_path, f'#include "missing.h"\n{text}\n__global__ void k(int *o) {{}}\n')
    assert not [d for f in report.files for d in f.analysis.diagnostics if "taken for" in d.message]


def test_nothing_is_taken_for_one_where_all_headers_are_read(tmp_path: Path) -> None:
    report = analysed(tmp_path, CODE)
    assert not [d for f in report.files for d in f.analysis.diagnostics if "taken for" in d.message]


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("LIB_PRAGMA_UNROLL", "[[unroll]]"),
        ("LIB_UNROLL(4)", "[[unroll]]"),
        ("UNROLL", ""),  # no room for the attribute: the loop is read all the same
        ("LIB_PRAGMA_NO_UNROLL", ""),
    ],
)
def test_words_that_unroll_a_loop(word: str, kept: str, tmp_path: Path) -> None:
    kernel = (
        f"__global__ void k(float *o) {{\n{word}\n for (int i = 0; i < 4; i++) {{ o[i] = 1; }}\n"
        f"int j = 0;\n{word}\nwhile (j < 2) {{ o[8 * j + threadIdx.x] = 2; j++; }} }}"
    )
    report = analysed(tmp_path, f'#include "missing.h"\n{kernel}\nvoid r() {{ k<<<1, 32>>>(0); }}')
    (found,) = report.kernels
    assert (found.status, found.reason) == ("analysed", "")
    assert [access.requests for access in found.accesses] == [4, 2]
    (path,) = tmp_path.iterdir()
    (text,) = (k.text for k in load(str(path)).kernels)
    assert text.count("[[unroll]]") == (2 if kept else 0)


def test_other_words_before_a_loop_may_be_anything(tmp_path: Path) -> None:
    kernel = "__global__ void k(float *o) { FIRST_LANE for (int i = 0; i < 4; i++) o[i] = 1; }"
    (found,) = analysed(tmp_path, f'#include "missing.h"\n{kernel}').kernels
    assert found.status == "partial"


def test_a_word_before_the_name_of_a_namespace_is_an_attribute(tmp_path: Path) -> None:
    kernels = (
        "namespace LIB_EXPORT lib {\n__global__ void k(int *o) { o[threadIdx.x] = 1; } }\n"
        "namespace PLAIN { namespace A::B { __global__ void m(int *o) { o[threadIdx.x] = 2; } } }\n"
    )
    report = analysed(tmp_path, f'#include "missing.h"\n{kernels}')
    assert [kernel.name for kernel in report.kernels] == ["lib::k", "PLAIN::A::B::m"]
    assert [kernel.status for kernel in report.kernels] == ["analysed", "analysed"]
    assert [kernel.span.line for kernel in report.kernels] == [3, 4]


@pytest.mark.parametrize(
    "head",
    [
        "__global__ auto k(float *a) -> void",
        "using Void = void;\n__global__ Void k(float *a)",
        "template <typename R = void> __global__ R k(float *a)",
        "template <class T> struct E { typedef void type; };\n"
        "__global__ typename E<int>::type k(float *a)",
        "__global__ alignas(8) void k(float *a)",
    ],
)
def test_the_result_of_a_kernel_is_no_attribute(tmp_path: Path, head: str) -> None:
    report = analysed(tmp_path, f"{head} {{ a[2 * threadIdx.x] = 1; }}")
    (kernel,) = report.kernels
    (store,) = kernel.accesses
    assert (kernel.name, store.sectors and store.sectors.max) == ("k", 8)
    assert not [d for f in report.files for d in f.analysis.diagnostics if "taken for" in d.message]


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void BOUNDS(256) k",
        "__global__ BOUNDS(max(2, 3) * 64, 2) void k",
        "__global__ void BOUNDS k",
        "template <int N = 3> static __global__ FIRST(1) void __launch_bounds__(64) BOUNDS\nL(2) k",
    ],
)
def test_words_in_the_head_of_a_kernel_are_its_attributes(tmp_path: Path, head: str) -> None:
    body = "(float *a) { a[2 * threadIdx.x] = 1; }\n__global__ void l(float *a) { a[0] = 1; }"
    report = analysed(tmp_path, f"{head}{body}\nvoid r() {{ k<<<1, 32>>>(0); }}")
    first, second = report.kernels
    assert (first.name, first.status, second.name, second.status) == (
        "k", "analysed", "l", "analysed",
    )  # fmt: skip
    (access,) = first.accesses
    assert access.sectors is not None
    assert (access.sectors.min, access.sectors.max) == (8, 8)
    said = [d.message for f in report.files for d in f.analysis.diagnostics]
    assert any("`BOUNDS` is not declared" in message for message in said)


def test_words_for_restrict_stand_behind_stars(tmp_path: Path) -> None:
    body = "float *RESTRICT p = a; p[i * n] = b[x *restrict_n * i] + n * restrict_n;"
    parameters = "float *RESTRICT a, const float * MY_RESTRICT b, int n, int restrict_n, int x"
    code = f"__global__ void k({parameters}) {{ int i = threadIdx.x; {body} }}"
    (kernel,) = analysed(tmp_path, f"{code}\nvoid r() {{ k<<<1, 32>>>(0, 0, 2, 3, 4); }}").kernels
    assert (kernel.status, kernel.reason) == ("analysed", "")
    assert [access.lane_stride_bytes for access in kernel.accesses] == [48, 8]
