"""Races that do not come from what was made up to simulate a kernel at all.

In: runs of a kernel's samples.  Out: the races of the kernel.  Where the block or sizes are made up
or were made smaller, threads may meet that no real launch lets meet: a row of a tile is shorter
than the block, or parts of dynamic shared memory overlap.  Such a kernel is simulated again, at
sizes no smaller than the block and with other blocks; what is a race must be one in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coalescecheck.analysis import Race
from coalescecheck.exchanges import exchanged
from coalescecheck.facts import Fact
from coalescecheck.ir.constants import scalars_of
from coalescecheck.ir.expr import builtins_of
from coalescecheck.ir.kernel import Atomic, Kernel, Load, Space, Store, expressions, walk
from coalescecheck.ir.masks import masks_of
from coalescecheck.ir.origins import origins_in
from coalescecheck.ir.sources import sources_in
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.missing_barriers import missing_barriers
from coalescecheck.sampling import SAMPLE_BLOCK, Sample, samples
from coalescecheck.simulate import Race as Seen
from coalescecheck.simulate import Simulation, course_of, simulate
from coalescecheck.source import Span

MAX_STEPS = 2000  # statements executed for one more sample
PATIENCE = 200  # and of those without coming to another access
ENOUGH_SHARED = 227 << 10  # bytes: no block has more
ENOUGH_STEPS = 1000  # in all of them
SHAPES = "16x16 32x8 16x8 16x4 32x4 8x8 32x2 32x32 8x4 64x4 32x16 128x2 4x4"
# blocks that kernels are written for, by the axes that choose a place in shared memory
BLOCKS = {
    "x": [Dim3(256), Dim3(32), Dim3(128)],
    "y": [Dim3(1, y) for y in (256, 16, 4)],
    "xy": [Dim3(*map(int, shape.split("x"))) for shape in SHAPES.split()],
    "xyz": [Dim3(8, 8, 4), Dim3(4, 4, 4), Dim3(8, 8, 8), Dim3(16, 4, 4), Dim3(32, 4, 2)],
}


Meeting = tuple[Span, Span, str]  # the places of two accesses, and the kind of race
Runs = Sequence[tuple[Sample, Simulation]]


@dataclass(frozen=True, slots=True)
class Question:
    """A kernel and what is known of its launch; races that are ``expected`` are not asked for."""

    kernel: Kernel
    launch: Launch
    params: Mapping[str, int]
    facts: Mapping[str, Fact]
    expected: frozenset[Meeting] = frozenset()


def meetings(kernel: Kernel, runs: Runs) -> frozenset[Meeting]:
    """All that look like races in ``runs``."""
    return frozenset(_meeting(kernel, race) for _, run in runs for race in run.races)


def races(question: Question, runs: Runs) -> tuple[Race, ...]:
    """The races that ``runs`` show and no other run contradicts."""
    found = [
        race
        for _, run in runs
        for race in run.races
        if race.certain and _meeting(question.kernel, race) not in question.expected
        if not (
            race.same_warp
            and race.kind == "WAR"
            and exchanged(question.kernel, race.first, race.second)
        )
    ]
    if not found:
        return ()
    every = list(runs)
    if _is_made_up(question, runs):
        every, others = _tried(question, runs, found)
        found = [race for race in found if _is_settled(question, others, race)]
    if not every:
        return ()
    kept: dict[tuple[object, ...], Race] = {}
    pairs: dict[tuple[object, ...], tuple[int, int]] = {}
    always = _in_all(found, every)
    for race in (*always, *_beyond_a_warp(question, found, every)):
        one, two, kind = _meeting(question.kernel, race)
        key = (race.array, one, two, kind)
        same_warp = race.same_warp and (key not in kept or kept[key].same_warp)
        beyond = race not in always and (key not in kept or kept[key].beyond_warp)
        kept[key] = Race(race.array, (one, two), kind, same_warp, beyond)
        pairs.setdefault(key, (race.first, race.second))
    return _with_barriers(question.kernel, kept.values(), pairs.values())


def _with_barriers(
    kernel: Kernel, found: Collection[Race], pairs: Iterable[tuple[int, int]]
) -> tuple[Race, ...]:
    """The races and what would order them; those of a warp alone, and those of unknown blocks, do
    not choose where a barrier of the others belongs."""
    levels: tuple[list[tuple[int, int]], ...] = ([], [], [])
    for race, pair in zip(found, pairs, strict=True):
        if race.spans[0] != race.spans[1]:  # a barrier orders iterations, never lanes of a store
            levels[race.same_warp + 2 * race.beyond_warp].append(pair)
    barriers = missing_barriers(kernel, levels)
    return tuple(
        replace(race, barrier=barriers.get(pair)) for race, pair in zip(found, pairs, strict=True)
    )


def _in_all(found: Iterable[Seen], runs: Runs) -> list[Seen]:
    """The races that every run shows, named as every run does where one is."""
    every = [run for _, run in runs]
    shown = [race for race in found if all(_shows(run, race) for run in every)]
    sure = {_group(race) for race in shown if all(_names(run, race) for run in every)}
    return [
        race
        for race in shown
        if _group(race) not in sure or all(_names(run, race) for run in every)
    ]


def _beyond_a_warp(question: Question, found: Sequence[Seen], runs: Runs) -> list[Seen]:
    """The races of an unknown block that only those of several warps have, and all of these.

    Only of kernels that ask for the size of their block: others may be written for one warp.  Two
    writes may be to parts that are laid out for the one block that is meant.
    """
    if not _may_be_beyond(question):
        return []
    several, one = _by_size(runs)
    mine = [r for r in found if not r.same_warp and r.kind != "WAW"]
    return [
        race
        for race in _in_all(mine, several)
        if any(_reaches(run, race) for _, run in several)
        and any(_reaches(run, race) for _, run in one)
        and not any(_reaches(run, race) and _shows(run, race) for _, run in one)
    ]


def _may_be_beyond(question: Question) -> bool:
    return question.launch.block is None and any(
        name.startswith("blockDim")
        for stmt in walk(question.kernel.body)
        for expr in expressions(stmt)
        for name in builtins_of(expr)
    )


def _by_size(runs: Runs) -> tuple[Runs, Runs]:
    """The runs with blocks of several warps, and those with one."""
    sizes = [(sample.launch.block or SAMPLE_BLOCK).size for sample, _ in runs]
    several = [run for run, size in zip(runs, sizes, strict=True) if size > WARP_SIZE]
    return several, [run for run, size in zip(runs, sizes, strict=True) if size <= WARP_SIZE]


def _meeting(kernel: Kernel, race: Seen) -> Meeting:
    one, two = (kernel.accesses[access].span for access in (race.first, race.second))
    return one, two, race.kind


def _tried(
    question: Question, runs: Runs, found: Sequence[Seen]
) -> tuple[list[tuple[Sample, Simulation]], Runs]:
    """The runs that a launch may be like, with further ones until no race is left to doubt; and the
    further ones alone."""
    first = [(sample, run) for sample, run in runs if not run.out_of_bounds]
    more: list[tuple[Sample, Simulation]] = []
    several_only = _may_be_beyond(question)
    steps = 0
    for sample in _others(question):
        asked = _by_size([*first, *more])[0] if several_only else [*first, *more]
        left = [race for race in found if all(_shows(run, race) for _, run in asked)]
        if not left or steps > ENOUGH_STEPS:
            break
        run = _run(question.kernel, sample)
        steps += run.steps
        if not run.out_of_bounds:
            more.append((sample, run))
    return [*first, *more], more


def _is_settled(question: Question, others: Runs, race: Seen) -> bool:
    """Whether a further sample came to the race, or to the end without it; where the block is not
    known one with another block than the first that comes to mind."""
    return any(
        _reaches(run, race) or run.blocks == len(sample.blocks)
        for sample, run in others
        if question.launch.block is not None or sample.launch.block != SAMPLE_BLOCK
    )


def _is_made_up(question: Question, runs: Runs) -> bool:
    free = any(
        param.type.is_integer and param.name not in question.params
        for param in scalars_of(question.kernel).values()
    )
    reduced = any(sample.reduced for sample, _ in runs)
    return free or reduced or question.launch.block is None


def _others(question: Question) -> Iterator[Sample]:
    """Samples at the sizes that are known, where the block is; at sizes that are no smaller than
    the block, for blocks that the kernel may have; and with one block that covers all."""
    launch = question.launch
    if launch.block is not None:
        yield from _sized(question, launch, launch.block.size, None)
    for block in (launch.block,) if launch.block else (*_blocks(question.kernel), SAMPLE_BLOCK):
        shared = launch.shared_bytes or ENOUGH_SHARED
        concrete = replace(launch, block=block, shared_bytes=shared)
        size = -(-block.size // WARP_SIZE) * WARP_SIZE
        yield from _sized(question, concrete, size, size)
        if launch.block is None:  # a thread may have two elements of a row
            yield from _sized(question, concrete, 2 * size, 2 * size)
        if launch.grid is None:
            size = max(block.x, block.y)
            yield from _sized(question, replace(concrete, grid=Dim3(1)), size, size)


def _sized(question: Question, launch: Launch, size: int, most: int | None) -> list[Sample]:
    made = samples(question.kernel, launch, question.params, question.facts, most, (size,))
    masks = masks_of(question.kernel) - question.params.keys()
    low = (1 << (size - 1).bit_length()) - 1  # of a group of ``size`` threads
    bits = {name: question.facts.get(name, Fact()).near(low) for name in masks}
    return [replace(sample, params=sample.params | bits) for sample in made]


def _blocks(kernel: Kernel) -> Sequence[Dim3]:
    accesses = (stmt for stmt in walk(kernel.body) if isinstance(stmt, Load | Store | Atomic))
    origins = origins_in(kernel)
    shared = {name for name, array in kernel.arrays.items() if array.space is Space.SHARED}
    addresses = [s.address for s in accesses if (origins.of(s.address) or shared) & shared]
    used = sources_in(kernel).of(addresses)
    axes = "".join(axis for axis in "xyz" if f"threadIdx.{axis}" in used)
    return BLOCKS.get(axes, BLOCKS["xyz" if "z" in axes else "x"])


def _run(kernel: Kernel, sample: Sample) -> Simulation:
    return simulate(
        kernel,
        sample.launch,
        params=sample.params,
        blocks=sample.blocks,
        max_steps=MAX_STEPS,
        patience=PATIENCE,
        course=course_of(kernel),
    )


def _group(race: Seen) -> tuple[str, int, str]:
    """Which of several earlier accesses is named may hang on the order in which threads come."""
    return race.array, race.second, race.kind


def _reaches(run: Simulation, race: Seen) -> bool:
    return all(run.traces[access].requests for access in (race.first, race.second))


def _shows(run: Simulation, race: Seen) -> bool:
    """Whether the later access is in such a race in this run too, if both are reached."""
    return not _reaches(run, race) or any(_group(other) == _group(race) for other in run.races)


def _names(run: Simulation, race: Seen) -> bool:
    """Whether the run has the very race, if both accesses are reached."""
    mine = (race.first, *_group(race))
    return not _reaches(run, race) or any((o.first, *_group(o)) == mine for o in run.races)
