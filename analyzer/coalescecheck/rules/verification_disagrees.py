"""CC902: the two independent readings of an access do not agree."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule


class VerificationDisagrees(Rule):
    """## What it detects
    An access for which the symbolic analysis and the simulation (or the counters of a real GPU)
    give different counts. One of them is wrong, and that is a defect of CoalesceCheck.

    ## Why it is slow
    This says nothing about the kernel; it says that the number shown is not to be trusted.

    ## Example
    No kernel is known that causes it; one that does is a bug to report.

    ## Use instead
    Please report the kernel. `--no-verify` silences the comparison, not the error.

    ## Limits
    Only sampled warps are compared.
    """

    code, slug, severity = "CC902", "verification-disagrees", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            against = [
                reading
                for reading, answer in (
                    ("the simulation", result.verified.simulation),
                    ("the GPU's counters", result.verified.gpu),
                )
                if answer == "disagrees"
            ]
            if against:
                yield self.finding(
                    analysis,
                    result,
                    Severity.ERROR,
                    f"{wording.what(result)}: the count shown is contradicted by "
                    f"{' and '.join(against)}; please report this kernel",
                    reason=result.reason,
                )
