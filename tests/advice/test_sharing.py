"""Shared arrays of several kernels or launches: what is proposed for one must suit all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck import sharing

FLIP = """
__shared__ float tile[32][32];
// coalescecheck: block(32,32) grid(4)
__global__ void one(float *out, const float *in)
{{
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
// coalescecheck: block(32,32) grid(4)
__global__ void other(float *out, const float *in)
{{
    int x = threadIdx.x, y = threadIdx.y, i = y * 32 + x;
    {use}
}}
"""
PAD, SWIZZLE = "declare `tile[32][33]` instead of `tile[32][32]`", "use `tile[r][c ^ r]`"
COUNTS = ", with r = i / 32 and c = i % 32 where it counts through the array"


def proposed(folder: Path, text: str, kernel: str = "one", **options: object) -> list[str]:
    """The descriptions of all changes that are proposed for one kernel's bank conflicts."""
    path = folder / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    found = coalescecheck.analyze(path, select=["CC201"], **options)  # type: ignore[arg-type]
    assert found.internal_errors == ()
    return [f.description for each in found.findings if each.kernel == kernel for f in each.fixes]


def named(descriptions: list[str]) -> list[str]:
    names = {PAD: "pad", SWIZZLE: "swizzle"}
    return [names[start] for d in descriptions for start in names if d.startswith(start)]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        pytest.param("out[i] = in[i];", ["pad", "swizzle"], id="it is not used"),
        pytest.param("tile[y][x] = in[i];", ["pad", "swizzle"], id="rows without a conflict"),
        pytest.param("*(&tile[0][0] + i) = in[i];", ["swizzle"], id="flat through a pointer"),
        pytest.param("((float *)tile)[i] = in[i];", ["swizzle"], id="flat through a cast"),
        pytest.param("tile[0][i] = in[i];", ["swizzle"], id="beyond the first row"),
        # lanes are 33 words apart; with longer rows 34, two on a bank; x ^ x is 0, all on a bank
        pytest.param("if (y == 0) out[x] = tile[x][x];", [], id="a diagonal"),
        pytest.param("unknown(tile); out[i] = tile[y][x];", [], id="who knows what uses it"),
    ],
)
def test_a_change_at_file_scope_suits_all_kernels(
    tmp_path: Path, use: str, expected: list[str]
) -> None:
    assert named(proposed(tmp_path, FLIP.format(use=use))) == expected


def test_a_fix_is_verified_where_it_was_simulated(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(FLIP.format(use="out[i] = in[i];"), encoding="utf-8")
    for verify in (True, False):
        (found,) = coalescecheck.analyze(path, select=["CC201"], verify=verify).findings
        assert [fix.verified for fix in found.fixes] == [verify, verify]
        assert found.fix is not None
        assert found.fix.edit is not None


def test_kernels_that_were_not_asked_for_count_too(tmp_path: Path) -> None:
    text = FLIP.format(use="tile[0][i] = in[i];")
    found = proposed(tmp_path, text, kernels=["one"])
    assert named(found) == ["swizzle"]
    assert found[0].endswith(COUNTS)


def launched(use: str, *launches: str) -> str:
    called = " ".join(f"k<<<1, dim3({each})>>>(out, in);" for each in launches)
    return (
        "__global__ void k(float *out, const float *in)\n{\n"
        "    __shared__ float tile[32][32];\n"
        "    int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;\n"
        f"    tile[y][x] = in[i];\n    __syncthreads();\n    {use}\n}}\n"
        f"void run(float *out, float *in) {{ {called} }}\n"
    )


# A warp of a block 32 wide reads a column.  Of a block 1 wide and 32 high it reads the diagonal.
COLUMN = "out[i] = blockDim.x == 32 ? tile[x][y] : tile[y][y];"


@pytest.mark.parametrize(
    ("launches", "expected"),
    [
        pytest.param(["32, 32"], ["pad", "swizzle"], id="one launch"),
        pytest.param(["32, 32", "1, 1"], ["pad", "swizzle"], id="another that does not mind"),
        pytest.param(["32, 32", "1, 32"], [], id="another that loses"),
    ],
)
def test_a_change_suits_all_launches(
    tmp_path: Path, launches: list[str], expected: list[str]
) -> None:
    text = launched(COLUMN, *launches)
    assert named(proposed(tmp_path, text, "k")) == expected


TEMPLATE = """
template <typename T, int N>
__global__ void k(T *out, const T *in)
{
    __shared__ T tile[32][N];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float *f, double *d)
{
    k<float, 32><<<1, dim3(32, 32)>>>(f, f);
    INSTANCE<<<1, dim3(32, 32)>>>(d, d);
}
"""


def test_template_arguments_choose_the_size(tmp_path: Path) -> None:
    other_size = TEMPLATE.replace("INSTANCE", "k<double, 33>")
    assert PAD in proposed(tmp_path, other_size, "k")
    same_size = TEMPLATE.replace("INSTANCE", "k<double, 32>")
    found = proposed(tmp_path, same_size, "k")
    # 33 doubles per row: two half-warps, each 2 * 16 banks apart without a conflict; both gain
    assert found.count(PAD) == 2


INSTANCES = """
template <typename T> __device__ T flip(const T *in)
{
    __shared__ T tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    BARRIER
    return tile[threadIdx.x][threadIdx.y];
}
// coalescecheck: block(32,32) grid(4)
__global__ void k(float *a, double *b)
{
    a[threadIdx.y * 32 + threadIdx.x] = flip(a + 1024);
    b[threadIdx.y * 32 + threadIdx.x] = flip(b + 1024);
}
"""


def test_an_array_of_two_instances_of_one_function(tmp_path: Path) -> None:
    """Both are padded by the same declaration, and none shows how we tell them apart."""
    path = tmp_path / "kernel.cu"
    path.write_text(INSTANCES.replace("BARRIER", "__syncthreads();"), encoding="utf-8")
    found = list(coalescecheck.analyze(path, select=["CC201"]).findings)
    kinds = [named([f.description for f in each.fixes]) for each in found]
    assert kinds == [["pad", "swizzle"], ["pad", "swizzle"]]
    assert [each.fix.after for each in found if each.fix] == ["1 wavefront", "2 wavefronts"]
    assert all("tile.1" not in f.description for each in found for f in each.fixes)


def test_a_race_names_the_array_as_it_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(INSTANCES.replace("BARRIER", ""), encoding="utf-8")
    messages = [each.message for each in coalescecheck.analyze(path, select=["CC401"]).findings]
    assert messages
    assert all(message.startswith("tile: ") for message in messages)


def test_what_takes_too_many_analyses_is_not_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = FLIP.format(use="tile[y][x] = in[i];")
    assert named(proposed(tmp_path, text)) == ["pad", "swizzle"]
    monkeypatch.setattr(sharing, "MOST_AGAIN", 1)
    assert named(proposed(tmp_path, text)) == ["pad"]


def test_an_array_of_a_kernel_in_a_header_is_its_own(tmp_path: Path) -> None:
    """What nobody knows of another kernel of the file does not matter to it."""
    header = (
        "#pragma once\n__global__ void one(float *out, const float *in)\n{\n"
        "    __shared__ float tile[32][32];\n"
        "    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n}\n"
    )
    (tmp_path / "one.cuh").write_text(header, encoding="utf-8")
    text = (
        '#include "one.cuh"\n'
        "__global__ void other(float *out, float *in) { out[threadIdx.x] = unknown(in); }\n"
        "void run(float *a) { one<<<4, dim3(32, 32)>>>(a, a); other<<<1, 64>>>(a, a); }\n"
    )
    assert named(proposed(tmp_path, text)) == ["pad", "swizzle"]
