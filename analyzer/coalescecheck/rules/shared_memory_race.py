"""CC401: threads of a block use one shared location without a barrier between."""

from __future__ import annotations

import os
from collections.abc import Iterator

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis, Race
from coalescecheck.findings import Finding, Related, Severity
from coalescecheck.launch import WARP_SIZE
from coalescecheck.rules.base import Rule

KINDS = {
    "RAW": ("written", "read", "read after write"),
    "WAR": ("read", "written", "write after read"),
    "WAW": ("written", "written", "write after write"),
}
WARP_BARRIER = "__syncwarp()"
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
    barrier. Two stores are a warning only: they may store the same value. What one missing barrier
    causes is one finding, at the worst pair of accesses; it names the others.
    """

    code, slug, severity = "CC401", "shared-memory-race", Severity.ERROR

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for races in _of_one_cause(analysis):
            if _in_lockstep(races):
                yield self._warp_synchronous(analysis, races)
            else:
                yield self._lacks_a_barrier(analysis, races)

    def _lacks_a_barrier(self, analysis: KernelAnalysis, races: list[Race]) -> Finding:
        race, *others = sorted(races, key=lambda r: (-_severity(analysis, r), r.same_warp))
        more = f"; and {wording.plural(len(others), 'more pair')} of accesses" if others else ""
        where = f", in blocks of more than {WARP_SIZE} threads" if race.beyond_warp else ""
        order = KINDS[race.kind][2]
        there = Related(race.spans[0], f"the other access of {wording.array(race.array)}")
        return Finding(
            rule=self.code,
            severity=_severity(analysis, race),
            span=race.spans[1],
            kernel=analysis.name,
            message=f"{_told(race)}, no barrier between ({order}){where}{more}",
            reason="the order of the two is not defined" + "".join(map(_named, others)),
            advice=_advice(races) + _where(analysis, races),
            instances=(wording.instance(analysis),),
            related=(there, *(Related(each.spans[1], _told(each)) for each in others)),
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
            related=tuple(Related(race.spans[1], _told(race)) for race in races),
        )


def _of_one_cause(analysis: KernelAnalysis) -> list[list[Race]]:
    """The races by the barrier that is missing; those together that lanes of a warp have on one
    array in one file, where they are many."""
    barriers: dict[object, list[Race]] = {}
    for race in analysis.races:
        barriers.setdefault(race.barrier or race, []).append(race)
    lanes: dict[object, list[Race]] = {}
    for races in barriers.values():
        for race in races:
            if all(each.same_warp for each in races) and race.barrier is not None:
                alike = (race.array, race.spans[0].file, race.spans[1].file)
                lanes.setdefault((*alike, _severity(analysis, race)), []).append(race)
    many = [races for races in lanes.values() if _in_lockstep(races)]
    told = {race for races in many for race in races}
    left = ([race for race in races if race not in told] for races in barriers.values())
    return [*many, *(races for races in left if races)]


def _in_lockstep(races: list[Race]) -> bool:
    """Whether they are of code that takes the lanes of a warp to keep step."""
    first = races[0]
    alike = all(race.same_warp and race.array == first.array for race in races)
    return len(races) >= MANY and alike and first.spans[0].file == first.spans[1].file


def _told(race: Race) -> str:
    """Who meets where."""
    first, second, _ = KINDS[race.kind]
    one, two = race.spans
    who = "lanes of a warp" if race.same_warp else "threads"
    abroad = f" of {os.path.basename(one.file)}" if one.file != two.file else ""
    return (
        f"{wording.array(race.array)}: {first} at line {one.line}{abroad} and {second} at line "
        f"{two.line} by different {who}"
    )


def _named(race: Race) -> str:
    """One more pair, in few words."""
    one, two = race.spans
    order = KINDS[race.kind][2]
    return f"; nor is it for {wording.array(race.array)}, lines {one.line} and {two.line} ({order})"


def _severity(analysis: KernelAnalysis, race: Race) -> Severity:
    if race.beyond_warp:
        return Severity.NOTE
    changes = any(
        r.access.atomic_op not in ("", *SET) and r.access.span in race.spans
        for r in analysis.accesses
    )
    # a sum is lost whatever the other stores; two stores may be of the same value
    return Severity.WARNING if race.kind == "WAW" and not changes else Severity.ERROR


def _where(analysis: KernelAnalysis, races: list[Race]) -> str:
    """A barrier in a branch that some threads do not take is none, or never ends."""
    spans = {span for race in races for span in race.spans}
    guarded = any(r.guards and r.access.span in spans for r in analysis.accesses)
    return ", where all threads come by" if guarded and _needed(races) != WARP_BARRIER else ""


def _needed(races: list[Race]) -> str:
    return WARP_BARRIER if all(race.same_warp for race in races) else "__syncthreads()"


def _advice(races: list[Race]) -> str:
    needed, missing = _needed(races), races[0].barrier
    if missing is None:
        return (
            "let one thread write a location, or add with an atomic; iterations of a loop that "
            f"write it in turn need a {needed} between them"
        )
    one, two = missing.after, missing.before
    if one is None or two is None:
        place = f"before line {two.line}" if two else f"after line {one.line}" if one else ""
        return f"a {needed} is needed {place}, in each iteration"
    if one.file != two.file:
        return f"a {needed} is needed between the two"
    unit, places = "line", (one.line, two.line)
    if one.line == two.line:
        unit, places = "column", (one.column, two.column)
    if missing.again:
        return (
            f"a {needed} is needed after {unit} {places[0]}, before {unit} {places[1]} runs again"
        )
    if places[0] < places[1]:
        return f"a {needed} is needed between {unit}s {places[0]} and {places[1]}"
    if unit == "column" and races[0].kind == "WAR":  # s[i] += s[i + 1]
        return f"keep what is read in a variable, and put a {needed} before the write"
    # the later one is in a function that is called, further up in the file
    return f"a {needed} is needed after {unit} {places[0]}, before what {unit} {places[1]} does"
