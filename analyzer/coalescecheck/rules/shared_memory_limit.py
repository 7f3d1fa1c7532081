"""CC205: more shared memory than a block can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.arch import ARCHS, STATIC_SHARED_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule
from coalescecheck.source import NOWHERE, Span


class _Static(NamedTuple):
    """An array of constant size: its bytes, how it is declared, and where."""

    size: int
    declared: str
    span: Span


class SharedMemoryLimit(Rule):
    """## What it detects
    A kernel whose `__shared__` arrays of constant size, with those of the functions it calls, are
    larger than 48 KiB together, or a launch that asks for more shared memory than a block of the
    architecture can have.

    ## Why it is slow
    It does not run at all. `ptxas` refuses more than 49,152 bytes of static shared memory for
    every architecture ("uses too much shared data"); a launch beyond the architecture's limit
    fails, and without a check of the error nobody hears of it.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void keep(float *out, const float *in)
    {
        __shared__ float rows[64][256];
        for (int r = 0; r < 64; ++r)
            rows[r][threadIdx.x] = in[r * 256 + threadIdx.x];
        __syncthreads();
        for (int r = 0; r < 64; ++r)
            out[r * 256 + threadIdx.x] = rows[63 - r][255 - threadIdx.x];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void keep(float *out, const float *in)
    {
        extern __shared__ float rows[];
        for (int r = 0; r < 64; ++r)
            rows[r * 256 + threadIdx.x] = in[r * 256 + threadIdx.x];
        __syncthreads();
        for (int r = 0; r < 64; ++r)
            out[r * 256 + threadIdx.x] = rows[(63 - r) * 256 + 255 - threadIdx.x];
    }
    void run(float *out, const float *in)
    {
        cudaFuncSetAttribute(keep, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
        keep<<<64, 256, 65536>>>(out, in);
    }
    ```

    ## Limits
    Arrays that nothing reads do not count, as the compiler removes them. Whether
    `cudaFuncSetAttribute` is called, which more than 48 KiB of dynamic shared memory need, is not
    checked.
    """

    code, slug, severity = "CC205", "shared-memory-limit", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        static = _read(analysis)
        fixed = sum(array.size for array in static)
        launch = analysis.launch
        asked = launch.shared_bytes or 0
        most = ARCHS[analysis.arch].max_shared_bytes
        if fixed > STATIC_SHARED_BYTES:
            names = ", ".join(array.declared for array in static)
            yield self._found(
                analysis,
                max(static, key=lambda array: array.size).span,
                f"{_bytes(fixed)} of static shared memory, {_bytes(STATIC_SHARED_BYTES)} are the "
                f"most ({names})",
                "ptxas refuses it for every architecture",
                "make the largest `extern __shared__` and give its size at the launch",
                fixed / STATIC_SHARED_BYTES,
            )
        elif fixed + asked > most:
            yield self._found(
                analysis,
                Span(launch.file, launch.line, launch.column) if launch.line else NOWHERE,
                f"a launch with {_bytes(asked)} of dynamic and {_bytes(fixed)} of static shared "
                f"memory, {_bytes(most)} are the most of a block on {analysis.arch}",
                "such a launch fails",
                "use smaller tiles, or an architecture with more shared memory",
                (fixed + asked) / most,
            )

    def _found(
        self,
        analysis: KernelAnalysis,
        span: Span,
        message: str,
        reason: str,
        advice: str,
        ratio: float,
    ) -> Finding:
        return Finding(
            rule=self.code,
            severity=self.severity,
            span=analysis.span if span == NOWHERE else span,
            kernel=analysis.name,
            message=f"{analysis.name}: {message}",
            reason=reason,
            advice=advice,
            ratio=ratio,
            instances=(wording.instance(analysis),),
        )


def _read(analysis: KernelAnalysis) -> list[_Static]:
    """The shared arrays of constant size that something reads."""
    used = {
        name
        for result in analysis.accesses
        if result.access.op != "store" and result.requests != 0
        for name in result.array.split("|")
    }
    return [
        _Static(
            array.size,
            wording.array(array.name) + "".join(f"[{d}]" for d in array.dims),
            array.span,
        )
        for array in analysis.arrays.values()
        if array.space == "shared" and array.name in used and array.size and not array.dynamic
    ]


def _bytes(size: int) -> str:
    return wording.plural(size, "byte")
