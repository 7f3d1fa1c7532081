"""``frontend.load``: kernels, instances, launches and diagnostics of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import frontend
from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend import loading
from coalescecheck.frontend.kernel_c import KernelC, SourceFile
from coalescecheck.launch import Dim3, Launch

SCALE = "__global__ void scale(float *a, int n) { int i = threadIdx.x; if (i < n) a[i] *= 2; }\n"
TEMPLATE = (
    "template <typename T, int B = 32> __global__ void k(T *out, const T *in, int n)\n"
    "{ out[threadIdx.x + B] = in[threadIdx.x]; }\n"
)


def load(tmp_path: Path, text: str, templates: tuple[tuple[str, str], ...] = ()) -> SourceFile:
    path = tmp_path / "k.cu"
    path.write_text(text)
    return frontend.load(str(path), templates=templates)


def said(source: SourceFile) -> list[str]:
    return [f"{d.span.line}: {d.severity}: {d.message}" for d in source.diagnostics]


def only(source: SourceFile) -> KernelC:
    assert len(source.kernels) == 1
    return source.kernels[0]


def test_a_kernel_with_its_launches(tmp_path: Path) -> None:
    text = f"{SCALE}int main() {{\n  scale<<<4, 64>>>(p, 256);\n  scale<<<4, 64>>>(p + 1, 9);\n}}\n"
    kernel = only(load(tmp_path, text))
    file = str(tmp_path / "k.cu")
    assert (kernel.name, kernel.span.line, kernel.span.column) == ("scale", 1, 17)
    assert kernel.text is not None
    assert kernel.launches == (
        Launch(Dim3(64), Dim3(4), "host", (("n", 256),), (), 0, file, 3),
        Launch(Dim3(64), Dim3(4), "host", (("n", 9),), (("a", 4),), 0, file, 4),
    )


@pytest.mark.parametrize(
    ("host", "instances"),
    [
        pytest.param("", [{}], id="no launch gives one free instance"),
        pytest.param(
            "k<float, 16><<<1, 1>>>(o, i, 1);", [{"T": "float", "B": "16"}], id="explicit"
        ),
        pytest.param("k<float><<<1, 1>>>(o, i, 1);", [{"T": "float"}], id="a default is left out"),
        pytest.param(
            "double *o, *i; k<<<1, 1>>>(o + 4, &i[2], 1);", [{"T": "double"}], id="deduced"
        ),
        pytest.param("float *o; double *i; k<<<1, 1>>>(o, i, 1);", [{}], id="contradicting types"),
        pytest.param(
            "k<float, 1><<<1, 1>>>(o, i, 1); k<float, 2><<<1, 1>>>(o, i, 1);"
            " k<float, 1><<<2, 1>>>(o, i, 1);",
            [{"T": "float", "B": "1"}, {"T": "float", "B": "2"}],
            id="one instance per distinct arguments",
        ),
    ],
)
def test_template_instances(tmp_path: Path, host: str, instances: list[dict[str, str]]) -> None:
    source = load(tmp_path, f"{TEMPLATE}void host() {{ {host} }}\n")
    assert [k.template for k in source.kernels] == instances


def test_launches_belong_to_their_instance(tmp_path: Path) -> None:
    host = "k<float, 1><<<1, 32>>>(o, i, 1); k<double, 2><<<2, 64>>>(o, i + 3, 1);"
    first, second = load(tmp_path, f"{TEMPLATE}void host() {{ {host} }}\n").kernels
    assert [launch.block for launch in first.launches] == [Dim3(32)]
    assert [(launch.block, launch.offsets) for launch in second.launches] == [
        (Dim3(64), (("in", 24),))
    ]


def test_explicit_instantiations_are_instances(tmp_path: Path) -> None:
    text = f"{TEMPLATE}template __global__ void k<int, 8>(int *, const int *, int);\n"
    assert [k.template for k in load(tmp_path, text).kernels] == [{"T": "int", "B": "8"}]


def test_template_options_override_launches(tmp_path: Path) -> None:
    host = "void host() { k<float, 1><<<1, 32>>>(o, i, 1); k<double, 1><<<1, 64>>>(o, i, 1); }\n"
    source = load(tmp_path, TEMPLATE + host, templates=(("T", "char"), ("unused", "1")))
    assert [k.template for k in source.kernels] == [{"T": "char", "B": "1"}]
    assert len(only(source).launches) == 2


def test_kernels_of_one_name_are_told_apart(tmp_path: Path) -> None:
    text = (
        "namespace a { __global__ void k(int *p) { *p = 1; } }\n"
        "namespace b { __global__ void k(int *p, int n) { *p = n; } }\n"
        "void host() { a::k<<<1, 32>>>(p); b::k<<<1, 64>>>(p, 2); }\n"
    )
    source = load(tmp_path, text)
    found = {k.name: [launch.block for launch in k.launches] for k in source.kernels}
    assert found == {"a::k": [Dim3(32)], "b::k": [Dim3(64)]}


def test_launch_bounds_are_kept(tmp_path: Path) -> None:
    text = "#define T 128\n__global__ void __launch_bounds__(T * 2, 4) k(int *p) { *p = 1; }\n"
    assert only(load(tmp_path, text)).max_threads == 256


@pytest.mark.parametrize("bounds", ["0", "-1", "0, 2", "4096"])
def test_bounds_that_no_block_can_have_are_none(tmp_path: Path, bounds: str) -> None:
    text = f"__global__ void __launch_bounds__({bounds}) k(int *p) {{ p[threadIdx.x] = 1; }}\n"
    assert only(load(tmp_path, text)).max_threads is None


def test_a_launch_of_a_kernel_defined_elsewhere_is_noted(tmp_path: Path) -> None:
    text = f"{SCALE}__global__ void other(int *p);\nvoid host() {{\n  other<<<1, 1>>>(p);\n}}\n"
    assert said(load(tmp_path, text)) == [
        "4: note: kernel other is launched here but not defined in sight"
    ]


def test_a_kernel_that_cannot_be_rewritten_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = loading.rewrite_kernel
    errors = {
        "bad": UnsupportedConstruct("no way"),
        "worse": KeyError("lost"),
        "deep": RecursionError(),
    }

    def failing(unit: object, kernel: object, arguments: object) -> KernelC:
        name: str = kernel.name  # type: ignore[attr-defined]
        if name in errors:
            raise errors[name]
        return rewrite(unit, kernel, arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "rewrite_kernel", failing)
    text = "".join(SCALE.replace("scale", n) for n in ("bad", "good", "worse", "deep"))
    source = load(tmp_path, text)
    assert [(k.name, k.text is None) for k in source.kernels] == [
        ("bad", True),
        ("good", False),
        ("worse", True),
        ("deep", True),
    ]
    first = source.kernels[0].diagnostics[0]
    assert (first.span.line, first.severity, first.message) == (1, "error", "no way")
    assert "internal error" in source.kernels[2].diagnostics[0].message
    assert source.kernels[3].diagnostics[0].message == "`deep` nests too deeply"


def test_a_syntax_error_in_a_kernel_is_told_with_its_place(tmp_path: Path) -> None:
    text = f"{SCALE}__global__ void k(int *p) {{\n  p[0] = 1;\n  p[1] = @ 2;\n  p[2] = 3;\n}}\n"
    scale, k = load(tmp_path, text).kernels
    assert scale.diagnostics == ()
    errors = [d for d in k.diagnostics if d.message.startswith("syntax error")]
    assert [(d.severity, d.span.line, d.span.column) for d in errors] == [("error", 4, 10)]


def test_a_syntax_error_outside_kernels_is_no_matter(tmp_path: Path) -> None:
    source = load(tmp_path, f"{SCALE}int x = @ 3;\n")
    assert said(source) == []
    assert only(source).diagnostics == ()


def test_a_kernel_that_is_lost_is_told(tmp_path: Path) -> None:
    text = "__global__ void a(int *p) {\n  if (p) {\n}\n__global__ void b(int *p) { *p = 1; }\n"
    source = load(tmp_path, text)
    names = {k.name for k in source.kernels}
    lost = [line for line in said(source) if "could not be read" in line]
    for name, line in (("a", 1), ("b", 4)):
        told = f"{line}: error: kernel {name} at line {line} could not be read"
        assert (name in names) != (told in lost)


def test_directives_and_text_are_passed_on(tmp_path: Path) -> None:
    text = f"// coalescecheck: block(64) what\n{SCALE}"
    source = load(tmp_path, text)
    assert source.text == text
    assert [d.block for d in source.directives] == [Dim3(64)]
    assert said(source) == ["1: warning: `what` in a coalescecheck comment is not understood"]


def test_kernels_in_strings_are_no_lost_kernels(tmp_path: Path) -> None:
    text = f'{SCALE}const char *s = "__global__ void k(int *p) {{ }}";\n'
    assert said(load(tmp_path, text)) == []


def test_a_specialisation_is_an_instance_of_its_kernel(tmp_path: Path) -> None:
    text = (
        "template <typename T> __global__ void k(T *p) { p[threadIdx.x] = 0; }\n"
        "template <> __global__ void k<double>(double *p) { p[2 * threadIdx.x] = 0; }\n"
        "void host() { k<float><<<1, 32>>>(p); }\n"
    )
    source = load(tmp_path, text)
    assert said(source) == []
    assert [k.template for k in source.kernels] == [{"T": "float"}, {"T": "double"}]


def test_a_launch_through_a_variable_finds_its_kernel(tmp_path: Path) -> None:
    text = f"{SCALE}void host() {{ auto f = &scale; f<<<1, 96>>>(p, 1); }}\n"
    assert [launch.block for launch in only(load(tmp_path, text)).launches] == [Dim3(96)]
