"""CC106: every lane walks along a row of its own."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.arch import SECTOR_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule, excess, fixes, judged


class ColumnWalk(Rule):
    """## What it detects
    A loop in which each lane goes through consecutive elements, while neighbouring lanes are a
    row apart: in every iteration the warp reads down a column of a row-major array.

    ## Why it is slow
    The loop has the contiguous index and the lanes have the other. With rows of 512 floats the
    32 lanes lie in 32 sectors, and of each only 4 bytes are used in an iteration. The other 28
    are used by the next seven, if L1 still has the sector then: that takes 32 lines per warp and
    access, more than L1 holds for all warps of a multiprocessor. Where a block's part of the
    array is small enough to stay in L1, it is a note.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(16) n=512
    __global__ void row_sums(float *out, const float *a, int n)
    {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k];
        out[row] = sum;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(32, 8) grid(1, 512) n=512
    __global__ void row_sums(float *out, const float *a, int n)
    {
        int row = blockIdx.y * blockDim.y + threadIdx.y;
        float sum = 0.0f;
        for (int k = threadIdx.x; k < n; k += 32)
            sum += a[row * n + k];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0)
            out[row] = sum;
    }
    ```
    Or store the array transposed (`a[k * rows + row]`), or copy tiles of it to shared memory with
    contiguous lanes first.

    ## Limits
    Whether L1 keeps the sectors is judged by what the block touches of this array, not by other
    arrays and blocks. Loops that step by more than half a sector in each iteration are CC101's.
    """

    code, slug, severity = "CC106", "column-walk", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.sectors)
            walk = _walk(result)
            if result.space != "global" or cost is None or walk is None or not _is_apart(result):
                continue
            severity = judged(analysis, result, cost.ratio)
            if severity is None:
                continue
            step = f"{wording.lane_step(result)}, the loop {wording.plural(walk, 'byte')}"
            uses = wording.number(SECTOR_BYTES / walk)
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {cost.text('sector', result)}; {step}",
                reason=f"each lane walks a row of its own: {uses} iterations use one sector of it, "
                "if L1 keeps the sectors of all lanes that long",
                advice="give a row to all lanes of a warp, store the array transposed, or stage "
                "tiles of it through shared memory",
                fixes=fixes(analysis, result),
                ratio=cost.ratio,
            )


def _walk(result: AccessResult) -> int | None:
    """Bytes that the innermost loop that moves the address adds, if sectors outlast them."""
    if result.motion is None:
        return None
    moving = [
        (step, trips)
        for step, trips in zip(result.motion.loops, result.motion.trips, strict=True)
        if step != 0 and trips != 1
    ]
    step = moving[-1][0] if moving else None
    return abs(step) if isinstance(step, int) and 2 * abs(step) <= SECTOR_BYTES else None


def _is_apart(result: AccessResult) -> bool:
    """Whether every lane has a sector of its own."""
    stride = result.lane_stride_bytes
    return isinstance(stride, str) or (isinstance(stride, int) and abs(stride) >= SECTOR_BYTES)
