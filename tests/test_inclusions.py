"""Files of a folder that others include: analysed once, where they belong, and never lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import analyze
from coalescecheck.report.model import Report

KERNEL = "__global__ void {name}(float *o) {{ o[2 * threadIdx.x] = 1; }}\n"
TEMPLATE = "template <typename T> __global__ void {name}(T *o) {{ o[threadIdx.x] = 1; }}\n"
MAIN = '#include "{name}"\nint main() {{ {kernel}<<<1, 64>>>(nullptr); }}\n'


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kernels(report: Report) -> list[tuple[str, str, str]]:
    """Which file's analysis shows which kernel with which block."""
    return sorted(
        (
            Path(file.analysis.path).name,
            kernel.name,
            str(kernel.launch.block and kernel.launch.block.x),
        )
        for file in report.files
        for kernel in file.analysis.kernels
    )


def test_an_included_file_is_analysed_with_its_includer() -> None:
    Path("kernels.cu").write_text(KERNEL.format(name="k"))
    Path("main.cu").write_text(MAIN.format(name="kernels.cu", kernel="k"))
    assert kernels(analyze(".")) == [("main.cu", "k", "64")]


def test_a_header_gives_its_template_the_arguments_of_the_includer() -> None:
    Path("a.cuh").write_text(TEMPLATE.format(name="k"))
    text = '#include "a.cuh"\nvoid f(double *p) { k<double><<<1, 32>>>(p); }\n'
    Path("main.cu").write_text(text)
    report = analyze(".")
    (kernel,) = report.kernels
    assert [access.width_bytes for access in kernel.accesses] == [8]


def test_a_file_that_is_named_is_analysed_itself() -> None:
    Path("kernels.cu").write_text(KERNEL.format(name="k"))
    Path("main.cu").write_text(MAIN.format(name="kernels.cu", kernel="k"))
    found = kernels(analyze(["kernels.cu", "main.cu"]))
    assert [place for place, _, _ in found] == ["kernels.cu", "main.cu"]


def test_kernels_that_the_includer_leaves_out_are_not_lost() -> None:
    guarded = KERNEL.format(name="a") + "#ifndef SMALL\n" + KERNEL.format(name="b") + "#endif\n"
    Path("kernels.cu").write_text(guarded)
    Path("main.cu").write_text("#define SMALL\n" + MAIN.format(name="kernels.cu", kernel="a"))
    assert {name for _, name, _ in kernels(analyze("."))} == {"a", "b"}


def test_an_include_that_is_not_compiled_does_not_count() -> None:
    Path("kernels.cu").write_text(KERNEL.format(name="k"))
    Path("main.cu").write_text('#if 0\n#include "kernels.cu"\n#endif\n' + KERNEL.format(name="m"))
    assert {name for _, name, _ in kernels(analyze("."))} == {"k", "m"}


def test_files_that_include_each_other_are_both_analysed() -> None:
    for one, other in (("a", "b"), ("b", "a")):
        text = f'#pragma once\n#include "{other}.cu"\n' + KERNEL.format(name=f"k{one}")
        Path(f"{one}.cu").write_text(text)
    assert {name for _, name, _ in kernels(analyze("."))} == {"ka", "kb"}


def test_a_header_that_nobody_includes_is_analysed() -> None:
    Path("alone.cuh").write_text(KERNEL.format(name="k"))
    Path("main.cu").write_text(KERNEL.format(name="m"))
    assert {name for _, name, _ in kernels(analyze("."))} == {"k", "m"}


def test_kernels_that_a_macro_makes_do_not_stand_for_others() -> None:
    """Two kernels seen for two words ``__global__``, and still one of them is hidden."""
    made = "#define MAKE(name) \\\n  __global__ void name(float *o) { o[0] = 1; }\n"
    guarded = "#ifndef SMALL\n" + KERNEL.format(name="c") + "#endif\n"
    Path("kernels.cu").write_text(made + "MAKE(a)\nMAKE(b)\n" + guarded)
    Path("main.cu").write_text("#define SMALL\n" + MAIN.format(name="kernels.cu", kernel="a"))
    assert {name for _, name, _ in kernels(analyze("."))} == {"a", "b", "c"}


@pytest.mark.parametrize("used", [True, False])
def test_a_header_that_gathers_others_shows_nothing_twice(used: bool) -> None:
    Path("parts").mkdir()
    Path("parts/a.cuh").write_text(TEMPLATE.format(name="a"))
    Path("parts/b.cuh").write_text("#pragma once\n" + TEMPLATE.format(name="b"))
    Path("all.cuh").write_text('#include "parts/a.cuh"\n#include "parts/b.cuh"\n')
    text = '#include "all.cuh"\n#include "parts/b.cuh"\nvoid f(int *p) { a<int><<<1, 32>>>(p); }\n'
    Path("main.cu").write_text(text if used else text.replace("all.cuh", "parts/a.cuh"))
    assert kernels(analyze(".")) == [("main.cu", "a", "32"), ("main.cu", "b", "None")]


def test_kernels_that_only_a_gathering_header_leads_to_are_not_lost() -> None:
    Path("a.cuh").write_text(TEMPLATE.format(name="a"))
    Path("b.inl").write_text(TEMPLATE.format(name="b"))
    Path("all.cuh").write_text('#include "a.cuh"\n#include "b.inl"\n')
    Path("main.cu").write_text('#include "a.cuh"\nvoid f(int *p) { a<int><<<1, 32>>>(p); }\n')
    assert ("all.cuh", "b", "None") in kernels(analyze("."))
