"""CC403: lanes that do not run leave holes in the sectors that the others touch."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.launch import WARP_SIZE
from coalescecheck.rules.base import Rule, excess, runs_with_holes, severity_of


class DivergentAccess(Rule):
    """## What it detects
    A global access with neighbouring lanes on neighbouring elements of which only some run, with
    others that do not run between them.

    ## Why it is slow
    A sector moves whole as soon as one lane needs a byte of it. If every eighth lane runs, the
    warp moves all of its sectors for an eighth of the elements.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void every_fourth(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (threadIdx.x % 4 == 0)
            out[i] = 2.0f * in[i];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void the_first_quarter(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (threadIdx.x < 64)
            out[i] = 2.0f * in[i];
    }
    ```
    Let the lanes that run be neighbours, and keep the elements they need next to each other.

    ## Limits
    It is a note: the other lanes may use the rest of the sectors on another path. A condition on
    data is not judged, nor is the edge of a block, where each lane that runs is in another row.
    """

    code, slug, severity = "CC403", "divergent-access", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.sectors)
            lanes = result.active_lanes
            if result.space != "global" or cost is None or lanes is None:
                continue
            if not runs_with_holes(analysis, result) or severity_of(cost.ratio) is None:
                continue
            if not _in_one_row(result):
                continue
            yield self.finding(
                analysis,
                result,
                Severity.NOTE,
                f"{wording.what(result)}: {cost.text('sector', result)}; "
                f"{wording.number(lanes)} of {WARP_SIZE} lanes run, with others between them",
                reason="a sector moves whole for any lane that needs a byte of it",
                advice="let the lanes that run be neighbours",
                ratio=cost.ratio,
            )


def _in_one_row(result: AccessResult) -> bool:
    """Whether the lanes that run lie as far apart as if all between them ran."""
    step = result.lane_stride_bytes
    if not isinstance(step, int):
        return False
    lanes = enumerate(result.sample_lanes)
    return len({offset - lane * step for lane, offset in lanes if offset is not None}) == 1
