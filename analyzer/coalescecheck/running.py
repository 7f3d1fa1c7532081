"""One run over many files: what is known from before, what is done by whom, and one report.

In: paths and options.  Out: a ``Report``.  The stages themselves (``pipeline``) and the
libraries they need are loaded only when some file has changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace

from coalescecheck import __version__, rules
from coalescecheck.baseline import without_known
from coalescecheck.cache import Cache
from coalescecheck.errors import UsageError
from coalescecheck.files import Exclusions, source_files
from coalescecheck.options import Options
from coalescecheck.report.model import FileReport, Report, Result, RuleInfo
from coalescecheck.source import Span

FEW_FILES = 4  # below, starting processes takes longer than they save

OptionsAt = Callable[[str], Options]
Work = tuple[str, Options]


def analyze(
    paths: Sequence[str],
    options: Options,
    at: OptionsAt | None = None,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    executor: Executor | None = None,
) -> Report:
    """Analyse every kernel of every file, and of the ``.cu`` and ``.cuh`` files of folders.

    ``at`` gives the options of each file where they are not the same for all.  The work is done
    by ``executor``, else by ``jobs`` processes (0: as many as there are processors).
    """
    chosen = rules.select(options.select, options.ignore)
    files = wanted_files(paths, options)
    work = [(path, options if at is None else at(path)) for path in files]
    with ExitStack() as stack:
        results = list(_results(work, cache, lambda left: _done(left, jobs, executor, stack)))
    reports = [result.report for result in results]
    errors = tuple(error for result in results for error in result.errors)
    if options.kernels and not any(report.analysis.kernels for report in reports):
        raise UsageError(_no_such_kernel(options, results))
    described = tuple(
        RuleInfo(r.code, r.slug, r.severity, r.summary(), r.documentation()) for r in chosen
    )
    report = Report(__version__, options.arch.name, _once(reports), errors, described)
    return report if options.baseline is None else without_known(report, options.baseline)


def wanted_files(paths: Sequence[str], options: Options) -> tuple[str, ...]:
    """The files that ``paths`` stand for under ``options``."""
    return source_files(paths, Exclusions(options.root, options.exclude))


def _results(
    work: Sequence[Work], cache: Cache | None, do: Callable[[Sequence[Work]], Iterator[Result]]
) -> Iterator[Result]:
    """The results in the order of the work: known ones, and what ``do`` makes of the others."""
    if cache is None:
        yield from do(work)
        return
    states = [cache.state(*each) for each in work]
    known = [cache.get(*each, state) for each, state in zip(work, states, strict=True)]
    fresh = do([each for each, report in zip(work, known, strict=True) if report is None])
    for each, state, report in zip(work, states, known, strict=True):
        if report is not None:
            yield Result(report)
            continue
        result = next(fresh)
        if not result.errors:
            cache.put(*each, state, result.report)
        yield result


def _done(
    work: Sequence[Work], jobs: int, executor: Executor | None, stack: ExitStack
) -> Iterator[Result]:
    """The results, in the order of the work."""
    if not work:
        return
    from coalescecheck.pipeline import analyze_file

    processes = min(jobs or len(os.sched_getaffinity(0)), len(work))
    if executor is None and processes > 1 and len(work) >= FEW_FILES:
        executor = stack.enter_context(ProcessPoolExecutor(processes))
    if executor is None:
        yield from (analyze_file(*each) for each in work)
        return
    futures = [executor.submit(analyze_file, *each) for each in work]
    for each, future in zip(work, futures, strict=True):
        try:
            yield future.result()
        except BrokenProcessPool:  # a worker was killed; its work is not lost
            yield analyze_file(*each)


def _no_such_kernel(options: Options, results: Sequence[Result]) -> str:
    wanted = ", ".join(options.kernels)
    there = ", ".join(dict.fromkeys(name for r in results for name in r.kernels)) or "none"
    return f"no kernel is called {wanted}; there are: {there}"


def _once(files: Sequence[FileReport]) -> tuple[FileReport, ...]:
    """Findings in headers that several files include stay only with the first of them."""
    seen: set[tuple[str, Span, str]] = set()
    result = []
    for file in files:
        fresh = [f for f in file.findings if (f.rule, f.span, f.message) not in seen]
        seen |= {(f.rule, f.span, f.message) for f in fresh}
        result.append(replace(file, findings=tuple(fresh)))
    return tuple(result)
