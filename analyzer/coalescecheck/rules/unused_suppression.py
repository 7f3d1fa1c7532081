"""CC903: a comment that silences a rule where the rule has nothing to say."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule
from coalescecheck.source import Span


class UnusedSuppression(Rule):
    """## What it detects
    A `coalescecheck: ignore[...]` or `NOLINT(...)` comment that names a rule and silences
    nothing, names no rule that exists, or opens a block that is never closed.

    ## Why it is slow
    It is not, but it hides the next finding on its line, which may well be.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(16)
    __global__ void copy(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i]; // coalescecheck: ignore[CC101] rows were strided once
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(16)
    __global__ void copy(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i];
    }
    ```

    ## Limits
    Reported only for files whose kernels were all analysed, and never for a `NOLINT` that names
    no rule of this tool. A comment in a header is judged only when the header is analysed itself,
    and where it has kernels that use the line.
    """

    code, slug, severity = "CC903", "unused-suppression", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        """Nothing: comments belong to no kernel."""
        yield from ()

    def about(self, span: Span, message: str) -> Finding:
        """The finding about one comment."""
        advice = "remove the comment, or name the rule that is meant"
        return Finding(self.code, Severity.NOTE, span, "", message, advice=advice)
