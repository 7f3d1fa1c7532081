"""Files that are damaged, strange or hostile: a clear message, never a crash or a hang."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck import frontend
from coalescecheck.errors import SourceError
from coalescecheck.frontend.reading import decode_source, read_source

KERNEL = "__global__ void k(float *a, int n) { a[threadIdx.x * n] = 1.0f; }\n"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.cu: no such file"):
        read_source(str(tmp_path / "gone.cu"))


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder"):
        read_source(str(tmp_path))


def test_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(b"\x7fELF\0\0\1")
    with pytest.raises(SourceError, match="binary"):
        read_source(str(path))


def test_a_path_with_a_nul_byte() -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_source("k\0.cu")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("é\n".encode(), "é\n", id="UTF-8"),
        pytest.param(b"\xef\xbb\xbfint a;", "int a;", id="UTF-8 with a byte order mark"),
        pytest.param(b"// caf\xe9\n", "// café\n", id="Latin-1"),
        pytest.param("int é;".encode("utf-16"), "int é;", id="UTF-16"),
        pytest.param(b"a\r\nb\rc\n", "a\nb\nc\n", id="every kind of line end"),
        pytest.param(b"", "", id="an empty file"),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert decode_source(data, "k.cu") == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("\n\n", id="blank lines"),
        pytest.param("// only a comment", id="a comment"),
        pytest.param("}}}}))))", id="closing brackets"),
        pytest.param("{{{{((((", id="opening brackets"),
        pytest.param('"never closed', id="an open string"),
        pytest.param('R"(never closed', id="an open raw string"),
        pytest.param("#", id="a lone hash"),
        pytest.param("#define A A\nA", id="a macro of itself"),
        pytest.param("k<<<", id="the start of a launch"),
        pytest.param("void f() { k<<<>>>(); k<<<1>>>(); }", id="launches without configuration"),
        pytest.param("__global__", id="a lone qualifier"),
        pytest.param("__global__ void k(", id="half a kernel"),
        pytest.param("template <", id="half a template"),
        pytest.param("int \u00e9\U0001f600 = 1;", id="odd characters"),
    ],
)
def test_fragments(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{KERNEL}{text}\n")
    source = frontend.load(str(path))
    assert [k.name for k in source.kernels if k.text is not None] == ["k"]
    broken = text.startswith("__global__")
    assert [k.text is None for k in source.kernels] == [False] + [True] * broken


@pytest.mark.parametrize(
    ("unsaved", "text"),
    [("a\r\nb\rc", "a\nb\nc"), ("\ufeffä", "ä"), ("\ud83d x", "? x"), ("", "")],
)
def test_text_of_an_editor_takes_the_place_of_the_file(
    tmp_path: Path, unsaved: str, text: str
) -> None:
    assert frontend.load(str(tmp_path / "new.cu"), unsaved=unsaved).text == text


def test_text_of_an_editor_may_be_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="NUL bytes"):
        frontend.load(str(tmp_path / "new.cu"), unsaved="a\0b")


def test_a_latin_1_file_with_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(b"// gr\xf6\xdfe\r\n#define N 4\r\n" + KERNEL.replace("n]", "N]").encode())
    kernel = frontend.load(str(path)).kernels[0]
    assert kernel.span.line == 3
    assert kernel.text is not None
    assert "* 4" in kernel.text


@pytest.mark.parametrize("seed", range(12))
def test_damaged_kernels_never_crash(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = list(
        "#define S(x) (x * 2)\n" + KERNEL + "void h() { dim3 b(S(16)); k<<<1, b>>>(p, 1); }"
    )
    for _ in range(8):
        at = rng.randrange(len(text))
        text[at] = rng.choice("(){}<>;,#\"'\\/*@ \n0a")
    path = tmp_path / "k.cu"
    path.write_text("".join(text))
    source = frontend.load(str(path))
    told = [d for d in source.diagnostics if d.message.startswith("internal error")]
    told += [d for k in source.kernels for d in k.diagnostics if "internal error" in d.message]
    assert told == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("int a = " + "(" * 3000 + "1" + ")" * 3000 + ";", id="deep parentheses"),
        pytest.param("void f() { k<<<1, " + "1+" * 3000 + "1>>>(); }", id="a long sum"),
        pytest.param("void f() { " + "{" * 800 + "k<<<1, 2>>>();" + "}" * 800 + "}", id="blocks"),
        pytest.param(
            "void f() { int a0 = 1; "
            + "".join(f"int a{i + 1} = a{i} + a{i};" for i in range(60))
            + " k<<<1, a60>>>(0, 0); }",
            id="constants that double the work",
        ),
        pytest.param(
            "".join(f"#define A{i} A{i + 1}\n" for i in range(1500)) + "int x = A0;",
            id="a long chain of macros",
        ),
        pytest.param(
            "".join(f"#if {i}\n" for i in range(1, 2000)) + "int x;\n" + "#endif\n" * 1999,
            id="deep conditionals",
        ),
    ],
)
def test_hostile_sizes_end_soon(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{KERNEL}{text}\n")
    started = time.perf_counter()
    assert any(k.name == "k" for k in frontend.load(str(path)).kernels)
    assert time.perf_counter() - started < 15


DAMAGED = """\
template <int N> __global__ void first(float *a) { a[threadIdx.x] = N; }

__global__ void broken(float *a, int n)
{
    for (int k = 0; k < n; k++ {
        a[threadIdx.x + k] = = 2;
    }
    if (n < ) }
}

__global__ void last(float *a)
{
    a[2 * threadIdx.x] = 1;
}

void run(float *a)
{
    first<3><<<1, 32>>>(a);
    last<<<1, 32>>>(a);
}
"""


@pytest.mark.parametrize(
    "text",
    [
        DAMAGED,
        # everything on one line each, with a brace that never opens
        "__global__ void first(float *a) { a[0] = 1; }\n"
        "__global__ void broken(float *a) { a[threadIdx.x = ; if ( }\n"
        "__global__ void last(float *a) { a[1] = 1; }\n"
        "void run(float *a) { first<<<1, 32>>>(a); last<<<1, 32>>>(a); }\n",
    ],
    ids=["several faults over several lines", "unbalanced on one line"],
)
def test_a_kernel_with_syntax_errors_does_not_cost_the_others(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    kernels = {k.name: k for k in frontend.load(str(path)).kernels}
    assert set(kernels) == {"first", "broken", "last"}
    assert kernels["broken"].text is None
    (said,) = kernels["broken"].diagnostics
    assert (said.severity, said.span.line) == ("error", kernels["broken"].span.line)
    for name in ("first", "last"):
        assert kernels[name].text is not None
        assert len(kernels[name].launches) == 1


def test_a_missing_name_is_a_syntax_error_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *out) { out[threadIdx.x * ] = 3; }\n")
    report = coalescecheck.analyze(path, block="32")
    (kernel,) = report.kernels
    assert (kernel.status, len(kernel.accesses)) == ("partial", 1)
    assert "syntax error" in kernel.reason
    said = [d.message for file in report.files for d in file.analysis.diagnostics]
    assert [message for message in said if "not declared" in message] == []


GOOD = "__global__ void good(float *a) {\n a[threadIdx.x] = 1;\n}\n"


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        pytest.param("__global__ void k( {\n", "1:1", "kernel k", id="a head that is not closed"),
        pytest.param("__global__ void k)(float *a) {\n}\n", "1:17", "a kernel", id="closed twice"),
        pytest.param("__global__ void k(float *a)\n", "1:28", "kernel k", id="a head alone"),
        pytest.param("__global__ void k(float *a", "1:1", "kernel k", id="cut in its parameters"),
        pytest.param("__global__\n", "1:1", "a kernel", id="cut behind its first word"),
        pytest.param(
            "__global__ void k(float *a) {\n a[0] = 1;\n\n" + GOOD, "4:1", "kernel k", id="a brace"
        ),
        pytest.param("__global__ void k(float *a\n" + GOOD, "1:1", "kernel k", id="no body"),
        pytest.param("__global__ void k( {\n}\n" + GOOD, "1:1", "kernel k", id="then a good one"),
    ],
)
def test_a_damaged_kernel_is_told_and_costs_no_other(
    text: str, place: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    report = coalescecheck.analyze(path)
    statuses = sorted(kernel.status for kernel in report.kernels)
    assert statuses == (["analysed", "failed"] if "good" in text else ["failed"])
    (failed,) = (kernel for kernel in report.kernels if kernel.status == "failed")
    (error,) = failed.diagnostics
    assert f"{error.span.line}:{error.span.column}" == place
    assert error.message == f"syntax error in {name}: it is left out"


def test_a_damaged_kernel_in_a_damaged_function_is_told(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"void host() {{\n{GOOD}__global__ void k( {{\n}}\n")
    source = frontend.load(str(path))
    assert [kernel.name for kernel in source.kernels] == ["good"]
    assert [str(said) for said in source.diagnostics] == [
        f"{path}:5:1: error: kernel k at line 5 could not be read"
    ]


def test_unknown_functions_have_the_names_that_the_user_wrote(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct S { int n; };\n"
        "__global__ void k(float *x, S s) {\n"
        "  cub::Load(x, 3);\n  cub::Load(x, 3.f);\n  s.gone(x);\n  __mine(x);\n}\n"
    )
    (kernel,) = coalescecheck.analyze(path).kernels
    said = [d.message.partition("()")[0] for d in kernel.diagnostics if "accesses" in d.message]
    assert said == ["`cub::Load", "`cub::Load", "`gone", "`__mine"]
