"""Constants outside of functions have no place in device memory, however they are computed."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("constexpr float a = 4, b = 2 * a * a;", "b"),
        ("const float a = 4;\nconst float b = 1.0f / a;\nconst double c = b;", "c"),
        ("namespace n { static const float a = sqrtf(2.0f); }", "n::a"),
        ("constexpr float twice(float a) { return 2 * a; }\nconstexpr float b = twice(4);", "b"),
        ("struct S { static constexpr float a = 1.0f / 3; };", "S::a"),
        ("template <class T> constexpr T pi = T(3.14) * 2;", "pi<float>"),
        ("constexpr float a = 4;\nconst int b = (int)(a / 3);", "b"),
    ],
)
def test_a_computed_constant_is_not_read_from_memory(
    tmp_path: Path, declared: str, used: str
) -> None:
    """Each was listed as a load of one sector from an array of its name."""
    kernel = f"__global__ void k(float *o) {{ o[threadIdx.x] = {used}; }}"
    path = tmp_path / "k.cu"
    path.write_text(f"{declared}\n{kernel}\nvoid run(float *o) {{ k<<<1, 32>>>(o); }}\n")
    (found,) = coalescecheck.analyze(path).kernels
    assert [access.access.index for access in found.accesses] == ["o[threadIdx.x]"]
    assert found.status == "analysed"
    assert found.diagnostics == ()


@pytest.mark.parametrize("word", ["__device__", "__constant__", "__device__ volatile"])
def test_what_is_put_into_memory_is_read_from_it(tmp_path: Path, word: str) -> None:
    text = f"constexpr float a = 4;\n{word} const float b = 2 * a;\n"
    path = tmp_path / "k.cu"
    path.write_text(f"{text}__global__ void k(float *o) {{ o[threadIdx.x] = b; }}\n")
    (found,) = coalescecheck.analyze(path).kernels
    assert [access.array for access in found.accesses] == ["b", "o"]
