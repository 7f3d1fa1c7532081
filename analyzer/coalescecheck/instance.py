"""The stages of one kernel instance under one launch: lower, count, verify, try changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from coalescecheck import lower
from coalescecheck.advice import Subject, again, trials
from coalescecheck.analysis import AccessResult, KernelAnalysis, Trial
from coalescecheck.arch import Arch
from coalescecheck.copies import merged
from coalescecheck.cost import relative_time
from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.facts import Fact, contradictions, parse_facts, strongest
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir.constants import scalars_of
from coalescecheck.ir.expr import builtins_of
from coalescecheck.ir.kernel import Kernel, expressions, walk
from coalescecheck.ir.types import ScalarType
from coalescecheck.launch import Dim3, Launch
from coalescecheck.lower.arith import wrap
from coalescecheck.options import Options
from coalescecheck.source import Diagnostic, Span
from coalescecheck.symbolic import Summary, summarize
from coalescecheck.totals import kernel_totals
from coalescecheck.verify import Checked, verify


def analyze_instance(kernel_c: KernelC, launch: Launch, options: Options) -> KernelAnalysis:
    """Analyse one kernel instance; UnsupportedConstruct when nothing of it can be used."""
    subject, found = _studied(kernel_c, launch, options)
    # an access that is not seen could get worse
    return replace(found, trials=trials(subject)) if found.status == "analysed" else found


def change_again(
    kernel_c: KernelC, launch: Launch, options: Options, change: Trial, array: str
) -> Trial | None:
    """A change that helps another kernel, made to ``array`` of this one; None where it cannot be
    counted.  UnsupportedConstruct as for ``analyze_instance``."""
    subject, found = _studied(kernel_c, launch, options)
    return again(subject, change, array) if found.status == "analysed" else None


def _studied(kernel_c: KernelC, launch: Launch, options: Options) -> tuple[Subject, KernelAnalysis]:
    """The kernel with its numbers, before any change is tried."""
    kernel = _lowered(kernel_c, launch)
    launch = _with_bounds(kernel_c, kernel, launch)
    if launch.assumed:
        launch = replace(launch, grid=None)  # the number of warps is not known
    params = _known(kernel, launch)
    _refuse_contradiction(kernel_c, params)
    names = set(scalars_of(kernel)) - params.keys()
    names |= {pointer for pointer, offset in launch.offsets if offset is None}
    wrong = dict(_wrong(kernel, params, options))
    facts = {n: f for n, f in parse_facts(options.assume).items() if n in names - wrong.keys()}
    summary = summarize(kernel, launch, params, facts=facts)
    checked = Checked(summary.accesses, ())
    if options.verify and not summary.reason:
        checked = verify(kernel, launch, params, facts, summary)
    if kernel_c.assumptions:
        checked = replace(checked, accesses=tuple(map(_symbolic, checked.accesses)))
    subject = Subject(
        source=kernel_c,
        kernel=kernel,
        launch=launch,
        params=params,
        facts=facts,
        accesses=checked.accesses,
        assumptions=summary.assumptions,
        meetings=checked.meetings,
        simulated=options.verify,
    )
    return subject, _analysis(subject, summary, checked, options)


def _lowered(kernel_c: KernelC, launch: Launch) -> Kernel:
    if kernel_c.text is None:
        worst = kernel_c.diagnostics[0] if kernel_c.diagnostics else None
        reason = worst.message if worst else "the kernel could not be read"
        raise UnsupportedConstruct(reason, worst.span if worst else kernel_c.span)
    return lower.lower(kernel_c, nulls=launch.nulls)


def _analysis(
    subject: Subject, summary: Summary, checked: Checked, options: Options
) -> KernelAnalysis:
    """What was found of the kernel as it is written."""
    kernel_c, kernel, launch = subject.source, subject.kernel, subject.launch
    diagnostics = (
        *_told(kernel_c, kernel, launch, summary, options.arch),
        *_not_relied_on(subject, options),
    )
    status, reason = _status(diagnostics)
    if summary.reason:
        status, reason = "partial", summary.reason
    whole = status == "analysed"
    blocks = launch.grid.size if launch.grid else None
    arch, traffic = options.arch.name, summary.array_traffic
    return KernelAnalysis(
        name=kernel_c.name,
        span=kernel_c.span,
        template=kernel_c.template,
        launch=launch,
        params=dict(subject.params),
        status=status,
        reason=reason,
        assumptions=(
            *_relied_on(options.assume, subject.facts),
            *_filled_in(launch),
            *kernel_c.assumptions,
            *strongest(summary.assumptions),
        ),
        accesses=merged(checked.accesses),
        races=checked.races,
        arrays=kernel.arrays,
        diagnostics=(*diagnostics, *_disagreements(kernel_c, checked)),
        array_traffic=traffic,
        shared_steps=summary.shared_steps,
        arch=arch,
        relative_time=relative_time(checked.accesses, traffic, blocks, arch) if whole else None,
        totals=kernel_totals(checked.accesses, complete=whole),
    )


def _told(
    kernel_c: KernelC, kernel: Kernel, launch: Launch, summary: Summary, arch: Arch
) -> Iterator[Diagnostic]:
    """All that was said on the way to the numbers."""
    yield from (*kernel_c.diagnostics, *kernel.diagnostics)
    for name, value, type_ in _integers(kernel, launch):
        if not -(1 << type_.bits - 1) <= value < 1 << type_.bits:  # -1 is for what is unsigned, too
            said = f"{name}={value} has more than {type_.bits} bits: {wrap(value, type_)} is passed"
            yield Diagnostic(kernel_c.span, "warning", said)
    for place in summary.endless:
        said = "this loop never ends: what follows it is not reached"
        yield Diagnostic(place, "warning", said)
    yield from _foreign(kernel, arch)


def _disagreements(kernel_c: KernelC, checked: Checked) -> Iterator[Diagnostic]:
    for problem in checked.problems:
        yield Diagnostic(kernel_c.span, "error", f"simulation disagrees: {problem}")


def _foreign(kernel: Kernel, arch: Arch) -> Iterator[Diagnostic]:
    """Instructions that the architecture does not have."""
    places = {access.kind: access.span for access in reversed(kernel.accesses)}
    if "ldmatrix" in places and not arch.has_ldmatrix:
        message = f"ldmatrix needs sm_75: this does not compile for {arch.name}"
        yield Diagnostic(places["ldmatrix"], "warning", message)
    if "async" in places and not arch.has_async_copy:
        message = (
            f"cp.async needs sm_80: for {arch.name} the library's functions load and store, "
            "inline assembly does not compile"
        )
        yield Diagnostic(places["async"], "warning", message)


def _refuse_contradiction(kernel_c: KernelC, params: Mapping[str, int]) -> None:
    """UnsupportedConstruct for the value of a template parameter that another specialisation is
    for than the one that was read."""
    for assumption in kernel_c.assumptions:
        pairs = [clause.split(" != ") for clause in assumption.split(" || ")]
        if all(str(params.get(name)) == value for name, value in pairs):
            options = " ".join(f"--template {name}={value}" for name, value in pairs)
            message = f"a specialisation is meant, for which {assumption} does not hold"
            raise UnsupportedConstruct(f"{message}: pass `{options}`", kernel_c.span)


def _symbolic(result: AccessResult) -> AccessResult:
    """An exact result that holds where assumptions do."""
    exact = result.certainty == "exact"
    return replace(result, certainty="exact-symbolic") if exact else result


def _filled_in(launch: Launch) -> Iterator[str]:
    """What the analysis takes the open axes of the block to be."""
    if launch.block is not None:
        sizes = dict(zip("xyz", launch.block, strict=True))
        yield from (f"blockDim.{axis} is {sizes[axis]}" for axis in launch.assumed)


def _relied_on(assume: tuple[str, ...], facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """The given facts that speak of this kernel's parameters."""
    return tuple(text for text in assume if parse_facts([text]).keys() & facts.keys())


def _wrong(
    kernel: Kernel, params: Mapping[str, int], options: Options
) -> Iterator[tuple[str, str]]:
    """The parameters of which something is said that cannot be, and why."""
    limits = {}
    for name, param in scalars_of(kernel).items():
        if param.type.is_integer:
            most = (1 << param.type.bits) - 1
            low = -(most // 2) - 1 if param.type.kind == "int" else 0
            limits[name] = Fact(low, low + most)
    return contradictions(options.assume, params, limits)


def _not_relied_on(subject: Subject, options: Options) -> Iterator[Diagnostic]:
    """What the user said of the launch that does not hold for it."""
    launch, most = subject.launch, subject.source.max_threads
    place = Span(launch.file, launch.line, launch.column) if launch.line else subject.source.span
    for _, why in _wrong(subject.kernel, subject.params, options):
        yield Diagnostic(subject.source.span, "warning", f"{why}; it is not relied on")
    if launch.block is not None and most is not None and launch.block.size > most:
        why = f"{launch.block.size} threads per block, __launch_bounds__ allows {most}"
        yield Diagnostic(place, "warning", f"this launch fails: {why}")


def _with_bounds(kernel_c: KernelC, kernel: Kernel, launch: Launch) -> Launch:
    """Without any launch, ``__launch_bounds__`` gives the block of a one-dimensional kernel."""
    if launch.block is not None or kernel_c.max_threads is None:
        return launch
    used = {name for s in walk(kernel.body) for e in expressions(s) for name in builtins_of(e)}
    if used & {"threadIdx.y", "threadIdx.z", "blockDim.y", "blockDim.z"}:
        return launch
    place = kernel_c.span
    return replace(
        launch,
        block=Dim3(kernel_c.max_threads),
        source="bounds",
        file=place.file,
        line=place.line,
    )


def _known(kernel: Kernel, launch: Launch) -> dict[str, int]:
    """The integer parameters' values, converted to their types as a call converts them."""
    return {name: wrap(value, type_) for name, value, type_ in _integers(kernel, launch)}


def _integers(kernel: Kernel, launch: Launch) -> list[tuple[str, int, ScalarType]]:
    """The arguments of the launch that are integers, with the types of their parameters."""
    types = {name: p.type for name, p in scalars_of(kernel).items() if p.type.is_integer}
    return [(name, value, types[name]) for name, value in launch.args if name in types]


def _status(diagnostics: tuple[Diagnostic, ...]) -> tuple[str, str]:
    """Partial when accesses may be missing; one that is only unknown says so itself."""
    for diagnostic in diagnostics:
        if diagnostic.severity == "error" or diagnostic.hides:
            return "partial", diagnostic.message
    return "analysed", ""
