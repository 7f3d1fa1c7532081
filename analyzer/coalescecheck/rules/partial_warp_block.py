"""CC402: a block whose last warp has lanes without a thread."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.rules.base import Rule, severity_of
from coalescecheck.source import Span

KNOWN = ("cli", "comment", "config", "host")  # not what was assumed


class PartialWarpBlock(Rule):
    """## What it detects
    A launch whose blocks do not fill their warps: the number of threads is no multiple of 32, or
    smaller than 32.

    ## Why it is slow
    A block is cut into warps of 32 threads, and the last one is filled up with lanes that never
    run. They take the registers, the issue slots and the part of each request of lanes that do:
    a block of 16 threads uses half of its only warp, and twice as many warps must be in flight
    for the same number of loads.

    ## Example
    ```cuda
    __global__ void scale(float *x)
    {
        x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
    }
    void run(float *x)
    {
        scale<<<4096, 16>>>(x);
    }
    ```

    ## Use instead
    ```cuda
    __global__ void scale(float *x)
    {
        x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
    }
    void run(float *x)
    {
        scale<<<256, 256>>>(x);
    }
    ```

    ## Limits
    Only for a block that the source, a comment, the configuration or the command line gives, and
    not for a single block, whose shape decides nothing. A warning starts at half of the lanes,
    a note at a tenth. What a narrow `blockDim.x` costs in sectors is said by CC101 and CC102 at
    the access.
    """

    code, slug, severity = "CC402", "partial-warp-block", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        launch = analysis.launch
        block, grid = launch.block, launch.grid
        if block is None or launch.source not in KNOWN or (grid is not None and grid.size == 1):
            return
        warps = -(-block.size // WARP_SIZE)
        lanes = warps * WARP_SIZE
        severity = severity_of(lanes / block.size)
        if severity is None:
            return
        yield Finding(
            rule=self.code,
            severity=severity,
            span=_place(analysis, launch),
            kernel=analysis.name,
            message=f"{analysis.name}: {_size(block)} in {wording.plural(warps, 'warp')}: "
            f"{lanes - block.size} of {lanes} lanes never run",
            reason="the last warp of a block is filled up with lanes that have no thread",
            advice="make the number of threads per block a multiple of 32",
            ratio=lanes / block.size,
            instances=(wording.instance(analysis),),
        )


def _size(block: Dim3) -> str:
    shape = wording.dims(block)
    threads = wording.plural(block.size, "thread")
    return (
        f"a block of {threads}" if shape == str(block.size) else f"a block of {shape} = {threads}"
    )


def _place(analysis: KernelAnalysis, launch: Launch) -> Span:
    """Where the block is written, or the kernel where it is written nowhere in the source."""
    if launch.line:
        return Span(launch.file, launch.line, launch.column)
    return analysis.span
