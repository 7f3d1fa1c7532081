"""CC101: a warp touches far more sectors than its bytes need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis, Motion
from coalescecheck.arch import LINE_BYTES, SECTOR_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.launch import WARP_SIZE
from coalescecheck.rules.base import (
    Excess,
    Rule,
    excess,
    fixes,
    judged,
    proposal,
    rows_are_shorter_than_a_sector,
    sentence,
)

_ONE_OF_SEVERAL = re.compile(r"[\w.]+(\[\d+\])+")
_NAME = re.compile(r"[^\W\d]\w*")
_LEAST = re.compile(r"[\w.\[\]]+ >= (?![01]$)\d+")
LINE_SECTORS = 4  # a 128-byte line, which the caches look up as one
SHORT = 64  # bytes between lanes: those of longer rows may have left L1 before they are used


class StridedGlobalAccess(Rule):
    """## What it detects
    A load, store or atomic on global memory whose 32 lanes lie so far apart that the warp touches
    more 32-byte sectors than its bytes would fill. Where a rule nearer to the cause is selected
    too and recognises it (CC104 to CC107, CC302, CC303), that one speaks instead.

    ## Why it is slow
    Global memory moves in whole sectors. Thirty-two floats side by side fill 4 sectors; the same
    floats a row apart lie in 32 sectors, and of each only 4 bytes are used.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(16) n=512
    __global__ void row_sums(float *out, const float *a, int n)
    {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k];
        out[row] = sum;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(2) n=512
    __global__ void column_sums(float *out, const float *a, int n)
    {
        int column = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[k * n + column];
        out[column] = sum;
    }
    ```
    Let `threadIdx.x` select the index that is contiguous in memory; where two arrays need
    different ones, stage a tile in shared memory. Swapped axes, other block shapes, a vector for
    neighbours of one lane and arrays of their own for the members of a struct are tried; what is
    proposed as a fix was analysed and simulated again, and makes no other access worse.

    ## Limits
    Sectors are counted per request. Neighbouring warps or later iterations may find the rest of
    a sector in a cache, so that less comes from DRAM than the count says. A warning starts at
    twice the ideal, a note at a tenth more; it is a note too where lanes have no common step, or
    those of a row use one address, and waste less than a 128-byte line, where neighbouring loads
    or the next iterations of a loop take most of the rest, where the waste is less than a
    hundredth of what the kernel moves, and where L1 surely finds the rest of the sectors again.
    Data-dependent indices are never judged, nor is a step that is one of an array of them
    (`t.strides[2]`), of which the innermost is most often 1, until `--param` gives it.
    """

    code, slug, severity = "CC101", "strided-global-access", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            if result.space != "global" or not _is_ours(analysis, result):
                continue
            cost = excess(result, result.sectors)
            if cost is None:
                continue
            severity = _severity(analysis, cost, result)
            if severity is None:
                continue
            step = wording.lane_step(result)
            message = f"{wording.what(result)}: {cost.text('sector', result)}"
            yield self.finding(
                analysis,
                result,
                severity,
                sentence(message, step),
                reason=sentence(_reason(analysis, result), _counted_for(result)),
                advice=_advice(analysis, result) if severity >= Severity.WARNING else "",
                fixes=fixes(analysis, result),
                ratio=cost.ratio,
            )


def _is_ours(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Misaligned rows are CC102's, unless they are too short to fill a sector when aligned."""
    if result.pattern == "misaligned":
        return rows_are_shorter_than_a_sector(analysis, result)
    return result.pattern != "gather"


def _severity(analysis: KernelAnalysis, cost: Excess, result: AccessResult) -> Severity | None:
    """A note where lanes without a common step, or rows that use one address each, waste less than
    a line: neighbours or later iterations use it.  None where the step is one of several that are
    kept in an array and nobody gave it: of a tensor's, the innermost is most often 1."""
    severity = judged(analysis, result, cost.ratio)
    scattered = result.lane_stride_bytes in (None, 0) and result.pattern == "irregular"
    small = cost.actual - cost.ideal < LINE_SECTORS
    if _ONE_OF_SEVERAL.fullmatch(_step_name(result)):
        return None
    mild = (scattered and small) or _neighbours_use_the_rest(analysis, result)
    return Severity.NOTE if severity is not None and mild else severity


def _step_name(result: AccessResult) -> str:
    """The lane step in elements, as the source has it; empty where it is a number or unknown."""
    step = result.lane_stride_bytes
    text = wording.as_written(step, result.names) if isinstance(step, str) else ""
    return text.removeprefix(f"{result.width_bytes}*")


def _neighbours_use_the_rest(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether loads beside this one, or its own in the next iterations, take most of what lies
    between its lanes, at one time with it, so that they find it in L1."""
    stride, here = result.lane_stride_bytes, result.motion
    if here is None or not isinstance(stride, int) or not 0 < abs(stride) <= LINE_BYTES:
        return False
    if result.access.op != "load":
        return False
    used = {
        (r.motion.offset + step + byte) % abs(stride)
        for r in analysis.accesses
        if r.access.op == "load" and r.requests != 0 and r.guards == result.guards
        if r.motion is not None and r.motion.group == here.group and r.loops == result.loops
        for step in _iterated(here, abs(stride))
        for byte in range(r.width_bytes)
    }
    return 2 * len(used) > abs(stride)


def _iterated(motion: Motion, stride: int) -> Sequence[int]:
    """How far the iterations of the loop that moves an address take it, inside of ``stride``."""
    moving = [at for at, step in enumerate(motion.loops) if step != 0]
    step, trips = (motion.loops[moving[-1]], motion.trips[moving[-1]]) if moving else (0, 1)
    if not isinstance(step, int) or trips is None or not 0 < abs(step) < stride <= SHORT:
        return (0,)
    return range(0, step * min(trips, stride // abs(step)), step)


def _reason(analysis: KernelAnalysis, result: AccessResult) -> str:
    stride = result.lane_stride_bytes
    width = result.width_bytes
    if isinstance(stride, int) and abs(stride) >= SECTOR_BYTES:
        return f"every lane has a sector of its own and uses {width} of its {SECTOR_BYTES} bytes"
    if isinstance(stride, int) and abs(stride) > width:
        return f"of every {abs(stride)} bytes the warp spans it uses {width}"
    if isinstance(stride, str):
        grows = "in each iteration of a loop" if _in_loop(result, stride) else "with a parameter"
        text = wording.as_written(stride, result.names)
        return f"the distance of neighbouring lanes, {text} bytes, grows {grows}"
    block = analysis.launch.block
    if block is not None and block.x < WARP_SIZE:
        rows = -(-WARP_SIZE // block.x)
        return f"blockDim.x = {block.x}: a warp covers {rows} rows of the block"
    return result.reason or ("lanes have no common step" if stride is None else "")


def _counted_for(result: AccessResult) -> str:
    """Sizes below which it costs less: ``a[i * stride]`` has 32 sectors from a stride of 8 on."""
    sizes = [text for text in result.assumptions if _LEAST.fullmatch(text)]
    return f"counted for {' and '.join(sizes)}" if sizes else ""


def _in_loop(result: AccessResult, stride: str) -> bool:
    """Whether the step names the iteration of a loop around the access."""
    return any(f"(iteration {name})" in " ".join(result.loops) for name in _NAME.findall(stride))


def _advice(analysis: KernelAnalysis, result: AccessResult) -> str:
    return proposal(analysis, result) or _untried(analysis, result)


def _untried(analysis: KernelAnalysis, result: AccessResult) -> str:
    """What to look at where no change that can be tried helps."""
    array = analysis.arrays.get(result.array)
    stride = result.lane_stride_bytes
    if array is not None and array.element_kind == "struct" and stride == array.element_size:
        return f"keep the members of {array.element} in separate arrays, one element per lane"
    if rows_are_shorter_than_a_sector(analysis, result):
        lanes = SECTOR_BYTES // result.width_bytes
        return f"a row of the block should fill a sector: blockDim.x a multiple of {lanes}"
    if isinstance(stride, int) and result.width_bytes < abs(stride) < SECTOR_BYTES:
        return "let neighbouring lanes use neighbouring elements"
    if _with_shared(analysis, result):
        verb = "load" if result.access.op == "load" else "store"
        tile = "goes to" if verb == "load" else "comes from"
        return f"the data {tile} shared memory: let neighbouring lanes {verb} neighbouring elements"
    swapped = [trial for trial in analysis.trials if trial.kind == "swap"]
    if any(trial.after[i] > cost for trial in swapped for i, cost in trial.before.items()):
        return "stage the data through a shared tile: swapped indices make another access worse"
    return "let threadIdx.x select the contiguous index, or stage the data through a shared tile"


def _with_shared(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether the statement copies between global and shared memory: ``tile[x][0] = in[n * x]``."""
    other = {"load": "store", "store": "load"}.get(result.access.op)
    place = (result.access.span.file, result.access.span.line, result.access.called_from)
    return any(
        r.space == "shared"
        and r.access.op == other
        and (r.access.span.file, r.access.span.line, r.access.called_from) == place
        for r in analysis.accesses
    )
