"""CC901: an access about which nothing can be said, and why."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule


class AccessNotAnalysed(Rule):
    """## What it detects
    An access whose addresses the analysis could not follow. It is listed so that silence never
    means "clean" by mistake.

    ## Why it is slow
    It may or may not be; nothing is claimed.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    template <typename T>
    __global__ void copy(T *out, const T *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void copy(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i];
    }
    ```
    Give what is missing: `--template T=float`, `-I` for a header, `--param n=512` for a value.

    ## Limits
    The reason names the first thing that stopped the analysis; there may be more behind it.
    """

    code, slug, severity = "CC901", "access-not-analysed", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        """One finding for each reason, at the first access it stopped."""
        unknown: dict[str, list[AccessResult]] = {}
        for result in analysis.accesses:
            if result.certainty == "unknown":
                unknown.setdefault(result.reason, []).append(result)
        for reason, (first, *others) in unknown.items():
            more = f" and {wording.plural(len(others), 'more access')}" if others else ""
            message = f"{wording.what(first)}{more}: not analysed"
            yield self.finding(analysis, first, Severity.NOTE, message, reason=reason)
