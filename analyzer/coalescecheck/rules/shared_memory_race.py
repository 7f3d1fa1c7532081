"""CC401: threads of a block use one shared location without a barrier between."""

from __future__ import annotations

import os
from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis, Race
from coalescecheck.findings import Finding, Severity
from coalescecheck.launch import WARP_SIZE
from coalescecheck.rules.base import Rule

KINDS = {
    "RAW": ("written", "read", "read after write"),
    "WAR": ("read", "written", "write after read"),
    "WAW": ("written", "written", "write after write"),
}
WRITES = ("store", "atomic")
OPS = {"RAW": (WRITES, ("load",)), "WAR": (("load",), WRITES), "WAW": (WRITES, WRITES)}
MANY = 3  # races of lanes of one warp that are told as one
SET = ("exch", "cas")  # atomics that may store what is there


class SharedMemoryRace(Rule):
    """## What it detects
    Two threads of a block that touch the same location, at least one of them writing, with no
    barrier between.

    ## Why it is slow
    It is not slow, it is wrong: which of the two comes first is not defined. In lockstep it may
    look right on one GPU and fail on the next: from sm_70 on lanes of a warp need not keep step,
    `volatile` or not, and `__syncwarp()` is what orders them.

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
    seen. Where the block or a size is not known, several are simulated, and what is a race only
    in some of them is not reported; a note tells of what only blocks of more than one warp have,
    in kernels that ask for the size of their block. A function that is not known may be a
    barrier. Two stores are a warning only: they may store the same value.
    """

    code, slug, severity = "CC401", "shared-memory-race", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for races in _in_lockstep(analysis):
            if len(races) >= MANY:
                yield self._warp_synchronous(analysis, races)
            else:
                yield from (self._pair(analysis, race) for race in races)

    def _pair(self, analysis: KernelAnalysis, race: Race) -> Finding:
        first, second, order = KINDS[race.kind]
        one, two = race.spans
        who = "lanes of a warp" if race.same_warp else "threads"
        where = f", in blocks of more than {WARP_SIZE} threads" if race.beyond_warp else ""
        abroad = f" of {os.path.basename(one.file)}" if one.file != two.file else ""
        return Finding(
            rule=self.code,
            severity=_severity(analysis, race),
            span=two,
            kernel=analysis.name,
            message=f"{wording.array(race.array)}: {first} at line {one.line}{abroad} and "
            f"{second} at line {two.line} by different {who}, no barrier between "
            f"({order}){where}",
            reason="the order of the two is not defined",
            advice=_advice(analysis, race) + _where(analysis, race),
            instances=(wording.instance(analysis),),
        )

    def _warp_synchronous(self, analysis: KernelAnalysis, races: list[Race]) -> Finding:
        """Code that takes the lanes of a warp to keep step is one mistake, however many pairs of
        accesses it has."""
        spans = sorted((s for race in races for s in race.spans), key=lambda s: (s.line, s.column))
        first, last = spans[0], spans[-1]
        lines = f"lines {first.line} to {last.line}"
        return Finding(
            rule=self.code,
            severity=_severity(analysis, races[0]),
            span=first,
            kernel=analysis.name,
            message=f"{wording.array(races[0].array)}: lanes of a warp read and write each other's "
            f"values in {f'line {first.line}' if first.line == last.line else lines} with no "
            f"barrier between ({len(races)} pairs of accesses)",
            reason="lanes of a warp need not keep step, `volatile` or not: the order is not "
            "defined",
            advice="keep what is read in a variable, and put a __syncwarp() after each read and "
            "each write",
            instances=(wording.instance(analysis),),
        )


def _in_lockstep(analysis: KernelAnalysis) -> list[list[Race]]:
    """The races; those together that lanes of a warp have on one array in one file."""
    groups: dict[tuple[object, ...], list[Race]] = {}
    for race in analysis.races:
        one, two = race.spans
        alike = race.same_warp and one.file == two.file and one != two
        own: object = (two.file, _severity(analysis, race)) if alike else race
        groups.setdefault((race.array, own), []).append(race)
    return list(groups.values())


def _severity(analysis: KernelAnalysis, race: Race) -> Severity:
    if race.beyond_warp:
        return Severity.NOTE
    changes = any(
        r.access.atomic_op not in ("", *SET) and r.access.span in race.spans
        for r in analysis.accesses
    )
    # a sum is lost whatever the other stores; two stores may be of the same value
    return Severity.WARNING if race.kind == "WAW" and not changes else Severity.ERROR


def _where(analysis: KernelAnalysis, race: Race) -> str:
    """A barrier in a branch that some threads do not take is none, or never ends."""
    guarded = any(r.guards and r.access.span in race.spans for r in analysis.accesses)
    return ", where all threads come by" if guarded and not race.same_warp else ""


def _advice(analysis: KernelAnalysis, race: Race) -> str:
    barrier = "__syncwarp()" if race.same_warp else "__syncthreads()"
    one, two = race.spans
    if one == two:  # a barrier orders iterations, never the lanes of a store
        return (
            "let one thread write a location, or add with an atomic; iterations of a loop that "
            f"write it in turn need a {barrier} between them"
        )
    if one.file != two.file:
        return f"a {barrier} is needed between the two"
    unit, places = "line", (one.line, two.line)
    if one.line == two.line:
        unit, places = "column", (one.column, two.column)
    if _comes_first(analysis, race):
        if race.kind == "WAR" and unit == "column" and places[0] > places[1]:  # s[i] += s[i + 1]
            return f"keep what is read in a variable, and put a {barrier} before the write"
        if places[0] < places[1]:
            return f"a {barrier} is needed between {unit}s {places[0]} and {places[1]}"
        # the later one is in a function that is called, further up in the file
        return (
            f"a {barrier} is needed after {unit} {places[0]}, before what {unit} {places[1]} does"
        )
    return f"a {barrier} is needed after {unit} {places[0]}, before {unit} {places[1]} runs again"


def _comes_first(analysis: KernelAnalysis, race: Race) -> bool:
    """Whether the earlier access stands before the later one, so that no loop has to go round."""
    first, second = (
        [r.access.id for r in analysis.accesses if r.access.span == span and r.access.op in ops]
        for span, ops in zip(race.spans, OPS[race.kind], strict=True)
    )
    if first and second:
        return min(first) < min(second)
    return race.spans[0].line <= race.spans[1].line
