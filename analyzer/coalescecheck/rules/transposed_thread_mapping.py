"""CC104: threadIdx.y walks the contiguous index, and threadIdx.x the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.arch import SECTOR_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule, excess, fixes, judged

AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")


class TransposedThreadMapping(Rule):
    """## What it detects
    A block of two or three dimensions in which `threadIdx.y` or `threadIdx.z` selects the
    contiguous index and `threadIdx.x` the row, in a kernel where swapping the two makes no access
    worse.

    ## Why it is slow
    The lanes of a warp are numbered along `threadIdx.x`. In a 16x16 block over rows of 128 floats
    the 16 lanes of each row of the block lie 512 bytes apart: 16 sectors where 4 would do, and the
    neighbours that would fill them belong to other warps.

    ## Example
    ```cuda
    // coalescecheck: block(16, 16) grid(8, 8) n=128
    __global__ void product(float *c, const float *a, const float *b, int n)
    {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        int column = blockIdx.y * blockDim.y + threadIdx.y;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(16, 16) grid(8, 8) n=128
    __global__ void product(float *c, const float *a, const float *b, int n)
    {
        int row = blockIdx.y * blockDim.y + threadIdx.y;
        int column = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
    ```
    Swap the two where the indices are computed, and in the launch: the sizes of block and grid
    change places too.

    ## Limits
    Silent where another access of the kernel, global or shared, needs the order that there is (a
    transpose), or where it is not known what one needs; CC101 then speaks of the strided access.
    """

    code, slug, severity = "CC104", "transposed-thread-mapping", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        running = [r for r in analysis.accesses if r.requests != 0]
        for axis in (1, 2):
            if any(_is_turned(analysis, r, axis) for r in running) and not any(
                _needs_the_order(r, axis) for r in running
            ):
                yield from self._turned(analysis, axis)
                return

    def _turned(self, analysis: KernelAnalysis, axis: int) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.sectors)
            if cost is None or not _gains(analysis, result, axis):
                continue
            severity = judged(analysis, result, cost.ratio)
            if severity is None:
                continue
            contiguous = result.motion is not None and result.motion.threads[axis] != 0
            other = "contiguous" if contiguous else "the same"
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {cost.text('sector', result)}; "
                f"{wording.lane_step(result)} along threadIdx.x, {other} along {AXES[axis]}",
                reason=f"the lanes of a warp run along threadIdx.x, which selects the row here; "
                f"{AXES[axis]} selects the contiguous index",
                advice=f"swap threadIdx.x and {AXES[axis]} in the indices, and the sizes of block "
                "and grid in the launch",
                fixes=fixes(analysis, result),
                ratio=cost.ratio,
            )


def _is_turned(analysis: KernelAnalysis, result: AccessResult, axis: int) -> bool:
    """Whether the access would be contiguous with the other thread index as lane."""
    width = result.width_bytes
    return (
        _gains(analysis, result, axis)
        and result.motion is not None
        and result.motion.threads[axis] in (width, -width)
    )


def _gains(analysis: KernelAnalysis, result: AccessResult, axis: int) -> bool:
    """A global access that is contiguous along ``axis``, or does not move, and strides along x."""
    cost = excess(result, result.sectors)
    if result.space != "global" or result.motion is None or cost is None:
        return False
    if cost.bound and result.certainty == "bounded":
        return False  # rows of a warp may fill their sectors
    block, width = analysis.launch.block, result.width_bytes
    x, other = result.motion.threads[0], result.motion.threads[axis]
    rows = 2 if block is None else block[axis]
    row = max(SECTOR_BYTES, width * rows)  # bytes: a shorter step could not hold a row
    if rows < 2 or (block is not None and block.x < 2):
        return False
    return other in (0, width, -width) and _size(x) >= row


def _needs_the_order(result: AccessResult, axis: int) -> bool:
    """Whether an access could get worse by the swap."""
    if result.space == "local":
        return False
    if result.motion is None:
        return True
    x, other = result.motion.threads[0], result.motion.threads[axis]
    if x is None or other is None:
        return True
    if x == other or other == 0:
        return False
    if result.space == "constant":
        return True
    return abs(_size(other)) > result.width_bytes and _size(x) <= _size(other)


def _size(step: int | str | None) -> float:
    """A step that can be compared; one that grows with a parameter is longer than any number."""
    if isinstance(step, str):
        return inf
    return 0 if step is None else abs(step)
