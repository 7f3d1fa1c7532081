"""A fact that would settle a count is named, and giving it settles the count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from summaries import count, result

from coalescecheck import analyze
from coalescecheck.symbolic.form import Symbol
from coalescecheck.symbolic.render import spoken


@dataclass(frozen=True)
class Case:
    """``body`` reads ``a``; ``reason`` is expected; ``given`` is what it asks for."""

    body: str
    reason: str
    given: Mapping[str, Any]
    known: Mapping[str, Any] = field(default_factory=dict)


OFFSET = {"offsets": (("a", None),)}
T = "(int)threadIdx.x"

CASES = {
    "a row offset": Case(
        f"o[0] = a[{T} + n];",
        "up to 5 sectors; 4 and exact if n % 8 == 0: pass `--assume`",
        {"assume": ["n % 8 == 0"]},
    ),
    "a row offset behind blocks of whole lines": Case(
        f"o[0] = a[blockIdx.x * blockDim.x + {T} + n];",
        "up to 5 sectors; 4 and exact if n % 8 == 0: pass `--assume`",
        {"assume": ["n % 8 == 0"]},
        {"block": None},
    ),
    "a pitch": Case(
        f"o[0] = a[n * (int)blockIdx.x + {T}];",
        "up to 5 sectors; 4 and exact if n % 8 == 0: pass `--assume`",
        {"assume": ["n % 8 == 0"]},
    ),
    "an even offset": Case(
        f"o[0] = a[{T} + 4 * n];",
        "up to 5 sectors; 4 and exact if n % 2 == 0: pass `--assume`",
        {"assume": ["n % 2 == 0"]},
    ),
    "a product of two parameters": Case(
        f"o[0] = a[{T} + n * m];",
        "up to 5 sectors; 4 and exact if n % 8 == 0: pass `--assume`",
        {"assume": ["n % 8 == 0"]},
    ),
    "two parameters": Case(
        f"o[0] = a[{T} + n + m];",
        "alignment: depends on m, n: pass `--param m=... --param n=...`",
        {"params": {"n": 1, "m": 6}},
    ),
    "two parameters between the lanes": Case(
        f"o[0] = a[{T} * n + {T} * {T} * m];",
        "depends on m, n between the lanes: pass `--param m=... --param n=...`",
        {"params": {"n": 1, "m": 6}},
    ),
    "a bank stride": Case(
        f"[[cuda::shared]] float s[999]; o[0] = s[{T} * n];",
        "depends on n: pass `--param n=...`",
        {"params": {"n": 6}},
    ),
    "a pointer launched with an offset": Case(
        f"o[0] = a[{T}];",
        "the array's base alignment is not known; up to 5 sectors; "
        "4 and exact if a % 32 == 0: pass `--assume`",
        OFFSET | {"assume": ["a % 32 == 0"]},
        OFFSET,
    ),
    "a pointer launched with an offset, and blocks of odd size": Case(
        f"o[0] = a[(int)blockIdx.x * 33 + {T}];",
        "alignment: the array's base alignment is not known: "
        "pass `--assume 'a % 128 == 0' --grid ...`",
        OFFSET | {"assume": ["a % 128 == 0"], "grid": (4,)},
        OFFSET,
    ),
    "a row of an unknown block": Case(
        "[[cuda::shared]] float s[999]; o[0] = s[threadIdx.x * threadIdx.y];",
        "depends on threadIdx.y: pass `--block ...`",
        {"block": (32, 1)},
        {"block": None},
    ),
    "a loop whose end is not known": Case(
        f"for (int k = 0; k < m; k++) o[0] = a[({T} + k) / n * 9];",
        "depends on k10 (the iteration of the loop at line 10), n between the lanes: "
        "pass `--param m=... --param n=...`",
        {"params": {"n": 5, "m": 6}},
    ),
    "a lane that sizes choose": Case(
        f"for (int k = 0; k < m; k++) if ({T} == k * n) o[0] = a[{T}];",
        "lanes run under a condition on k10 (the iteration of the loop at line 10), n: "
        "pass `--param m=... --param n=...`",
        {"params": {"n": 5, "m": 6}},
    ),
    "the block index": Case(
        f"o[0] = a[(int)blockIdx.x * 33 + {T}];",
        "alignment: depends on blockIdx.x: pass `--grid ...`",
        {"grid": (4,)},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_fact_is_named(case: Case) -> None:
    found = _read(case.body, case.known)
    assert found.reason.startswith(case.reason)
    assert count(found).min < count(found).max


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_fact_settles_it(case: Case) -> None:
    found = _read(case.body, {**case.known, **case.given})
    assert found.certainty in ("exact", "exact-symbolic")
    assert found.reason == ""


def test_data_cannot_be_given() -> None:
    found = _read(f"o[0] = a[{T} + idx[0]];", {})
    assert found.reason == "loaded from `idx[0]`"
    assert found.certainty == "data-dependent"


def test_warps_that_begin_at_different_places_leave_nothing_open() -> None:
    """The rows of 120 threads end within a warp, three of 15 times behind the first sector."""
    found = _read(f"o[0] = a[(int)blockIdx.x * 128 + {T} + 1];", {"block": (120, 4)})
    assert (count(found).min, count(found).max, count(found).mean) == (5, 6, 5.2)
    assert (found.certainty, found.reason) == ("exact-symbolic", "")


def test_only_names_of_the_source_are_named() -> None:
    found = _read(f"o[0] = a[({T} + n) % m];", {})
    row = "where in its row the warp lies is not known"
    assert found.reason == f"alignment: depends on m, n; {row}"


def _read(body: str, known: Mapping[str, Any]) -> Any:
    return result(body, "s" if " s[" in body else "a", **known)


def test_a_fact_about_a_pointer_reaches_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        """__global__ void k(float *out, const float *in)
        { out[threadIdx.x] = in[threadIdx.x]; }
        void go(float *p, float *q, int at) { k<<<1, 32>>>(p + at, q); }""",
        "utf-8",
    )
    open_, known = (
        next(analyze(path, assume=assume, verify=False).kernels)
        for assume in ((), ("out % 32 == 0",))
    )
    stores = [a for k in (open_, known) for a in k.accesses if a.array == "out"]
    assert [a.sectors.max for a in stores] == [5, 4]
    assert stores[0].certainty == "bounded"  # no data decides where a launch lets it begin
    assert "out % 32 == 0" in known.assumptions


UNKNOWN_TYPES = {
    "a template parameter": (
        "template <class T> __global__ void k(T *a) { a[threadIdx.x] = 0; }",
        "the size of `T` is not known: pass `--template T=...`",
    ),
    "a member of a template parameter": (
        "template <class P> __global__ void k(typename P::real *a) { a[threadIdx.x] = 0; }",
        "the size of `P::real` is not known: pass `--template P=...`",
    ),
    "a data member of a template parameter": (
        "template <class P> __global__ void k(P *a) { a[threadIdx.x].x = 0; }",
        "it is a part of `P`, which is not known: pass `--template P=...`",
    ),
    "a data member of a class of a library": (
        "__global__ void k(vec *a) { a[threadIdx.x].x = 0; }",
        "type `vec` is not declared in what could be read: pass `-D vec=...`, "
        "or `-I` for its header",
    ),
    "a macro of the build": (
        "__global__ void k(real *a) { a[threadIdx.x] = 0; }",
        "type `real` is not declared in what could be read: "
        "pass `-D real=...`, or `-I` for its header",
    ),
    "a member of a struct": (
        "struct S { real x; int y; };"
        "__global__ void k(S *a) { a[threadIdx.x].y = 0; a[0] = a[1]; }",
        "type `real` is not declared in what could be read: "
        "pass `-D real=...`, or `-I` for its header",
    ),
    "a class of a library": (
        "__global__ void k(lib::vec *a) { a[threadIdx.x] = a[1]; }",
        "type `lib::vec` is not declared in what could be read: pass `-I` for its header",
    ),
    "the result of unknown code": (
        "__global__ void k(int *a) { auto p = lib::made(a); *p = 0; }",
        "its type follows from code that is not understood (see the messages)",
    ),
    "a packed struct": (
        "struct __attribute__((packed)) S { char c; int n; };"
        "__global__ void k(S *a) { a[threadIdx.x] = a[1]; }",
        "a packed struct: one source access is an unknown number of instructions",
    ),
}


@pytest.mark.parametrize(("source", "reason"), UNKNOWN_TYPES.values(), ids=UNKNOWN_TYPES)
def test_a_type_of_unknown_size_is_said_to_be_missing(
    tmp_path: Path, source: str, reason: str
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(source)
    (kernel,) = analyze(path).kernels
    assert reason in {a.reason for a in kernel.accesses}


def test_no_width_and_no_step_is_made_up_for_a_type_of_unknown_size(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        """template <class T> struct S { char tag; T value; };
        template <class T> __global__ void k(S<T> *s, T *o)
        { s[threadIdx.x].tag = 1; o[threadIdx.x] = 0; }"""
    )
    (kernel,) = analyze(path).kernels
    tag, value = kernel.accesses
    assert (tag.width_bytes, tag.lane_stride_bytes) == (1, None)  # the step has padding in it
    assert (count(tag).min, count(tag).max, tag.certainty) == (1, 32, "bounded")
    assert (value.width_bytes, value.certainty) == (0, "unknown")


def test_a_part_of_a_block_index_is_spoken_of_as_the_index() -> None:
    assert spoken([Symbol("blockIdx.x'4", "bid"), Symbol("n#2", "param")]) == "blockIdx.x, n"
