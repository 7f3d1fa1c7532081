"""CC203: lanes of a shared-memory atomic wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Excess, Rule, excess, is_cold, severity_of


class SharedAtomicContention(Rule):
    """## What it detects
    A shared-memory atomic whose lanes meet: on one word, or on different words of one bank.

    ## Why it is slow
    Every update of a word waits for the one before it, so lanes on one word run one after the
    other, up to 32 times the cost of lanes that are apart. Different words of one bank wait as
    they do for loads and stores.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sum(float *out, const float *in)
    {
        __shared__ float total;
        if (threadIdx.x == 0)
            total = 0.0f;
        __syncthreads();
        atomicAdd(&total, in[blockIdx.x * 256 + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0)
            out[blockIdx.x] = total;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sum(float *out, const float *in)
    {
        __shared__ float total;
        if (threadIdx.x == 0)
            total = 0.0f;
        __syncthreads();
        float mine = in[blockIdx.x * 256 + threadIdx.x];
        for (int step = 16; step > 0; step /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, step);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&total, mine);
        __syncthreads();
        if (threadIdx.x == 0)
            out[blockIdx.x] = total;
    }
    ```
    Add up within the warp first and let one lane update, or give groups of lanes copies of the
    counter that lie in different banks.

    ## Limits
    A data-dependent index, as of a histogram, is not judged. All lanes that add integers to one
    address are a note: compilers may combine them within the warp. So is what is less than a
    hundredth of the kernel's wavefronts. Sums of float and double are
    loops of compare-and-swap on the GPU; each is counted as one pass.
    """

    code, slug, severity = "CC203", "shared-atomic-contention", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            cost = excess(result, result.wavefronts)
            if result.access.op != "atomic" or cost is None:  # of shared memory: others have none
                continue
            severity = _severity(analysis, result, cost)
            if severity is None:
                continue
            meeting, reason, advice = _meeting(result)
            if _combined(analysis, result):
                meeting += ", which a compiler may combine"
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {cost.text('wavefront', result)}; {meeting}",
                reason=reason,
                advice=advice,
                ratio=cost.ratio,
            )


def _severity(analysis: KernelAnalysis, result: AccessResult, cost: Excess) -> Severity | None:
    severity = severity_of(cost.ratio)
    harmless = _combined(analysis, result) or is_cold(analysis, result)
    return Severity.NOTE if severity is not None and harmless else severity


def _combined(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether a compiler may make one update of those of all lanes: sums of integers."""
    array = analysis.arrays.get(result.array)
    integers = array is not None and array.element_kind in ("int", "uint")
    sums = result.access.atomic_op in ("add", "sub")
    return result.pattern == "broadcast" and integers and sums


def _meeting(result: AccessResult) -> tuple[str, str, str]:
    """What the lanes meet on, why that takes long, and what to do."""
    on_word = (result.lanes_per_word or (0, 0))[1]
    in_bank = (result.bank_conflict_degree or (0, 0))[1]
    if on_word > 1:
        return (
            f"up to {on_word} lanes update one word",
            "updates of one word are made one after the other",
            "combine the lanes of a warp first (shuffles), and let one of them update",
        )
    return (
        f"up to {in_bank} lanes update different words of one bank",
        "each of the 32 banks serves one word per wavefront",
        "a step of an odd number of words between the lanes visits every bank",
    )
