"""Which launch configurations of a kernel are analysed.

In: what the front end found (launches, ``// coalescecheck:`` comments, launch bounds) and the
options.  Out: one or more ``Case``.  The command line wins over the comment, the comment over
the configuration file, that over the launches in the source; what one of them leaves open is taken
from the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coalescecheck.analysis import KernelAnalysis
from coalescecheck.facts import named
from coalescecheck.frontend.kernel_c import Directive, KernelC, SourceFile
from coalescecheck.launch import Dim3, Launch
from coalescecheck.options import Options
from coalescecheck.source import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class Case:
    """One launch to analyse, and the facts that may be relied on for it."""

    launch: Launch
    assume: tuple[str, ...] = ()


def cases_of(kernel: KernelC, source: SourceFile, options: Options) -> tuple[Case, ...]:
    """The distinct launches of ``kernel`` to analyse, at least one."""
    config = options.config
    said = (config.block, config.grid, config.params)
    known = [
        _overlay(_ranged(launch, config.ranges), "config", said, (config.file, 0))
        for launch in _possible(kernel)
    ]
    cases = [Case(launch) for launch in known]
    comments = directives_of(kernel, source)
    if comments:
        cases = [_commented(case, comment) for comment in comments for case in cases]
    told = (options.block, options.grid, options.params)
    unique: dict[tuple[object, ...], Case] = {}
    for case in cases:
        launch = _overlay(_ranged(case.launch, options.ranges), "cli", told, ("", 0))
        assume = case.assume + options.assume
        known_now = {*dict(launch.args), *named(assume)}
        assume += tuple(f for f in config.ranges if known_now.isdisjoint(named([f])))
        sizes = (launch.block, launch.assumed, launch.grid, launch.shared_bytes)
        key = (*sizes, launch.args, launch.offsets, launch.nulls, assume)
        unique.setdefault(key, Case(launch, assume))
    return tuple(unique.values())


def directives_of(kernel: KernelC, source: SourceFile) -> tuple[Directive, ...]:
    """The comments that speak of ``kernel``: those between it and the kernel above it.

    Several comments are several launches.
    """
    file, line = kernel.span.file, kernel.span.line
    above = [k.span.line for k in source.kernels if k.span.file == file and k.span.line < line]
    start = max(above, default=0)
    return tuple(
        directive
        for directive in source.directives
        if directive.span.file == file and start < directive.span.line <= line
    )


def failing(kernels: Iterable[KernelC], options: Options) -> Iterator[Diagnostic]:
    """A warning for each launch in the source that cannot be made as it is."""
    for kernel in kernels:
        for launch in kernel.launches:
            if launch.impossible and options.block is None:
                place = Span(launch.file, launch.line, launch.column)
                yield Diagnostic(place, "warning", f"this launch fails: {launch.impossible}")


def without_effect(source: SourceFile, analyses: Sequence[KernelAnalysis]) -> Iterator[Diagnostic]:
    """A warning for each value in a comment that no kernel it speaks of has a parameter for.

    Nothing is said where such a kernel could not be analysed: the name may be one of its own.
    """
    for comment in source.directives:
        spans = {k.span for k in source.kernels if comment in directives_of(k, source)}
        mine = [analysis for analysis in analyses if analysis.span in spans]
        if not mine or any(analysis.status == "failed" for analysis in mine):
            continue
        given = frozenset[str]().union(*(analysis.given for analysis in mine))
        for name, _ in comment.params:
            if name not in given:
                message = f"{mine[0].name} has no integer parameter called {name}"
                yield Diagnostic(comment.span, "warning", message)


def _commented(case: Case, comment: Directive) -> Case:
    said = (comment.block, comment.grid, comment.params)
    place = (comment.span.file, comment.span.line)
    return Case(_overlay(case.launch, "comment", said, place), comment.assume)


def _possible(kernel: KernelC) -> Sequence[Launch]:
    """The launches in the source, without those that fail where there are others."""
    possible = [launch for launch in kernel.launches if not launch.impossible]
    return possible or kernel.launches or (_unknown(kernel),)


def _unknown(kernel: KernelC) -> Launch:
    return Launch(None, None, "bounds" if kernel.max_threads is not None else "assumed")


def _ranged(launch: Launch, ranges: Sequence[str]) -> Launch:
    """``launch`` without the values that are to be ranges."""
    free = set(named(ranges))
    return replace(launch, args=tuple(arg for arg in launch.args if arg[0] not in free))


def _overlay(
    launch: Launch,
    source: str,
    said: tuple[Dim3 | None, Dim3 | None, tuple[tuple[str, int], ...]],
    place: tuple[str, int],
) -> Launch:
    """``launch`` with what a stronger source says about it.

    A new block makes the old grid meaningless: it was computed for another block.
    """
    block, grid, params = said
    args = tuple((dict(launch.args) | dict(params)).items())
    if block is None:
        return replace(launch, grid=grid or launch.grid, args=args)
    kept = launch.grid if block == launch.block else None
    return replace(
        launch,
        block=block,
        grid=grid or kept,
        args=args,
        assumed="",
        source=source,
        file=place[0],
        line=place[1],
        column=1,
    )
