"""Copies of one source access that inlining made are reported once."""

from __future__ import annotations

from pathlib import Path

import coalescecheck

KERNEL = """
__device__ float take(const float *p, int i) { return p[i]; }
__global__ void same(float *o, const float *a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    o[i] = take(a, i) + take(a, i + 32) + take(a, i + 64);
}
__global__ void different(float *o, const float *a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    o[i] = take(a, i) + take(a, 2 * i) + take(o, i);
}
void run(float *o, const float *a) { same<<<4, 64>>>(o, a); different<<<4, 64>>>(o, a); }
"""


def loads(folder: Path, kernel: str) -> list[tuple[str, int, int]]:
    path = folder / "k.cu"
    path.write_text(KERNEL)
    (found,) = (k for k in coalescecheck.analyze(path).kernels if k.name == kernel)
    assert found.totals is not None
    assert found.totals.global_requests.exact == 4 * 8
    return sorted(
        (a.array, a.sectors.max, a.requests)
        for a in found.accesses
        if a.access.op == "load" and a.sectors is not None and a.requests is not None
    )


def test_equal_copies_are_one_access_with_all_requests(tmp_path: Path) -> None:
    assert loads(tmp_path, "same") == [("a", 4, 3 * 8)]


def test_copies_with_other_numbers_or_arrays_stay_apart(tmp_path: Path) -> None:
    assert loads(tmp_path, "different") == [("a", 4, 8), ("a", 8, 8), ("o", 4, 8)]


def test_per_thread_arrays_of_copies_are_one(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""
__device__ float pick(int n) { float t[64]; for (int i = 0; i < 64; i++) t[i] = i; return t[n]; }
__global__ void k(float *o, int n) { o[threadIdx.x] = pick(n) + pick(n + 1) + pick(n + 2); }
void run(float *o, int n) { k<<<4, 64>>>(o, n); }
""")
    (found,) = coalescecheck.analyze(path).kernels
    local = [(a.access.index, a.requests) for a in found.accesses if a.space == "local"]
    # 8 warps, 3 calls: each fills 64 elements and reads one
    assert local == [("t[i]", 3 * 8 * 64), ("t[n]", 3 * 8)]
