"""CC201: lanes of a warp want different words of one shared-memory bank."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.arch import BANK_BYTES, BANKS
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.array_of_structs import may_be_joined
from coalescecheck.rules.base import (
    Excess,
    Rule,
    excess,
    fixes,
    is_cold,
    proposal,
    sentence,
    severity_of,
)


class SharedBankConflict(Rule):
    """## What it detects
    A load or store of shared memory that needs more wavefronts (passes through the banks) than
    its width asks for, because lanes want different 4-byte words of the same bank.

    ## Why it is slow
    Each of the 32 banks serves one word per wavefront. A column of a 32-word-wide tile lies in a
    single bank: 32 wavefronts where 1 would do.

    ## Example
    ```cuda
    // coalescecheck: block(32,8) grid(16,16) n=512
    __global__ void flip(float *out, const float *in, int n)
    {
        __shared__ float tile[32][32];
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
        __syncthreads();
        int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(32,8) grid(16,16) n=512
    __global__ void flip(float *out, const float *in, int n)
    {
        __shared__ float tile[32][33];
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
        __syncthreads();
        int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
    }
    ```
    One more element per row moves each row to the next bank; `tile[r][c ^ r]` in every access
    does so without more memory, where rows are a power of two wide. Either is proposed only after
    the kernel was analysed and simulated again with it and no access of the array got worse.

    ## Limits
    8- and 16-byte accesses need 2 and 4 wavefronts without any conflict, and are judged against
    that. The count is of the access as written; the compiler may merge neighbouring accesses of an
    unrolled loop into wider ones. A conflict of two lanes whose step visits every bank, so that
    they only meet where two rows of a block overlap or the start of a vector is not known, is a
    note, and so are conflicts that are less than a hundredth of the kernel's wavefronts, and those
    of the members of one of CUDA's vector types that are all used, side by side: a compiler may
    join them. Where the step is not known, the most it can cost is a note: give the sizes. Atomics
    are CC203's.
    """

    code, slug, severity = "CC201", "shared-bank-conflict", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.wavefronts)
            if result.space != "shared" or result.access.op == "atomic" or cost is None:
                continue
            severity = _severity(analysis, cost, result)
            if severity is None:
                continue
            message = f"{wording.what(result)}: {cost.text('wavefront', result)}"
            joined = (
                "which a compiler may join to whole vectors" if _joined(analysis, result) else ""
            )
            yield self.finding(
                analysis,
                result,
                severity,
                sentence(message, wording.lane_step(result), joined),
                reason=_reason(result, cost),
                advice=proposal(analysis, result) or _advice(analysis, result),
                fixes=fixes(analysis, result),
                ratio=cost.ratio,
            )


def _severity(analysis: KernelAnalysis, cost: Excess, result: AccessResult) -> Severity | None:
    """A note where two lanes share a bank only because rows of the block overlap in it, where the
    conflicts are few of the kernel's wavefronts, where a compiler may spare them, and where the
    step is not known: people declare pitches that are odd."""
    severity = severity_of(cost.ratio)
    overlap = cost.ratio <= 2 and _step_visits_every_bank(result)
    open_ = cost.bound and isinstance(result.lane_stride_bytes, str)
    harmless = overlap or open_ or is_cold(analysis, result) or _joined(analysis, result)
    return Severity.NOTE if severity is not None and harmless else severity


def _joined(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether neighbouring lanes use the members of neighbouring vectors one by one."""
    array = analysis.arrays.get(result.array)
    size = 0 if array is None else array.element_size
    return result.lane_stride_bytes in (size, -size) and may_be_joined(analysis, result)


def _words(result: AccessResult) -> int | None:
    """The lane step of a 4-byte access in words, where it is a number of them."""
    stride = result.lane_stride_bytes
    if isinstance(stride, int) and result.width_bytes == BANK_BYTES and stride % BANK_BYTES == 0:
        return abs(stride) // BANK_BYTES
    return None


def _step_visits_every_bank(result: AccessResult) -> bool:
    """Whether the lanes of one row of the block cannot be to blame for a conflict: they are an odd
    number of elements apart, of any width that a wavefront serves in parts."""
    stride, width = result.lane_stride_bytes, result.width_bytes
    if isinstance(stride, int):
        return width >= BANK_BYTES and stride % (2 * width) == width
    return stride is None and result.pattern != "strided"


def _reason(result: AccessResult, cost: Excess) -> str:
    words, stride = _words(result), result.lane_stride_bytes
    if cost.bound and isinstance(stride, str):
        step = wording.as_written(stride, result.names)
        return f"it hangs on the step of {step} bytes: odd numbers of words visit every bank"
    if words is not None and words % 2 == 0:
        banks = BANKS // gcd(words, BANKS)
        used = wording.plural(banks, "bank")
        return f"a step of {wording.plural(words, 'word')} visits only {used} of {BANKS}"
    if words is not None:
        return "rows of the block overlap in some banks"
    if result.bank_conflict_degree is not None and result.bank_conflict_degree[1] > 1:
        return f"up to {result.bank_conflict_degree[1]} lanes want different words of one bank"
    return result.reason


def _advice(analysis: KernelAnalysis, result: AccessResult) -> str:
    pads = [t for t in analysis.trials if t.kind == "pad" and t.array == result.array]
    if pads:
        name = wording.array(result.array)
        most = wording.plural(max(trial.amount for trial in pads), "element")
        if any(trial.helps for trial in pads):
            return f"a pad of {most} per row of `{name}` helps elsewhere, not here"
        return f"no pad of up to {most} per row of `{name}` that was tried helps without harm"
    words = _words(result)
    if words is not None and words % 2 == 0:
        return "a step of an odd number of words visits every bank"
    return ""
