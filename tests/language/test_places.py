"""Accesses and diagnostics stand where the user wrote them: macros, includes, templates."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.source import Diagnostic

HEADER = """\
#pragma once
template <typename T>
__device__ void put(T *p, int i, T v)
{
    p[i] = v;
}
#define STORE(p, i, v) (p)[i] = (v)
"""
KERNELS = """\
#include "h.h"
#define AT(a, i) a[(i)]
#define TWICE(a, i) AT(a, 2 * (i))
template <typename T>
__global__ void k(T *out,
                  const T *in)
{
    int i = threadIdx.x;
    out[i] = in[i];
    put(out, i, in[0]);
    AT(out, i) = AT(in, 1);
    out[i] = TWICE(in,
                   i);
    STORE(out, i, 0);
\tout[i] = 1; out[i + 1] = 2;
    /* é */ out[i] = 3;
    out[i] \\
        = 4;
}
void h(float *p) { k<<<1, 32>>>(p, p); k<double><<<1, 32>>>((double *)p, (double *)p); }
"""


def analysed(folder: Path, text: str) -> list[KernelAnalysis]:
    path = folder / "k.cu"
    path.write_text(text)
    report = coalescecheck.analyze(path)
    assert report.internal_errors == ()
    return list(report.kernels)


def test_every_access_stands_where_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(HEADER)
    kernels = analysed(tmp_path, KERNELS)
    assert [k.template for k in kernels] == [{"T": "float"}, {"T": "double"}]
    for kernel in kernels:
        found = [
            (Path(a.access.span.file).name, a.access.span.line, a.access.span.column, a.access.op)
            for a in kernel.accesses
        ]
        assert found == [
            ("k.cu", 9, 14, "load"),
            ("k.cu", 9, 5, "store"),
            ("k.cu", 10, 17, "load"),
            ("h.h", 5, 5, "store"),
            ("k.cu", 11, 18, "load"),
            ("k.cu", 11, 5, "store"),
            ("k.cu", 12, 14, "load"),
            ("k.cu", 12, 5, "store"),
            ("k.cu", 14, 5, "store"),
            ("k.cu", 15, 2, "store"),
            ("k.cu", 15, 14, "store"),
            ("k.cu", 16, 13, "store"),
            ("k.cu", 17, 5, "store"),
        ]


def test_an_access_from_a_macro_names_it(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(HEADER)
    kernel = analysed(tmp_path, KERNELS)[0]
    notes = {a.access.span.line: a.access.span.note for a in kernel.accesses}
    assert notes[9] == ""
    assert notes[14] == "in expansion of macro STORE"
    loads = {a.access.span.line: a.access.span.note for a in kernel.accesses if a.array == "in"}
    assert loads[11] == "in expansion of macro AT"
    assert loads[12] == "in expansion of macro TWICE"


def test_an_inlined_access_names_its_call(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(HEADER)
    kernel = analysed(tmp_path, KERNELS)[0]
    (inlined,) = [a for a in kernel.accesses if a.access.span.line == 5]
    assert [(s.line, s.column) for s in inlined.access.called_from] == [(10, 5)]


# --- what is not understood -------------------------------------------------------------------

LOST = {
    "an unknown function": (
        "out[lookup(i)] = 0;", (3, 5), "`lookup()` is not known: accesses through its result",
    ),
    "an unknown function that is given memory": (
        "fill(out, i);", (3, 1), "`fill()` is not known: what it accesses is not seen",
    ),
    "an unknown type": ("Opaque o; out[i] = 0;", (3, 1), "type `Opaque` is not known"),
    "an unknown name": (
        "out[i * STEP] = 0;", (3, 9), "`STEP` is not declared in what could be read",
    ),
    "an unknown member": (
        "out[pair.left] = 0;", (3, 5), "member `left` is not understood: this access is unknown",
    ),
    "inline assembly": (
        'int v; asm("foo.b32 %0;" : "=r"(v)); out[v] = 0;', (3, 8),
        "inline assembly is not followed: its outputs are unknown",
    ),
    "the device heap": (
        "float *p = new float[4]; p[i] = 0;", (3, 12), "the device heap is not modelled",
    ),
    "a method of an unknown class": (
        "Queue q; out[q.pop()] = 0;", (3, 1), "type `Queue` is not known",
    ),
}  # fmt: skip


def said(folder: Path, body: str) -> tuple[KernelAnalysis, list[Diagnostic]]:
    head = "struct Pair { int x; };\n__global__ void k(float *out, Pair pair) { int i = 0;\n"
    text = f"{head}{body}\n}}\n"
    (kernel,) = analysed(folder, text)
    return kernel, [d for d in kernel.diagnostics if d.severity != "note" or "asm" in body]


@pytest.mark.parametrize("what", LOST, ids=str)
def test_each_dropped_construct_is_told_with_its_place_and_cost(what: str, tmp_path: Path) -> None:
    body, place, message = LOST[what]
    _, diagnostics = said(tmp_path, body)
    matching = [d for d in diagnostics if message in d.message]
    assert matching, [str(d) for d in diagnostics]
    assert (matching[0].span.line, matching[0].span.column) == place
    assert matching[0].span.file.endswith("k.cu")


@pytest.mark.parametrize("what", LOST, ids=str)
def test_what_is_beside_a_dropped_construct_is_still_analysed(what: str, tmp_path: Path) -> None:
    body, _, _ = LOST[what]
    kernel, _ = said(tmp_path, f"{body} out[threadIdx.x + 8] = 1;")
    last = kernel.accesses[-1]
    assert (last.array, str(last.access.op)) == ("out", "store")
    assert last.access.index == "out[threadIdx.x + 8]"
    assert kernel.status in ("analysed", "partial")


def test_only_hidden_accesses_make_a_kernel_partial(tmp_path: Path) -> None:
    known, _ = said(tmp_path, "out[lookup(i)] = 0;")
    hidden, _ = said(tmp_path, "fill(out, i);")
    assert (known.status, hidden.status) == ("analysed", "partial")


def test_an_unknown_pack_is_told(tmp_path: Path) -> None:
    text = "template <typename... T> __global__ void k(int n, T... p) { ((p[n] = 0), ...); }\n"
    (kernel,) = analysed(tmp_path, text)
    assert kernel.status == "partial"
    assert "the pack `T` is not known" in kernel.reason


def test_a_variable_given_to_an_unknown_function_is_unknown_afterwards(tmp_path: Path) -> None:
    kernel, _ = said(tmp_path, "int j = 0; next(j); out[j] = 1;")
    (store,) = kernel.accesses
    assert store.certainty == "data-dependent"


def test_global_names_in_subscripts_stand_where_they_were_written(tmp_path: Path) -> None:
    (kernel,) = analysed(
        tmp_path,
        "__device__ int f(int i) { return 2 * i; }\n"
        "__global__ void k(float *o) {\n"
        "  o[::f(threadIdx.x)] = o[3]; /* é */ o[::f(threadIdx.x)] += o[5];\n"
        '  o[sizeof("[::]")] = 2;\n'
        "}\n",
    )
    places = [(a.access.span.line, a.access.span.column, a.access.op) for a in kernel.accesses]
    assert places == [
        (3, 25, "load"),
        (3, 3, "store"),
        (3, 62, "load"),
        (3, 39, "load"),
        (3, 39, "store"),
        (4, 3, "store"),
    ]


def test_the_headers_operators_go_before_those_that_convert(tmp_path: Path) -> None:
    """No ``half2`` becomes a class that nothing is known of where CUDA has the operator."""
    path = tmp_path / "k.cu"
    path.write_text("""#include <cuda_fp16.h>
using pair = lib::pair<float>;
__device__ pair operator+(const pair &a, const pair &b) { return pair(a.x + b.x); }
using other = lib::pair<half>;
__device__ other operator+(const other &a, const other &b) { return other(a.x + b.x); }
__global__ void k(half2 *out, pair *own) {
    half2 s = out[0];
    out[threadIdx.x] = s + out[2 * threadIdx.x];
    if (s < out[0] || __hbge2(s, s)) out[0] = -s;
}
""")
    (kernel,) = coalescecheck.analyze(path, block=128).kernels
    assert kernel.status == "analysed"
    assert [(a.array, a.sectors.max) for a in kernel.accesses if a.sectors] == [
        ("out", 1),
        ("out", 8),
        ("out", 4),
        ("out", 1),
        ("out", 1),
    ]
    assert not [d.message for d in kernel.diagnostics if "()` is not known" in d.message]
