"""CC304: a per-thread array that cannot stay in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import WARNING_RATIO, Rule, excess

ONE_INDEX = 4  # sectors of up to 4 bytes per lane at the same index
SMALL_TABLE = 64  # bytes; nvcc 13.0 selects among so many without memory (sm_75 to sm_100)

NO_ADDRESS = "a register has no address: the index has to be a constant when compiled"
FILLED = "nothing changes the table, but every thread fills a copy of its own before it reads it"
ONE_TABLE = "make it static constexpr: one table in global memory for all threads"


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
    small array. A compiler that unrolls further than asked may still find constants, and it may
    select among few elements instead of indexing them. A table that is initialised and never
    changed is a note, and none up to 64 bytes: nvcc 13.0 lets every thread fill a copy of its
    own, another compiler may keep it among its constants.
    """

    code, slug, severity = "CC304", "dynamic-local-array", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        """One finding for each array, at the access with an index of its own that costs most."""
        arrays: dict[str, list[AccessResult]] = {}
        for result in analysis.accesses:
            if result.space == "local" and _is_array(analysis, result):
                arrays.setdefault(_name(result), []).append(result)
        for name, results in arrays.items():
            dynamic = [r for r in results if r.dynamic_index and r.sectors is not None]
            table = not any(_writes(result) for result in results)
            if not dynamic or (table and _bytes(analysis, results) <= SMALL_TABLE):
                continue
            worst = max(dynamic, key=lambda result: (_diverges(result), _sectors(result)))
            warns = _diverges(worst) and not table
            yield self.finding(
                analysis,
                worst,
                Severity.WARNING if warns else Severity.NOTE,
                f"{name} lives in local memory: {worst.access.index} {_cost(worst)}"
                f"{_more(results)}",
                reason=FILLED if table else NO_ADDRESS,
                advice=ONE_TABLE if table else _advice(worst),
            )


def _name(result: AccessResult) -> str:
    return wording.array(result.array)


def _writes(result: AccessResult) -> bool:
    """Whether it changes the array after its initialisation."""
    return result.access.op != "load" and result.access.index != _name(result)


def _bytes(analysis: KernelAnalysis, results: Sequence[AccessResult]) -> int:
    names = {name for result in results for name in result.array.split("|")}
    return max(analysis.arrays[name].size or 0 for name in names)


def _is_array(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Not one whose size is not known."""
    arrays = [analysis.arrays.get(name) for name in result.array.split("|")]
    return all(a is not None and a.size is not None for a in arrays)


def _diverges(result: AccessResult) -> bool:
    """Whether requests are known to move twice what they do where all lanes use one index."""
    cost = excess(result, result.sectors)
    one_index = ONE_INDEX * max(1, result.width_bytes // 4)
    return cost is not None and not cost.bound and cost.actual >= WARNING_RATIO * one_index


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
