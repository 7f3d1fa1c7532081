"""Preprocessing: what text comes out, and what is said about what cannot be used."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from coalescecheck.frontend.preprocess import preprocess
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Span


def code_of(text: str, path: str = "k.cu", **options: object) -> str:
    unit: Unit = preprocess(path, text, **options)  # type: ignore[arg-type]
    return " ".join(unit.code.decode().split())


def messages(unit: Unit) -> list[str]:
    return [f"{d.span.line}: {d.severity}: {d.message}" for d in unit.diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("#define N 32\nint a = N;", "int a = 32;", id="an object macro"),
        pytest.param(
            "#define SQ(x) ((x)*(x))\nint a = SQ(2 + 1);",
            "int a = ((2 + 1)*(2 + 1));",
            id="a function macro",
        ),
        pytest.param(
            "#define F(a, b) a - b\nint x = F(1,\n  2);",
            "int x = 1 - 2;",
            id="a call over two lines",
        ),
        pytest.param(
            "#define NEG(x) -x\nint a = NEG(-1);", "int a = - -1;", id="no token is glued"
        ),
        pytest.param(
            "#define CAT(a, b) a##b\nint CAT(in, dex);", "int index;", id="tokens are pasted"
        ),
        pytest.param("#define S(x) #x\nchar *s = S(a+b);", 'char *s = "a+b";', id="stringified"),
        pytest.param(
            "#define L(k, ...) k<<<1, 32>>>(__VA_ARGS__)\nL(f, 1, 2);",
            "f<<<1, 32>>>( 1, 2);",
            id="a launch inside a variadic macro",
        ),
        pytest.param(
            "#define A B\n#define B A\nint A;", "int A;", id="macros that name each other"
        ),
        pytest.param("#define N 1\n#undef N\nint N;", "int N;", id="an undefined macro"),
        pytest.param(
            "#define N 1 /* a\n b */ + 2\nint x = N;", "int x = 1 + 2;", id="a comment in a define"
        ),
        pytest.param(
            "#define N 1 + \\\n  2\nint x = N;", "int x = 1 + 2;", id="a continued define"
        ),
        pytest.param("int a; // x \\\n y\nint b;", "int a; int b;", id="a continued comment"),
        pytest.param("int x = 0x1'F + 1'000;", "int x = 0x1'F + 1'000;", id="digit separators"),
        pytest.param(
            "#define N 1'000\nint x = N;", "int x = 1'000;", id="digit separators in a macro"
        ),
        pytest.param(
            'auto s = R"(#if 0\n"//)"; int b;', 'auto s = "" ; int b;', id="a raw string is emptied"
        ),
        pytest.param("int a;\r\n#define N 4\r\nint b = N;\r\n", "int a; int b = 4;", id="CRLF"),
        pytest.param("#include <cstdio>   \nint a;", "int a;", id="a blank after an include"),
        pytest.param('#define X "a//b"\nauto s = X;', 'auto s = "a//b";', id="slashes in strings"),
        pytest.param(
            "int l = __LINE__;\n int m = __LINE__;", "int l = 1; int m = 2;", id="__LINE__"
        ),
        pytest.param("#define P(x) \\\n x\nint é = P(1);", "int é = 1;", id="non-ASCII names"),
    ],
)
def test_text(text: str, expected: str) -> None:
    assert code_of(text.replace("\r\n", "\n")) == expected


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True),
        ("0", False),
        ("defined(__CUDACC__) && defined __NVCC__", True),
        ("__CUDA_ARCH__ >= 800", True),
        ("__CUDA_ARCH__ > 800", False),
        ("__cplusplus >= 201703L", True),
        ("CUDART_VERSION >= 11000", True),
        ("10ULL > 0x0'9", True),
        ("017 == 15", True),
        ("defined(NOPE) || NOPE", False),
        ("true and not false", True),
        ("INT_MAX == 2147483647", True),
        ("-1 < 0u", False),
        ("-7 / 2 == -3 && -7 % 2 == -1 && 7 / -2 == -3 && 7 % -2 == 1", True),
        ("(0u - 1) / 2 == 0x7fffffffffffffff", True),
        ("0x8000000000000000 > 0 && 0x80000000 - 0x80000001 < 0", True),
        ("(1u > 0) - 2 < 0", True),
        ("(1 ? -1 : 0u) > 0", True),
        ("9223372036854775807 / 3 == 3074457345618258602", True),
        ("-8 >> 1 == -4 && 1 << 40 > 0 && ~0u == -1", True),
        ("(2 || 1 / 0) && !(0 && 1 / 0)", True),
        ("(NO_SUCH(1, (2)) bitor 3) == 3", True),
        ("'a' == 97", True),
        ("(1 ? 2 : 3) == 2 && 7 / 2 == 3 && (1 << 4) == 16", True),
        ("__has_include(<vector>)", True),
        ('__has_include("no/such.h")', False),
        ("defined(__has_include)", True),
        ("__has_cpp_attribute(gnu::unused)", False),
    ],
)
def test_condition(condition: str, holds: bool) -> None:
    text = f"#if {condition}\nint yes;\n#else\nint no;\n#endif\n"
    assert code_of(text) == ("int yes;" if holds else "int no;")


def test_only_the_first_true_branch_is_kept() -> None:
    text = "#if 0\n1\n#elif 1\n2\n#elif 1\n3\n#else\n4\n#endif\n#ifndef A\n5\n#elifdef B\n6\n#endif"
    assert code_of(text) == "2 5"


def test_nothing_in_a_skipped_group_is_evaluated() -> None:
    text = '#if 0\n#if 1 +\n#error no\n#include "x.h"\nisn\'t /* it */\n#endif\n#endif\nint a;'
    unit = preprocess("k.cu", text)
    assert unit.code.decode().split() == ["int", "a;"]
    assert messages(unit) == []


def test_unroll_pragmas_survive_with_their_macros_expanded() -> None:
    text = (
        '#define N 4\n#define UNROLL _Pragma("unroll")\n'
        "#pragma unroll N\nfor(;;);\nUNROLL for(;;);\n#pragma once_upon N\n"
    )
    lines = [line.strip() for line in preprocess("k.cu", text).code.decode().splitlines()]
    assert [line for line in lines if line.startswith("#")] == [
        "#pragma unroll 4",
        "#pragma unroll",
        "#pragma once_upon N",
    ]


def test_a_pragma_before_the_body_of_a_statement_is_an_attribute() -> None:
    text = """void f() {
  for (;;)
#pragma unroll
    for (;;) g();
  if (a) b(); else
  #  pragma unroll 4
  # pragma omp simd
    for (;;) g();
  do
    _Pragma("unroll (N)") while (c) g();
  while (d);
#pragma unroll 2
  for (;;) { }
}
"""
    unit = preprocess("k.cu", text)
    assert code_of(text) == (
        "void f() { for (;;) [[unroll]] for (;;) g(); if (a) b(); else [[unroll(4)]] for (;;) g();"
        " do [[unroll(N)]] while (c) g(); while (d); #pragma unroll 2 for (;;) { } }"
    )
    assert not unit.tree.root_node.has_error
    assert unit.locate(unit.code.rindex(b"g();")) == Span("k.cu", 10, 37)


def test_command_line_definitions() -> None:
    assert code_of("int a = N, b = M;", defines=("N=8", "M")) == "int a = 8, b = 1;"


def test_arch_sets_the_architecture_macro() -> None:
    assert code_of("int a = __CUDA_ARCH__;", arch_number=90) == "int a = 900;"
    assert code_of("int a = __CUDA_ARCH__;", arch_number=750) == "int a = 750;"


@pytest.mark.parametrize(
    "text",
    [
        "#define INT_MAX 5\nint a = INT_MAX;",
        "#undef INT_MAX\n#define INT_MAX 5\nint a = INT_MAX;",
    ],
)
def test_user_definitions_win_over_standard_limits(text: str) -> None:
    assert code_of(text) == "int a = 5;"


def test_a_variable_named_like_a_standard_limit_is_no_macro() -> None:
    assert code_of("const double M_PI = 3.14;") == "const double M_PI = 3.14;"


def test_local_headers_are_read_and_missing_ones_noted(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "a.h").write_text('#pragma once\n#include "b.h"\nint a;\n')
    (tmp_path / "b.h").write_text("#ifndef B\n#define B\nint b;\n#endif\n")
    (tmp_path / "inc" / "c.h").write_text("int c;\n")
    text = '#include "a.h"\n#include <a.h>\n#include "b.h"\n#include <c.h>\n#include "gone.h"\n'
    main = tmp_path / "k.cu"
    unit = preprocess(str(main), text, include_dirs=[str(tmp_path / "inc")])
    assert unit.code.decode().split() == ["int", "b;", "int", "a;", "int", "c;"]
    assert messages(unit) == ["5: note: header gone.h was not found; what it declares is unknown"]


def test_a_header_named_from_the_project_root_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "gpu"
    folder.mkdir(parents=True)
    (folder / "x.cuh").write_text("int x;\n")
    unit = preprocess(str(folder / "k.cu"), "#include <lib/gpu/x.cuh>\n")
    assert unit.code.decode().split() == ["int", "x;"]


def test_a_header_of_a_usual_folder_is_a_guess_that_is_said(tmp_path: Path) -> None:
    for folder in ("lib/gpu", "include", "lib/common"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "include/x.h").write_text("int x;\n")
    (tmp_path / "lib/common/y.h").write_text('#include "x.h"\nint y;\n')
    (tmp_path / "lib/common/vector").write_text("int v;\n")
    text = '#include "y.h"\n#include <x.h>\n#include <vector>\n'
    main = str(tmp_path / "lib" / "gpu" / "k.cu")
    unit = preprocess(main, text)
    assert unit.code.decode().split() == ["int", "x;", "int", "y;", "int", "x;"]
    first, second = (f"{tmp_path}/lib/common", f"{tmp_path}/include")
    assert messages(unit) == [
        f"1: note: header y.h is taken from {first}, a guess: `-I {first}` makes it sure",
        f"1: note: header x.h is taken from {second}, a guess: `-I {second}` makes it sure",
    ]
    assert messages(preprocess(main, text, include_dirs=[first, second])) == []


def test_a_header_of_a_project_beside_is_a_guess_if_it_is_the_only_one(tmp_path: Path) -> None:
    for folder in ("one", "two/include", "three", "four/src", ".git"):
        (tmp_path / "code" / folder).mkdir(parents=True)
    code = tmp_path / "code"
    (code / "two/include/x.h").write_text("int x;\n")
    for twice in ("three/y.h", "four/src/y.h"):
        (code / twice).write_text("int y;\n")
    unit = preprocess(str(code / "one/k.cu"), '#include "x.h"\n#include "y.h"\n')
    assert unit.code.decode().split() == ["int", "x;"]
    where = f"{code}/two/include"
    assert messages(unit) == [
        f"1: note: header x.h is taken from {where}, a guess: `-I {where}` makes it sure",
        "2: note: header y.h was not found; what it declares is unknown",
    ]
    (code / ".git").rmdir()  # outside of a repository folders beside are somebody else's
    outside = preprocess(str(code / "three/k.cu"), '#include "x.h"\n')
    assert b"int x;" not in outside.code


@pytest.mark.parametrize("folder", ["include", "includes", "inc", "src", "utils"])
def test_folders_that_builds_pass(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "deep.h").write_text("int deep;\n")
    (tmp_path / "csrc" / "part").mkdir(parents=True)
    main = tmp_path / "csrc" / "part" / "main.cu"
    assert b"int deep;" in preprocess(str(main), '#include "deep.h"\n').code


def test_kernels_of_branches_that_are_not_taken_are_told() -> None:
    text = """#ifdef ON
template <typename T>
__global__ void __launch_bounds__(256, (2)) a(T *x, int n = f(3)) { x[n] = 0; }
extern "C" __global__
void b(int *x) { x[0] = 1; }
__global__ void declared(int *x);
#endif
#if N < 3
__global__ void c(int *x) { x[0] = 0; }
#elif N > 3
__global__ void c(int *x) { x[0] = 1; }
__global__ void d(int *x) { x[0] = 1; }
#else
__global__ void c(int *x) { x[0] = 2; }
#endif
#ifndef __CUDACC__
#  if 1
__global__ void e(int *x) { x[0] = 2; }
#  endif
#else
#define K __global__ void g(int *x) { }
// __global__ void h(int *x) { }
#endif
#if 0
__global__ void old(int *x) { x[0] = 2; }
#endif
"""
    assert messages(preprocess("k.cu", text, defines=["N=3"])) == [
        "1: warning: `#ifdef ON` leaves out kernels `a`, `b`: pass `-D ON`",
        "10: warning: `#elif N > 3` of `#if N < 3` leaves out kernel `d`",
        "16: warning: `#ifndef __CUDACC__` leaves out kernel `e`",
    ]


@pytest.mark.parametrize(
    ("condition", "remedy"),
    [
        ("__CUDA_ARCH__ >= 900", ": pass `--arch sm_90`"),
        ("(__CUDA_ARCH__==1200)", ": pass `--arch sm_120`"),
        ("__CUDA_ARCH__ == 350", ""),  # no architecture that is known
        ("__CUDA_ARCH__ > 900", ""),
        ("__CUDA_ARCH__ >= 900 && X", ""),
    ],
)
def test_an_architecture_that_takes_a_branch_is_named(condition: str, remedy: str) -> None:
    unit = preprocess("k.cu", f"#if {condition}\n__global__ void k(int *x) {{ }}\n#endif\n")
    assert messages(unit) == [f"1: warning: `#if {condition}` leaves out kernel `k`{remedy}"]


def test_of_many_kernels_left_out_some_are_named() -> None:
    kernels = "".join(f"__global__ void k{i}(int *x) {{ }}\n" for i in range(5))
    unit = preprocess("k.cu", f"#if defined(ON)\n{kernels}#endif\n")
    said = "`#if defined(ON)` leaves out kernels `k0`, `k1`, `k2` and 2 more: pass `-D ON`"
    assert messages(unit) == [f"1: warning: {said}"]


@pytest.mark.parametrize(
    ("opening", "remedy"),
    [
        ("#ifdef A", ": pass `-D A`"),
        ("#ifndef A\n#else", ": pass `-D A`"),
        ("#if defined A && defined( B )", ": pass `-D A -D B`"),
        ("#if defined(A) || defined(B)", ""),
        ("#if defined(A) && B", ""),
        ("#if !defined(__CUDACC__)", ""),
    ],
)
def test_the_option_that_takes_a_branch_is_named(opening: str, remedy: str) -> None:
    text = f"{opening}\n__global__ void k(int *x) {{ }}\n#endif\n"
    (said,) = messages(preprocess("k.cu", text))
    assert said.partition("kernel `k`")[2] == remedy


def test_an_include_loop_ends_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\nint a;\n')
    (tmp_path / "b.h").write_text('#include "a.h"\nint b;\n')
    unit = preprocess(str(tmp_path / "k.cu"), '#include "a.h"\nint k;\n')
    assert b"int k;" in unit.code
    assert any("it includes itself" in m for m in messages(unit))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int a;\n/* never ends\nint b;", "2: error: this comment never ends"),
        ("#endif\n", "1: warning: #endif without #if is passed over"),
        ("#if 1\nint a;\n", "1: error: this #if has no #endif"),
        ("#error stop here\n", "1: warning: #error stop here"),
        ("#if 1 +\n#endif\n", "cannot be evaluated"),
        ("#define\n", "1: warning: this #define cannot be read"),
        ("#include\n", "1: warning: this #include names no header"),
        ("#define F(a) a\nint x = F(1, 2);", "2: warning: Macro F requires 1 arguments"),
        ("#frobnicate\n", "1: note: unknown directive #frobnicate is passed over"),
    ],
)
def test_odd_directives_are_told_and_passed_over(text: str, message: str) -> None:
    said = messages(preprocess("k.cu", text + "\nint last;"))
    assert any(message in line for line in said), said


def test_a_macro_explosion_is_stopped() -> None:
    levels = "".join(f"#define M{i} M{i + 1} M{i + 1}\n" for i in range(40))
    started = time.perf_counter()
    unit = preprocess("k.cu", f"{levels}#define M40 1\nint a = M0;\nint after;\n")
    assert time.perf_counter() - started < 20
    assert b"int after;" in unit.code
    assert any("41: error: the expansion of a macro exceeds" in m for m in messages(unit)) or any(
        "exceeds" in m and "`M0`" in m for m in messages(unit)
    )


def test_a_large_file_takes_seconds_not_minutes() -> None:
    line = "#define C{0} {0}\n__device__ int f{0}(int a) {{ return a * C{0} + 1; }} // note\n"
    text = "".join(line.format(i) for i in range(5_000))
    started = time.perf_counter()
    unit = preprocess("k.cu", text)
    assert time.perf_counter() - started < 20
    assert b"return a * 4999 + 1;" in unit.code


def test_headers_of_the_command_line_are_read_first(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("#define STEP 3\nint a", encoding="utf-8")
    (tmp_path / "b.h").write_text("#if STEP == 3\nint b;\n#endif", encoding="utf-8")
    headers = [str(tmp_path / name) for name in ("a.h", "gone.h", "b.h")]
    unit = preprocess("k.cu", "int k = STEP;\n", pre_includes=[*headers, "cuda_fp16.h"])
    assert unit.code.decode().split() == "int a int b; int k = 3;".split()
    assert messages(unit) == [
        f"1: note: header {tmp_path}/gone.h was not found; what it declares is unknown"
    ]
    assert unit.locate(unit.code.index(b"int b")).file == headers[2]


def test_a_header_without_a_last_line_end_stays_apart(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int", encoding="utf-8")
    text = '#include "a.h"\na;\n'
    assert preprocess(str(tmp_path / "k.cu"), text).code.decode().split() == ["int", "a;"]


def test_macros_of_the_compiler_can_be_undefined() -> None:
    text = "#ifdef __CUDACC__\nint a;\n#endif\nint b = X;\n"
    unit = preprocess("k.cu", text, undefines=["__CUDACC__", "X", "GONE"], defines=["X=1"])
    assert unit.code.decode().split() == "int b = 1;".split()


def test_what_the_preprocessor_writes_itself_is_text_like_any_other() -> None:
    """The date comes as a token of the library's own."""
    code = code_of("#define WHEN __DATE__ __TIME__\nconst char *a = WHEN; int b = 1;")
    assert code.startswith('const char *a = "')
    assert code.endswith("int b = 1;")
