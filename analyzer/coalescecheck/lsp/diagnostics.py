"""Findings and messages as the marks an editor shows in the text.

In: an analysed document.  Out: diagnostics of this document.  What lies in a header is shown
where this file leads to it, with a link to the place itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.errors import SourceError
from coalescecheck.findings import Finding, Related, Severity
from coalescecheck.frontend.reading import read_source
from coalescecheck.lsp.places import Places
from coalescecheck.lsp.session import Analysed
from coalescecheck.report.model import FileReport
from coalescecheck.report.text import launch_text
from coalescecheck.source import Diagnostic, Span

SOURCE = "coalescecheck"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
# of what could not be used; never Error, because the code may be right and the limit ours
MESSAGES = {
    "error": types.DiagnosticSeverity.Warning,
    "warning": types.DiagnosticSeverity.Information,
    "note": types.DiagnosticSeverity.Information,
}
INCLUDE = re.compile(r"""\s*#\s*include\s*["<]([^">]*)[">]""")


def diagnostics(analysed: Analysed, codec: PositionCodec) -> list[types.Diagnostic]:
    """Everything to show in the document, each once."""
    made = _Maker(analysed, codec)
    found = [made.finding(finding) for finding in analysed.reply.report.findings]
    found += [made.message(said) for said in analysed.reply.report.diagnostics]
    found += [made.problem(problem) for problem in analysed.reply.problems]
    unique = {(str(d.range), d.code, d.message): d for d in found}
    return list(unique.values())


class _Maker:
    """Makes the diagnostics of one document."""

    def __init__(self, analysed: Analysed, codec: PositionCodec) -> None:
        self._uri = analysed.document.uri
        self._path = analysed.document.path
        self._report: FileReport = analysed.reply.report
        self._codec = codec
        self._places = Places(analysed.document.text, codec)
        self._headers: dict[str, Places] = {}

    def finding(self, finding: Finding) -> types.Diagnostic:
        kernel = self._kernel(finding)
        span, elsewhere = self._here(finding.span, kernel, finding.access)
        related = [*elsewhere, *_related(finding, kernel)]
        return types.Diagnostic(
            range=self._places.expression(span),
            severity=SEVERITIES[finding.severity],
            code=finding.rule,
            source=SOURCE,
            message=_abroad(elsewhere) + _text(finding),
            related_information=[self._linked(each) for each in related if each.span.line],
        )

    def message(self, said: Diagnostic) -> types.Diagnostic:
        span, elsewhere = self._here(said.span, None, None)
        return types.Diagnostic(
            range=self._places.expression(span) if span.line else self._places.whole(1),
            severity=MESSAGES.get(said.severity, types.DiagnosticSeverity.Information),
            source=SOURCE,
            message=_abroad(elsewhere) + said.message,
            related_information=[self._linked(each) for each in elsewhere],
        )

    def problem(self, text: str) -> types.Diagnostic:
        severity = types.DiagnosticSeverity.Warning
        return types.Diagnostic(self._places.whole(1), text, severity, source=SOURCE)

    def _kernel(self, finding: Finding) -> KernelAnalysis | None:
        """The kernel instance that the finding's numbers are of."""
        kernels = self._report.analysis.kernels
        return next((k for k in kernels if wording.instance(k) in finding.instances), None)

    def _here(
        self, span: Span, kernel: KernelAnalysis | None, access: int | None
    ) -> tuple[Span, list[Related]]:
        """A place of this document for ``span``, and ``span`` itself where it is elsewhere."""
        if span.file == self._path or not span.line:
            return span, []
        result = None if kernel is None else _access(kernel, access)
        ways = [] if result is None else [*reversed(result.access.called_from)]
        ways += [] if kernel is None else [kernel.span]
        ways.append(Span(self._path, self._include_of(span.file), 1))
        here = next(way for way in ways if way.file == self._path)
        return here, [Related(span, "here")]

    def _include_of(self, header: str) -> int:
        """The line that includes ``header``, or 1 where another header does."""
        name = os.path.basename(header)
        for number, line in enumerate(self._places.lines, 1):
            match = INCLUDE.match(line)
            if match and os.path.basename(match[1]) == name:
                return number
        return 1

    def _linked(self, related: Related) -> types.DiagnosticRelatedInformation:
        file = related.span.file
        own = file == self._path
        places = self._places if own else self._of_header(file)
        uri = self._uri if own else from_fs_path(os.path.abspath(file)) or ""
        location = types.Location(uri, places.expression(related.span))
        return types.DiagnosticRelatedInformation(location, related.message)

    def _of_header(self, path: str) -> Places:
        if path not in self._headers:
            try:
                text = read_source(path)
            except SourceError:
                text = ""
            self._headers[path] = Places(text, self._codec)
        return self._headers[path]


def _abroad(elsewhere: list[Related]) -> str:
    return "".join(f"{os.path.basename(r.span.file)}:{r.span.line}: " for r in elsewhere)


def _access(kernel: KernelAnalysis, access: int | None) -> AccessResult | None:
    return next((r for r in kernel.accesses if r.access.id == access), None)


def _related(finding: Finding, kernel: KernelAnalysis | None) -> Iterator[Related]:
    """Its own further places, the declaration to pad, calls, and the launch."""
    yield from finding.related
    if kernel is None:
        return
    result = _access(kernel, finding.access)
    if result is not None:
        array = kernel.arrays.get(result.array)
        if array is not None and finding.fix is not None:
            yield Related(array.span, f"{wording.array(result.array)} is declared here")
        for span in result.access.called_from:
            yield Related(span, "called from here")
    launch = kernel.launch
    if launch.line and launch.file:
        place = Span(launch.file, launch.line, 1)
        yield Related(place, f"in {wording.instance(kernel)}; {launch_text(kernel)}")


def _text(finding: Finding) -> str:
    lines = [finding.message]
    if finding.span.note:
        lines.append(finding.span.note)
    if finding.reason:
        lines.append(f"why: {finding.reason}")
    fix = finding.fix
    if fix is not None:
        checked = "re-analysed" if fix.verified else "re-analysed, not simulated"
        lines.append(f"fix: {fix.description}: {fix.before} → {fix.after} ({checked})")
    elif finding.advice:
        lines.append(f"advice: {finding.advice}")
    lines += [f"in: {instance}" for instance in finding.instances]
    return "\n".join(lines)
