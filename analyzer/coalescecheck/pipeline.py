"""One file from its path to its report: every stage, in order, on one screen.

    path → frontend.load → cases_of → analyze_instance → rules.check → FileReport

``analyze_instance`` holds the stages of one kernel under one launch (lower, symbolic, simulate,
verify, advice).  What goes wrong in one kernel or file is recorded and costs only that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from time import process_time
from typing import TypeVar

from coalescecheck import frontend, inclusions, lower, rules
from coalescecheck.analysis import FileAnalysis, KernelAnalysis, Trial
from coalescecheck.edits import with_edits
from coalescecheck.errors import SourceError, UnsupportedConstruct
from coalescecheck.files import Exclusions, source_files
from coalescecheck.findings import Finding
from coalescecheck.frontend.kernel_c import KernelC, SourceFile
from coalescecheck.instance import analyze_instance, change_again
from coalescecheck.ir.dump import dump
from coalescecheck.isolation import Defect, isolated
from coalescecheck.judging import Judge
from coalescecheck.launch import Launch
from coalescecheck.launches import Case, cases_of, failing, without_effect
from coalescecheck.options import Options
from coalescecheck.report.model import FileReport, InternalError, Result
from coalescecheck.report.statistics import Statistics
from coalescecheck.sharing import reconciled
from coalescecheck.source import Diagnostic, Span

T = TypeVar("T")


def analyze_file(path: str, options: Options, unsaved: str | None = None) -> Result:
    """Every stage for one file; never raises because of what is in the file.

    ``unsaved`` is an editor's text of the file, read in place of the disk's.
    """
    run = _Run(options, unsaved)
    report = run.file(path)
    return Result(report, tuple(run.errors), tuple(run.seen))


def statistics(
    paths: Sequence[str],
    options: Options,
    at: Callable[[str], Options] | None = None,
    found: Collection[str] = (),
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Statistics:
    """Analyse like ``analyze`` but keep only counts, file by file."""
    result, seen = Statistics(), inclusions.Seen()
    files, headers = inclusions.split(_files(paths, options), found)
    for done, path in enumerate([*files, *headers]):
        watch(done, len(files) + len(headers))
        if done >= len(files) and seen.all_of(path):
            continue
        run = _Run(replace(options if at is None else at(path), ignore=("all",)))
        start = process_time()
        file = run.file(path)
        result.add(file, process_time() - start)
        seen.add(file.analysis)
        result.defects += [str(error) for error in run.errors]
    return result


def load(path: str, options: Options, unsaved: str | None = None) -> SourceFile:
    """Front end: the file's kernels as plain C."""
    return frontend.load(
        path,
        defines=options.defines,
        undefines=options.undefines,
        include_dirs=options.include_dirs,
        pre_includes=options.pre_includes,
        templates=dict(options.templates),
        arch_number=options.arch.capability,
        unsaved=unsaved,
    )


@dataclass(slots=True)
class _Run:
    """The files of one run, what went wrong in them, and the kernels seen on the way."""

    options: Options
    unsaved: str | None = None
    errors: list[InternalError] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def file(self, path: str) -> FileReport:
        try:
            source = isolated("reading", lambda: load(path, self.options, self.unsaved))
        except SourceError as error:
            return _unreadable(path, str(error))
        if isinstance(source, Defect):
            self.errors.append(InternalError(source.stage, path, "", source.error))
            return FileReport(FileAnalysis(path, "", ()))
        findings: list[Finding] = []
        wanted = self.wanted(source.kernels)
        cases = _Cases(self, source)
        rest = cache(lambda: cases.analysed([k for k in source.kernels if k not in wanted]))
        analyses = reconciled(path, source.text, cases.analysed(wanted), cases.change_again, rest)
        again, whole = partial(self.again, path), not self.options.kernels
        located = with_edits(path, source.text, analyses, again, whole=whole)
        judge = Judge(path, source.text, self.options)
        for analysis in located:
            findings += self.findings(path, analysis, judge)
        told = dict.fromkeys(failing(wanted, self.options))
        said = (*source.diagnostics, *without_effect(source, located), *told)
        analysis_of_file = FileAnalysis(path, source.text, located, said)
        kept, silenced = judge.sorted_out(rules.merge(findings), located)
        return FileReport(analysis_of_file, kept, suppressed=silenced)

    def wanted(self, kernels: Iterable[KernelC]) -> list[KernelC]:
        kernels = list(kernels)
        self.seen += [kernel.name for kernel in kernels]
        globs = self.options.kernels
        return [k for k in kernels if not globs or any(fnmatchcase(k.name, g) for g in globs)]

    def kernel(self, path: str, kernel: KernelC, case: Case) -> KernelAnalysis:
        launch, options = case.launch, replace(self.options, assume=case.assume)
        if kernel.text is None:
            why = kernel.diagnostics[0].message if kernel.diagnostics else "it could not be read"
            return _failed(kernel, launch, why, kernel.span)
        try:
            result = isolated("analysis", lambda: analyze_instance(kernel, launch, options))
        except UnsupportedConstruct as error:
            return _failed(kernel, launch, error.message, error.span)
        if isinstance(result, Defect):
            self.errors.append(InternalError(result.stage, path, kernel.name, result.error))
            return _failed(kernel, launch, f"internal error: {result.error}", kernel.span)
        return result

    def again(self, path: str, analysis: KernelAnalysis, text: str) -> KernelAnalysis | None:
        """The same kernel under the same launch in a changed ``text`` of the file."""

        def done() -> KernelAnalysis | None:
            source = load(path, self.options, text)
            for kernel in source.kernels:
                if (kernel.span, kernel.template) != (analysis.span, analysis.template):
                    continue
                for case in cases_of(kernel, source, self.options):
                    options = replace(self.options, assume=case.assume)
                    found = analyze_instance(kernel, case.launch, options)
                    if found.launch == analysis.launch:
                        return found
            return None

        return self.tried(path, analysis.name, done)

    def tried(self, path: str, kernel: str, change: Callable[[], T | None]) -> T | None:
        """What a change of the kernel gives; None where it cannot be read, and for a defect of
        ours, which is told."""
        try:
            result = isolated("analysis", change)
        except (SourceError, UnsupportedConstruct):
            return None
        if isinstance(result, Defect):
            self.errors.append(InternalError(result.stage, path, kernel, result.error))
            return None
        return result

    def findings(self, path: str, analysis: KernelAnalysis, judge: Judge) -> tuple[Finding, ...]:
        result = isolated("rules", lambda: rules.check(analysis, judge.selected, judge.named))
        if isinstance(result, Defect):
            self.errors.append(InternalError(result.stage, path, analysis.name, result.error))
            return ()
        return result


class _Cases:
    """The analyses of one file, and of what kernel under which launch each is."""

    def __init__(self, run: _Run, source: SourceFile) -> None:
        self._run, self._source = run, source
        self._of: dict[int, tuple[KernelAnalysis, KernelC, Case]] = {}  # by identity

    def analysed(self, kernels: Iterable[KernelC]) -> list[KernelAnalysis]:
        """Every launch of ``kernels``."""
        found = []
        for kernel in kernels:
            for case in cases_of(kernel, self._source, self._run.options):
                found.append(self._run.kernel(self._source.path, kernel, case))
                self._of[id(found[-1])] = found[-1], kernel, case
        return found

    def change_again(self, analysis: KernelAnalysis, change: Trial, array: str) -> Trial | None:
        """A change that helps elsewhere, made to an array of ``analysis``; None: not known."""
        _, kernel, case = self._of[id(analysis)]
        options = replace(self._run.options, assume=case.assume)

        def done() -> Trial | None:
            return change_again(kernel, case.launch, options, change, array)

        return self._run.tried(self._source.path, kernel.name, done)


def _unreadable(path: str, message: str) -> FileReport:
    diagnostic = Diagnostic(Span(path, 0, 0), "error", message)
    return FileReport(FileAnalysis(path, "", (), (diagnostic,)), unreadable=True)


def _failed(kernel: KernelC, launch: Launch, reason: str, span: Span) -> KernelAnalysis:
    told = any(d.message == reason for d in kernel.diagnostics)
    said = () if told else (Diagnostic(span, "error", f"{kernel.name}: {reason}"),)
    return KernelAnalysis(
        name=kernel.name,
        span=kernel.span,
        template=kernel.template,
        launch=launch,
        params=dict(launch.args),
        status="failed",
        reason=reason,
        diagnostics=kernel.diagnostics + said,
    )


def _files(paths: Sequence[str], options: Options) -> tuple[str, ...]:
    return source_files(paths, Exclusions(options.root, options.exclude))


# --- looking inside ---------------------------------------------------------------------------


def emit(paths: Sequence[str], options: Options, at: Callable[[str], Options] | None = None) -> str:
    """The kernels as the stage named by ``options.emit`` sees them."""
    parts = []
    for path in _files(paths, options):
        for kernel in load(path, options if at is None else at(path)).kernels:
            if options.kernels and not any(fnmatchcase(kernel.name, g) for g in options.kernels):
                continue
            parts.append(f"// {kernel.span}: {kernel.name}\n{_emitted(kernel, options)}")
    return "\n".join(parts)


def _emitted(kernel: KernelC, options: Options) -> str:
    if kernel.text is None:
        return "\n".join(f"// {said}" for said in kernel.diagnostics) + "\n"
    if options.emit == "kernel-c":
        return kernel.text
    try:
        return dump(lower.lower(kernel))
    except UnsupportedConstruct as error:
        return f"// {error.span}: {error.message}\n"
