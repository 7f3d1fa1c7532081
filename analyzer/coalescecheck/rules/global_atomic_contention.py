"""CC109: lanes of a warp update one address of global memory."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule

REDUCTIONS = ("add", "sub", "min", "max", "and", "or", "xor")  # lanes can do these first
COMBINED = ("add", "sub")  # of integers: compilers make one update of them
FEW = 2.0  # lanes


class GlobalAtomicContention(Rule):
    """## What it detects
    An atomic on global memory with which all lanes of a warp that run, two or more, update one
    address.

    ## Why it is slow
    It touches one sector only, so no other count shows it: updates of one address are made one
    after the other, for all warps of the launch.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sum(float *total, const float *in)
    {
        atomicAdd(total, in[blockIdx.x * 256 + threadIdx.x]);
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sum(float *total, const float *in)
    {
        float mine = in[blockIdx.x * 256 + threadIdx.x];
        for (int step = 16; step > 0; step /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, step);
        if (threadIdx.x % 32 == 0)
            atomicAdd(total, mine);
    }
    ```
    Combine the values of the warp first, better those of the block, and let one lane update.

    ## Limits
    It is a note: how long an update waits is not counted. A data-dependent address, as of a
    histogram, is not judged, nor are lanes that data selects; sums of integers, which compilers
    combine; and exchanges, which make locks and flags.
    """

    code, slug, severity = "CC109", "global-atomic-contention", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            lanes = result.active_lanes
            if not _is_reduction(analysis, result) or lanes is None or lanes < FEW:
                continue
            yield self.finding(
                analysis,
                result,
                Severity.NOTE,
                f"{wording.what(result)}: {wording.number(lanes)} lanes of a warp update one "
                "address",
                reason="updates of one address are made one after the other",
                advice="combine the lanes of a warp first (shuffles), and let one of them update",
                ratio=lanes,
            )


def _is_reduction(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether all lanes that run an atomic combine values at one address, and no compiler does."""
    access, array = result.access, analysis.arrays.get(result.array)
    if result.space != "global" or access.op != "atomic" or result.pattern != "broadcast":
        return False
    integers = array is not None and array.element_kind in ("int", "uint")
    return access.atomic_op in REDUCTIONS and not (integers and access.atomic_op in COMBINED)
