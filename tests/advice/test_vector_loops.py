"""Elements that a lane takes one by one in a short loop, as vectors: numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import Trial

KERNEL = """\
__global__ void k(float *out, const float *in, int *a, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    {body}
    out[i] = s;
}}
void run(float *o, float *i, int *a, int n) {{ k<<<64, 256>>>(o, i, a, n); }}
"""


def vectors(folder: Path, body: str) -> list[Trial]:
    path = folder / "kernel.cu"
    path.write_text(KERNEL.format(body=body), encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "analysed"
    return [trial for trial in kernel.trials if trial.kind == "vector" and trial.helps]


@pytest.mark.parametrize(
    ("body", "vector", "before", "after"),
    [
        # 4 requests of lanes 32 bytes apart, 32 sectors each; a float4 still has a sector a lane
        (
            "for (int k = 0; k < 8; k++) s += in[8 * i + k];",
            "float4",
            128,
            32,
        ),
        # lanes 16 bytes apart: 16 sectors each, and the 16 that 512 bytes need
        (
            "for (int k = 0; k < 4; k++) s += in[4 * i + k];",
            "float4",
            64,
            16,
        ),
        ("for (int k = 0; k <= 3; ++k) a[4 * i + k] = k;", "int4", 64, 16),
        (
            "for (unsigned k = 0; k != 4; k++) a[4u * i + k] = 1;",
            "int4",
            64,
            16,
        ),
        # 6 is no multiple of 4, and neither is 24 bytes of 16
        (
            "for (int k = 0; k < 6; k++) s += in[6 * i + k];",
            "float2",
            48,
            24,
        ),
        (
            "for (int k = 4; k < 8; k++) s += in[8 * i + k];",
            "float4",
            128,
            32,
        ),
        (
            "for (int k = 0; 4 > k; k += 1) s += (in + 4 * i)[k];",
            "float4",
            64,
            16,
        ),
    ],
)
def test_neighbours_of_several_iterations_become_one_vector(
    tmp_path: Path, body: str, vector: str, before: float, after: float
) -> None:
    (trial,) = vectors(tmp_path, body)
    assert trial.change == f"one `{vector}` for {vector[-1]} iterations"
    (access,) = trial.before
    assert (trial.before[access], trial.after[access]) == (before, after)


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < n; k++) s += in[4 * i + k];",  # n may be 3
        "for (int k = 0; k < 4; k++) { if (k == n) break; s += in[4 * i + k]; }",
        "for (int k = 0; k < 4; k += 2) s += in[4 * i + k];",  # not neighbours
        "for (int k = 1; k < 5; k++) s += in[5 * i + k];",  # not aligned
        "for (int k = 0; k < 5; k++) s += in[5 * i + k];",  # 5 iterations are no vector
        "for (int k = 0; k < 4; k++) a[4 * i + k] = a[4 * i + k + 4];",  # each waits for the last
        "for (int k = 0; k < 4; k++) { s += in[4 * i + k]; k += a[0]; }",
        "for (int k = n; k < 4; k++) s += in[4 * i + k];",
        "for (int k = 0; k < 4; k++) s += in[k];",  # nothing is wasted
        "for (int k = 0; k < 4; k++) s += ((volatile const float *)in)[4 * i + k];",
    ],
)
def test_what_is_not_known_to_be_a_vector_is_left_alone(tmp_path: Path, body: str) -> None:
    assert vectors(tmp_path, body) == []


def test_the_finding_shows_it(tmp_path: Path) -> None:
    body = "for (int k = 0; k < 4; k++) a[4 * i + k] = 1;"
    (tmp_path / "kernel.cu").write_text(KERNEL.format(body=body), encoding="utf-8")
    report = coalescecheck.analyze(tmp_path / "kernel.cu", select=["CC302"])
    (finding,) = report.findings
    (fix,) = finding.fixes
    assert fix.description == "store `a[4 * i + k]` of 4 iterations as one `int4`"
    assert (fix.before, fix.after) == ("64 sectors", "16 sectors")


def test_other_accesses_of_the_loop_stay_as_they_are(tmp_path: Path) -> None:
    (trial,) = vectors(tmp_path, "for (int k = 0; k < 4; k++) s += in[4 * i + k] * in[k * n];")
    assert len(trial.before) == 1


def test_two_accesses_of_one_loop_are_tried_on_their_own(tmp_path: Path) -> None:
    found = vectors(tmp_path, "for (int k = 0; k < 4; k++) a[4 * i + k] = in[4 * i + k];")
    assert sorted(trial.array for trial in found) == ["a", "in"]
