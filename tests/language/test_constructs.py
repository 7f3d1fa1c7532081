"""Every construct of CUDA C++ that we read, in kernels whose counts were worked out by hand.

Each file under ``cu`` is a topic; ``expectations`` explains the comments.  32 lanes of 4 bytes
side by side are 4 sectors, 5 when they start amid one, 4 times the stride up to 32; of 8 bytes 8,
of 16 bytes 16, of 2 bytes 2.  In shared memory floats at stride s take gcd(s, 32) wavefronts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from expectations import Expected, expectations, said_of

import coalescecheck
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.report.model import Report

FOLDER = Path(__file__).parent / "cu"
FILES = sorted(path.name for path in FOLDER.glob("*.cu"))


@cache
def report_of(name: str) -> Report:
    return coalescecheck.analyze(FOLDER / name)


@cache
def expected_in(name: str) -> dict[int, list[Expected]]:
    return expectations((FOLDER / name).read_text())


def differences(kernel: KernelAnalysis, expected: dict[int, list[Expected]]) -> Iterator[str]:
    """Lines whose accesses are others than their comment says."""
    found: dict[int, list[str]] = defaultdict(list)
    for access in kernel.accesses:
        found[access.access.span.line].append(said_of(access))
    for line, accesses in sorted(found.items()):
        wanted = sorted({e.said for e in expected.get(line, ()) if e.holds_for(kernel)})
        if sorted(set(accesses)) != wanted:
            yield f"line {line}: expected {wanted}, found {sorted(accesses)}"


@pytest.mark.parametrize("name", FILES)
def test_every_access_costs_what_its_comment_says(name: str) -> None:
    kernels = report_of(name).kernels
    wrong = [
        f"{kernel.name}{kernel.template or ''}: {difference}"
        for kernel in kernels
        for difference in differences(kernel, expected_in(name))
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", FILES)
def test_every_expectation_is_met_by_some_kernel(name: str) -> None:
    met = {
        (access.access.span.line, said_of(access), e.parameter, e.argument)
        for kernel in report_of(name).kernels
        for access in kernel.accesses
        for e in expected_in(name).get(access.access.span.line, ())
        if e.holds_for(kernel)
    }
    missing = [
        f"line {line}: {e}"
        for line, listed in expected_in(name).items()
        for e in listed
        if (line, e.said, e.parameter, e.argument) not in met
    ]
    assert not missing, "\n" + "\n".join(missing)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_lost(name: str) -> None:
    report = report_of(name)
    assert report.internal_errors == ()
    assert not report.disagrees
    lost = [f"{k.name}: {k.status}: {k.reason}" for k in report.kernels if k.status != "analysed"]
    assert not lost, "\n" + "\n".join(lost)


def test_texture_references_are_names_and_no_loads(tmp_path: Path) -> None:
    """They are no CUDA of today, which is why no file under ``cu`` has them."""
    path = tmp_path / "k.cu"
    path.write_text("""texture<float4, 2, cudaReadModeElementType> wide;
texture<int> narrow;
surface<void, 2> plane;
__device__ cudaTextureObject_t held;
__global__ void k(float *out) {
    int x = threadIdx.x;
    float4 a = tex2D(wide, x, 0);
    out[x] = a.x + tex1Dfetch(narrow, 2 * x);
    surf2Dwrite(a.y, plane, x * 4, 0);
    out[2 * x] = tex1Dfetch<float>(held, x);
}
""")
    (kernel,) = coalescecheck.analyze(path, block=128).kernels
    found = [(a.access.span.line, said_of(a), a.width_bytes) for a in kernel.accesses]
    assert sorted(found) == [
        (7, "? load texture", 16),
        (8, "? load texture", 4),
        (8, "out store sectors=4", 4),
        (9, "? store texture", 4),
        (10, "? load texture", 4),
        (10, "held load sectors=1", 8),
        (10, "out store sectors=8", 4),
    ]
