"""CC301: a vector access through a cast pointer whose lanes cannot all be aligned."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule

KINDS = ("vector", "plain")  # plain ones are as aligned as their array, but not each member of it


class MisalignedVectorAccess(Rule):
    """## What it detects
    An 8- or 16-byte access through a cast pointer (`*(float4 *)&a[i]`) whose neighbouring lanes
    are no multiple of that width apart, so that they cannot all be aligned, or which does not
    start at a multiple of it.

    ## Why it is slow
    It is not slow, it is wrong: a misaligned vector access stops the kernel with "misaligned
    address".

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void quads(float4 *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = *reinterpret_cast<const float4 *>(&in[i]);
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void quads(float4 *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = *reinterpret_cast<const float4 *>(&in[4 * i]);
    }
    ```

    ## Limits
    Only a fixed distance between neighbouring lanes is judged. A start that is not aligned is a
    warning, as the array may be passed from such a place. Under a condition the lanes that
    run may happen to be aligned ones; it is then a warning.
    """

    code, slug, severity = "CC301", "misaligned-vector-access", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            stride = result.lane_stride_bytes
            if result.access.kind not in KINDS or not isinstance(stride, int):
                continue
            width = max(piece.width for piece in result.access.pieces)
            if stride % width == 0:
                yield from self._started(analysis, result, width)
                continue
            if result.access.kind == "plain" or not _may_meet(result, width):
                continue
            guarded = bool(result.guards)
            yield self.finding(
                analysis,
                result,
                Severity.WARNING if guarded else Severity.ERROR,
                f"{wording.what(result)}: {width}-byte access, but lanes step {stride} bytes",
                reason="two neighbouring lanes cannot both be aligned, and a misaligned vector "
                "access faults" + (" where both run" if guarded else ""),
                advice=f"lanes must be a multiple of {width} bytes apart",
            )

    def _started(
        self, analysis: KernelAnalysis, result: AccessResult, width: int
    ) -> Iterator[Finding]:
        """Lanes that are apart as they must, from a start in the array that is not aligned."""
        offset = next((lane for lane in result.sample_lanes if lane is not None), 0)
        # an offset that is only known up to a move says nothing; a pointer may be moved as well
        if result.certainty != "exact" or result.space != "global" or offset % width == 0:
            return
        yield self.finding(
            analysis,
            result,
            Severity.WARNING,
            f"{wording.what(result)}: {width}-byte access, but it starts "
            f"{wording.plural(offset % width, 'byte')} behind a multiple of {width}",
            reason="a misaligned vector access faults, unless "
            f"{wording.array(result.array)} itself is passed from such a place",
            advice=f"start at a multiple of {width} bytes",
        )


def _may_meet(result: AccessResult, width: int) -> bool:
    """Whether lanes that run in one request are no multiple of ``width`` bytes apart: a condition
    may choose every other one.  In doubt they are not, where there is a condition."""
    offsets = [offset for offset in result.sample_lanes if offset is not None]
    return len({offset % width for offset in offsets}) > 1 or not (offsets or result.guards)
