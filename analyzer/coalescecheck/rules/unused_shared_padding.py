"""CC204: rows of a shared array are declared padded, and indexed as if they were not."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import NOTE_RATIO, Rule, excess

MOST = 32  # bytes of a pad
ROW = 32  # bytes that the rows without it are a multiple of


class UnusedSharedPadding(Rule):
    """## What it detects
    A shared array that is declared with padded rows, `tile[32][33]`, and whose accesses all step
    by the rows without the pad, as a flat `y * 32 + x` does.

    ## Why it is slow
    The pad moves no row to another bank, so columns conflict as they do without it, and its
    bytes are allocated for nothing.

    ## Example
    ```cuda
    // coalescecheck: block(32,8) grid(16,16) n=512
    __global__ void flip(float *out, const float *in, int n)
    {
        __shared__ float tile[32][33];
        float *flat = &tile[0][0];
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            flat[(threadIdx.y + j) * 32 + threadIdx.x] = in[(y + j) * n + x];
        __syncthreads();
        int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            out[(v + j) * n + u] = flat[threadIdx.x * 32 + threadIdx.y + j];
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

    ## Limits
    Only for arrays that are declared with rows: a flat `tile[32 * 33]` does not say how long a
    row is meant to be. Silent as soon as one access uses the declared rows or may do so, and
    where no access has a bank conflict. The conflict itself is said by CC201 at the access.
    """

    code, slug, severity = "CC204", "unused-shared-padding", Severity.NOTE

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for name, steps in analysis.shared_steps.items():
            array = analysis.arrays[name]
            pitch = array.dims[-1] * array.element_size
            if steps is None or not pitch or any(step % pitch == 0 for step in steps):
                continue
            used = [step for step in steps if step % ROW == 0 and 0 < pitch - step <= MOST]
            if not used or used[0] % array.element_size or not _conflicts(analysis, name):
                continue
            declared = wording.array(name) + "".join(f"[{extent}]" for extent in array.dims)
            pad = wording.plural((pitch - used[0]) // array.element_size, "element")
            yield Finding(
                rule=self.code,
                severity=Severity.NOTE,
                span=array.span,
                kernel=analysis.name,
                message=f"shared array {declared}: rows are declared {pitch} bytes apart, and "
                f"every access steps {used[0]}; the pad of {pad} per row is not used",
                reason="without it rows lie in the same banks",
                advice=f"index with the declared rows, {wording.array(name)}[y][x]",
                instances=(wording.instance(analysis),),
            )


def _conflicts(analysis: KernelAnalysis, array: str) -> bool:
    """Whether an access of the array costs more than its width asks for."""
    costs = (excess(r, r.wavefronts) for r in analysis.accesses if r.array == array)
    return any(cost is not None and cost.ratio >= NOTE_RATIO for cost in costs)
