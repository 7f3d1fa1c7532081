"""The symbolic stage: an ``ir.Kernel`` and a launch in, one AccessResult per access out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm, prod

import numpy as np

from coalescecheck.analysis import AccessResult, ArrayTraffic, Count, L1Wavefronts, Total
from coalescecheck.facts import Fact, strongest
from coalescecheck.ir.constants import scalars_of
from coalescecheck.ir.kernel import Access, Array, Kernel, Space
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.source import Span
from coalescecheck.symbolic.builtins import Geometry
from coalescecheck.symbolic.count import Counter
from coalescecheck.symbolic.fits import Fit, said, widest
from coalescecheck.symbolic.footprint import Arrays, Enumerator, Footprint
from coalescecheck.symbolic.form import Context, Form, Symbol, number
from coalescecheck.symbolic.given_up import TOO_LARGE, given_up
from coalescecheck.symbolic.interpret import Interpreter, TooLarge
from coalescecheck.symbolic.kept_pointers import kept_pointers
from coalescecheck.symbolic.lanes import Lanes, lanes_of
from coalescecheck.symbolic.measure import Target
from coalescecheck.symbolic.missing import Givable, unknown_size
from coalescecheck.symbolic.motion import Motions
from coalescecheck.symbolic.numeric import Evaluator
from coalescecheck.symbolic.outcome import Outcome, Range, no_requests
from coalescecheck.symbolic.pattern import Stride, lane_stride, pattern_name
from coalescecheck.symbolic.pieces import PieceCounter
from coalescecheck.symbolic.presumed import Presumed
from coalescecheck.symbolic.question import Question
from coalescecheck.symbolic.reach import Reach
from coalescecheck.symbolic.registers import Registers
from coalescecheck.symbolic.sample import sample_lanes
from coalescecheck.symbolic.steps import row_steps
from coalescecheck.symbolic.texts import Texts

NATURAL_SHARED_START = 4  # static shared arrays of words and wider start on a word
Traffic = tuple[Footprint | None, Total | None, Total | None]  # of one access, with the sums
ASSUMED_BLOCK = "blockDim.x is a multiple of 32"


@dataclass(frozen=True, slots=True)
class Summary:
    """The accesses of one kernel under one launch; ``reason`` is set when the kernel is too
    large to interpret (then every access is unknown).  ``work`` is about how many accesses one
    thread executes (unknown loops count once): what a simulation has to expect.
    ``steps`` are the units of work that reading it took.
    ``endless`` are loops that nothing ends: what follows them is never reached."""

    accesses: tuple[AccessResult, ...]
    assumptions: tuple[str, ...] = ()
    reason: str = ""
    work: int = 0
    steps: int = 0
    array_traffic: tuple[ArrayTraffic, ...] = ()
    shared_steps: dict[str, frozenset[int] | None] = field(default_factory=dict)
    endless: tuple[Span, ...] = ()


def summarize(
    kernel: Kernel,
    launch: Launch,
    params: Mapping[str, int],
    blocks: tuple[tuple[int, int, int], ...] | None = None,
    texts: bool = True,
    facts: Mapping[str, Fact] | None = None,
    only: Collection[int] | None = None,
    samples: bool = False,
) -> Summary:
    """Count every access of ``kernel``.

    ``params`` are the known integer parameters, ``facts`` what may be relied on for others (and
    for the addresses of pointers that are launched with an offset);
    ``blocks`` restricts the launch to some blocks; without ``texts`` nothing is written out for
    the reader, unless ``samples`` asks for the sample requests; ``only`` names the accesses
    that are wanted.  Block and grid come from
    ``launch``; an unknown block is taken to be a multiple of 32 wide (the assumption is in the
    result).
    """
    return _Reading(kernel, launch, params, blocks, texts, facts, samples, only).summary()


class _Reading:
    """A kernel that has been interpreted under one launch; its arguments are those of
    ``summarize``."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        params: Mapping[str, int],
        blocks: tuple[tuple[int, int, int], ...] | None,
        texts: bool,
        facts: Mapping[str, Fact] | None,
        samples: bool,
        only: Collection[int] | None,
    ) -> None:
        self._only = only
        self._kernel, self._texts = kernel, texts
        self._assumptions = (ASSUMED_BLOCK,) if launch.block is None else ()
        lanes = lanes_of(launch.block)
        self._ctx = ctx = Context(lambda context, form: _differs(context, lanes, form))
        geometry = Geometry(launch.block, launch.grid, launch.shared_bytes, blocks)
        self._summarizer: _Summarizer | None = None
        try:
            self._interpreter = Interpreter(kernel, ctx, geometry, params, facts or {}, only)
            reaches = self._interpreter.run()
        except (TooLarge, RecursionError):
            return
        grid = launch.grid if blocks is None else Dim3(len(blocks))
        if launch.block is None:
            grid = None  # without the number of warps there is no number of requests
        starts = {name: fact.multiple for name, fact in (facts or {}).items()}
        registers = Registers(ctx, kernel, reaches)
        self._summarizer = _Summarizer(
            kernel, replace(launch, grid=grid), ctx, lanes, texts, samples, starts, registers
        )
        self._summarizer.unsaid = tuple(self._interpreter.unsaid)

    def summary(self) -> Summary:
        """The results of all accesses that are wanted."""
        if self._summarizer is None:
            return Summary(given_up(self._kernel), reason=TOO_LARGE)
        reaches = self._interpreter.reaches
        by_access: dict[int, list[Reach]] = {}
        for reach in reaches:
            by_access.setdefault(reach.access, []).append(reach)
        counted = (
            self._summarizer.result(access, by_access.get(access.id, []))
            for access in self._kernel.accesses
            if self._only is None or access.id in self._only
        )
        shown = tuple(result for result in counted if result is not None)
        extra = dict.fromkeys(a for r in shown for a in r.assumptions)
        return Summary(
            shown,
            (*self._assumptions, *extra),
            work=sum(map(_executions, reaches)),
            steps=self._interpreter.steps,
            endless=tuple(self._interpreter.endless),
            array_traffic=self._summarizer.arrays.traffic(),
            shared_steps=row_steps(self._ctx, self._kernel.arrays, reaches) if self._texts else {},
        )


def _executions(reach: Reach) -> int:
    return prod(max(info.limit or 1, 1) for info in reach.loops)


def _differs(ctx: Context, lanes: Lanes, form: Form) -> bool:
    """Whether a form over thread indices differs within some warp."""
    values = Evaluator(ctx, _threads(ctx, lanes, form)).form(form)
    table = np.broadcast_to(values, lanes.exists.shape)
    return bool(((table != table[:, :1]) & lanes.exists).any())


def _threads(ctx: Context, lanes: Lanes, form: Form) -> dict[int, np.ndarray]:
    return {g: getattr(lanes, s.name[-1]) for g, s in ctx.symbols(form)}


class _Summarizer:
    """Turns reaches into results, access by access."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        ctx: Context,
        lanes: Lanes,
        texts: bool,
        samples: bool,
        starts: Mapping[str, int],
        registers: Registers,
    ) -> None:
        self._texts = texts
        self._samples = texts or samples
        self._kernel, self._launch, self._ctx = kernel, launch, ctx
        self._counter = Counter(ctx, lanes)
        self._said = Texts(ctx)
        unknown = frozenset(name for name, offset in launch.offsets if offset is None)
        names = frozenset(scalars_of(kernel))
        self._givable = Givable(names, unknown, kernel.unknown_types)
        self._pieces = PieceCounter(ctx, self._counter, self._said.written, launch, self._givable)
        self._enumerator = Enumerator(ctx, self._counter, launch.grid)
        self._motions = Motions(ctx, self._said.symbols)
        self._offsets = dict(launch.offsets)
        self._answers: dict[object, tuple[AccessResult, Traffic | None]] = {}
        self._registers = registers
        self._presumed = Presumed(ctx, kernel)
        self._starts = starts  # bytes that divide the addresses of pointers, where somebody says so
        self.arrays = Arrays()
        self.unsaid: tuple[Fit, ...] = ()  # what may be why code is never reached

    def result(self, access: Access, reaches: list[Reach]) -> AccessResult | None:
        """The result of one access; None for per-thread arrays that live in registers."""
        width = access.pieces[0].width if access.pieces else 0
        if not reaches:
            never = self._unknown(
                access,
                "",
                access.unresolved_space,
                width,
                "exact",
                "never runs in this launch",
                requests=0,
            )
            return self._assuming(never, self.unsaid)
        bases = [symbol for reach in reaches for symbol in self._bases(reach.address)]
        array, space, problem = self._array(bases)
        if access.kind == "texture":
            space = Space.TEXTURE
            problem = "a texture fetch: its memory layout is not documented"
        elif access.kind == "wmma":
            problem = "a wmma tile: which lane holds which part of it is not documented"
        elif access.unknown_width:
            width = 0
            problem = unknown_size(access.unknown_width, self._kernel.unknown_types)
        if problem:
            self.arrays.add(array, space.value, access.op, None, None)
            return self._unknown(access, array, space, width, "unknown", problem)
        if space is Space.LOCAL:
            if self._registers.hold(reaches):
                return None
            if constants := self._registers.undecided(reaches):
                problem = self._givable.placed(constants)
                return self._unknown(access, array, space, width, "unknown", problem)
            dynamic = self._registers.is_dynamic(reaches)
            return replace(self._counted(access, reaches, array, space), dynamic_index=dynamic)
        return self._counted(access, reaches, array, space)

    # --- where the address points -------------------------------------------------------------

    def _bases(self, address: Form) -> list[Symbol]:
        return [s for _, s in self._ctx.symbols(address) if s.kind == "base"]

    def _array(self, bases: list[Symbol]) -> tuple[str, Space, str]:
        """Name, space and, when the object is not known, why."""
        if not bases:
            return "", Space.GLOBAL, "the pointer's origin is not known"
        names = list(dict.fromkeys(s.name.split("#")[0] for s in bases))
        spaces = {
            self._kernel.arrays[s.name].space if s.name in self._kernel.arrays else Space.GLOBAL
            for s in bases
        }
        loaded = [name.lstrip("*") for name in names if name.startswith("*")]
        if len(spaces) > 1 or any(map(kept_pointers(self._kernel).may_be_near, loaded)):
            return "|".join(names), Space.GLOBAL, "the pointer may be shared or global"
        return "|".join(names), spaces.pop(), ""

    def _base_step(self, reach: Reach, width: int) -> int:
        """What divides the base address, in bytes (rule allocation-alignment)."""
        steps = []
        for symbol in self._bases(reach.address):
            array: Array | None = self._kernel.arrays.get(symbol.name)
            if array is None:
                steps.append(width)
            elif array.space is Space.SHARED:
                steps.append(max(array.align, NATURAL_SHARED_START))
            elif array.name in self._offsets:
                offset = self._offsets[array.name]
                said = lcm(max(array.element_size, 1), self._starts.get(array.name, 1))
                steps.append(256 if offset is not None else said)
            else:
                steps.append(array.align)
        return int(np.gcd.reduce(steps)) if steps else width

    def _from_start(self, address: Form) -> Form:
        """``address`` with the known byte offsets of the pointers that were passed."""
        if not self._offsets:
            return address
        moved = {
            g: Form({(g,): 1}) + number(offset)
            for g, symbol in self._ctx.symbols(address)
            if symbol.kind == "base" and (offset := self._offsets.get(symbol.name))
        }
        return self._ctx.substitute(address, moved)

    # --- counting -----------------------------------------------------------------------------

    def _counted(
        self, access: Access, reaches: list[Reach], array: str, space: Space
    ) -> AccessResult:
        """The numbers of one access; what is asked again, such as ``a[i]`` twice in one place, is
        answered once."""
        reached = [
            (r.piece, r.address, r.path, r.fits, r.turns, *map(id, r.loops)) for r in reaches
        ]
        kind = (access.op, access.kind, access.pieces, access.may_hit_l1, access.lanes_asked)
        key = (*kind, array, space, *reached)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = self._answer(access, reaches, array, space)
        result, traffic = known
        if traffic is not None:
            self.arrays.add(result.array, result.space, access.op, *traffic)
        return replace(result, access=access)

    def _answer(
        self, access: Access, reaches: list[Reach], array: str, space: Space
    ) -> tuple[AccessResult, Traffic | None]:
        """The result of one access and what it adds to its array."""
        outcome: Outcome | None = None
        questions: list[Question] = []
        for reach in reaches:
            piece = access.pieces[reach.piece]
            lanes = access.lanes_asked if space is Space.SHARED else WARP_SIZE
            target = Target(space, access.op, piece.width, access.kind, access.may_hit_l1, lanes)
            moved = replace(reach, address=self._from_start(reach.address))
            step = self._base_step(reach, piece.width)
            asked = self._pieces.question(moved, target, step)
            questions.append(asked)
            counts = self._pieces.outcome(asked)
            outcome = counts if outcome is None else outcome.joined(counts)
        if outcome is None:
            raise ValueError(access)
        question = questions[0]
        if not outcome.runs:
            never = self._unknown(
                access,
                array,
                space,
                question.target.width,
                outcome.certainty,
                "never runs in this launch",
                requests=0,
            )
            return never, None
        result = self._result(access, reaches[0], questions, outcome, array)
        result = self._relying(result, reaches, outcome, question)
        result = replace(result, assumptions=strongest(result.assumptions))
        if not self._texts:
            return result, None
        result = replace(result, motion=self._motions.of(questions))
        return self._with_footprint(result, questions)

    def _relying(
        self, result: AccessResult, reaches: list[Reach], outcome: Outcome, question: Question
    ) -> AccessResult:
        """``result`` with what its numbers take to fit; the widest bounds rely on nothing."""
        if (outcome.units.min, outcome.units.max) == (1, WARP_SIZE):
            return result
        fits = widest(self._ctx, (fit for reach in reaches for fit in reach.fits))
        return self._assuming(result, fits, self._presumed.of(reaches))

    def _assuming(
        self, result: AccessResult, fits: Collection[Fit], presumed: Sequence[str] = ()
    ) -> AccessResult:
        """``result`` as one that holds where the values fit and what is presumed holds."""
        if not fits and not presumed:
            return result
        texts = [*presumed, *(said(self._ctx, self._said.written, fits) if fits else ())]
        certainty = "exact-symbolic" if result.certainty == "exact" else result.certainty
        assumptions = tuple(dict.fromkeys((*result.assumptions, *texts)))
        return replace(result, certainty=certainty, assumptions=assumptions)

    def _with_footprint(
        self, result: AccessResult, questions: list[Question]
    ) -> tuple[AccessResult, Traffic | None]:
        """``result`` with its unique sectors, which count for its array as well."""
        if result.space != Space.GLOBAL.value:
            return result, None
        footprint = self._enumerator.of(questions)
        requested = result.totals.units if result.totals else None
        if requested and result.assumptions:
            requested = replace(requested, assumed=True)
        needed = result.totals.ideal if result.totals else None
        returns = any(map(self._repeats, questions)) or _comes_back(questions)
        if result.pattern == "broadcast" or returns:
            needed = Total(0, 0)  # served at once for all lanes, or by a register
        if footprint is not None:
            result = replace(result, unique_sectors=footprint.unique)
        return result, (footprint, requested, needed)

    def _repeats(self, question: Question) -> bool:
        """Whether a thread comes back to its addresses with each iteration of a loop."""
        moving = self._ctx.leaves(question.reach.address)
        return any(info.counter not in moving for info in question.reach.loops)

    def _result(
        self, access: Access, reach: Reach, questions: list[Question], outcome: Outcome, array: str
    ) -> AccessResult:
        question = questions[0]
        space, width = question.target.space, question.target.width
        copies = [q for q in questions if q.reach.piece == question.reach.piece]
        gathers = any(map(self._gathers, copies))
        stride = None if gathers else self._common_stride(copies)
        same = all(map(self._is_same, copies))
        banked = space in (Space.SHARED, Space.CONSTANT)
        units = _count(outcome.units, outcome.ideal, outcome.formula)
        return AccessResult(
            access=access,
            array=array,
            space=space.value,
            width_bytes=width,
            address=self._said.address(reach.address) if self._texts else None,
            lane_stride_bytes=self._said.stride(stride),
            pattern=pattern_name(stride, outcome, width, gathers, same, banked),
            certainty=outcome.certainty,
            reason=outcome.reason,
            requests=outcome.requests,
            requests_per_access=len(access.pieces),
            sectors=None if banked else units,
            lines128=None if banked else _count(outcome.lines, None, None),
            efficiency=None if banked else _efficiency(outcome),
            wavefronts=units if banked else None,
            bank_conflict_degree=outcome.degree if space is Space.SHARED else None,
            guards=self._said.guards(reach.path) if self._texts else (),
            loops=self._said.loops(reach),
            assumptions=outcome.assumptions,
            names=self._said.symbols.names,
            l1_wavefronts=_l1(question.target, outcome),
            totals=outcome.totals,
            active_lanes=_active_lanes(access, outcome),
            lanes_per_word=outcome.together
            if space is Space.SHARED and outcome.together[1]
            else None,
            sample_lanes=()
            if gathers or not self._samples
            else sample_lanes(self._counter, question),
        )

    def _is_same(self, question: Question) -> bool:
        """Whether all lanes of a warp have one address."""
        lanes = question.split.lanes
        known = not self._gathers(question) and not self._ctx.varying(lanes)
        return not lanes.terms or known

    def _common_stride(self, copies: list[Question]) -> Stride:
        """The lane step of all copies of a piece, where they have one."""
        first, *others = map(self._lane_stride, copies)
        return first if all(other == first for other in others) else None

    def _lane_stride(self, question: Question) -> Stride:
        """The lane step of the warps that are counted."""
        stride = lane_stride(self._ctx, self._counter, question.split.lanes)
        if stride is not None:
            return stride
        first, *others = (
            lane_stride(self._ctx, self._counter, each.split.lanes)
            for each in self._pieces.uncut(question)
        )
        return first if all(other == first for other in others) else None

    def _gathers(self, question: Question) -> bool:
        return any(
            s.varying and s.kind in ("data", "base")
            for _, s in self._ctx.symbols(question.split.lanes)
        )

    def _unknown(
        self,
        access: Access,
        array: str,
        space: Space,
        width: int,
        certainty: str,
        reason: str,
        requests: int | None = None,
    ) -> AccessResult:
        return AccessResult(
            access=access,
            array=array,
            space=space.value,
            width_bytes=width,
            address=None,
            lane_stride_bytes=None,
            pattern="irregular",
            certainty=certainty,
            reason=reason,
            requests=requests,
            requests_per_access=max(len(access.pieces), 1),
            totals=no_requests(certainty).totals if requests == 0 else None,
        )


def _comes_back(questions: list[Question]) -> bool:
    """Whether two iterations that are counted one by one have one address."""
    single = [(q.reach.piece, q.reach.address) for q in questions if q.reach.turns]
    return len(set(single)) < len(single)


def _count(values: Range, ideal: float | None, formula: str | None) -> Count:
    return Count(values.min, values.max, values.mean, ideal, formula)


def _active_lanes(access: Access, outcome: Outcome) -> float | None:
    widths = {piece.width for piece in access.pieces}
    if outcome.asked is None or len(widths) != 1:
        return None
    return outcome.asked / widths.pop()


def _l1(target: Target, outcome: Outcome) -> L1Wavefronts | None:
    if not target.has_l1:
        return None
    return L1Wavefronts(_count(outcome.l1_data, None, None), _count(outcome.l1_tag, None, None))


def _efficiency(outcome: Outcome) -> float | None:
    """Distinct bytes asked for over bytes moved (32 per sector): a broadcast to 32 lanes uses
    one lane's bytes of its sector."""
    if outcome.distinct is None or not outcome.units.mean:
        return None
    return min(1.0, outcome.distinct / (32 * outcome.units.mean))
