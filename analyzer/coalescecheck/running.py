"""One run over many files: what is known from before, what is done by whom, and one report.

In: paths and options.  Out: a ``Report``.  The stages themselves (``pipeline``) and the
libraries they need are loaded only when some file has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from coalescecheck import __version__, inclusions
from coalescecheck.arch import arch_named
from coalescecheck.cache import Cache
from coalescecheck.errors import UsageError
from coalescecheck.files import Exclusions, source_files
from coalescecheck.findings import Finding
from coalescecheck.isolation import Defect, isolated
from coalescecheck.options import Options
from coalescecheck.report.model import FileReport, Report, Result, RuleInfo
from coalescecheck.source import Diagnostic, Span
from coalescecheck.unheeded import unheeded
from coalescecheck.wording import plural

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from coalescecheck.analysis import FileAnalysis

NAMELESS = ("concise",)  # formats that describe no rules
FEW_FILES = 4  # below, starting processes takes longer than they save

OptionsAt = Callable[[str], Options]
Work = tuple[str, Options]
Watch = Callable[[int, int], None]
"""Files done, and files in all."""


def analyze(
    paths: Sequence[str],
    options: Options,
    at: OptionsAt | None = None,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    executor: Executor | None = None,
    said: Sequence[Diagnostic] = (),
    found: Collection[str] = (),
    watch: Watch = lambda done, total: None,
) -> Report:
    """Analyse every kernel of every file, and of the ``.cu`` and ``.cuh`` files of folders.

    Files that were only ``found`` in a folder are left out when others include all of them.

    ``at`` gives the options of each file where they are not the same for all.  The work is done
    by ``executor``, else by ``jobs`` processes (0: as many as there are processors).  What was
    ``said`` of the paths becomes part of the report; ``watch`` hears of every finished file.
    """
    described = _described(options)
    files, headers = inclusions.split(wanted_files(paths, options), found)
    work = [(path, options if at is None else at(path)) for path in files]
    with ExitStack() as stack:
        workers = _Workers(jobs, executor, stack)
        results = _results(work, cache, workers, watch)
        left = _unseen(headers, results)
        more = [(path, options if at is None else at(path)) for path in left]
        results += _results(more, cache, workers, watch)
        work += more
    reports = [*_unreadable(said), *(result.report for result in results)]
    errors = tuple(error for result in results for error in result.errors)
    if options.kernels and not any(report.analysis.brief.kernels for report in reports):
        raise UsageError(_no_such_kernel(options, results))
    archs = ", ".join(dict.fromkeys(each.arch.name for _, each in work)) or options.arch.name
    told = (
        *(each for each in said if each.severity != "error"),
        *unheeded(options, [report.analysis.brief for report in reports]),
        *workers.told(),
        *_cut(work),
    )
    report = Report(__version__, archs, _once(reports), errors, described, told)
    if options.baseline is None:
        return report
    from coalescecheck.baseline import without_known

    return without_known(report, options.baseline)


def _described(options: Options) -> tuple[RuleInfo, ...]:
    """The rules of the run, where anyone wants to know more than that there are such rules."""
    if options.format in NAMELESS and not options.select and not options.ignore:
        return ()
    from coalescecheck import rules

    return tuple(
        RuleInfo(r.code, r.slug, r.severity, r.summary(), r.documentation())
        for r in rules.select(options.select, options.ignore)
    )


def _cut(work: Sequence[Work]) -> Iterator[Diagnostic]:
    """What the numbers are not, on architectures that take loads apart."""
    for name in dict.fromkeys(o.arch.name for _, o in work if o.arch.lanes_per_request):
        lanes = dict(arch_named(name).lanes_per_request or ())
        message = (
            f"{name} cuts a load into requests of {lanes[4]} lanes (to 4 bytes), {lanes[8]} "
            f"(8 bytes) or {lanes[16]} (16 bytes); counts are of whole warps"
        )
        yield Diagnostic(Span("coalescecheck", 0, 0), "note", message)


def _unseen(headers: Sequence[str], results: Sequence[Result]) -> list[str]:
    """The headers with kernels that no includer has shown."""
    seen = inclusions.Seen()
    for result in results if headers else ():
        seen.add(result.report.analysis)
    return [path for path in headers if not seen.all_of(path)]


def _unreadable(said: Iterable[Diagnostic]) -> Iterator[FileReport]:
    """A report for each path that could not be used, with all that was wrong with it."""
    errors: dict[str, list[Diagnostic]] = {}
    for each in said:
        if each.severity == "error":
            errors.setdefault(each.span.file, []).append(each)
    for path, reasons in errors.items():
        from coalescecheck.analysis import FileAnalysis

        yield FileReport(FileAnalysis(path, "", (), tuple(reasons)), unreadable=True)


def wanted_files(paths: Sequence[str], options: Options) -> tuple[str, ...]:
    """The files that ``paths`` stand for under ``options``."""
    return source_files(paths, Exclusions(options.root, options.exclude))


def _results(
    work: Sequence[Work], cache: Cache | None, workers: _Workers, watch: Watch
) -> list[Result]:
    """The results in the order of the work: known ones, and what ``workers`` make of the others.

    Each is remembered as soon as it is there.
    """
    results: dict[int, Result] = {}
    states = [None if cache is None else cache.state(*each) for each in work]
    for at, each in enumerate(work):
        report = None if cache is None else cache.get(*each, states[at], partial(_again, each))
        if report is not None:
            results[at] = Result(report)
    left = [at for at in range(len(work)) if at not in results]
    watch(len(results), len(work))
    for index, result in workers.results([work[at] for at in left]):
        at = left[index]
        results[at] = result
        watch(len(results), len(work))
        if cache is not None and not result.errors:
            cache.put(*work[at], states[at], result.report)
    return [results[at] for at in range(len(work))]


def _again(work: Work) -> FileAnalysis:
    from coalescecheck.pipeline import analyze_file

    return analyze_file(*work).report.analysis


@dataclass(slots=True)
class _Workers:
    """Who does the work; what is lost with a worker is done here."""

    jobs: int
    executor: Executor | None
    stack: ExitStack
    lost: list[Defect] = field(default_factory=list)

    def results(self, work: Sequence[Work]) -> Iterator[tuple[int, Result]]:
        """Indices of the work and what came of it, as it is finished."""
        if not work:
            return
        from concurrent.futures import as_completed

        from coalescecheck.pipeline import analyze_file

        executor = self.executor or self.processes(len(work))
        if executor is None:
            yield from ((at, analyze_file(*each)) for at, each in enumerate(work))
            return
        # the largest files first, so that none of them is left for one worker at the end
        order = sorted(range(len(work)), key=lambda at: -_size(work[at][0]))
        futures: dict[Future[Result], int] = {}
        for at in order:
            future = isolated("a worker", partial(executor.submit, analyze_file, *work[at]))
            if isinstance(future, Defect):  # the executor takes no work any more
                self.lost.append(future)
                yield at, analyze_file(*work[at])
            else:
                futures[future] = at
        for future in as_completed(futures):
            at = futures[future]
            result = isolated("a worker", future.result)
            if isinstance(result, Defect):
                self.lost.append(result)
                result = analyze_file(*work[at])
            yield at, result

    def processes(self, files: int) -> Executor | None:
        """Processes of our own, where they are worth starting."""
        count = min(self.jobs or len(os.sched_getaffinity(0)), files)
        if count <= 1 or files < FEW_FILES:
            return None
        from concurrent.futures import ProcessPoolExecutor

        pool = ProcessPoolExecutor(count)
        self.stack.callback(pool.shutdown, cancel_futures=True)
        return pool

    def told(self) -> Iterator[Diagnostic]:
        """What is to be said of lost workers."""
        if self.lost:
            files = plural(len(self.lost), "file")
            why = self.lost[0].error.rpartition(" at ")[0]  # the place is not in our code
            message = f"{files} analysed again here, as a worker failed: {why}"
            yield Diagnostic(Span("coalescecheck", 0, 0), "note", message)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _no_such_kernel(options: Options, results: Sequence[Result]) -> str:
    wanted = ", ".join(options.kernels)
    there = ", ".join(dict.fromkeys(name for r in results for name in r.kernels)) or "none"
    return f"no kernel is called {wanted}; there are: {there}"


def _once(files: Sequence[FileReport]) -> tuple[FileReport, ...]:
    """Findings in headers that several files include stay only with the first of them, or with the
    first that knows a fix."""
    kept: dict[tuple[object, ...], tuple[int, bool]] = {}
    for at, file in enumerate(files):
        for finding in file.findings:
            key, fixed = _same(finding), finding.fix is not None
            if key not in kept or (fixed and not kept[key][1]):
                kept[key] = at, fixed
    return tuple(
        replace(file, findings=tuple(f for f in file.findings if kept[_same(f)][0] == at))
        for at, file in enumerate(files)
    )


def _same(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.span, finding.message, finding.related
