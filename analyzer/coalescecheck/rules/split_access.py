"""CC303: a whole struct takes several requests because of its size or alignment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Excess, Rule, excess, judged

SHARED = 1.1  # sectors that each part touches, over those that all together would fill
WIDEST = 16  # bytes: the widest load or store of a lane
THREE = re.compile(r"(u?(?:char|short|int|float))3")  # CUDA's own, of which there are four


class SplitAccess(Rule):
    """## What it detects
    A `float3` or another struct that is read or written whole, but whose size or alignment allows
    no access of that width: the compiler splits it, and each part touches the same sectors.

    ## Why it is slow
    A `float3` is 12 bytes with the alignment of a float, so it takes 3 requests of 4 bytes. Lanes
    are 12 bytes apart, and each of the three requests touches all 12 sectors of the warp's 384
    bytes: 36 sectors where 12 hold everything. L1 has them after the first request of a load,
    which makes it a note; stores go on to L2 three times.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void move(float3 *out, const float3 *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void move(float4 *out, const float4 *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[i];
    }
    ```
    A `float4` costs a third more bytes and is one request of 16 sectors. Three arrays of floats
    cost 3 requests of 4 sectors. A struct of 8 or 16 bytes needs only `__align__` of its size.

    ## Limits
    Numbers are of the code as written: members that the kernel does not use after all are not
    loaded by the compiled code.
    """

    code, slug, severity = "CC303", "split-access", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.sectors)
            if result.space != "global" or cost is None or not _is_split(result, cost):
                continue
            severity = judged(analysis, result, cost.ratio)
            if severity is None:
                continue
            size = _size(result)
            if result.access.op == "load" and _shares_sectors(result, cost):
                severity = Severity.NOTE  # the later requests find all their sectors in L1
            count, width = result.requests_per_access, result.width_bytes
            sectors = cost.to + wording.plural(cost.actual, "sector")
            in_all = cost.to + wording.number(count * cost.actual)
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {count} requests of "
                f"{wording.plural(width, 'byte')} per lane, "
                f"{sectors} each ({in_all} where {wording.number(count * cost.ideal)} would do)",
                reason=f"{result.access.element} has {size} bytes and the alignment of "
                f"{width}, so no wider access is possible",
                advice=_advice(result, size),
                ratio=cost.ratio,
            )


def _is_split(result: AccessResult, cost: Excess) -> bool:
    """Several requests, narrower than a lane can do, next to each other."""
    pieces = result.access.pieces
    stride = result.lane_stride_bytes
    apart = isinstance(stride, int) and abs(stride) >= _size(result)
    return (
        len(pieces) > 1
        and all(piece.width < WIDEST for piece in pieces)
        and (apart or _shares_sectors(result, cost))
    )


def _shares_sectors(result: AccessResult, cost: Excess) -> bool:
    """Whether the parts together fill the sectors that each of them touches."""
    size = _size(result)
    if result.lane_stride_bytes in (size, -size):
        return True
    return cost.actual <= SHARED * len(result.access.pieces) * cost.ideal


def _size(result: AccessResult) -> int:
    last = result.access.pieces[-1]
    return last.offset + last.width


def _advice(result: AccessResult, size: int) -> str:
    element = result.access.element
    if element.startswith("curandState"):
        return ""  # a library's own, which nobody can lay out anew
    whole = next((width for width in (4, 8, WIDEST) if size <= width), None)
    if whole == size:
        return f"declare {element} __align__({size}): one request"
    vector = THREE.fullmatch(element)
    if whole is not None and vector:
        return f"use {vector[1]}4, or an array per member"
    if whole is not None and size >= whole * 3 / 4:
        return f"pad {element} to {whole} bytes with that alignment, or use an array per member"
    return f"keep the members of {element} in separate arrays, one element per lane"
