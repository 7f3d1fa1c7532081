"""Kernel C in, the symbolic results of its accesses out; and the warps of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coalescecheck.analysis import AccessResult, Count
from coalescecheck.facts import parse_facts
from coalescecheck.frontend.kernel_c import KernelC, SourceMap
from coalescecheck.launch import Dim3, Launch
from coalescecheck.lower import lower
from coalescecheck.source import Span
from coalescecheck.symbolic import summarize

PRELUDE = """
typedef struct uint3 { unsigned x, y, z; } uint3;
typedef struct float2 { _Alignas(8) float x; float y; } float2;
typedef struct float3 { float x; float y; float z; } float3;
typedef struct float4 { _Alignas(16) float x; float y; float z; float w; } float4;
typedef struct rec { double value; int tag; } rec;
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
extern void __syncthreads(void);
extern int atomicAdd__int(int *, int);
"""
KERNEL = "[[cuda::global]] void k({parameters}) {{ {body} }}"

Shape = tuple[int, ...]


class _SameText(SourceMap):
    def span(self, line: int, column: int) -> Span:
        return Span("kernel.cu", line, column)


def results(
    body: str,
    block: Shape | None = (32,),
    grid: Shape | None = None,
    params: Mapping[str, int] | None = None,
    parameters: str = "float *o, const float *a, const int *idx, int n, int m",
    offsets: tuple[tuple[str, int | None], ...] = (),
    assume: Iterable[str] = (),
    functions: str = "",
) -> list[AccessResult]:
    """The results of all accesses of a kernel with this body, in source order; ``functions`` are
    declarations of those that it calls."""
    text = PRELUDE + functions + KERNEL.format(parameters=parameters, body=body)
    kernel = lower(KernelC("k", Span("kernel.cu", 1, 1), {}, "k", text, _SameText()))
    assert not kernel.diagnostics
    launch = Launch(
        Dim3(*block) if block else None, Dim3(*grid) if grid else None, "cli", offsets=offsets
    )
    return list(summarize(kernel, launch, params or {}, facts=parse_facts(assume)).accesses)


def result(body: str, array: str, **known: object) -> AccessResult:
    """The result of the one access of ``array``."""
    (found,) = (r for r in results(body, **known) if r.array == array)  # type: ignore[arg-type]
    return found


def count(found: AccessResult) -> Count:
    """Wavefronts or sectors, whichever the space has."""
    counted = found.wavefronts or found.sectors
    assert counted is not None, found.reason
    return counted


def warps(block: Shape) -> Iterator[list[tuple[int, int, int, int]]]:
    """(lane, x, y, z) of the threads of every warp."""
    dx, dy, dz = (*block, 1, 1)[:3]
    threads = [(t % dx, t // dx % dy, t // (dx * dy)) for t in range(dx * dy * dz)]
    for first in range(0, len(threads), 32):
        yield [(lane, *thread) for lane, thread in enumerate(threads[first : first + 32])]
