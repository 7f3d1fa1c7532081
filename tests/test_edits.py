"""A proposed pad as a change of the source: only where it is certainly the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.source import Edit

KERNEL = """
{before}
{template}__global__ void flip(float *out, const float *in)
{{
    {declaration}
    {store};
    __syncthreads();
    {use}
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}
void run(float *out, float *in) {{ {launch} }}
"""
STORE = "tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x]"
PLAIN = "flip<<<1, dim3(32, 32)>>>(out, in);"


def changed(folder: Path, declaration: str, **parts: str) -> str | None:
    """The declaration's line after the edit of the first fix, None when there is none."""
    values = {"before": "", "template": "", "launch": PLAIN, "store": STORE, "use": ""} | parts
    text = KERNEL.format(declaration=declaration, **values)
    path = folder / "flip.cu"
    path.write_text(text, encoding="utf-8")
    findings = coalescecheck.analyze(path, select=["CC201"], verify=False).findings
    fixes = [fix for finding in findings for fix in finding.fixes]
    assert fixes
    edit: Edit | None = next((f.edit for f in fixes if f.description.startswith("declare")), None)
    if edit is None:
        return None
    line = text.splitlines()[edit.span.line - 1]
    return (line[: edit.span.column - 1] + edit.text + line[edit.end_column - 1 :]).strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("tile[32][32]", "tile[32][33]", id="a number"),
        pytest.param("tile[32] [ 32 ]", "tile[32] [33]", id="blanks"),
        pytest.param("tile[32][N]", "tile[32][N + 1]", id="a name"),
        pytest.param("tile[N][N * 1]", "tile[N][N * 1 + 1]", id="a product"),
        pytest.param("tile[N][16 << 1]", "tile[N][(16 << 1) + 1]", id="a shift"),
        pytest.param("tile[32][0x20]", "tile[32][0x20 + 1]", id="hexadecimal"),
        pytest.param("a[2], tile[32][32], b[2]", "a[2], tile[32][33], b[2]", id="with others"),
    ],
)
def test_the_last_size_grows(tmp_path: Path, before: str, after: str) -> None:
    line = changed(tmp_path, f"__shared__ float {before}; // tile[1][1]", before="#define N 32")
    assert line == f"__shared__ float {after}; // tile[1][1]"


@pytest.mark.parametrize(
    ("declaration", "parts"),
    [
        pytest.param("TILE", {"before": "#define TILE __shared__ float tile[32][32];"}, id="macro"),
        pytest.param(
            "__shared__ float tile[32][32 + PAD];",
            {
                "template": "template <int PAD> ",
                "launch": "flip<0><<<1, dim3(32, 32)>>>(out, in);",
            },
            id="a template, whose other instances may be fine as they are",
        ),
        pytest.param(
            "__shared__ float tile[32]\n[32];",
            {},
            id="a declaration on two lines",
        ),
        pytest.param(
            "__shared__ float tile[32][32];",
            {"launch": PLAIN + " flip<<<1, dim3(1, 1)>>>(out, in);"},
            id="another launch, for which it was not tried",
        ),
    ],
)
def test_no_edit_is_better_than_a_wrong_one(
    tmp_path: Path, declaration: str, parts: dict[str, str]
) -> None:
    assert changed(tmp_path, declaration, **parts) is None


def test_the_changed_file_has_no_conflict_left(tmp_path: Path) -> None:
    line = changed(tmp_path, "__shared__ float tile[32][32];")
    assert line is not None
    path = tmp_path / "flip.cu"
    text = path.read_text(encoding="utf-8").replace("__shared__ float tile[32][32];", line)
    path.write_text(text, encoding="utf-8")
    assert list(coalescecheck.analyze(path, select=["CC2"]).findings) == []


FLAT = "int i = threadIdx.y * 32 + threadIdx.x; {} = in[i]"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"store": FLAT.format("tile[0][i]")}, id="beyond the row"),
        pytest.param({"store": FLAT.format("(&tile[0][0])[i]")}, id="a flat index"),
        pytest.param({"store": FLAT.format("*(tile[0] + i)")}, id="a pointer that is dereferenced"),
        pytest.param(
            {"use": "int c = threadIdx.y + 32, r = threadIdx.x % 31; out[0] = tile[r][c];"},
            id="the next row, by a column that is too large",
        ),
        pytest.param(
            {"use": "int c = threadIdx.y - 32; out[0] = threadIdx.x ? tile[threadIdx.x][c] : 0;"},
            id="the row before, by a negative column",
        ),
        pytest.param(
            {"use": "out[0] = threadIdx.x < 31 ? tile[threadIdx.x][(int)in[0] % 32] : 0;"},
            id="a column that data decides",
        ),
        pytest.param(
            {"use": "out[0] = tile[threadIdx.x][blockIdx.x];"},
            id="a column that is another in blocks that are not simulated",
        ),
        pytest.param({"use": "out[0] = sizeof(tile);"}, id="its size"),
        pytest.param({"use": "out[0] = sizeof tile[0];"}, id="the size of a row"),
        pytest.param({"use": "static_assert(sizeof(tile) == 4096);"}, id="its size asserted"),
        pytest.param({"use": "decltype(tile) *all = &tile;"}, id="its type"),
        pytest.param({"use": "float (*rows)[32] = tile;"}, id="a pointer to rows"),
        pytest.param({"use": "float (&row)[32] = tile[0];"}, id="a reference to a row"),
        pytest.param({"use": "for (float each : tile[threadIdx.x]) out[0] += each;"}, id="a row"),
        pytest.param(
            {
                "before": "template <int N> __device__ int length(float (&)[N]) { return N; }",
                "use": "out[0] = length(tile[0]);",
            },
            id="a row whose length is deduced",
        ),
        pytest.param({"use": "out[0] = &tile[1][0] - &tile[0][0];"}, id="a difference"),
        pytest.param(
            {"before": "#define SIZE sizeof(tile)", "use": "out[0] = SIZE;"}, id="in a macro"
        ),
        pytest.param(
            {"use": "\n#if 0\n}\n#else\n{ out[0] = sizeof(tile); }\n#endif\n"},
            id="behind a bracket that is not compiled",
        ),
    ],
)
def test_no_edit_where_longer_rows_mean_something_else(
    tmp_path: Path, parts: dict[str, str]
) -> None:
    assert changed(tmp_path, "__shared__ float tile[32][32];", **parts) is None


def test_no_edit_where_the_block_is_not_known(tmp_path: Path) -> None:
    store = "tile[threadIdx.x][threadIdx.y] = in[threadIdx.x * 32 + threadIdx.y]"
    declaration = "__shared__ float tile[64][32];"
    assert changed(tmp_path, declaration, store=store, launch="") is None
    launch = "flip<<<1, dim3(64, 16)>>>(out, in);"
    line = changed(tmp_path, declaration, store=store, launch=launch)
    assert line == declaration.replace("32", "33")


@pytest.mark.parametrize(
    ("parts", "pad"),
    [
        pytest.param({"use": "float *p = tile[threadIdx.x]; out[0] = p[3];"}, 1, id="a row"),
        pytest.param({"use": "float *p = &tile[threadIdx.x][2]; out[0] = p[3];"}, 1, id="its part"),
        pytest.param({"use": "out[0] = *(tile[threadIdx.x] + 7);"}, 1, id="a sum"),
        pytest.param(
            {"before": "#define AT(r, c) tile[r][c]", "use": "out[0] = AT(threadIdx.x, 1);"},
            1,
            id="a macro for an element",
        ),
        pytest.param(
            {"use": "int c = blockIdx.x * 32 + 5; out[0] = tile[threadIdx.x][c % 32];"},
            1,
            id="a column that is limited in all blocks",
        ),
        pytest.param(
            {"store": "if (threadIdx.x < 8) reinterpret_cast<float4 *>(tile[threadIdx.y])"
             "[threadIdx.x] = reinterpret_cast<const float4 *>(in)[threadIdx.x]"},
            4,
            id="vectors, which stay aligned",
        ),
    ],
)  # fmt: skip
def test_pointers_to_elements_do_not_mind(tmp_path: Path, parts: dict[str, str], pad: int) -> None:
    line = changed(tmp_path, "__shared__ float tile[32][32];", **parts)
    assert line == f"__shared__ float tile[32][{32 + pad}];"


DEVICE = """
__device__ float sum(float4 v) {{ return v.x + v.y + v.z + v.w; }}
__device__ float flip(const float *in, int x, int y, bool wide)
{{
    __shared__ __align__(16) float tile[32][32];
    tile[y][x] = in[y * 32 + x];
    __syncthreads();
    return wide ? sum(*(float4 *)&tile[x][y % 8 * 4]) : tile[x][y];
}}
__global__ void one(float *out, const float *in)
{{
    out[threadIdx.y * 32 + threadIdx.x] = flip(in, threadIdx.x, threadIdx.y, false);
}}
__global__ void other(float *out, const float *in)
{{
    out[threadIdx.y * 32 + threadIdx.x] = flip(in, threadIdx.x, threadIdx.y, {wide});
}}
void run(float *out, float *in)
{{
    one<<<1, dim3(32, 32)>>>(out, in);
    other<<<1, dim3(32, 32)>>>(out, in);
}}
"""


@pytest.mark.parametrize(
    ("wide", "kernels", "count"),
    [
        pytest.param("false", (), 1, id="all gain"),
        pytest.param("true", (), 0, id="the other needs rows of whole vectors"),
        pytest.param("false", ("one",), 0, id="the other is not looked at"),
    ],
)
def test_an_array_of_a_device_function_is_that_of_all_its_kernels(
    tmp_path: Path, wide: str, kernels: tuple[str, ...], count: int
) -> None:
    path = tmp_path / "flip.cu"
    path.write_text(DEVICE.format(wide=wide), encoding="utf-8")
    found = coalescecheck.analyze(path, select=["CC201"], kernels=kernels).findings
    edits = {fix.edit for finding in found for fix in finding.fixes if fix.edit is not None}
    assert len(edits) == count


def test_pads_of_one_kernel_fit_together(tmp_path: Path) -> None:
    # 3 * 16 KiB less 512 bytes: two pads of 64 * 4 bytes, not three
    names = "abc"
    sizes = {"a": 64, "b": 64, "c": 62}
    declared = "".join(f"    __shared__ float {n}[64][{sizes[n]}];\n" for n in names)
    stores = " ".join(f"{n}[threadIdx.y][threadIdx.x] = in[threadIdx.x];" for n in names)
    sums = " + ".join(f"{n}[threadIdx.x * 2][threadIdx.y]" for n in names)
    path = tmp_path / "flip.cu"
    path.write_text(
        f"// coalescecheck: block(32,32) grid(1)\n"
        f"__global__ void flip(float *out, const float *in)\n{{\n{declared}    {stores}\n"
        f"    __syncthreads();\n    out[threadIdx.y * 32 + threadIdx.x] = {sums};\n}}\n",
        encoding="utf-8",
    )
    found = coalescecheck.analyze(path, select=["CC201"]).findings
    pads = [f for finding in found for f in finding.fixes if f.description.startswith("declare")]
    assert len(pads) == 3
    assert sum(pad.edit is not None for pad in pads) == 2


def test_no_pad_moves_vectors_of_another_array(tmp_path: Path) -> None:
    # 33 rows of 4 bytes more: what is declared next would start 4 bytes behind a multiple of 16
    use = "float4 v = *(float4 *)next; out[0] = v.x;"
    for aligned, expected in (("", None), ("__align__(16) ", 33)):
        declaration = f"__shared__ float tile[33][32]; __shared__ {aligned}float next[32];"
        line = changed(tmp_path, declaration, use=use)
        assert line == (None if expected is None else declaration.replace("[32];", "[33];", 1))


@pytest.mark.parametrize(
    ("bytes_", "change"),
    [
        pytest.param("40960", "pad", id="room for both"),
        pytest.param("45056", "swizzle", id="48 KiB together: a launch with more would fail"),
        pytest.param("65536", "pad", id="more was asked for, and is not all of it"),
        pytest.param("162688", "pad", id="128 bytes are left of 163 KiB"),
        pytest.param("162689", "swizzle", id="less are left"),
        pytest.param("bytes", "swizzle", id="nobody knows"),
    ],
)
def test_pads_and_dynamic_shared_memory_fit_together(
    tmp_path: Path, bytes_: str, change: str
) -> None:
    path = tmp_path / "flip.cu"
    text = KERNEL.format(
        before="", template="", store=STORE, launch=PLAIN.replace("32)>", f"32), {bytes_}>"),
        declaration="extern __shared__ float more[]; more[threadIdx.x] = 0;\n"
        "    __shared__ float tile[32][32];",
        use="",
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")
    found = coalescecheck.analyze(path, select=["CC201"]).findings
    edits = [f for finding in found for f in finding.fixes if f.edit is not None]
    kinds = ["pad" if f.description.startswith("declare") else "swizzle" for f in edits]
    assert kinds == [change]
