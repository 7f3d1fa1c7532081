"""Checks the symbolic counts against the simulation of the same kernel.

In: an ``ir.Kernel``, a launch and its symbolic results.  Out: the results with ``verified`` set,
and races the simulation saw.  Sampled blocks are simulated; the symbolic stage is asked for
exactly these blocks at the same parameter values, and every number of every access must agree:
requests, least, greatest and mean count, ideal, lines.  The general result must contain them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coalescecheck.analysis import AccessResult, Count, Race, Verified
from coalescecheck.ir.kernel import Kernel, Param, Space
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.simulate import UNDEFINED, AccessTrace, Simulation, simulate
from coalescecheck.symbolic import Summary, summarize

SAMPLE_BLOCK = Dim3(64)
SAMPLE_GRID = Dim3(3, 2, 2)
SAMPLE_VALUES = (96, 101)  # sizes that are and are not multiples of 8; both beyond a warp
SMALL_VALUE = 40  # stands in for sizes that would take too long
MAX_STEPS = 1_200  # statements executed for one sample
MAX_WORK = 250  # accesses of one thread that are simulated at the given sizes
MAX_BLOCKS = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """``accesses`` carry their verdicts; ``problems`` describe every disagreement."""

    accesses: tuple[AccessResult, ...]
    races: tuple[Race, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One concrete launch to simulate; ``reduced`` when sizes were made smaller than they are."""

    launch: Launch
    params: dict[str, int]
    blocks: tuple[tuple[int, int, int], ...]
    reduced: bool = False


def verify(kernel: Kernel, launch: Launch, params: Mapping[str, int], summary: Summary) -> Checked:
    """Simulate sampled warps of ``kernel`` and compare."""
    verdicts: dict[int, Verified] = {}
    races: dict[tuple[object, ...], Race] = {}
    problems: list[str] = []
    for sample in _samples(kernel, launch, params, summary.work > MAX_WORK):
        run = simulate(
            kernel,
            sample.launch,
            params=sample.params,
            blocks=sample.blocks,
            max_steps=MAX_STEPS,
        )
        for race in _races(kernel, run):
            races.setdefault((race.array, race.spans, race.kind), race)
        _compare(kernel, sample, run, summary.accesses, verdicts, problems)
    results = tuple(
        replace(a, verified=verdicts.get(a.access.id, Verified())) for a in summary.accesses
    )
    return Checked(results, tuple(races.values()), tuple(problems))


# --- samples ----------------------------------------------------------------------------------


def _samples(
    kernel: Kernel, launch: Launch, params: Mapping[str, int], heavy: bool
) -> list[Sample]:
    """Concrete launches: two when sizes are free, so that both sides of an alignment are seen.

    ``heavy``: known sizes would take too long and are replaced by a small one.
    """
    block = launch.block or SAMPLE_BLOCK
    grid = launch.grid or SAMPLE_GRID
    concrete = replace(launch, block=block, grid=grid, shared_bytes=launch.shared_bytes or 16384)
    free = [p for p in kernel.params if p.name not in params and p.type.is_integer]
    blocks = _blocks(grid)
    choices = SAMPLE_VALUES if free else (0,)
    known = {n: min(v, SMALL_VALUE) for n, v in params.items()} if heavy else dict(params)
    return [
        Sample(
            concrete,
            known | {p.name: _value(p, value) for p in free},
            blocks,
            reduced=known != dict(params),
        )
        for value in choices
    ]


def _value(param: Param, value: int) -> int:
    return 1 if param.type.name == "bool" else value


def _blocks(grid: Dim3) -> tuple[tuple[int, int, int], ...]:
    """The first, the last and a middle block."""
    last = (grid.x - 1, grid.y - 1, grid.z - 1)
    middle = (grid.x // 2, grid.y // 2, grid.z // 2)
    return tuple(dict.fromkeys(((0, 0, 0), middle, last)))[:MAX_BLOCKS]


# --- comparison -------------------------------------------------------------------------------


def _compare(
    kernel: Kernel,
    sample: Sample,
    run: Simulation,
    general: Sequence[AccessResult],
    verdicts: dict[int, Verified],
    problems: list[str],
) -> None:
    per_block = [
        {r.access.id: r for r in summarize(kernel, sample.launch, sample.params, b).accesses}
        for b in sample.blocks
    ]
    block = sample.launch.block or SAMPLE_BLOCK
    warps = -(-block.size // WARP_SIZE) * len(sample.blocks)
    for result in general:
        trace = run.traces[result.access.id]
        parts = [blocks[result.access.id] for blocks in per_block if result.access.id in blocks]
        if result.certainty == "unknown" or trace.any_taint & UNDEFINED:
            continue
        partly = run.blocks < len(sample.blocks)
        if partly and (sample.reduced or not trace.requests):
            continue
        problem = _disagreement(result, [] if partly else parts, trace, sample.reduced)
        before = verdicts.get(result.access.id, Verified("agrees", warps_checked=0))
        verdict = "disagrees" if problem or before.simulation == "disagrees" else "agrees"
        verdicts[result.access.id] = Verified(verdict, before.gpu, before.warps_checked + warps)
        if problem:
            at = result.access.span
            problems.append(f"{at}: {result.access.index}: {problem} (at {sample.params})")


def _disagreement(
    general: AccessResult, parts: Sequence[AccessResult], trace: AccessTrace, reduced: bool
) -> str:
    """What the two readings do not agree on, in words; empty when they agree."""
    counts = _counted(trace, general.space)
    if not trace.requests:
        expected = sum(p.requests or 0 for p in parts)
        exact = all(p.requests is not None for p in parts)
        return f"{expected} requests expected, none simulated" if exact and expected else ""
    general_count = general.wavefronts or general.sectors
    units = counts["units"]
    # printed assumptions restrict the general numbers to values the sample may not meet
    general_holds = not general.assumptions and not reduced
    if general_count is not None and general_holds and not _within(units, general_count):
        return (
            f"simulated {units.min}..{units.max}, derived {general_count.min}..{general_count.max}"
        )
    if any(part.certainty != "exact" or part.requests is None for part in parts):
        return _containment(parts, units)
    return _equality(parts, trace, counts) if parts else ""


def _within(inner: Count, outer: Count) -> bool:
    return outer.min <= inner.min and inner.max <= outer.max


def _containment(parts: Sequence[AccessResult], units: Count) -> str:
    known = [p.wavefronts or p.sectors for p in parts]
    low = min((c.min for c in known if c is not None), default=0)
    high = max((c.max for c in known if c is not None), default=0)
    if not any(known) or (units.min >= low and units.max <= high):
        return ""
    return f"simulated {units.min}..{units.max}, bounds {low}..{high}"


def _equality(parts: Sequence[AccessResult], trace: AccessTrace, counts: dict[str, Count]) -> str:
    requests = sum(p.requests or 0 for p in parts)
    if requests != trace.requests:
        return f"{trace.requests} requests simulated, {requests} derived"
    for name in ("units", "lines"):
        own = [p for p in (_named(part, name) for part in parts if part.requests) if p]
        weights = [part.requests or 0 for part in parts if part.requests]
        if not own:
            continue
        derived = Count(
            min(c.min for c in own),
            max(c.max for c in own),
            sum((c.mean or 0) * w for c, w in zip(own, weights, strict=True)) / requests,
        )
        simulated = counts[name]
        same = (derived.min, derived.max) == (simulated.min, simulated.max)
        if not same or abs((derived.mean or 0) - (simulated.mean or 0)) > 1e-6:
            return f"{name}: simulated {_text(simulated)}, derived {_text(derived)}"
    return ""


def _named(part: AccessResult, name: str) -> Count | None:
    return part.lines128 if name == "lines" else part.wavefronts or part.sectors


def _counted(trace: AccessTrace, space: str) -> dict[str, Count]:
    banked = space in (Space.SHARED.value, Space.CONSTANT.value)
    units = trace.wavefronts if banked else trace.sectors
    if not trace.requests:
        return {"units": Count(0, 0, None), "lines": Count(0, 0, None)}
    return {
        name: Count(int(v.min()), int(v.max()), float(v.mean()))
        for name, v in (("units", units), ("lines", trace.lines))
    }


def _text(count: Count) -> str:
    return f"{count.min}..{count.max} (mean {count.mean})"


def _races(kernel: Kernel, run: Simulation) -> list[Race]:
    return [
        Race(
            race.array,
            (kernel.accesses[race.first].span, kernel.accesses[race.second].span),
            race.kind,
        )
        for race in run.races
        if race.certain
    ]
