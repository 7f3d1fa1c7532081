"""One run that shows only what changed against a git revision.

In: paths and options.  Out: a ``Report`` whose findings are new or worse than at the revision,
with those that are gone and the accesses whose numbers changed.  The old files are written to a
temporary folder, with all headers of the revision, and analysed there under today's options;
files that read the same text as then are not analysed again.  A file that git does not track
counts as new.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coalescecheck import git, renames, running
from coalescecheck.analysis import FileAnalysis
from coalescecheck.baseline import Names, known_of, new_names, prints, without, without_known
from coalescecheck.cache import sources
from coalescecheck.errors import UsageError
from coalescecheck.files import SUFFIXES, Exclusions, source_files
from coalescecheck.findings import Finding
from coalescecheck.fingerprint import NO_NAMES
from coalescecheck.git import Revision
from coalescecheck.options import Options
from coalescecheck.report.comparison import changes
from coalescecheck.report.model import FileReport, Report, Since


@dataclass(frozen=True, slots=True)
class Now:
    """Today's run: the paths as ``given``, the ``files`` they stand for, and their options."""

    given: tuple[str, ...]
    files: tuple[str, ...]
    options: Options
    at: running.OptionsAt | None = None
    jobs: int = 1

    @property
    def places(self) -> list[str]:
        """The files, and the folders in which there may have been others."""
        return [*self.files, *(path for path in self.given if os.path.isdir(path))]


def analyze(now: Now, today: Callable[[Options], Report]) -> Report:
    """What ``today`` finds, reduced to what changed where ``options.since`` says so.

    ``UsageError`` where that is no revision of the repository that the paths lie in.
    """
    options, places = now.options, now.places
    revision = None if options.since is None else git.revision(_folder(places), options.since)
    if revision is None:
        return today(options)
    options, baseline = replace(options, baseline=None), options.baseline
    report = today(options)
    with tempfile.TemporaryDirectory(prefix="coalescecheck-") as folder:
        then = Path(folder).resolve()
        git.export(revision.top, revision.commit, then)
        (then / ".git").mkdir()  # the search for headers and ignore files ends here, as in `top`
        before = _Before(revision.top, then, options, now.at)
        pairs = before.pairs(report.files, before.paths(places))
        old = before.analyzed(pairs, now.jobs)
    report = _reduced(report, pairs, old, revision)
    return report if baseline is None else without_known(report, baseline)


def _folder(paths: Sequence[str]) -> str:
    """The nearest folder that exists at or above the first path."""
    place = Path(os.path.abspath(paths[0])) if paths else Path.cwd()
    return str(next((p for p in (place, *place.parents) if os.path.isdir(p)), Path.cwd()))


@dataclass(frozen=True, slots=True)
class Pair:
    """A file then and now; ``path`` is how it is called now, ``now`` is None when it is gone."""

    then: str
    path: str
    now: FileReport | None


@dataclass(frozen=True, slots=True)
class _Before:
    """The repository at ``top`` as it was, in the folder ``then``."""

    top: Path
    then: Path
    options: Options
    at: running.OptionsAt | None

    def place(self, path: str) -> str:
        """Where ``path`` is, or would be, in the folder."""
        whole = Path(os.path.abspath(path))
        if not whole.is_relative_to(self.top):
            whole = Path(os.path.realpath(whole.parent)) / whole.name
        if not whole.is_relative_to(self.top):
            raise UsageError(f"since: {path} is not in the repository {self.top}")
        return str(self.then / whole.relative_to(self.top))

    def paths(self, paths: Sequence[str]) -> dict[str, str]:
        """The files that ``paths`` stood for, and what they would be called now."""
        root = self._mapped(self.options.root)
        found: dict[str, str] = {}
        for path in paths:
            old = self.place(path)
            if not os.path.isdir(old):
                found |= {old: path} if os.path.isfile(old) else {}
                continue
            try:
                inside = source_files([old], Exclusions(root, self.options.exclude))
            except UsageError:  # none
                continue
            found |= {each: str(Path(path) / os.path.relpath(each, old)) for each in inside}
        return found

    def pairs(self, files: Sequence[FileReport], old: Mapping[str, str]) -> list[Pair]:
        """Each file of today with what it was, also under another name; and the ones gone."""
        places = {file.analysis.path: self.place(file.analysis.path) for file in files}
        new = {f.analysis.path: f.analysis.text for f in files if not _is_file(places, f)}
        places |= renames.found(new, self._gone()) if new else {}
        pairs = [
            Pair(places[file.analysis.path], file.analysis.path, file)
            for file in files
            if _is_file(places, file)
        ]
        taken = {pair.then for pair in pairs}
        gone = {then: p for then, p in old.items() if then not in taken and not os.path.exists(p)}
        return pairs + [Pair(then, path, None) for then, path in gone.items()]

    def _gone(self) -> dict[str, str]:
        """The CUDA files of the revision that are no more."""
        return {
            str(path): path.read_text(encoding="utf-8", errors="replace")
            for suffix in SUFFIXES
            for path in sorted(self.then.rglob(f"*{suffix}"))
            if path.is_file() and not os.path.exists(self.top / path.relative_to(self.then))
        }

    def analyzed(self, pairs: Sequence[Pair], jobs: int) -> dict[str, FileReport]:
        """The reports of the old files, in which every file has its name of now."""
        changed = {pair.then: pair.path for pair in pairs if not self._same(pair)}
        options = replace(self.options, kernels=())
        old = running.analyze(list(changed), options, lambda p: self._then(changed[p]), jobs=jobs)
        result = {file.analysis.path: self._renamed(file, changed) for file in old.files}
        return result | {p.then: p.now for p in pairs if p.now and p.then not in changed}

    def _same(self, pair: Pair) -> bool:
        """Whether the file and all it includes are what they were."""
        if pair.now is None or pair.now.unreadable:
            return False
        was = sources(pair.then, self._then(pair.path), self.then)
        return was is not None and was == sources(pair.path, self._now(pair.path), self.top)

    def _now(self, path: str) -> Options:
        return self.options if self.at is None else self.at(path)

    def _then(self, path: str) -> Options:
        options = self._now(path)
        return replace(
            options,
            include_dirs=tuple(map(self._mapped, options.include_dirs)),
            pre_includes=tuple(map(self._mapped, options.pre_includes)),
        )

    def _mapped(self, path: str) -> str:
        """A folder or header of the repository as it was; one that git does not know, as it is."""
        whole = Path(os.path.abspath(path))
        there = self.then / whole.relative_to(self.top) if whole.is_relative_to(self.top) else None
        return path if there is None or not os.path.exists(there) else str(there)

    def _renamed(self, file: FileReport, names: Mapping[str, str]) -> FileReport:
        def now(path: str) -> str:
            inside = Path(path).is_relative_to(self.then)
            here = str(self.top / Path(path).relative_to(self.then)) if inside else path
            return names.get(path, here)

        found = (replace(f, span=replace(f.span, file=now(f.span.file))) for f in file.findings)
        old = file.analysis
        analysis = FileAnalysis(now(old.path), old.text, old.kernels, old.diagnostics)
        return replace(file, analysis=analysis, findings=tuple(found))


def _is_file(places: Mapping[str, str], file: FileReport) -> bool:
    return os.path.isfile(places[file.analysis.path])


# --- what changed -----------------------------------------------------------------------------


def _reduced(
    report: Report, pairs: Sequence[Pair], old: Mapping[str, FileReport], revision: Revision
) -> Report:
    """Today's report without what was there before, and with what has become of that."""
    names = _renamed_kernels(pairs, old, revision.top)
    before = dict(_printed([old[pair.then] for pair in pairs], revision.top))
    now = dict(_printed(report.files, revision.top, names))
    known = {mark for mark in now.keys() & before.keys() if not _is_worse(now[mark], before[mark])}
    left = {mark: finding for mark, finding in before.items() if mark not in now}
    fresh = {mark: finding for mark, finding in now.items() if mark not in before}
    for heading in (_access, _array):
        for mark, was in _matched(fresh, left, heading):
            if heading is _access and not _is_worse(fresh[mark], left[was]):
                known.add(mark)
            del fresh[mark], left[was]
    lost = {id(finding) for finding in left.values()}
    gone = [
        finding
        for pair in pairs
        for finding in old[pair.then].findings
        if id(finding) in lost and _is_gone(finding, pair.now, report)
    ]
    changed = dict.fromkeys(
        change
        for pair in pairs
        if pair.now is not None and pair.now is not old[pair.then]
        for change in changes(old[pair.then].analysis.kernels, pair.now.analysis.kernels)
    )
    about = Since(revision.name, revision.commit, tuple(gone), tuple(changed))
    shown = without(report, lambda _, printed: printed in known, revision.top, names)
    return replace(shown, since=about)


def _renamed_kernels(pairs: Sequence[Pair], old: Mapping[str, FileReport], root: Path) -> Names:
    """The kernels of a file that had another name at the revision."""
    then = {pair.path: old[pair.then] for pair in pairs if pair.now is not None}

    def names(file: FileReport) -> Mapping[str, str]:
        was = then.get(file.analysis.path)
        return (
            NO_NAMES if was is None or was is file else new_names(file, known_of(was, root), root)
        )

    return names


def _printed(
    files: Iterable[FileReport], root: Path, names: Names = lambda _: NO_NAMES
) -> Iterator[tuple[str, Finding]]:
    for file in files:
        yield from zip(prints(file, root, names(file)), file.findings, strict=True)


def _is_worse(finding: Finding, was: Finding) -> bool:
    return (finding.severity, finding.ratio or 0.0) > (was.severity, was.ratio or 0.0)


def _matched(
    fresh: Mapping[str, Finding], left: Mapping[str, Finding], heading: Callable[[Finding], str]
) -> list[tuple[str, str]]:
    """Findings on changed lines with what they were, each once."""
    free: dict[object, list[str]] = {}
    for mark, finding in left.items():
        free.setdefault(_about(finding, heading), []).append(mark)
    found = ((mark, free.get(_about(finding, heading))) for mark, finding in fresh.items())
    return [(mark, marks.pop(0)) for mark, marks in found if marks]


def _about(finding: Finding, heading: Callable[[Finding], str]) -> object:
    return finding.rule, os.path.abspath(finding.span.file), finding.kernel, heading(finding)


def _access(finding: Finding) -> str:
    """What is said of the access before its numbers."""
    return finding.message.partition(": ")[0]


def _array(finding: Finding) -> str:
    return _access(finding).partition("[")[0]


def _is_gone(finding: Finding, now: FileReport | None, report: Report) -> bool:
    """Whether an old finding is no longer true: not when it is silenced, and not when its kernel
    can no longer be analysed."""
    if now is None:
        return True
    silenced = {(s.finding.rule, s.finding.kernel, _access(s.finding)) for s in now.suppressed}
    analysis = now.analysis
    statuses = [k.status for k in analysis.kernels if k.name == finding.kernel]
    broken = now.unreadable or any(e.file == analysis.path for e in report.internal_errors)
    unclear = any(said.severity == "error" for said in analysis.diagnostics)
    lost = any(status != "analysed" for status in statuses) if statuses else unclear
    said = (finding.rule, finding.kernel, _access(finding))
    return not (broken or lost or said in silenced)
