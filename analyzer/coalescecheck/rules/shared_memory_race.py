"""CC401: threads of a block use one shared location without a barrier between."""

from __future__ import annotations

from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis, Race
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import Rule

KINDS = {
    "RAW": ("written", "read", "read after write"),
    "WAR": ("read", "written", "write after read"),
    "WAW": ("written", "written", "write after write"),
}


class SharedMemoryRace(Rule):
    """## What it detects
    Two threads of a block that touch the same location, at least one of them writing, with no
    barrier between.

    ## Why it is slow
    It is not slow, it is wrong: which of the two comes first is not defined. In lockstep it may
    look right on one GPU and fail on the next.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void reverse(float *x)
    {
        __shared__ float s[256];
        float *block = x + blockIdx.x * 256;
        s[threadIdx.x] = block[threadIdx.x];
        block[threadIdx.x] = s[255 - threadIdx.x];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void reverse(float *x)
    {
        __shared__ float s[256];
        float *block = x + blockIdx.x * 256;
        s[threadIdx.x] = block[threadIdx.x];
        __syncthreads();
        block[threadIdx.x] = s[255 - threadIdx.x];
    }
    ```

    ## Limits
    Found by simulating the launch that is shown, so a race that needs other parameters is not
    seen. Two writes are a warning only: they may store the same value.
    """

    code, slug, severity = "CC401", "shared-memory-race", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for race in analysis.races:
            first, second, order = KINDS[race.kind]
            yield Finding(
                rule=self.code,
                severity=Severity.WARNING if race.kind == "WAW" else Severity.ERROR,
                span=race.spans[1],
                kernel=analysis.name,
                message=f"{race.array}: {first} at line {race.spans[0].line} and {second} at line "
                f"{race.spans[1].line} by different threads, no barrier between ({order})",
                reason="the order of the two is not defined",
                advice=_advice(race),
                instances=(wording.instance(analysis),),
            )


def _advice(race: Race) -> str:
    first, second = (span.line for span in race.spans)
    if race.spans[0] == race.spans[1]:  # a barrier orders iterations, never the lanes of a store
        return (
            "let one thread write a location, or add with an atomic; iterations of a loop that "
            "write it in turn need a __syncthreads() between them"
        )
    if first < second:
        return f"a __syncthreads() is needed between lines {first} and {second}"
    return f"a __syncthreads() is needed after line {first}, before line {second} runs again"
