"""Which rules look at a file, and which of their findings are shown.

In: a file's text and options; later the findings of all its kernels.  Out: the findings that
remain and those that comments silence.  Rules that a comment names run even when they are not
selected, so that whether the comment is of use does not depend on the selection.
"""

from __future__ import annotations

from collections.abc import Sequence

from coalescecheck import rules
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.errors import SourceError
from coalescecheck.files import HEADERS
from coalescecheck.findings import Finding, Suppressed
from coalescecheck.frontend.reading import read_source
from coalescecheck.options import Options
from coalescecheck.rules.base import Rule
from coalescecheck.rules.unused_suppression import UnusedSuppression
from coalescecheck.suppressions import Suppressions, find_suppressions


class Judge:
    """The rules and comments of one file."""

    def __init__(self, path: str, text: str, options: Options) -> None:
        self._path = path
        self._selected = rules.select(options.select, options.ignore)
        self._whole = not options.kernels
        self._comments: dict[str, Suppressions] = {path: find_suppressions(path, text)}

    @property
    def selected(self) -> tuple[Rule, ...]:
        """The rules whose findings are shown."""
        return self._selected

    @property
    def named(self) -> tuple[Rule, ...]:
        """Further rules that a comment in the file names."""
        comments = self._comments[self._path].entries
        named = {code for entry in comments if entry.ours for code in entry.rules}
        return tuple(r for r in rules.RULES if r not in self._selected and r.code in named)

    def sorted_out(
        self, findings: Sequence[Finding], analyses: Sequence[KernelAnalysis]
    ) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
        """The findings to show, and those that comments silence."""
        kept: list[Finding] = []
        silenced: list[Suppressed] = []
        for finding in findings:
            comments = (self._at(file) for file, _ in finding.span.lines)
            gone = next((gone for each in comments if (gone := each.apply([finding])[1])), ())
            silenced += gone
            kept += () if gone else (finding,)
        codes = {rule.code for rule in self._selected}
        kept = [finding for finding in kept if finding.rule in codes]
        if self._whole and all(analysis.status == "analysed" for analysis in analyses):
            useless, accepted = self._useless(silenced, analyses)
            kept += useless
            silenced += accepted
        return (
            rules.merge(kept),
            tuple(each for each in silenced if each.finding.rule in codes),
        )

    def _at(self, file: str) -> Suppressions:
        """The comments of the file itself or of a header it includes."""
        if file not in self._comments:
            try:
                self._comments[file] = find_suppressions(file, read_source(file))
            except SourceError:
                self._comments[file] = Suppressions()
        return self._comments[file]

    def _useless(
        self, silenced: Sequence[Suppressed], analyses: Sequence[KernelAnalysis]
    ) -> tuple[list[Finding], list[Suppressed]]:
        """What is said of comments in the file, and what of that other comments silence."""
        rule = next((r for r in self._selected if isinstance(r, UnusedSuppression)), None)
        if rule is None:
            return [], []
        comments = self._comments[self._path]
        files = ((each, [file for file, _ in each.finding.span.lines]) for each in silenced)
        here = [each for each, places in files if self._path in places]
        judged = self._reached(analyses) if self._path.endswith(HEADERS) else None

        def said(by: Sequence[Suppressed]) -> list[Finding]:
            return [rule.about(p.span, p.message) for p in comments.unused(by, judged)]

        _, accepted = comments.apply(said(here))
        left, _ = comments.apply(said([*here, *accepted]))
        return list(left), list(accepted)

    def _reached(self, analyses: Sequence[KernelAnalysis]) -> set[int]:
        """The lines of the file that its own kernels use; others may be for whoever includes it."""
        spans = [analysis.span for analysis in analyses]
        spans += [result.access.span for each in analyses for result in each.accesses]
        return {span.line for span in spans if span.file == self._path}
