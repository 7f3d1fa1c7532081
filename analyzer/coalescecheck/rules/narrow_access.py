"""CC302: a lane asks for neighbouring elements one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.arch import SECTOR_BYTES
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import (
    Rule,
    excess,
    fixes,
    is_vector,
    judged,
)

VECTORS = (16, 8, 4)  # bytes that one request of a lane can move, widest first
MEMBER = re.compile(r"(\.|->)[xyzw]$")  # as in CUDA's vector types
MOST = 0.9  # of the elements side by side have to fit the wider accesses
LONGEST = 64  # bytes: a longer piece for each lane is a walk, not a vector


@dataclass(frozen=True, slots=True)
class Chunk:
    """``length`` bytes that a lane reads or writes in ``requests`` requests, by the first of
    ``results`` in a loop or by all of them; ``wide`` requests of ``vector`` bytes would do.
    ``again`` ask for the same elements once more, or for the few left over."""

    results: tuple[AccessResult, ...]
    length: int
    requests: int
    vector: int
    again: tuple[AccessResult, ...] = ()

    @property
    def wide(self) -> int:
        return self.length // self.vector


class NarrowAccess(Rule):
    """## What it detects
    A lane that reads or writes neighbouring elements one by one, by accesses side by side or in a
    short loop, where a type of 4, 8 or 16 bytes would take them in fewer requests.

    ## Why it is slow
    Four floats one by one are 4 requests. Lanes are 16 bytes apart, so each request touches all
    16 sectors of the warp's 512 bytes: 64 sectors, where one `float4` touches 16. L1 has them
    after the first request of a load; stores go on to L2 each time.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sums(float *out, const float *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    __global__ void sums(float *out, const float4 *in)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float4 v = in[i];
        out[i] = v.x + v.y + v.z + v.w;
    }
    ```

    ## Limits
    Reported only where the wider access is known to be aligned for every lane, and where it would
    use at least half of the sectors it touches; else the step between the lanes is the cause, which
    CC101 reports. A compiler merges
    neighbouring accesses itself only where a type promises their alignment. One narrow element
    per lane is never reported.
    """

    code, slug, severity = "CC302", "narrow-access", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        candidates = [
            r for r in analysis.accesses if _may_be_wider(r) and not _is_vector(analysis, r)
        ]
        for chunk in (*_loops(candidates), *_neighbours(candidates)):
            finding = self._about(analysis, chunk)
            if finding is not None:
                yield finding

    def _about(self, analysis: KernelAnalysis, chunk: Chunk) -> Finding | None:
        first, *others = chunk.results
        cost = excess(first, first.sectors)
        times = len(chunk.results)
        severity = None if cost is None else judged(analysis, first, cost.ratio, times)
        if cost is None or severity is None or _is_lost_in_gaps(chunk):
            return None
        if first.access.op == "load" and _fills_sectors(chunk):
            severity = Severity.NOTE  # the later requests find all their sectors in L1
        sectors = cost.to + wording.plural(cost.actual, "sector")
        # an aligned vector lies in the sector of each of its elements
        total = f", {sectors} in all" if _is_gapless(chunk) else ""
        more = f" and {wording.plural(len(others), 'neighbour')}" if others else ""
        return self.finding(
            analysis,
            first,
            severity,
            f"{wording.what(first)}{more}: {chunk.requests} requests of "
            f"{wording.plural(first.width_bytes, 'byte')} per lane, "
            f"{sectors} each; "
            f"{chunk.wide} of {chunk.vector} bytes would do{total}",
            reason=f"each lane takes {chunk.length} neighbouring bytes, which start at a multiple "
            f"of {chunk.vector}",
            advice=f"use a type of {chunk.vector} bytes{_example(first, chunk.vector)}",
            fixes=fixes(analysis, first),
            ratio=cost.ratio,
            also=tuple(other.access.id for other in (*others, *chunk.again)),
        )


def _may_be_wider(result: AccessResult) -> bool:
    """Accesses of single elements with a known step from lane to lane, known to run."""
    access, stride = result.access, result.lane_stride_bytes
    return (
        result.space == "global"
        and access.op in ("load", "store")
        and access.kind == "plain"
        and not access.volatile
        and len(access.pieces) == 1
        and result.motion is not None
        and result.requests != 0
        and result.certainty in ("exact", "exact-symbolic")
        and isinstance(stride, int)
    )


def _is_vector(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether it uses a member of a vector type, maybe after a cast: a compiler that knows the
    alignment makes it wider itself."""
    return bool(MEMBER.search(result.access.index)) or is_vector(analysis, result)


def _is_gapless(chunk: Chunk) -> bool:
    """Whether the vectors of neighbouring lanes follow each other."""
    return chunk.results[0].lane_stride_bytes in (chunk.vector, -chunk.vector)


def _is_lost_in_gaps(chunk: Chunk) -> bool:
    """Whether wider requests would still leave most of each sector unused: the step between the
    lanes is what costs."""
    stride = chunk.results[0].lane_stride_bytes
    sectors = -(-chunk.length // SECTOR_BYTES) * SECTOR_BYTES
    return isinstance(stride, int) and 2 * chunk.length < min(abs(stride), sectors)


def _fills_sectors(chunk: Chunk) -> bool:
    """Whether the chunks of the lanes leave nothing between them in any sector."""
    first, stride = chunk.results[0], chunk.results[0].lane_stride_bytes
    if stride in (chunk.length, -chunk.length):
        return True
    motion = first.motion
    places = (chunk.length, motion.offset, motion.divisor) if motion else (1,)
    return all(place % SECTOR_BYTES == 0 for place in places)


def _vector(first: int, length: int, width: int, step: int) -> int | None:
    """The widest type that takes ``length`` bytes from ``first`` on, where ``step`` moves them."""
    usable = (v for v in VECTORS if v > width)
    return next((v for v in usable if not (length % v or first % v or step % v)), None)


# --- in a loop ----------------------------------------------------------------------------------


def _loops(results: list[AccessResult]) -> Iterator[Chunk]:
    """Loops over all elements of the chunk that lies between a lane and the next."""
    for result in results:
        motion, width = result.motion, result.width_bytes
        if motion is None:
            continue
        moving = [at for at, step in enumerate(motion.loops) if step != 0]
        if not moving or motion.loops[moving[-1]] != width:
            continue
        trips, length = motion.trips[moving[-1]], result.lane_stride_bytes
        if trips is None or length not in (trips * width, -trips * width):
            continue
        length = trips * width
        vector = _vector(motion.offset, length, width, motion.start)
        if vector is not None and length <= LONGEST:
            yield Chunk((result,), length, trips, vector)


# --- side by side -------------------------------------------------------------------------------


def _neighbours(results: list[AccessResult]) -> Iterator[Chunk]:
    """Accesses under the same conditions whose addresses follow each other."""
    groups: dict[object, dict[int, list[AccessResult]]] = {}
    for result in results:
        motion = result.motion
        if motion is not None:
            here = (result.access.op, result.width_bytes, result.guards, result.loops)
            key = (motion.group, motion.loops, *here)
            groups.setdefault(key, {}).setdefault(motion.offset, []).append(result)
    for places in groups.values():
        yield from _runs(places)


def _runs(places: dict[int, list[AccessResult]]) -> Iterator[Chunk]:
    """The longest runs without a gap, as far as wider accesses can take them."""
    run: list[int] = []
    for offset in sorted(places):
        if run and offset != run[-1] + places[run[-1]][0].width_bytes:
            yield from _chunk(run, places)
            run = []
        run.append(offset)
    yield from _chunk(run, places)


def _chunk(run: list[int], places: dict[int, list[AccessResult]]) -> Iterator[Chunk]:
    first = places[run[0]][0]
    width, stride, motion = first.width_bytes, first.lane_stride_bytes, first.motion
    if motion is None or not isinstance(stride, int) or abs(stride) < len(run) * width:
        return
    for vector in VECTORS:
        inside = _aligned(run, vector, width)
        if len(inside) < max(2, MOST * len(run)) or motion.divisor % vector:
            continue
        taken = tuple(places[offset][0] for offset in inside)
        rest = (r for offset in run for r in places[offset])
        again = tuple(r for r in rest if r not in taken)
        yield Chunk(taken, len(inside) * width, len(inside), vector, again)
        return


def _aligned(run: list[int], vector: int, width: int) -> list[int]:
    """The offsets of ``run`` that whole multiples of ``vector`` bytes cover."""
    if vector <= width:
        return []
    start = -(-run[0] // vector) * vector
    end = (run[-1] + width) // vector * vector
    return [offset for offset in run if start <= offset < end]


def _example(result: AccessResult, vector: int) -> str:
    element, count = result.access.element, vector // result.width_bytes
    named = element in ("char", "short", "int", "float", "double") and count in (2, 4)
    return f", such as {element}{count}" if named else ""
