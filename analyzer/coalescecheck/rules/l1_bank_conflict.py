"""CC107: loads that hit L1 and want many words of one bank."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.arch import LINE_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import (
    WARNING_RATIO,
    Rule,
    excess,
    judged,
    l1_excess,
    stays_in_l1,
)

WORTH_A_NOTE = 4.0  # passes over the banks for each that is needed
ROW = LINE_BYTES  # bytes: one word of each of the 32 banks


class L1BankConflict(Rule):
    """## What it detects
    A global load of data that stays in L1 and is used again, whose lanes lie a multiple of 128
    bytes apart, so that L1 reads them from few of its 32 banks.

    ## Why it is slow
    L1 returns a hit through the banks that shared memory has: 32 words, 4 bytes wide. Lanes that
    are 32 words apart want 32 different words of one bank, which takes 32 passes instead of one.
    The count of sectors does not show it.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void row_sums(float *out, const float *a)
    {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < 16; ++k)
            sum += a[row * 32 + k];
        out[row] = sum;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void row_sums(float *out, const float *a)
    {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < 16; ++k)
            sum += a[row * 33 + k];
        out[row] = sum;
    }
    ```
    A row of an odd number of words visits every bank. Where rows have to stay aligned, copy the
    part to shared memory with such a row.

    ## Limits
    Counts hold for hits; what comes from L2 or DRAM waits longer for that. Reported from four
    times the ideal on, only for addresses that are all known, and only where all that a block
    touches of the array fits its share of L1 and is read at least twice.
    """

    code, slug, severity = "CC107", "l1-bank-conflict", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            passes, cost = l1_excess(analysis, result), excess(result, result.sectors)
            if passes is None or cost is None or passes.ratio < WORTH_A_NOTE:
                continue
            if not (_shares_banks(result) and _hits(analysis, result)):
                continue
            severity = judged(analysis, result, cost.ratio) or Severity.NOTE
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: L1 {passes.text('bank pass', result)}; {_step(result)}",
                reason="the array stays in L1, and lanes a multiple of 128 bytes apart want "
                "different words of one bank",
                advice="make the pitch an odd number of words, for rows of the block an odd "
                "number of sectors",
                ratio=passes.ratio,
            )


def _shares_banks(result: AccessResult) -> bool:
    """Whether lanes or rows of the block are whole rows of banks apart."""
    rows = result.motion.threads[1:] if result.motion else ()
    return any(
        isinstance(step, int) and step != 0 and step % ROW == 0
        for step in (result.lane_stride_bytes, *rows)
    )


def _step(result: AccessResult) -> str:
    """The step that is to blame, in words."""
    stride = result.lane_stride_bytes
    if isinstance(stride, int) and stride != 0 and stride % ROW == 0:
        return wording.lane_step(result)
    return "rows of the block lie a multiple of 128 bytes apart"


def _hits(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether a block asks for its sectors more than once."""
    asked = None if result.totals is None else result.totals.units.exact
    unique, grid = result.unique_sectors, analysis.launch.grid
    if asked is None or unique is None or grid is None:
        return False
    often = asked >= WARNING_RATIO * unique.block * grid.size
    return often and stays_in_l1(analysis, result)
