"""The results of analysing one kernel: everything a rule or a report may look at.

The fields mirror the JSON contract (``report/schema.json``); all counts are per warp-level
request unless a name says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from coalescecheck.arch import DEFAULT_ARCH
from coalescecheck.brief import Brief
from coalescecheck.facts import named
from coalescecheck.ir.kernel import Access, Array
from coalescecheck.launch import Launch
from coalescecheck.source import Diagnostic, Edit, Span

WORTHWHILE = 1.1  # a change that saves less is worth no word
KINDS = ("pad", "swizzle", "block", "swap", "vector", "layout")  # of trials, the least work first


@dataclass(frozen=True, slots=True)
class Count:
    """A number per request: over all requests of the launch, or over the reachable ones.

    ``mean`` is None where the distribution is not known.  ``ideal`` is the mean of the fewest
    that the active lanes' distinct bytes could need, without a distribution the greatest (None
    for 128-byte lines).  ``formula`` is
    a SymPy string, None where there is none.
    """

    min: int
    max: int
    mean: float | None
    ideal: float | None = None
    formula: str | None = None


@dataclass(frozen=True, slots=True)
class L1Wavefronts:
    """What a request costs that finds all its data in the L1 cache: cycles of the stage that
    reads ``data`` through the banks, and of the one that compares a ``tag`` per line."""

    data: Count
    tag: Count


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over all requests of a launch, between two integers; ``max`` None: no bound known.

    ``assumed``: only where the printed assumptions hold.
    """

    min: int
    max: int | None
    assumed: bool = False

    @property
    def exact(self) -> int | None:
        """The sum, where it is known."""
        return self.min if self.min == self.max and not self.assumed else None

    def __add__(self, other: Total) -> Total:
        most = None if self.max is None or other.max is None else self.max + other.max
        return Total(self.min + other.min, most, self.assumed or other.assumed)

    def joined(self, other: Total) -> Total:
        """A sum that is one of the two."""
        most = None if self.max is None or other.max is None else max(self.max, other.max)
        return Total(min(self.min, other.min), most, self.assumed or other.assumed)


@dataclass(frozen=True, slots=True)
class AccessTotals:
    """An access over a whole launch: requests; sectors or wavefronts (``units``); what the
    accesses' bytes need at least (``ideal``) and what is beyond it (``excess``)."""

    requests: Total
    units: Total
    ideal: Total
    excess: Total


@dataclass(frozen=True, slots=True)
class KernelTotals:
    """A whole launch of a kernel.  ``global_sectors`` are those of loads, stores and atomics
    together; ``shared_bank_conflicts`` the wavefronts beyond one per phase."""

    global_requests: Total
    global_sectors: Total
    global_load_sectors: Total
    global_store_sectors: Total
    global_atomic_sectors: Total
    shared_requests: Total
    shared_wavefronts: Total
    shared_bank_conflicts: Total


@dataclass(frozen=True, slots=True)
class UniqueSectors:
    """Different sectors that are touched: by one ``block`` (all its warps and iterations; the
    mean of the first, a middle and the last block), by the ``launch`` (None: too many to list)."""

    block: float
    launch: int | None


@dataclass(frozen=True, slots=True)
class Motion:
    """How an address moves, in bytes, when one index goes up by one and all else stays.

    ``threads``: threadIdx.x, y and z; ``loops``: one more iteration of each loop around, outermost
    first, of which there are at most ``trips`` (None: not known).  A step is an int, a SymPy
    string, or None where it is not one value.  Addresses of one ``group`` differ by their
    ``offset`` only (bytes from the start of the array); ``divisor`` divides all of an address but
    the offset, ``start`` also leaves out what the innermost loop that moves the address adds.
    """

    threads: tuple[int | str | None, int | str | None, int | str | None]
    loops: tuple[int | str | None, ...]
    trips: tuple[int | None, ...]
    offset: int
    group: int
    divisor: int
    start: int


@dataclass(frozen=True, slots=True)
class Touched:
    """Different aligned pieces of 32, 64 and 128 bytes that a block touches, in the mean of the
    sampled blocks."""

    sectors: float
    pairs: float
    lines: float


@dataclass(frozen=True, slots=True)
class ArrayTraffic:
    """All accesses of one global array: the sectors that warps request over the launch, and the
    different ones among them.  None where an address is not known.  ``needed`` is the part of
    the loads whose lanes and iterations all differ in their addresses, in the fewest sectors of
    each request."""

    name: str
    requested: Total
    unique: UniqueSectors | None
    reads: Touched | None
    writes: Touched | None
    needed: Total = Total(0, None)


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """How many times longer than the same traffic perfectly arranged the memory traffic of a
    launch takes at most, by the model of ``cost`` for the GPU named: it ranks, it predicts no
    time."""

    gpu: str
    up_to: float


@dataclass(frozen=True, slots=True)
class Verified:
    """``agrees``, ``disagrees`` or ``not-run`` for each independent reading; ``reason`` says why
    nothing was compared with the simulation."""

    simulation: str = "not-run"
    gpu: str = "not-run"
    warps_checked: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AccessResult:
    """What is known of one access under one launch configuration.

    ``certainty``: exact | exact-symbolic | bounded | data-dependent | unknown.
    ``pattern``: coalesced | misaligned | strided | broadcast | gather | irregular.
    ``sectors``/``lines128`` are set for global (and local) space, ``wavefronts`` for shared and
    constant.  ``lane_stride_bytes`` is the distance of neighbouring lanes where it is one value
    (an int) or one expression (a SymPy string).  ``efficiency`` is the share of the moved bytes
    that lanes ask for: what several ask for counts once, so it is at most 1.
    ``requests`` is the number of warp-level requests of the launch, None when it is not known.
    ``sample_lanes`` is one representative request: the byte offset of each of the 32 lanes from
    the start of the array (up to a move of all lanes that changes no count where a parameter is
    not known), None for a lane that does not run; empty where the addresses are not known.
    ``l1_wavefronts`` is set for global loads that L1 may serve.  ``totals`` are sums over the
    launch, None where nothing is known of them.  ``unique_sectors`` is set for global accesses
    whose addresses are all known.  ``motion`` tells why the pattern is what it is; None where
    the access has several.  ``active_lanes`` is the mean number of lanes that run it,
    None where it is not known.  ``lanes_per_word`` is set for shared atomics: the most lanes of a
    request on one word, least and greatest over the requests.  ``dynamic_index`` tells of local
    accesses whether their own index keeps the array out of registers.  ``names`` are the source's
    names of symbols that SymPy's syntax has to write otherwise: ``{"p_n": "p.n"}``.
    """

    access: Access
    array: str
    space: str
    width_bytes: int
    address: str | None
    lane_stride_bytes: int | str | None
    pattern: str
    certainty: str
    reason: str = ""
    requests: int | None = None
    requests_per_access: int = 1
    sectors: Count | None = None
    lines128: Count | None = None
    efficiency: float | None = None
    wavefronts: Count | None = None
    bank_conflict_degree: tuple[int, int] | None = None
    guards: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    verified: Verified = Verified()
    sample_lanes: tuple[int | None, ...] = ()
    l1_wavefronts: L1Wavefronts | None = None
    totals: AccessTotals | None = None
    unique_sectors: UniqueSectors | None = None
    motion: Motion | None = None
    active_lanes: float | None = None
    lanes_per_word: tuple[int, int] | None = None
    dynamic_index: bool = False
    names: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Barrier:
    """A missing one, behind the access at ``after`` and ahead of that at ``before``; ``again``
    where a loop goes round in between.  One of the two is None where it has to be in the loop
    around the other, beside that."""

    after: Span | None
    before: Span | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Race:
    """Two threads of a block touch one location, one writes, and no barrier is between;
    ``same_warp`` where only lanes of one warp meet, ``beyond_warp`` where it takes a block, whose
    size is not known, of more than one warp.  ``barrier`` would order them, and others that have
    the same; None where none can."""

    array: str
    spans: tuple[Span, Span]
    kind: str  # RAW | WAR | WAW
    same_warp: bool = False
    beyond_warp: bool = False
    barrier: Barrier | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A change of a kernel or its launch, made in the model and analysed again.

    ``kind``: pad | swizzle | block | swap | vector | layout, on the ``array`` named (empty: the
    whole kernel).  ``change`` completes "32 → 1 wavefronts with ..."; ``description`` says what to
    do.  ``before`` and ``after`` map ids of all accesses the change may touch to sectors or
    wavefronts per request (the mean, or the maximum where there is no mean); accesses that become
    one share the sum of theirs.  ``at_most`` are the ids whose ``after`` is such a maximum,
    ``assumptions`` what only the new numbers rely on.  ``lanes_after`` is the sample request after
    the change.  ``amount`` is the number of elements a pad adds, ``operand`` what a swizzle
    combines a column with, as C of the row ``r``; ``in_rows`` tells that every access of the array
    certainly stays in its row; ``simulated`` that a simulation of the change agrees with all of
    ``after``; ``edit`` is the change of the source, where it is a local one.
    """

    kind: str
    array: str
    change: str
    description: str
    before: dict[int, float]
    after: dict[int, float]
    lanes_after: dict[int, tuple[int | None, ...]] = field(default_factory=dict)
    at_most: frozenset[int] = frozenset()
    assumptions: tuple[str, ...] = ()
    amount: int = 0
    operand: str = ""
    in_rows: bool = False
    simulated: bool = False
    edit: Edit | None = None

    @property
    def harms(self) -> bool:
        """An access gets worse."""
        return any(self.after[i] > self.before[i] for i in self.before)

    @property
    def helps(self) -> bool:
        """No access gets worse and at least one gets better."""
        return not self.harms and any(self.after[i] < self.before[i] for i in self.before)

    def helps_with(self, access: int) -> bool:
        """Whether it is worth proposing for one access: a tenth of its cost goes, or more."""
        cost = self.before.get(access, 0)
        return cost > 0 and self.helps and cost >= WORTHWHILE * self.after[access]


@dataclass(frozen=True, slots=True)
class KernelAnalysis:
    """One kernel instance under one launch configuration.

    ``status``: analysed (every access was reached and counted or explained), partial (some
    construct or access was lost; ``diagnostics`` say which) or failed (``reason``).
    ``totals`` is None for a kernel that failed.  ``shared_steps`` are the distances in bytes by
    which an index moves the accesses of each shared array with rows, None where one of them is
    not known, or where another kernel with the array may move by its rows.  ``arch`` is the
    architecture it was analysed for (``sm_80``).
    """

    name: str
    span: Span
    template: dict[str, str]
    launch: Launch
    params: dict[str, int]
    status: str
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    accesses: tuple[AccessResult, ...] = ()
    races: tuple[Race, ...] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    trials: tuple[Trial, ...] = ()
    totals: KernelTotals | None = None
    array_traffic: tuple[ArrayTraffic, ...] = ()
    relative_time: RelativeTime | None = None
    shared_steps: dict[str, frozenset[int] | None] = field(default_factory=dict)
    arch: str = DEFAULT_ARCH
    diagnostics: tuple[Diagnostic, ...] = ()

    def proposals(self, result: AccessResult) -> tuple[Trial, ...]:
        """The trials that help with one access, the best of each kind; what leaves least first."""
        here = result.access.id
        best: dict[str, Trial] = {}
        for trial in self.trials:
            known = best.get(trial.kind)
            if trial.helps_with(here) and (known is None or _rank(trial) < _rank(known)):
                best[trial.kind] = trial
        return tuple(
            sorted(
                best.values(),
                key=lambda t: (round(t.after[here] / t.before[here], 3), KINDS.index(t.kind)),
            )
        )

    @property
    def given(self) -> frozenset[str]:
        """The parameters and template parameters with a known value, or of which something is
        assumed."""
        return frozenset((*self.params, *self.template, *named(self.assumptions)))


def _rank(trial: Trial) -> tuple[float, int]:
    return sum(trial.after.values()), trial.amount


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """One source file: its kernels' analyses and what was said while reading it."""

    path: str
    text: str
    kernels: tuple[KernelAnalysis, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def brief(self) -> Brief:
        """What the totals of a run need of it."""
        accesses = [access for kernel in self.kernels for access in kernel.accesses]
        of_kernels = (said for kernel in self.kernels for said in kernel.diagnostics)
        return Brief(
            tuple(kernel.status for kernel in self.kernels),
            dict(Counter(access.certainty for access in accesses)),
            any("disagrees" in (a.verified.simulation, a.verified.gpu) for a in accesses),
            tuple(dict.fromkeys((*self.diagnostics, *of_kernels))),
            frozenset(name for kernel in self.kernels for name in kernel.given),
        )
