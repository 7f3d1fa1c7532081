"""Kernels that take long to read: one sample of the simulation has to do."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult

verification = importlib.import_module("coalescecheck.verify")

# a free size, so that two samples are simulated; a gather, an exact access, a store by one lane
TEXT = """\
__global__ void k(float* out, const float* in, const int* index, int n) {
    out[threadIdx.x + n] = in[index[threadIdx.x]];
    if (threadIdx.x == 0) out[n] = 0;
}
void run(float* o, float* i, int* x, int n) { k<<<1, 64>>>(o, i, x, n); }
"""


def accesses(folder: Path) -> tuple[AccessResult, ...]:
    path = folder / "kernel.cu"
    path.write_text(TEXT, encoding="utf-8")
    (kernel,) = coalescecheck.analyze(path).kernels
    return kernel.accesses


def test_a_heavy_kernel_has_the_same_numbers_and_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = accesses(tmp_path)
    monkeypatch.setattr(verification, "HEAVY", 0)
    once = accesses(tmp_path)
    assert [a.sectors for a in once] == [a.sectors for a in both]
    assert {a.verified.simulation for a in (*once, *both)} == {"agrees"}
    # one block of 2 warps: at n = 40 and at n = 37, or at the first alone
    assert {a.verified.warps_checked for a in both} == {4}
    assert {a.verified.warps_checked for a in once} == {2}


def test_a_heavy_kernel_is_still_contradicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "HEAVY", 0)
    monkeypatch.setattr(verification, "_within", lambda inner, outer: False)
    assert "disagrees" in {a.verified.simulation for a in accesses(tmp_path)}


NEVER = """
__global__ void k(float *o, int n) {
  __shared__ float s[64];
  for (int i = 0; i < n * n * n / 2; i++) o[i + threadIdx.x] = i;
  if (n % 2 == 1) s[threadIdx.x & 63] = 1;
  o[threadIdx.x] = s[0];
}
"""


def test_what_never_runs_may_run_in_a_shorter_sample(tmp_path: Path) -> None:
    """The sample with n=5 stores to shared memory, where wavefronts count and no sectors."""
    path = tmp_path / "never.cu"
    path.write_text(NEVER)
    report = coalescecheck.analyze(path, block="32", grid="1", params={"n": 6})
    assert not report.disagrees
    (kernel,) = report.kernels
    assert [access.requests for access in kernel.accesses] == [108, 0, 1, 1]
    assert {access.verified.simulation for access in kernel.accesses} == {"agrees"}


CALLED = """\
__device__ void step(float *a, int *at) { a[*at] = 1; *at *= 2; }
__global__ void k(float *a) {
    int i = threadIdx.x;
    step(a, &i);
    step(a, &i);
    step(a, &i);
    a[i] = 2;
}
void run(float *a) { k<<<1, 32>>>(a); }
"""


def test_calls_are_followed_as_far_as_a_number_of_accesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "called.cu"
    path.write_text(CALLED, encoding="utf-8")
    (whole,) = coalescecheck.analyze(path).kernels
    assert whole.status == "analysed"
    monkeypatch.setattr(importlib.import_module("coalescecheck.lower.calls"), "MAX_ACCESSES", 1)
    (kernel,) = coalescecheck.analyze(path).kernels
    assert kernel.status == "partial"
    said = "calls are followed as far as the first 1 accesses; the accesses beyond are missing"
    assert said in [each.message for each in kernel.diagnostics]
    *followed, last = kernel.accesses
    assert [a.sectors.max for a in followed if a.sectors] == [4, 8]
    assert last.certainty == "data-dependent"  # the third call may have set `i` to anything
