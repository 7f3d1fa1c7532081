"""The command: the only module that prints and that chooses an exit code.

Exit codes, the first that applies:
2 wrong usage or an unreadable file (the other files are still reported); 3 an internal error,
nothing could be analysed, or with ``--strict`` some kernel could not; 1 findings at or above
``--fail-on``, or a verification that disagrees; 0 otherwise.
"""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from coalescecheck import __version__, wording
from coalescecheck import progress as progress_bar
from coalescecheck.arch import ARCHS, DEFAULT_ARCH
from coalescecheck.command import Command
from coalescecheck.completion import A_FILE, A_FOLDER
from coalescecheck.config import Settings
from coalescecheck.config import find as find_config
from coalescecheck.config import load as load_config
from coalescecheck.errors import SourceError, UsageError
from coalescecheck.inputs import gather
from coalescecheck.isolation import Defect, isolated
from coalescecheck.options import (
    EMITS,
    THRESHOLDS,
    Options,
    check_once,
    check_together,
    parse_sweep,
)
from coalescecheck.report import FORMATS
from coalescecheck.report.model import Terminal
from coalescecheck.report.plain import one_line, plain

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from coalescecheck.report.model import Report
    from coalescecheck.source import Diagnostic

CLEAN, FINDINGS, UNUSABLE, NOT_ANALYSED = 0, 1, 2, 3
NEVER_FAIL = Options(fail_on=None)
PIPE_WIDTH = 120  # columns of a text report that goes to a file or pipe
# one run makes many small objects and few cycles: fewer collections save a seventh of its time
FEW_COLLECTIONS = (50_000, 10, 5)


def _explain(context: click.Context, option: click.Parameter, name: str | None) -> None:
    if name is None:
        return
    from coalescecheck import rules

    try:
        _print(rules.find(name).documentation())
    except UsageError as error:
        raise click.BadParameter(str(error), context, option) from None
    context.exit(CLEAN)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=A_FILE)
@click.option("--block", metavar="DIM", help="Threads per block: 256, 32x8 or 32,8,1.")
@click.option("--grid", metavar="DIM", help="Blocks per grid, written like --block.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of an integer parameter, or n=16..4096.",
)
@click.option("--assume", multiple=True, metavar="FACT", help="A fact to rely on: 'n % 32 == 0'.")
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="NAME=ARG",
    help="Argument of a template parameter: T=float.",
)
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I",
    "include_dirs",
    multiple=True,
    metavar="DIR",
    help="Look for headers here too.",
    shell_complete=A_FOLDER,
)
@click.option(
    "-p",
    "--build-dir",
    metavar="DIR",
    shell_complete=A_FOLDER,
    help="Take options of each file from DIR/compile_commands.json; all its files without PATH.",
)
@click.option(
    "--arch",
    type=click.Choice(list(ARCHS)),
    metavar="ARCH",
    default=DEFAULT_ARCH,
    show_default=True,
    help="GPU architecture.",
)
@click.option(
    "--kernel", "kernels", multiple=True, metavar="GLOB", help="Only kernels of this name."
)
@click.option(
    "--format",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@click.option(
    "--output",
    metavar="FILE",
    shell_complete=A_FILE,
    help="Write the report to FILE instead of stdout.",
)
@click.option(
    "--fail-on",
    type=click.Choice(THRESHOLDS),
    default="warning",
    show_default=True,
    help="Exit with 1 when there are findings of this severity or worse.",
)
@click.option(
    "--select", multiple=True, metavar="RULES", help="Run only these rules: CC101,CC2 or all."
)
@click.option("--ignore", multiple=True, metavar="RULES", help="Leave these rules out.")
@click.option(
    "--verify/--no-verify",
    default=True,
    help="Check each count against a simulation (default: do).",
)
@click.option("--strict", is_flag=True, help="Exit with 3 when any kernel could not be analysed.")
@click.option(
    "--emit", type=click.Choice(EMITS), help="Print the kernels as a stage sees them, no report."
)
@click.option(
    "--config",
    metavar="FILE",
    shell_complete=A_FILE,
    help="Read settings from FILE, not from the nearest project file.",
)
@click.option("--no-config", is_flag=True, help="Read no settings from files.")
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Leave these out of folders, as .gitignore."
)
@click.option(
    "--baseline",
    metavar="FILE",
    shell_complete=A_FILE,
    help="Do not show the findings recorded in FILE.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    shell_complete=A_FILE,
    help="Record all findings in FILE and exit with 0.",
)
@click.option("--since", metavar="REV", help="Show only what changed against a git revision.")
@click.option(
    "--jobs",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Processes for several files (default: one per processor).",
)
@click.option(
    "--executor",
    metavar="WHO",
    default="processes",
    show_default=True,
    help="Who does the work: processes, or dask:ADDRESS of a scheduler.",
)
@click.option(
    "--progress/--no-progress", default=True, help="Show a bar on a terminal (default: do)."
)
@click.option(
    "--cache/--no-cache", default=True, help="Reuse results of unchanged files (default: do)."
)
@click.option("--fix", is_flag=True, help="Make the proposed changes that are local edits.")
@click.option("--diff", is_flag=True, help="Print these changes as a patch, no report.")
@click.option(
    "--compare",
    metavar="OLD",
    shell_complete=A_FILE,
    help="Set PATH beside the file OLD, no report.",
)
@click.option(
    "--sweep",
    metavar="block=DIM,...",
    help="Set launches with these blocks side by side, no report.",
)
@click.option("--stats", is_flag=True, help="Print counts over all files (for a tree), no report.")
@click.option(
    "--explain",
    metavar="RULE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Describe a rule and exit.",
)
@click.version_option(__version__, prog_name="coalescecheck")
@click.pass_context
def main(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    build_dir: str | None,
    stats: bool,
    config: str | None,
    no_config: bool,
    executor: str,
    progress: bool,
    jobs: int,
    cache: bool,
    fix: bool,
    diff: bool,
    compare: str | None,
    sweep: str | None,
    **given: Any,
) -> None:
    """Count the memory traffic of CUDA kernels without a GPU.

    For every memory access of every kernel in PATH (files, folders with .cu and .cuh files, or a
    compile_commands.json): how many 32-byte sectors a warp touches, and how many wavefronts a
    shared access takes.

    \b
    Exit codes: 0 nothing at or above --fail-on, 1 findings,
    2 wrong usage or unreadable file, 3 nothing could be analysed.
    """
    gc.set_threshold(*FEW_COLLECTIONS)
    if not paths and build_dir is None:
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    try:
        settings = _settings(context, paths, config, no_config, given)
        options = settings.options
        side_by_side = compare is not None or sweep is not None
        told = {"compare": compare, "sweep": sweep, "stats": stats, "emit": options.emit}
        told |= {"fix": fix, "diff": diff, "since": options.since}
        told["write-baseline"] = options.write_baseline
        told |= {name: settings.given.get(name) for name in ("block", "format", "baseline")}
        check_together([name for name, value in told.items() if value])
        work = (
            _compared if side_by_side else _stats if stats else _emit if options.emit else _report
        )

        def done(trusting: bool) -> Outcome:
            inputs = gather(paths, settings, build_dir)
            with _workers(executor) as workers, progress_bar.shown(progress) as watch:
                doing = (jobs, cache, trusting, fix, diff, compare, sweep)
                how = How(*doing, paths, inputs.said, inputs.found, workers, watch)
                return work(inputs.files, inputs.settings, how)

        outcome = isolated("the command", lambda: done(trusting=True))
        if isinstance(outcome, Defect) and cache:  # an entry may be damaged, and look right
            outcome = isolated("the command", lambda: done(trusting=False))
        if isinstance(outcome, Defect):
            click.echo(f"internal error: {outcome.error}; please report this", err=True)
            sys.exit(NOT_ANALYSED)
        for message in outcome.messages:
            click.echo(one_line(message), err=True)
        _write(outcome.text, options.output)
    except UsageError as error:
        raise click.UsageError(one_line(str(error))) from None
    except SourceError as error:
        click.echo(one_line(f"error: {error}"), err=True)
        sys.exit(UNUSABLE)
    sys.exit(outcome.code)


class How(NamedTuple):
    """How the work is done, which no number depends on, and what is done with the fixes."""

    jobs: int
    cache: bool
    trusting: bool  # what lies in the cache already
    fix: bool
    diff: bool
    compare: str | None
    sweep: str | None
    given: tuple[str, ...]
    said: tuple[Diagnostic, ...]
    found: frozenset[str]
    executor: Executor | None
    watch: Callable[[int, int], None]

    @property
    def lost(self) -> bool:
        """Whether something given could not be read."""
        return any(each.severity == "error" for each in self.said)


class Outcome(NamedTuple):
    """What a run leaves: a text for stdout or a file, messages for stderr, an exit code."""

    text: str
    messages: list[str]
    code: int


def _settings(
    context: click.Context,
    paths: tuple[str, ...],
    config: str | None,
    no_config: bool,
    given: dict[str, Any],
) -> Settings:
    """What the command line says explicitly, over the configuration file."""
    explicit = {
        name: value
        for name, value in given.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    for option, name in (("param", "params"), ("template", "templates")):
        check_once(option, explicit.get(name, ()))
    if config is not None and no_config:
        raise UsageError("config: cannot go with --no-config")
    if config is not None:
        return Settings(load_config(config), explicit)
    return Settings(None if no_config else find_config(paths), explicit)


def _workers(executor: str) -> AbstractContextManager[Executor | None]:
    """Who does the work; None for processes of our own."""
    kind, _, address = executor.partition(":")
    if kind == "processes" and not address:
        return nullcontext()
    if kind != "dask" or not address:
        example = "dask:tcp://host:8786"
        raise UsageError(f"executor: {executor!r} is neither processes nor such as {example}")
    from coalescecheck import cluster

    return cluster.connected(address)


def _analyzed(
    paths: Sequence[str],
    options: Options,
    settings: Settings,
    how: How,
    said: Sequence[Diagnostic],
) -> Report:
    from coalescecheck import running
    from coalescecheck.cache import Cache, default_folder

    folder = default_folder() if how.cache else None
    return running.analyze(
        paths,
        options,
        settings.at,
        jobs=how.jobs,
        cache=None if folder is None else Cache(folder, reading=how.trusting),
        executor=how.executor,
        said=said,
        found=how.found,
        watch=how.watch,
    )


def _report(paths: tuple[str, ...], settings: Settings, how: How) -> Outcome:
    from coalescecheck import report

    options = settings.options
    render = report.renderer(options.format)
    if options.write_baseline is not None:  # the new file holds the old findings too
        options = replace(options, baseline=None, since=None)

    def today(options: Options) -> Report:
        return _analyzed(paths, options, settings, how, how.said)

    def analyzed() -> Report:
        if options.since is None:
            return today(options)
        from coalescecheck import since

        return since.analyze(since.Now(how.given, paths, options, settings.at, how.jobs), today)

    result, done = analyzed(), []
    if how.fix or how.diff:
        from coalescecheck import fixes

        changed, left = fixes.changes(result)
        if how.diff:
            messages = [*_messages(result), *_shown(left)]
            return Outcome(fixes.diff(changed), messages, exit_code(result, options))
        fixes.apply(changed)
        done = [f"{c.path}: {wording.plural(c.places, 'place')} changed" for c in changed]
        done += _shown(left)
        result = analyzed() if changed else result
    code = exit_code(result, options)
    messages = [*done, *_messages(result)]
    if options.write_baseline is not None:
        from coalescecheck import baseline

        _write(baseline.document(result, options.write_baseline), options.write_baseline)
        count = wording.plural(sum(1 for _ in result.findings), "finding")
        messages.append(f"{options.write_baseline}: {count} recorded")
        code = CLEAN if code == FINDINGS else code
    return Outcome(render(result, _terminal(options)), messages, code)


def _compared(paths: tuple[str, ...], settings: Settings, how: How) -> Outcome:
    """Two versions, or one under several blocks, side by side."""
    from coalescecheck.report import comparison

    blocks = [None] if how.sweep is None else [*parse_sweep(how.sweep)]
    columns, messages = [], []
    for old in (True, False) if how.compare is not None else (False,):
        read = (str(how.compare),) if old else paths
        for block in blocks:
            given = settings.given if block is None else {**settings.given, "block": block}
            there = replace(settings, given=given)
            result = _analyzed(read, there.options, there, how, () if old else how.said)
            version = "" if how.compare is None else "old" if old else "new"
            shape = "" if block is None else wording.dims(block)
            columns.append((f"{version} {shape}".strip(), result))
            messages += _messages(result)
    code = max((exit_code(each, NEVER_FAIL) for _, each in columns), default=CLEAN)
    return Outcome(comparison.render(columns), list(dict.fromkeys(messages)), code)


def _emit(paths: tuple[str, ...], settings: Settings, how: How) -> Outcome:
    from coalescecheck import pipeline

    text = pipeline.emit(paths, settings.options, settings.at)
    return Outcome(plain(text), _shown(how.said), UNUSABLE if how.lost else CLEAN)


def _stats(paths: tuple[str, ...], settings: Settings, how: How) -> Outcome:
    from coalescecheck import pipeline
    from coalescecheck.report import statistics

    counted = pipeline.statistics(paths, settings.options, settings.at, how.found, how.watch)
    code = UNUSABLE if how.lost else CLEAN
    return Outcome(statistics.render(counted), _shown(how.said), code)


def exit_code(report: Report, options: Options) -> int:
    """The exit code of a finished run, as the module's docstring ranks them."""
    statuses = report.totals.kernels.keys()
    said = (entry for file in report.files for entry in file.analysis.diagnostics)
    unread = any(entry.severity == "error" for entry in said)  # kernels that are not even listed
    lost = statuses == {"failed"} or (unread and not statuses)
    strict = options.strict and (unread or bool(statuses - {"analysed"}))
    worst = report.worst
    if any(file.unreadable for file in report.files):
        return UNUSABLE
    if report.internal_errors or lost or strict:
        return NOT_ANALYSED
    if report.disagrees:
        return FINDINGS
    if worst is not None and options.fail_on is not None and worst >= options.fail_on:
        return FINDINGS
    return CLEAN


# --- output -----------------------------------------------------------------------------------


def _messages(report: Report) -> list[str]:
    """What was said while reading the files, and the defects met."""
    of_files = (entry for file in report.files for entry in file.diagnostics)
    messages = _shown(dict.fromkeys((*report.diagnostics, *of_files)))
    messages += [str(error) for error in report.internal_errors]
    if report.since is not None:
        messages.append(f"since {report.since.revision}: fixed: {len(report.since.gone)}")
    return messages or ([] if report.totals.kernels else ["no kernels found"])


def _shown(said: Iterable[Diagnostic]) -> list[str]:
    return [
        str(entry) if entry.span.line else f"{entry.span.file}: {entry.severity}: {entry.message}"
        for entry in said
    ]


def _write(text: str, output: str | None) -> None:
    text = text.encode("utf-8", "replace").decode("utf-8")  # a file's name may be no text
    if output is None:
        _print(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None


def _print(text: str) -> None:
    """To stdout: in a terminal's own encoding, with ``?`` for what it lacks, else in UTF-8 as to
    ``--output``."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="replace")
    click.echo(text, nl=False)


def _terminal(options: Options) -> Terminal:
    """The width and colour the report may use."""
    interactive = options.output is None and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    return Terminal(width, colour=interactive and not os.environ.get("NO_COLOR"))
