"""Pointers that are null at a launch, and what is assumed of those that may be.

The kernel reads 256 floats a block through ``q`` where there is one (4 sectors per warp), else it
stores every second float of ``o`` (8 sectors).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult, KernelAnalysis

KERNEL = """
__global__ void k(float *o, const float *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (q) o[i] = q[i]; else o[2 * i] = 1;
    o[i] = 2;
}
"""
READ, WRITTEN, EVERY_SECOND, ALWAYS = range(4)


def analysed(folder: Path, text: str) -> list[KernelAnalysis]:
    path = folder / "k.cu"
    path.write_text(text, encoding="utf-8")
    report = coalescecheck.analyze(path)
    assert report.internal_errors == ()
    assert not report.disagrees
    return list(report.kernels)


def sectors(access: AccessResult) -> int | None:
    return None if access.sectors is None else access.sectors.max


@pytest.mark.parametrize(
    "host",
    [
        "k<<<10, 256>>>(o, nullptr);",
        "k<<<10, 256>>>(o, NULL);",
        "k<<<10, 256>>>(o, 0);",
        "k<<<10, 256>>>(o, (const float *)0);",
        "k<<<10, 256>>>(o, static_cast<float *>(nullptr));",
        "float *none = nullptr; k<<<10, 256>>>(o, none);",
        "const bool with = false; k<<<10, 256>>>(o, with ? o : nullptr);",
        "through(o, nullptr);",
    ],
)
def test_a_null_argument_is_no_array(tmp_path: Path, host: str) -> None:
    """``q[i]`` was said to be read, and the store of every second element never to run."""
    wrapper = "void through(float *o, float *q) { k<<<10, 256>>>(o, q); }\n"
    text = KERNEL + (wrapper if "through" in host else "")
    (found,) = analysed(tmp_path, f"{text}void run(float *o) {{ {host} }}\n")
    read, written, second, always = found.accesses
    assert (read.requests, written.requests) == (0, 0)
    assert (sectors(second), second.requests, sectors(always)) == (8, 80, 4)
    assert {access.certainty for access in found.accesses} == {"exact"}
    assert found.assumptions == ()


def test_an_argument_that_is_left_out_is_its_default(tmp_path: Path) -> None:
    text = KERNEL.replace("*q)", "*q = NULL)")
    (found,) = analysed(tmp_path, f"{text}void run(float *o) {{ k<<<10, 256>>>(o); }}\n")
    assert [access.requests for access in found.accesses] == [0, 0, 80, 80]
    assert found.assumptions == ()


@pytest.mark.parametrize(
    "host",
    [
        "void run(float *o, float *p) { k<<<10, 256>>>(o, p); }",
        "void run(float *o) { float *p = nullptr; cudaMalloc(&p, 9); k<<<10, 256>>>(o, p); }",
        "void run(float *o, float *p) { float *r = 0; r = p; k<<<10, 256>>>(o, r); }",
        "void run(float *o, bool b) { k<<<10, 256>>>(o, b ? o : nullptr); }",
        "void to(float *o, float *p = 0) { k<<<10, 256>>>(o, p); }\nvoid run(float *o) { to(o); }",
    ],
)
def test_that_a_pointer_is_not_null_is_said(tmp_path: Path, host: str) -> None:
    (found,) = analysed(tmp_path, f"{KERNEL}{host}\n")
    assert found.assumptions == ("q != nullptr",)
    read, written, second, always = found.accesses
    assert (sectors(read), sectors(written), second.requests, sectors(always)) == (4, 4, 0, 4)
    for access in (read, written, second):
        assert (access.certainty, access.assumptions) == ("exact-symbolic", ("q != nullptr",))
    assert (always.certainty, always.assumptions) == ("exact", ())


def test_what_sizes_have_to_fit_says_nothing_of_a_pointer(tmp_path: Path) -> None:
    # 32 lanes in 11 groups of three from the second float on: bytes 4 to 47
    text = """
    __global__ void k(float *a, const float *p, unsigned n) {
        int off = p ? 1 : 0;
        a[(threadIdx.x + 96u * n) / 3 + off] = 1;
    }
    void run(float *a, float *p, unsigned n) { k<<<1, 32>>>(a, p, n); }
    """
    (store,) = analysed(tmp_path, text)[0].accesses
    assert sectors(store) == 2
    assert store.assumptions == ("96*n + threadIdx.x < 2**32", "p != nullptr")


@pytest.mark.parametrize(
    ("body", "relying"),
    [
        pytest.param("if (q == nullptr) return; o[i] = 1;", True, id="the kernel is left"),
        pytest.param("o[i] = 1; if (q == nullptr) return;", False, id="left afterwards"),
        pytest.param("const float *p = q ? o : o + 1; o[i] = *(p + i);", True, id="chosen"),
        pytest.param("bool has = q != nullptr; if (has) o[i] = 1;", True, id="kept in a variable"),
        pytest.param("if (q && i < 100) o[i] = 1;", True, id="with another condition"),
        pytest.param("float x = 0; if (q) x = 2; o[i] = x;", False, id="a value"),
        pytest.param("int m = 1; if (!q) m = 2; o[m * i] = 1;", True, id="an index"),
        pytest.param("for (int k = 0; q && k < 9; ++k) o[i + k] = 1;", True, id="a loop"),
        pytest.param("do { if (!q) break; } while (0); o[i] = 1;", False, id="a loop that is left"),
    ],
)
def test_only_what_depends_on_the_check_relies_on_it(
    tmp_path: Path, body: str, relying: bool
) -> None:
    head = "int i = blockIdx.x * 256 + threadIdx.x;"
    text = f"__global__ void k(float *o, const float *q) {{ {head} {body} }}\n"
    (found,) = analysed(tmp_path, f"{text}void run(float *o, float *q) {{ k<<<4, 256>>>(o, q); }}")
    said = ("q != nullptr",) if relying else ()
    assert found.accesses[0].assumptions == said
    assert found.accesses[0].certainty == ("exact-symbolic" if relying else "exact")


@pytest.mark.parametrize(
    ("before", "pointer"), [("__device__ float *q;", "q"), ("", "((float **)o)[blockIdx.x]")]
)
def test_a_pointer_in_memory_may_be_null(tmp_path: Path, before: str, pointer: str) -> None:
    """The code for a null pointer was said never to run, whatever the memory holds."""
    body = f"float *p = {pointer}; if (p) o[i] = 1; else o[2 * i] = 1;"
    text = f"{before}\n__global__ void k(float *o) {{ int i = threadIdx.x; {body} }}\n"
    (found,) = analysed(tmp_path, f"{text}void run(float *o) {{ k<<<4, 256>>>(o); }}\n")
    first, second = (a for a in found.accesses if a.access.op == "store")
    assert (sectors(first), sectors(second)) == (4, 8)
    assert (first.requests, second.requests) == (None, None)
    assert {first.certainty, second.certainty} == {"exact-symbolic"}


def test_a_checked_null_pointer_that_is_read_all_the_same_has_no_numbers(tmp_path: Path) -> None:
    body = "if (!q) o[0] = 1; o[threadIdx.x] = q[threadIdx.x];"
    text = f"__global__ void k(float *o, float *q) {{ {body} }}\n"
    (found,) = analysed(tmp_path, f"{text}void run(float *o) {{ k<<<4, 256>>>(o, nullptr); }}\n")
    _, read, written = found.accesses
    assert (read.certainty, read.sectors) == ("unknown", None)
    assert (written.certainty, sectors(written)) == ("exact", 4)


def test_a_pointer_that_nobody_checks_has_an_array(tmp_path: Path) -> None:
    """The launch only stands in for another one: a null pointer that is used ends the program."""
    (found,) = analysed(
        tmp_path,
        "__global__ void k(float *o, const float *q) { o[threadIdx.x] = q[2 * threadIdx.x]; }\n"
        "void run(float *o) { k<<<10, 256>>>(nullptr, nullptr); }\n",
    )
    assert [sectors(access) for access in found.accesses] == [8, 4]
    assert {access.certainty for access in found.accesses} == {"exact"}


@pytest.mark.parametrize(
    ("before", "host"),
    [
        ("void make(float *&p);", "float *q = nullptr; make(q); k<<<10, 256>>>(o, q);"),
        ("void make(const float *&p);", "float *q = nullptr; make(q); k<<<10, 256>>>(o, q);"),
        ("", "float *q = nullptr; float *&r = q; r = o; k<<<10, 256>>>(o, q);"),
        ("", "float *q = nullptr; cudaMalloc((void **)&q, 9); k<<<10, 256>>>(o, q);"),
        ("float *q = nullptr;", "k<<<10, 256>>>(o, q);"),  # another file may set it
        ("struct H { float *q = nullptr; };", "H h; k<<<10, 256>>>(o, h.q);"),
    ],
)
def test_a_pointer_that_may_have_been_set_is_not_taken_to_be_null(
    tmp_path: Path, before: str, host: str
) -> None:
    text = f"{KERNEL}{before}\nvoid run(float *o) {{ {host} }}\n"
    (found,) = analysed(tmp_path, text)
    assert sectors(found.accesses[READ]) == 4
    assert found.accesses[READ].assumptions == ("q != nullptr",)


def test_a_member_with_a_null_default_may_have_been_set(tmp_path: Path) -> None:
    member = "struct H { float *m = nullptr; void run(float *o) { k<<<10, 256>>>(o, m); } };"
    (found,) = analysed(tmp_path, f"{KERNEL}{member}\n")
    assert sectors(found.accesses[READ]) == 4
