"""CC304: a per-thread array that cannot stay in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import WARNING_RATIO, Rule, excess


class DynamicLocalArray(Rule):
    """## What it detects
    An array of a thread whose index is not a constant after loops with a constant number of
    iterations have been unrolled.

    ## Why it is slow
    Registers have no addresses. An array that is indexed by a value known only at run time is
    kept in local memory, which is memory of the device behind the caches: each access of a warp
    moves 4 sectors where all lanes use one index, and up to 32 where they do not.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void digits(unsigned *out, const unsigned *in)
    {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned count[4] = {0, 0, 0, 0};
        for (int k = 0; k < 32; k += 2)
            count[in[i] >> k & 3]++;
        out[i] = count[0] ^ count[3];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void digits(unsigned *out, const unsigned *in)
    {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned count[4] = {0, 0, 0, 0};
        for (int k = 0; k < 32; k += 2)
            for (unsigned d = 0; d < 4; ++d)
                count[d] += (in[i] >> k & 3) == d;
        out[i] = count[0] ^ count[3];
    }
    ```
    Make loop bounds constants so that the compiler can unroll, compare with every index of a
    small array, or keep a table that all threads share in shared or constant memory.

    ## Limits
    Only loads and stores of the source are seen, not registers that spill. A warning where the
    lanes use different indices in a known way, else a note: the first-level cache may serve a
    small array. A compiler that unrolls further than asked may still find constants.
    """

    code, slug, severity = "CC304", "dynamic-local-array", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        """One finding for each array, at the access that costs most."""
        arrays: dict[str, list[AccessResult]] = {}
        for result in analysis.accesses:
            if (
                result.space == "local"
                and result.sectors is not None
                and _is_array(analysis, result)
            ):
                arrays.setdefault(result.array, []).append(result)
        for name, results in arrays.items():
            worst = max(results, key=_sectors)
            cost = excess(worst, worst.sectors)
            divergent = cost is not None and not cost.bound and cost.ratio >= WARNING_RATIO
            yield self.finding(
                analysis,
                worst,
                Severity.WARNING if divergent else Severity.NOTE,
                f"{name} lives in local memory: {worst.access.index} {_cost(worst)}"
                f"{_more(results)}",
                reason="a register has no address: the index has to be a constant when compiled",
                advice=_advice(worst),
                ratio=cost.ratio if divergent and cost is not None else None,
            )


def _is_array(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Not a fragment of a matrix, whose elements are registers by definition."""
    array = analysis.arrays.get(result.array)
    return array is None or not array.element.startswith("wmma")


def _sectors(result: AccessResult) -> int:
    return result.sectors.max if result.sectors is not None else 0


def _cost(result: AccessResult) -> str:
    count = result.sectors
    if count is None:
        return ""
    amount = wording.amount(count)
    return f"moves {amount} sector{'' if amount == '1' else 's'} per warp"


def _more(results: Sequence[AccessResult]) -> str:
    others = len(results) - 1
    return f", and {wording.plural(others, 'more access')}" if others else ""


def _advice(result: AccessResult) -> str:
    if result.pattern == "broadcast":
        return "make the index a constant: a loop that can be unrolled, or a template parameter"
    return "keep a table that lanes index apart in shared memory, or select by comparison"
