"""CC108: a block reads the same part of an array many times."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, ArrayTraffic, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule

MANY = 8.0  # requests of a sector; below that a cache serves as well as a tile
SMALL = 32.0  # sectors: 1 KiB stays in the first-level cache whatever is done


class RepeatedGlobalRead(Rule):
    """## What it detects
    An array of which the warps of a block together load each sector eight times or more, counted
    without what lanes waste, loads in which all lanes read one address, and loads that a loop
    around them repeats in the same thread.

    ## Why it is slow
    Each request goes through the first-level cache again, and to the second where the first is
    too small. A block that copies the part once into shared memory reads it there as often as it
    likes.

    ## Example
    ```cuda
    // coalescecheck: block(16,16) grid(32,32) n=512
    __global__ void product(float *c, const float *a, const float *b, int n)
    {
        int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(16,16) grid(32,32) n=512
    __global__ void product(float *c, const float *a, const float *b, int n)
    {
        __shared__ float as[16][16], bs[16][16];
        int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
        float sum = 0.0f;
        for (int tile = 0; tile < n; tile += 16) {
            as[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
            bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
            __syncthreads();
            for (int k = 0; k < 16; ++k)
                sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
            __syncthreads();
        }
        c[row * n + column] = sum;
    }
    ```

    ## Limits
    Only where all addresses and the number of blocks are known, for arrays that the kernel does
    not write and of which a block reads more than 1 KiB. The sectors of a block are the mean of
    the first, a middle and the last one. It is a note: the first-level cache may serve all
    repetitions, and warps that do the same work twice need no tile but other indices.
    """

    code, slug, severity = "CC108", "repeated-global-read", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        grid = analysis.launch.grid
        if grid is None:
            return
        for traffic in analysis.array_traffic:
            times = _times(traffic, grid.size)
            loads = [r for r in analysis.accesses if _reads(r, traffic.name)]
            if times is None or times < MANY or traffic.reads is None or not loads:
                continue
            most = max(loads, key=lambda result: result.requests or 0)
            yield self.finding(
                analysis,
                most,
                Severity.NOTE,
                f"{wording.what(most)}: a block loads each of the "
                f"{wording.number(round(traffic.reads.sectors))} sectors it needs of "
                f"{traffic.name} about {wording.number(round(times))} times",
                reason="its warps and iterations ask for the same elements again",
                advice="copy what the block needs into shared memory once and read it there",
            )


def _times(traffic: ArrayTraffic, blocks: int) -> float | None:
    """How often a block loads a sector, None where it is not known or no matter."""
    reads, writes, needed = traffic.reads, traffic.writes, traffic.needed.exact
    if reads is None or writes is None or needed is None:
        return None
    if writes.sectors or reads.sectors <= SMALL:
        return None
    return needed / blocks / reads.sectors


def _reads(result: AccessResult, array: str) -> bool:
    return result.array == array and result.pattern != "broadcast"
