"""The text report: what people read in a terminal, a log or a mail.

In: a ``Report`` and the width and colour of the terminal.  Out: text, without colour codes
unless the terminal takes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from itertools import groupby

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.report.excerpt import excerpt
from coalescecheck.report.model import (
    CLEAN,
    FileReport,
    Report,
    Terminal,
    excess_of,
    traffic,
)
from coalescecheck.report.plain import plain
from coalescecheck.report.tables import INDENT, access_tables, details
from coalescecheck.source import shown

COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
SOURCES = {
    "cli": "command line",
    "comment": "comment in the source",
    "config": "configuration file",
    "host": "launch in the source",
    "bounds": "__launch_bounds__",
    "assumed": "no launch found",
}
CERTAINTIES = ("exact", "exact-symbolic", "bounded", "data-dependent", "unknown")
NARROWEST = 60  # below this columns cannot hold their numbers; lines then wrap in the terminal


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The whole report as text."""
    terminal = terminal or Terminal()
    console = Console(
        file=StringIO(),
        width=max(terminal.width, NARROWEST),
        force_terminal=terminal.colour,
        color_system="standard" if terminal.colour else None,
        no_color=not terminal.colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for file in report.files:
            for part in _file(file, console.width):
                console.print(part, soft_wrap=isinstance(part, Text))
        console.print(_summary(report), soft_wrap=True)
    shown = plain(capture.get(), coloured=terminal.colour)
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


def _file(file: FileReport, width: int) -> Iterator[RenderableType]:
    for kernel in file.analysis.kernels:
        yield from _kernel(kernel, width)
    for _, group in groupby(file.findings, _explained_alike):
        yield from _findings(tuple(group), file)


# --- a kernel ---------------------------------------------------------------------------------


def _kernel(kernel: KernelAnalysis, width: int) -> Iterator[RenderableType]:
    title = Text(f"{kernel.name}{wording.template(kernel)}", "bold")
    yield title.append(f"  {kernel.span.at_line}", "dim not bold")
    yield _facts(kernel)
    for table in access_tables(kernel, width):
        yield Text()
        yield table
    notes = _notes(kernel)
    if notes is not None:
        yield Text()
        yield Padding(notes, (0, 0, 0, INDENT))
    yield Text()


def _facts(kernel: KernelAnalysis) -> RenderableType:
    """The lines under a kernel's name: what its numbers rest on."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("launch", launch_text(kernel))
    if kernel.params:
        table.add_row("params", ", ".join(f"{k}={v}" for k, v in kernel.params.items()))
    for assumption in kernel.assumptions:
        table.add_row("assuming", assumption)
    if kernel.status != "analysed":
        table.add_row(kernel.status, kernel.reason or "see the messages")
    if kernel.accesses:
        table.add_row("verified", verification_text(kernel))
    elif kernel.status == "analysed":
        table.add_row("accesses", "none")
    for at, line in enumerate(_traffic(kernel)):
        table.add_row("" if at else "total", line)
    if clean := clean_text(kernel):
        table.add_row("clean", clean)
    return Padding(table, (0, 0, 0, INDENT))


def launch_text(kernel: KernelAnalysis) -> str:
    """Block, grid and where they come from; with the file where it is not the kernel's own."""
    launch = kernel.launch
    block = f"block {wording.dims(launch.block)}" if launch.block else "block unknown"
    grid = f"grid {wording.dims(launch.grid)}" if launch.grid else "grid unknown"
    source = SOURCES.get(launch.source, launch.source)
    own = launch.file in ("", kernel.span.file)
    place = f"line {launch.line}" if own else f"{shown(launch.file)}:{launch.line}"
    return f"{block}, {grid} ({source}{f', {place}' if launch.line else ''})"


def verification_text(kernel: KernelAnalysis) -> str:
    """What the simulation says about the counts."""
    checked = [a for a in kernel.accesses if a.verified.simulation != "not-run"]
    wrong = [a for a in checked if a.verified.simulation == "disagrees"]
    if not checked:
        return "not run"
    warps = wording.plural(max(a.verified.warps_checked for a in checked), "warp")
    accesses = wording.plural(len(checked), "access")
    if wrong:
        return f"simulation DISAGREES for {len(wrong)} of {accesses} ({warps})"
    agreement = "all agree" if len(checked) == len(kernel.accesses) > 1 else "agree"
    if len(checked) == 1:
        agreement = "agrees"
    left_out = len(kernel.accesses) - len(checked)
    rest = f"; {wording.plural(left_out, 'access')} not compared" if left_out else ""
    return f"simulation: {warps} checked, {accesses} {agreement}{rest}"


def clean_text(kernel: KernelAnalysis) -> str:
    """How many accesses need no look: they cost what their bytes must; empty for none."""
    clean = [a for a in kernel.accesses if (excess_of(a) or CLEAN) < CLEAN]
    every = len(kernel.accesses)
    if len(clean) == every > 1:
        return f"all {every} accesses"
    return f"{len(clean)} of {wording.plural(every, 'access')}" if clean else ""


def _traffic(kernel: KernelAnalysis) -> Iterator[str]:
    """Sums over the launch, where every request is known; at least that much where an access may
    be missing from the list."""
    spaces: dict[str, list[AccessResult]] = {"global": [], "shared": []}
    for result in kernel.accesses:
        spaces.get(result.space, []).append(result)
    reads = traffic([a for a in spaces["global"] if a.access.op == "load"])
    writes = traffic([a for a in spaces["global"] if a.access.op != "load"])
    both = traffic(spaces["global"])
    if both is not None:
        complete = kernel.status == "analysed"
        known = complete and both.efficiency is not None
        useful = f", {wording.percent(both.efficiency or 0)} useful" if known else ""
        yield (
            f"{'' if complete else 'at least '}"
            f"{wording.number(reads.moved if reads else 0)} sectors read, "
            f"{wording.number(writes.moved if writes else 0)} written{useful}"
        )
    shared = traffic(spaces["shared"])
    if shared is not None and shared.requests:
        yield f"{wording.plural(shared.moved / shared.requests, 'wavefront')} per shared request"


def _notes(kernel: KernelAnalysis) -> Table | None:
    """Each remark once, at the first access it is about."""
    places: dict[str, list[str]] = {}
    for result in kernel.accesses:
        place = f"{result.access.span.line}:{result.access.span.column}"
        for line in details(result, kernel):
            there = places.setdefault(line, [])
            if place not in there:
                there.append(place)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    before = ""
    for line, (first, *others) in places.items():
        also = f" (also {', '.join(others)})" if others else ""
        table.add_row("" if first == before else first, f"{line}{also}")
        before = first
    return table if places else None


# --- findings and the summary -----------------------------------------------------------------


def _explained_alike(finding: Finding) -> tuple[object, ...]:
    """Findings of one line (a load and its store) share their excerpt and what is said below."""
    place = (finding.span.file, finding.span.line, finding.span.note)
    return (place, finding.reason, finding.advice, finding.fixes, finding.instances)


def _findings(alike: tuple[Finding, ...], file: FileReport) -> Iterator[RenderableType]:
    for finding in alike:
        head = Text(f"{finding.span}: ", "bold")
        head.append(str(finding.severity), COLOURS[finding.severity])
        yield head.append(f": {finding.rule} {finding.message}", "not bold")
    first = alike[0]
    lines = None
    if first.span.file == file.analysis.path:
        columns = [finding.span.column for finding in alike]
        lines = excerpt(file.analysis.text, first.span.line, columns)
    if lines is not None:
        gutter = f"{first.span.line:>6} | "
        yield Text(gutter, "dim").append(lines[0], "not dim")
        blank = " " * (len(gutter) - 2) + "| "
        yield Text(blank, "dim").append(lines[1], f"not dim {COLOURS[first.severity]}")
    yield Padding(_explanation(first), (0, 0, 1, INDENT))


def _explanation(finding: Finding) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    if finding.span.note:
        table.add_row("where", finding.span.note)
    if finding.reason:
        table.add_row("why", finding.reason)
    if finding.advice and finding.fix is None:
        table.add_row("advice", finding.advice)
    for at, fix in enumerate(finding.fixes):
        checked = "re-analysed" if fix.verified else "re-analysed, not simulated"
        said = f"{fix.description}: {fix.before} → {fix.after} ({checked})"
        table.add_row("or" if at else "fix", said)
    for at, instance in enumerate(finding.instances):
        table.add_row("" if at else "in", instance)
    return table


def _summary(report: Report) -> Text:
    totals = report.totals
    accesses = sum(totals.accesses.values())
    parts = [f"{totals.accesses[c]:,} {c}" for c in CERTAINTIES if totals.accesses[c]]
    known = f": {', '.join(parts)}" if parts else ""
    lost = totals.kernels.keys() - {"analysed"}
    found = [
        wording.plural(totals.findings[str(severity)], str(severity))
        for severity in sorted(Severity, reverse=True)
        if totals.findings[str(severity)]
    ]
    known_all = not lost and not totals.accesses["unknown"] and not report.internal_errors
    clean = "clean: nothing to report" if known_all and accesses else "no findings"
    ending = ", ".join(found) or clean
    hidden = sum(len(file.suppressed) for file in report.files)
    ending += f", {hidden} suppressed" if hidden else ""
    summary = f"{totals.kernels_text}, {wording.plural(accesses, 'access')}{known}"
    return Text(f"{summary}\n{ending} (architecture {report.arch})")
