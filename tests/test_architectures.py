"""What ``--arch`` changes: what an architecture lacks is said, what its L1 does decides a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.report.model import Report

LDMATRIX = """
__global__ void k(float *out)
{
    __shared__ __align__(16) unsigned char s[1024];
    unsigned r0, at = (unsigned)__cvta_generic_to_shared(&s[16 * threadIdx.x]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(at));
    out[threadIdx.x] = r0;
}
void run(float *out) { k<<<1, 32>>>(out); }
"""
ASYNC = """
__global__ void k(float *out, const float *in)
{
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
void run(float *out, const float *in) { k<<<1, 32>>>(out, in); }
"""
# lanes 32 words apart: 32 passes over the banks of L1, where a row stays for 8 iterations
ROWS = """
__global__ void k(float *out, {const}float *{restrict}in)
{{
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k) sum += in[(threadIdx.x + 64 * blockIdx.x) * 32 + k];
    out[threadIdx.x + 64 * blockIdx.x] = sum;
}}
void run(float *out, float *in) {{ k<<<4, 64>>>(out, in); }}
"""


def analysed(folder: Path, text: str, arch: str, *rules: str) -> Report:
    path = folder / "k.cu"
    path.write_text(text, encoding="utf-8")
    return coalescecheck.analyze(path, arch=arch, select=rules, verify=False)


def said(report: Report) -> list[str]:
    return [each.message for file in report.files for each in file.diagnostics]


@pytest.mark.parametrize(
    ("text", "lacks", "has", "words"),
    [
        (LDMATRIX, "sm_72", "sm_75", "ldmatrix needs sm_75: this does not compile for sm_72"),
        (ASYNC, "sm_75", "sm_80", "cp.async needs sm_80: for sm_75 the library's functions load"),
    ],
    ids=["ldmatrix", "cp.async"],
)
def test_instructions_that_are_not_there(
    tmp_path: Path, text: str, lacks: str, has: str, words: str
) -> None:
    assert any(message.startswith(words) for message in said(analysed(tmp_path, text, lacks)))
    assert not any("needs sm_" in message for message in said(analysed(tmp_path, text, has)))


def test_loads_that_are_cut_are_a_note_of_the_run(tmp_path: Path) -> None:
    (note,) = analysed(tmp_path, ASYNC, "sm_61").diagnostics
    assert note.message.startswith("sm_61 cuts a load into requests of 8 lanes (to 4 bytes), 4 ")
    assert analysed(tmp_path, ASYNC, "sm_70").diagnostics == ()


@pytest.mark.parametrize(
    ("arch", "const", "restrict", "found"),
    [
        ("sm_80", "", "", ["32 bank passes per warp, 1 would do (32x)"]),
        # L1 returns 64 bytes a clock, so 128 bytes take two in any case
        ("sm_86", "", "", ["32 bank passes per warp, 2 would do (16x)"]),
        # L1 keeps only what is read-only for the whole kernel
        ("sm_61", "", "", []),
        ("sm_61", "const ", "__restrict__ ", ["32 bank passes per warp, 1 would do (32x)"]),
        ("sm_60", "", "", ["32 bank passes per warp, 1 would do (32x)"]),
    ],
)
def test_what_l1_does(
    tmp_path: Path, arch: str, const: str, restrict: str, found: list[str]
) -> None:
    report = analysed(tmp_path, ROWS.format(const=const, restrict=restrict), arch, "CC107")
    assert [f.message.partition("L1 ")[2].partition(";")[0] for f in report.findings] == found
