"""Checks the symbolic counts against the simulation of the same kernel.

In: an ``ir.Kernel``, a launch and its symbolic results.  Out: the results with ``verified`` set,
and races the simulation saw.  Sampled blocks are simulated; the symbolic stage is asked for
exactly these blocks at the same parameter values, and every number of every access must agree:
requests, least, greatest and mean count, ideal, lines.  The general result must contain them; of a
kernel that takes long to read that is all that is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coalescecheck.analysis import AccessResult, Count, Race, Verified
from coalescecheck.arch import TAGS_PER_CYCLE
from coalescecheck.facts import Fact
from coalescecheck.ir.kernel import Kernel, Space
from coalescecheck.launch import WARP_SIZE, Launch
from coalescecheck.racing import Meeting, Question, meetings, races
from coalescecheck.sampling import SAMPLE_BLOCK, Sample, samples
from coalescecheck.simulate import UNDEFINED, AccessTrace, Simulation, course_of, simulate
from coalescecheck.symbolic import Summary, summarize
from coalescecheck.symbolic.fits import met_by_small_sizes

ENOUGH_STEPS = 80  # after a longer sample a second one is not simulated
SMALL_VALUE = 40  # stands in for sizes that would take too long
TINY_VALUE = 5  # and for those that still do
MAX_STEPS = 2000  # statements executed for one sample
PATIENCE = 250  # and of those without coming to another access
HEAVY = 20_000  # steps of reading a kernel from which on it is not read again for the sample
MAX_WORK = 60  # accesses of one thread that are simulated at the given sizes
TOO_LONG = "the sample takes too many statements"
NOBODY = "no lane of the sample runs it"
BANKED = (Space.SHARED.value, Space.CONSTANT.value)  # counted in wavefronts


@dataclass(frozen=True, slots=True)
class Checked:
    """``accesses`` carry their verdicts; ``problems`` describe every disagreement; ``meetings``
    are all that look like races."""

    accesses: tuple[AccessResult, ...]
    races: tuple[Race, ...]
    problems: tuple[str, ...] = ()
    meetings: frozenset[Meeting] = frozenset()


def verify(
    kernel: Kernel,
    launch: Launch,
    params: Mapping[str, int],
    facts: Mapping[str, Fact],
    summary: Summary,
    expected: frozenset[Meeting] = frozenset(),
) -> Checked:
    """Simulate sampled warps of ``kernel`` and compare; ``expected`` races are left out."""
    verdicts: dict[int, Verified] = {}
    runs: list[tuple[Sample, Simulation]] = []
    problems: list[str] = []
    steps = 0
    most = SMALL_VALUE if summary.work > MAX_WORK else None
    choices = samples(kernel, launch, params, facts, most)
    # what ends most loops soon, for accesses that are not reached
    shorter = samples(kernel, launch, params, facts, TINY_VALUE, (TINY_VALUE,))
    enough = ENOUGH_STEPS if summary.steps <= HEAVY else 0
    course = course_of(kernel)
    while choices and steps <= enough:
        sample = choices.pop(0)
        run = simulate(
            kernel,
            sample.launch,
            params=sample.params,
            blocks=sample.blocks,
            max_steps=MAX_STEPS,
            patience=PATIENCE,
            course=course,
        )
        steps += run.steps
        runs.append((sample, run))
        _compare(kernel, sample, run, summary, verdicts, problems)
        if enough and choices is not shorter and _stopped(verdicts):
            choices, steps = shorter, 0
    results = tuple(replace(a, verified=verdicts[a.access.id]) for a in summary.accesses)
    found = races(Question(kernel, launch, params, facts, expected), runs)
    return Checked(results, found, tuple(problems), meetings(kernel, runs))


def _stopped(verdicts: Mapping[int, Verified]) -> bool:
    """Whether an access was not reached because the sample was too long."""
    return any(verdict.reason == TOO_LONG for verdict in verdicts.values())


# --- comparison -------------------------------------------------------------------------------


def _compare(
    kernel: Kernel,
    sample: Sample,
    run: Simulation,
    summary: Summary,
    verdicts: dict[int, Verified],
    problems: list[str],
) -> None:
    block = sample.launch.block or SAMPLE_BLOCK
    warps = -(-block.size // WARP_SIZE) * len(sample.blocks)
    partly = run.blocks < len(sample.blocks)
    general = summary.accesses
    obstacles = {r.access.id: _obstacle(r, run, sample, partly) for r in general}
    compared = [r for r in general if not obstacles[r.access.id]]
    whole = not partly and summary.steps <= HEAVY
    derived = _derived(kernel, sample, compared) if whole else {}
    for result in general:
        trace = run.traces[result.access.id]
        own = derived.get(result.access.id)
        obstacle = obstacles[result.access.id]
        if not obstacle and not trace.requests and (own is None or own.requests is None):
            obstacle = NOBODY
        if obstacle:
            verdicts.setdefault(result.access.id, Verified(reason=obstacle))
            continue
        problem = _disagreement(result, own, trace, sample.reduced)
        before = verdicts.get(result.access.id, Verified())
        verdict = "disagrees" if problem or before.simulation == "disagrees" else "agrees"
        verdicts[result.access.id] = Verified(verdict, before.gpu, before.warps_checked + warps)
        if problem:
            at = result.access.span
            problems.append(f"{at}: {result.access.index}: {problem} (at {sample.params})")


def _obstacle(result: AccessResult, run: Simulation, sample: Sample, partly: bool) -> str:
    """Why the simulation says nothing about the access, empty if it does: sizes made up for the
    sample may lead to addresses that no real launch has."""
    trace = run.traces[result.access.id]
    if result.certainty == "unknown":
        return "nothing is said of its count"
    if result.access.id in run.invalid:
        return "made-up values lead to an address that no program may use"
    if trace.any_taint & UNDEFINED:
        return "a value that is not known decides addresses or lanes"
    if partly and (sample.reduced or not trace.requests):
        return TOO_LONG
    return ""


def _derived(
    kernel: Kernel, sample: Sample, compared: Sequence[AccessResult]
) -> dict[int, AccessResult]:
    """The symbolic results of just the simulated blocks."""
    if not compared:
        return {}
    wanted = {r.access.id for r in compared}
    again = summarize(kernel, sample.launch, sample.params, sample.blocks, texts=False, only=wanted)
    return {r.access.id: r for r in again.accesses}


def _disagreement(
    general: AccessResult, derived: AccessResult | None, trace: AccessTrace, reduced: bool
) -> str:
    """What the readings do not agree on, in words; empty when they agree.

    ``derived`` is the symbolic result for just the simulated blocks, None if the simulation did
    not finish them.
    """
    runs = derived is not None and derived.requests  # what never runs has no space
    counts = _counted(trace, derived.space if derived is not None and runs else general.space)
    if not trace.requests:
        expected = derived.requests if derived is not None else None
        return f"{expected} requests expected, none simulated" if expected else ""
    general_count = general.wavefronts or general.sectors
    units = counts["units"]
    # printed assumptions restrict the general numbers to values the sample may not meet
    general_holds = all(map(met_by_small_sizes, general.assumptions)) and not reduced
    if general_count is not None and general_holds and not _within(units, general_count):
        return (
            f"simulated {units.min}..{units.max}, derived {general_count.min}..{general_count.max}"
        )
    if derived is None:
        return ""
    if derived.certainty != "exact" or derived.requests is None:
        # printed assumptions: the sample may have warps that they leave out
        return "" if derived.assumptions else _containment(derived, counts) or _sums(derived, trace)
    return _equality(derived, trace, counts) or _sums(derived, trace)


def _within(inner: Count, outer: Count) -> bool:
    return outer.min <= inner.min and inner.max <= outer.max


def _derived_counts(derived: AccessResult) -> dict[str, Count]:
    """The counts of an access that the simulation counts as well."""
    l1 = derived.l1_wavefronts
    counts = {
        "units": derived.wavefronts or derived.sectors,
        "lines": derived.lines128,
        "L1 data": l1.data if l1 else None,
        "L1 tag": l1.tag if l1 else None,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _containment(derived: AccessResult, counts: dict[str, Count]) -> str:
    for name, bounds in _derived_counts(derived).items():
        own = counts[name]
        if not _within(own, bounds):
            return f"{name}: simulated {own.min}..{own.max}, bounds {bounds.min}..{bounds.max}"
    return ""


def _equality(derived: AccessResult, trace: AccessTrace, counts: dict[str, Count]) -> str:
    if derived.requests != trace.requests:
        return f"{trace.requests} requests simulated, {derived.requests} derived"
    for name, own in _derived_counts(derived).items():
        simulated = counts[name]
        if name != "units" and own.mean is None and _within(simulated, own):
            continue  # exact sectors from a place in its line that is not known
        same = (own.min, own.max) == (simulated.min, simulated.max)
        if not same or abs((own.mean or 0) - (simulated.mean or 0)) > 1e-6:
            return f"{name}: simulated {_text(simulated)}, derived {_text(own)}"
    return ""


def _counted(trace: AccessTrace, space: str) -> dict[str, Count]:
    columns = {
        "units": trace.wavefronts if space in BANKED else trace.sectors,
        "lines": trace.lines,
        "L1 data": trace.l1_data,
        "L1 tag": -(-trace.lines // TAGS_PER_CYCLE),
    }
    if not trace.requests:
        return dict.fromkeys(columns, Count(0, 0, None))
    return {name: Count(int(v.min()), int(v.max()), float(v.mean())) for name, v in columns.items()}


def _sums(derived: AccessResult, trace: AccessTrace) -> str:
    """The sums over all simulated requests against the derived ones."""
    totals = derived.totals
    if totals is None:
        return ""
    banked = derived.space in BANKED
    units = int((trace.wavefronts if banked else trace.sectors).sum())
    ideal = int((trace.ideal_wavefronts if banked else trace.ideal_sectors).sum())
    for name, own, total in (
        ("requests", trace.requests, totals.requests),
        ("units", units, totals.units),
        ("ideal", ideal, totals.ideal),
        ("excess", units - ideal, totals.excess),
    ):
        if own < total.min or (total.max is not None and own > total.max):
            return f"total {name}: simulated {own}, derived {total.min}..{total.max}"
    return ""


def _text(count: Count) -> str:
    return f"{count.min}..{count.max} (mean {count.mean})"
