"""CC202: lanes of a warp read different constant-memory addresses."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule, excess, severity_of


class ConstantDivergentAccess(Rule):
    """## What it detects
    A read of a `__constant__` array in which the lanes of a warp use different addresses.

    ## Why it is slow
    The constant cache answers one address at a time and hands it to all lanes that asked for it:
    32 addresses take 32 passes.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __constant__ float table[256];
    __global__ void scale(float *x)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] *= table[threadIdx.x];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __constant__ float table[256];
    __global__ void scale(float *x)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] *= table[blockIdx.x];
    }
    ```
    Keep constant memory for values that all lanes read together; put a table that lanes index
    apart in shared or global memory.

    ## Limits
    A data-dependent index is not judged: the lanes may well agree.
    """

    code, slug, severity = "CC202", "constant-divergent-access", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.wavefronts)
            if result.space != "constant" or cost is None:
                continue
            severity = severity_of(cost.ratio)
            if severity is None:
                continue
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {cost.text('wavefront', result)}; "
                "lanes read different constants",
                reason="the constant cache answers one address at a time",
                advice="a table that lanes index apart belongs in shared or global memory",
                ratio=cost.ratio,
            )
