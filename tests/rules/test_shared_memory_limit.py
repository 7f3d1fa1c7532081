"""CC205: static shared memory beyond 48 KiB, launches beyond what a block can have."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck

KERNEL = """
__device__ float part(const float *in, int t)
{{
    __shared__ float mine[{mine}];
    mine[t] = in[t];
    __syncthreads();
    return mine[255 - t];
}}
__global__ void k(float *out, const float *in)
{{
    __shared__ float rows[8192], unread[8192];
    extern __shared__ float more[];
    rows[threadIdx.x] = more[threadIdx.x] = unread[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = rows[255 - threadIdx.x] + more[255 - threadIdx.x];
    out[threadIdx.x] += part(in, threadIdx.x) + part(in + 256, threadIdx.x);
}}
void run(float *out, float *in) {{ k<<<1, 256, {dynamic}>>>(out, in); }}
"""


def found(folder: Path, mine: int, dynamic: int = 1024, arch: str = "sm_80") -> list[str]:
    path = folder / "k.cu"
    path.write_text(KERNEL.format(mine=mine, dynamic=dynamic), encoding="utf-8")
    report = coalescecheck.analyze(path, select=["CC205"], verify=False, arch=arch)
    return [f"{f.span.line}: {f.message}" for f in report.findings]


@pytest.mark.parametrize(
    ("mine", "dynamic", "arch"),
    [
        # rows and, once for both calls, mine: 32768 + 16384 = 49152 bytes; nobody reads unread
        pytest.param(4096, 1024, "sm_80", id="all of 48 KiB"),
        pytest.param(4096, 163 * 1024 - 49152, "sm_80", id="all that a block can have"),
    ],
)
def test_silent_on(tmp_path: Path, mine: int, dynamic: int, arch: str) -> None:
    assert found(tmp_path, mine, dynamic, arch) == []


def test_arrays_of_functions_count(tmp_path: Path) -> None:
    (said,) = found(tmp_path, 4097)
    assert said == (
        "11: k: 49,156 bytes of static shared memory, 49,152 bytes are the most "
        "(rows[8192], mine[4097])"
    )


@pytest.mark.parametrize(("arch", "most"), [("sm_75", 65536), ("sm_70", 98304)])
def test_a_launch_beyond_the_architecture(tmp_path: Path, arch: str, most: int) -> None:
    (said,) = found(tmp_path, 4096, most - 49152 + 4, arch)
    assert said.startswith(f"18: k: a launch with {most - 49152 + 4:,} bytes of dynamic and 49,152")
    assert said.endswith(f"{most:,} bytes are the most of a block on {arch}")


PARTS = """
__device__ float table[65536];
__global__ void k(float *out, int n)
{{
    __shared__ float some[256], more[16384];
    extern __shared__ float rest[16384];
    some[threadIdx.x] = rest[threadIdx.x] = more[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = some[255 - threadIdx.x] + rest[255 - threadIdx.x];
    {more}
}}
void run(float *out, int threads) {{ k<<<4, threads, {dynamic}>>>(out, 9); }}
"""


@pytest.mark.parametrize(
    ("more", "dynamic", "place", "words"),
    [
        pytest.param("", 1024, "", "", id="other memory and a dynamic array with a size"),
        pytest.param("if (threadIdx.x > 1023) out[0] = more[0];", 1024, "", "", id="never read"),
        pytest.param(
            "out[0] = more[n];", 1024, "more", "66,560 bytes of static shared memory", id="read"
        ),
        # of a launch whose block is not known, the shared memory is
        pytest.param(
            "", 170000, "<<<", "a launch with 170,000 bytes of dynamic and 1,024", id="launched"
        ),
    ],
)
@pytest.mark.parametrize("block", [None, 64])
def test_what_counts(
    tmp_path: Path, more: str, dynamic: int, place: str, words: str, block: int | None
) -> None:
    path = tmp_path / "k.cu"
    text = PARTS.format(more=more, dynamic=dynamic)
    path.write_text(text, encoding="utf-8")
    report = coalescecheck.analyze(path, select=["CC205"], verify=False, block=block)
    if not words:
        assert list(report.findings) == []
        return
    (finding,) = report.findings
    assert finding.message.startswith(f"k: {words}")
    # what the command line says is said at the kernel
    place = "void k(" if block and place == "<<<" else place
    assert place in text.splitlines()[finding.span.line - 1]


def test_how_far_beyond_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(mine=2 * 8192, dynamic=0), encoding="utf-8")
    (static,) = coalescecheck.analyze(path, select=["CC205"], verify=False).findings
    assert static.ratio == 2.0  # 32 KiB and 64 KiB
    path.write_text(KERNEL.format(mine=4096, dynamic=163 * 2048 - 49152), encoding="utf-8")
    (launched,) = coalescecheck.analyze(path, select=["CC205"], verify=False).findings
    assert launched.ratio == 2.0  # 326 KiB of 163 KiB
