"""CC103: the addresses come from data; only a range can be given."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule


class DataDependentAccess(Rule):
    """## What it detects
    An access whose lanes' addresses come from memory (`x[idx[i]]`), so that its cost depends on
    the data. It says between which counts the cost lies.

    ## Why it is slow
    It need not be: sorted or repeated indices can be as cheap as contiguous ones, random ones
    cost a sector or a bank pass per lane. Only the data can tell, so this rule is off unless
    selected, and is never more than a note.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void pick(float *out, const float *x, const int *index)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = x[index[i]];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void pick(float *out, const float *x)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = x[i];
    }
    ```
    Sort or renumber the data so that neighbouring lanes find neighbouring elements.

    ## Limits
    The range holds for any data; which end of it yours is near is not known.
    """

    code, slug, severity = "CC103", "data-dependent-access", Severity.NOTE
    enabled = False

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            if result.certainty != "data-dependent":
                continue
            count, unit = (
                (result.wavefronts, "wavefronts")
                if result.wavefronts is not None
                else (result.sectors, "sectors")
            )
            if count is None:
                continue
            low, high = wording.number(count.min), wording.number(count.max)
            yield self.finding(
                analysis,
                result,
                Severity.NOTE,
                f"{wording.what(result)}: between {low} and {high} {unit} per warp, by the data",
                reason=result.reason,
            )
