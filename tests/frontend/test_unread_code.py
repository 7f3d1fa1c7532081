"""Macros that nothing defines: whatever they stand for, the numbers hold.

Each piece of code is read without its macro and with definitions of it; what is said of an access
without must cover what it costs with any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult, Count, KernelAnalysis

# the access stands in a line of its own, so that it is found in both readings
_EXPRESSIONS = (
    "a[i FOO\n]",
    "a[i * 2 FOO\n]",
    "a[FOO i * 2\n]",
    "a[i * (2 FOO)\n]",
    "*(a + i FOO\n)",
    "(a FOO)[i\n]",
)
_STATEMENTS = (
    "int j = i FOO; \na[j] = 1;",
    "int j = i * 3 FOO;\na[j] = 1;",
    "int j = FOO i * 3;\na[j] = 1;",
    "const int j = 2 FOO;\na[i * j] = 1;",
    "int j = i; j += 2 FOO;\na[j] = 1;",
    "int j = i; j = j * 2 FOO;\na[j] = 1;",
    "float *q = a + i FOO;\n*q = 1;",
    "for (int j = 0 FOO; j < 4; j++)\na[i * 2 + j] = 1;",
    "for (int j = 0; j < 4 FOO; j++)\na[i + j * 32] = 1;",
    "if (i < 3 FOO)\na[i * 2] = 1;",
    "while (n > 3 FOO) {\na[i * 2] = 1; n--; }",
    "switch (i FOO) { case 1:\na[i * 2] = 1; break; case 2: a[3] = 1; }",
    "switch (i) { case 1 FOO:\na[i * 2] = 1; break; case 7:\na[3] = 1; break;\ndefault: a[i]; }",
    "if (i < 3 FOO) return;\na[i] = 1;",
    "__shared__ float t[32][32 FOO]; t[i][0] = 1; __syncthreads();\na[i] = t[0][i];",
    "int x = 1, y = 3; int *p = &x FOO;\na[i * *p] = 1;",
    "struct P { int x, y; } s = {1, 2}; s.x = i FOO;\na[s.x] = 1;",
    "int t[2]; t[1 FOO] = i; t[0] = 3;\na[t[0]] = 1;",
    "int x = i; goto end; x = 3 FOO; end:\na[x] = 1;",
    "int j = twice(i FOO);\na[j] = 1;",
    "int j = changed(i);\na[j] = 1;",
    "if (i FOO)\na[i * 2] = 1;",
    "if (i > 20) a[i] = 3; else if (i FOO)\na[i * 2] = 1; else\na[i * 4] = 2;",
    "for (int j = i; j FOO; j -= 40)\na[j] = 1;",
    "switch (i FOO) { case 3:\na[i * 2] = 1; }",
)
_BETWEEN = (
    "if (i FOO 3)\na[i * 2] = 1;",
    "if (i FOO n)\na[i * 2] = 1;",
    "if (i FOO (3))\na[i * 2] = 1;",
    "if (i > 20) a[i] = 3; else if (i FOO n)\na[i * 2] = 1; else if (n FOO 2)\na[i * 4] = 1;",
    "int j = i; while (j FOO 40) {\na[j] = 1; j += 8; }",
    "for (int j = i; j FOO 40; j += 8)\na[j] = 1;",
    "int j = i; j FOO 2;\na[j] = 1;",
    "int j = i; j FOO i;\na[j] = 1;",
    "int j = i; j FOO (2);\na[j] = 1;",
    "struct P { int x, y; } s = {1, 2}; s.x FOO i;\na[s.x] = 1;",
    "struct P { int x, y; } s = {1, 2}; P *p = &s; p->x FOO i;\na[s.x] = 1;",
    "int t[2] = {1, 2}; t[1] FOO i;\na[t[1]] = 1;",
    "int x = 1; int *p = &x; *p FOO i;\na[x] = 1;",
    "float *p = a; p FOO i;\n*p = 1;",
    "__shared__ int s[32]; s[i] = i; s[i] FOO 2;\na[s[i]] = 1;",
)
_SIGNS = ("<", "==", "+", "*", "% 5 ==", "> 2 &&", "=", "+=", "*=", "= 2 *", "-= 2 *", "% 2 *")
_SUFFIXES = ("", "+ 1", "* 2", "- i", "+ i", "% 2", "> 0 ? 1 : i * 5", "* 0")
_PREFIXES = ("", "2 *", "-", "i +", "32 * i +", "0 *")

_BLOCKS = (
    "LOOP(j, n) {\na[j] = 1; }",
    "LOOP(j, n) { int p = j * 2;\na[p] = 1; }",
    "LOOP(j, n) a[j] = 1;",
    "LOOP(j, n) { if (j > 3)\na[j * 2] = 1; }",
    "int s = 0; LOOP(j, n) { s += 2; }\na[i * s] = 1;",
    "int s = i; LOOP(j, n) { s = 3; }\na[s] = 1;",
    "LOOP(j, n) {\na[i * 2] = 1; }",
)
_LOOPS = (
    "for (int j = threadIdx.x; j < 64; j += 32)",
    "for (int j = 0; j < 3; j++)",
    "if (int j = threadIdx.x)",
    "for (int j = threadIdx.x * 3; j < 96; j += 96)",
    "if (int j = threadIdx.x % 4)",
)
_NAMES = (
    "GET(j);\na[j] = 1;",
    "GET(j); int p = j * 2;\na[p] = 1;",
    "GET(j) a[j] = 1;",
)
_ALONE = ("SET_UP;\na[j] = 1;", "SET_UP();\na[j] = 1;", "SET_UP(n);\nint p = j * 2; a[p] = 1;")
_DECLARED = (
    "int j = threadIdx.x",
    "int j = 2 * threadIdx.x;",
    "int j = 7;",
    "int j = threadIdx.x; if (j > 5) return;",
)


def _read(folder: Path, definition: str, body: str, name: str) -> KernelAnalysis:
    path = folder / f"{name}.cu"
    helpers = "__device__ int twice(int x) { return 2 * x; }"
    if "changed" in body:
        helpers += " __device__ int changed(int x) { return x * 2 FOO; }"
    kernel = f"__global__ void k(float *a, int n) {{ int i = threadIdx.x;\n{body}\n}}\n"
    path.write_text(f"{definition}\n{helpers}\n{kernel}")
    (analysis,) = coalescecheck.analyze(path, block=(32, 1, 1), params={"n": 5}).kernels
    return analysis


def _by_place(analysis: KernelAnalysis) -> dict[tuple[int, str, str], list[AccessResult]]:
    found: dict[tuple[int, str, str], list[AccessResult]] = {}
    for result in analysis.accesses:
        if result.space != "local" and result.requests != 0:
            place = result.access.span.line, result.space, result.access.op
            found.setdefault(place, []).append(result)
    return found


def _cost(result: AccessResult) -> Count | None:
    return result.wavefronts or result.sectors


def _holds(folder: Path, body: str, macro: str, definitions: Sequence[str]) -> None:
    unread = _read(folder, "", body, "unread")
    assert unread.diagnostics
    said, compared = _by_place(unread), 0
    for number, text in enumerate(definitions):
        known = _read(folder, f"#define {macro} {text}", body, f"known{number}")
        if known.diagnostics:
            continue  # not C++ with this definition
        for place, results in _by_place(known).items():
            for result, bounds in product(results, map(_cost, said[place])):
                count = _cost(result)
                if bounds is not None and count is not None:
                    assert bounds.min <= count.min, text
                    assert count.max <= bounds.max, text
                compared += 1
    assert compared


@pytest.mark.parametrize("place", _EXPRESSIONS)
def test_an_expression_with_a_macro_inside(place: str, tmp_path: Path) -> None:
    before = place.index("FOO") < place.index("i")
    _holds(tmp_path, f"{place} = 1;", "FOO", _PREFIXES if before else _SUFFIXES)


@pytest.mark.parametrize("body", _STATEMENTS)
def test_a_statement_with_a_macro_inside(body: str, tmp_path: Path) -> None:
    _holds(tmp_path, body, "FOO", _PREFIXES if "FOO i" in body else _SUFFIXES)


@pytest.mark.parametrize("body", _BETWEEN)
def test_a_macro_between_two_values(body: str, tmp_path: Path) -> None:
    _holds(tmp_path, body, "FOO", _SIGNS)


def test_what_a_macro_may_change_is_unknown_in_all_its_parts(tmp_path: Path) -> None:
    body = "struct P { int x, y; } s = {1, 2}; s FOO 2;\na[s.y] = 1;\nint t[2] = {1, 2};"
    analysis = _read(tmp_path, "", f"{body} t FOO 2;\na[t[1]] = 1;\na[i] = 1;", "whole")
    assert [result.certainty for result in analysis.accesses[:2]] == ["data-dependent"] * 2
    assert analysis.accesses[2].certainty == "exact-symbolic"


@pytest.mark.parametrize("body", _BLOCKS)
def test_a_macro_before_a_block(body: str, tmp_path: Path) -> None:
    _holds(tmp_path, body, "LOOP(j, n)", _LOOPS)


@pytest.mark.parametrize("body", _NAMES)
def test_a_macro_that_declares(body: str, tmp_path: Path) -> None:
    _holds(tmp_path, body, "GET(j)", _DECLARED)


@pytest.mark.parametrize("body", _ALONE)
def test_a_macro_that_declares_what_it_does_not_name(body: str, tmp_path: Path) -> None:
    _holds(tmp_path, body, body[: body.index(";")], _DECLARED)


def test_names_in_capitals_stay_sizes_behind_a_macro(tmp_path: Path) -> None:
    analysis = _read(tmp_path, "", "CHECK(n > 0);\na[i * SIZE] = 1;", "sizes")
    assert "SIZE is the same for all threads" in analysis.assumptions


@pytest.mark.parametrize("name", ["SIZE", "tid"])
def test_a_name_that_nothing_declares_is_said_to_be_a_size(name: str, tmp_path: Path) -> None:
    analysis = _read(tmp_path, "", f"a[i * {name}] = 1;\na[i] = 2;", "name")
    by_line = {r.access.span.line: r for r in analysis.accesses}
    assert by_line[4].certainty == "exact-symbolic"
    assert f"{name} is the same for all threads" in by_line[4].assumptions
    assert by_line[5].certainty == "exact-symbolic"
    assert not by_line[5].assumptions
    assert f"{name} is the same for all threads" in analysis.assumptions


def test_a_sequence_in_a_condition_is_no_syntax_error(tmp_path: Path) -> None:
    analysis = _read(tmp_path, "", "int d; if ((d = i, d > 3))\na[d] = 1;", "sequence")
    assert analysis.status == "analysed"
    assert not analysis.diagnostics
    (result,) = analysis.accesses
    assert result.sectors is not None
    assert (result.sectors.min, result.sectors.max) == (4, 4)


def test_offsetof_of_a_member_of_a_member_is_no_syntax_error(tmp_path: Path) -> None:
    body = "struct S { int x; struct { int y, z; } m; }; a[i * offsetof(S, m.z)] = 1;"
    analysis = _read(tmp_path, "", body, "offset")
    assert analysis.status == "analysed"
    assert not analysis.diagnostics
    assert analysis.accesses[0].lane_stride_bytes == 32


_CLASSES = (
    "struct S { float x FOO; int y; };",
    "struct S { FOO(float, x) int y; };",
    "struct S { FOO(float, x); int y; };",
    "struct S { FOO float x; int y; };",
    "struct S { FOO unsigned int x[3], z; int y; };",
    "struct S { FOO bool x; int y; };",
    "struct S { float x[4 FOO]; int y; };",
    "struct S { int x : 3 FOO; int y; };",
    "struct S { FIELDS; int y; };",
    "typedef struct { FOO(float, x); int y; } S;",
)


@pytest.mark.parametrize("declared", _CLASSES)
def test_members_that_could_not_be_read_hide_the_places_of_others(
    declared: str, tmp_path: Path
) -> None:
    path = tmp_path / "members.cu"
    path.write_text(f"{declared}\n__global__ void k(S *a) {{ a[threadIdx.x].y = 1; }}\n")
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    (result,) = kernel.accesses
    assert kernel.diagnostics
    assert result.sectors is None or (result.sectors.min, result.sectors.max) == (1, 32)


_CONSTANTS = (
    "const int W = 3 FOO;",
    "constexpr int W = FOO 3;",
    "enum { A FOO, W };",
    "enum { A, FOO W };",
    "enum { A = 3 FOO, W };",
    "__device__ const int c[2] = {1, 2 FOO}; constexpr int W = c[1];",
)


@pytest.mark.parametrize("declared", _CONSTANTS)
def test_constants_that_could_not_be_read_are_symbols(declared: str, tmp_path: Path) -> None:
    path = tmp_path / "constants.cu"
    path.write_text(f"{declared}\n__global__ void k(float *a) {{ a[threadIdx.x * W] = 1; }}\n")
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    result = kernel.accesses[-1]
    assert isinstance(result.lane_stride_bytes, str | None)


def test_a_parameter_that_could_not_be_read_has_no_known_type(tmp_path: Path) -> None:
    path = tmp_path / "parameter.cu"
    path.write_text("__global__ void k(float FOO *a) { a[threadIdx.x] = 1; }\n")
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    assert [result.certainty for result in kernel.accesses] == ["unknown"]


def test_an_alias_that_could_not_be_read_has_no_known_size(tmp_path: Path) -> None:
    path = tmp_path / "alias.cu"
    kernel = "__global__ void k(float *a) { V *v = (V *)a; v[threadIdx.x][0] = 1; }"
    path.write_text(f"typedef float V[2 FOO];\n{kernel}\n")
    (analysis,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    assert analysis.accesses[0].lane_stride_bytes == "4*extent"
    assert any("could not be read" in each.message for each in analysis.diagnostics)


_SIZES = (
    # S has any number of bytes, and W another one
    ("sizeof(S) - sizeof(W)", "the size of `S`, the size of `W`", 32),
    ("(sizeof(S) % 2)", "the size of `S`", 4),
    ("sizeof(S)", "the size of `S`", 32),
    ("sizeof(V)", "the size of `S`", 32),
)


@pytest.mark.parametrize(("size", "said", "most"), _SIZES)
def test_sizes_of_classes_that_could_not_be_read_are_unknown_each_for_itself(
    size: str, said: str, most: int, tmp_path: Path
) -> None:
    path = tmp_path / "sizes.cu"
    classes = (
        "struct S { float x FOO; int y; }; struct W { char c FOO; }; struct V { S s; int y; };"
    )
    path.write_text(f"{classes} __global__ void k(float *a) {{ a[threadIdx.x * ({size})] = 1; }}")
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    (result,) = kernel.accesses
    assert result.sectors is not None
    assert result.sectors.min == 1
    assert result.sectors.max >= most
    assert result.reason == f"depends on {said} between the lanes"


def test_two_sizes_of_types_without_names_need_not_be_one(tmp_path: Path) -> None:
    size = "sizeof(f(1).x) - sizeof(g(1).x)"
    analysis = _read(tmp_path, "", f"a[i * ({size})] = 1;", "unnamed")
    (result,) = (r for r in analysis.accesses if r.access.op.value == "store")
    assert result.sectors is not None
    assert (result.sectors.min, result.sectors.max) == (1, 32)


@pytest.mark.parametrize("asked", ["sizeof(int) == 4", "alignof(int) == 4", "int(3)", "bool(1)"])
def test_a_macro_around_a_word_of_c_costs_the_members_and_not_the_kernel(
    asked: str, tmp_path: Path
) -> None:
    path = tmp_path / "word.cu"
    path.write_text(
        f"struct S {{ int x; CHECK({asked}); float y; }};\nCHECK({asked});\n"
        "__global__ void k(S *s, float *a) {\n"
        f"    CHECK({asked}); CHECK(bool);\n    s[threadIdx.x].y = 1;\n"
        "    MAC(bool) = a[2 * threadIdx.x];\n    a[threadIdx.x] = 1; }\n",
        encoding="utf-8",
    )
    (kernel,) = coalescecheck.analyze(path, block=(32, 1, 1)).kernels
    costs = [result.sectors and result.sectors.max for result in kernel.accesses]
    assert costs == [None, 8, 4]
    said = [message.message for message in kernel.diagnostics]
    assert any("`CHECK(bool);` is not understood" in message for message in said)
