"""CC102: contiguous lanes that start off a sector boundary."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import (
    Rule,
    excess,
    fixes,
    proposal,
    rows_are_shorter_than_a_sector,
    runs_with_holes,
)

WORTH_A_NOTE = 0.5  # sectors per request above the ideal


class MisalignedGlobalAccess(Rule):
    """## What it detects
    A global access whose lanes are contiguous but do not start at a multiple of 32 bytes, so that
    each request touches one sector more than it would when aligned.

    ## Why it is slow
    128 bytes that start in the middle of a sector reach into a fifth one. That sector is usually
    used by the neighbouring warp too, so a cache often absorbs the difference: a note, never
    more.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void shift(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i + 1];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void shift(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i + 8];
    }
    ```
    Pad rows and offsets to a multiple of 32 bytes (8 floats), where that is in your hands.

    ## Limits
    Pointers that are kernel parameters count as 256-byte aligned, as cudaMalloc returns them,
    unless the launch shows an offset. Where alignment depends on a parameter, the report shows
    both counts and this rule stays silent.
    """

    code, slug, severity = "CC102", "misaligned-global-access", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            if result.space != "global" or result.pattern != "misaligned":
                continue
            if rows_are_shorter_than_a_sector(analysis, result):
                continue  # CC101 says it
            if runs_with_holes(analysis, result):
                continue  # CC403 says it
            cost = excess(result, result.sectors)
            if cost is None or cost.actual - cost.ideal < WORTH_A_NOTE:
                continue
            yield self.finding(
                analysis,
                result,
                Severity.NOTE,
                f"{wording.what(result)}: {cost.text('sector', result)}; "
                "contiguous lanes, but not from a 32-byte boundary",
                reason=result.reason,
                advice=proposal(analysis, result)
                or "start rows and offsets at a multiple of 32 bytes where you can",
                fixes=fixes(analysis, result),
                ratio=cost.ratio,
            )
