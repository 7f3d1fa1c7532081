"""What an editor can do about a finding: make the proposed change, or silence the finding.

In: an analysed document and a range of it.  Out: code actions with their edits.  The changes are
those of ``--fix``: analysed again, and local.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from coalescecheck.findings import Finding
from coalescecheck.lsp.places import Places
from coalescecheck.lsp.session import Analysed, Document
from coalescecheck.lsp.silencing import silencing
from coalescecheck.source import Edit

NEAR = 10  # lines; over more of them nobody wants a comment per finding, and each is tried
KIND = types.CodeActionKind.QuickFix


def actions(
    analysed: Analysed, params: types.CodeActionParams, codec: PositionCodec, *, versioned: bool
) -> list[types.CodeAction]:
    """The actions for a range; ``versioned`` edits name the version they are made for."""
    wanted = params.context.only
    if wanted is not None and not any(_contains(each, KIND) for each in wanted):
        return []
    maker = _Maker(analysed, params.context.diagnostics, codec, versioned)
    chosen = [
        finding
        for finding in analysed.reply.report.findings
        if finding.span.file == analysed.document.path
        and _meet(maker.places.expression(finding.span), params.range)
    ]
    few = params.range.end.line - params.range.start.line < NEAR
    return [*maker.fixes(chosen), *(maker.silencers(chosen) if few else ())]


def _contains(wanted: str, kind: str) -> bool:
    """Whether ``quickfix.ours`` is one of the ``quickfix``es, of which all are ''."""
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")


def _meet(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


class _Maker:
    """Makes the actions for one document."""

    def __init__(
        self,
        analysed: Analysed,
        shown: Sequence[types.Diagnostic],
        codec: PositionCodec,
        versioned: bool,
    ) -> None:
        self._document: Document = analysed.document
        self._shown = shown
        self._versioned = versioned
        self.places = Places(analysed.document.text, codec)

    def fixes(self, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """Each edit once: several findings may ask for the same."""
        by_edit: dict[Edit, list[Finding]] = {}
        for finding in findings:
            fix = finding.fix
            if fix is not None and fix.edit is not None:
                by_edit.setdefault(fix.edit, []).append(finding)
        for edit, mine in by_edit.items():
            if edit.span.file != self._document.path or mine[0].fix is None:
                continue
            fix = mine[0].fix
            title = f"{fix.description.replace('`', '')}: {fix.before} → {fix.after}"
            yield self._action(f"{title[0].upper()}{title[1:]}", edit, mine, preferred=True)

    def silencers(self, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """A comment for each rule and line."""
        done: set[tuple[str, int]] = set()
        text = "\n".join(self.places.lines)
        for finding in findings:
            key = (finding.rule, finding.span.line)
            edit = None if key in done else silencing(self._document.path, text, finding)
            done.add(key)
            if edit is not None:
                yield self._action(f"Ignore {finding.rule} here", edit, [finding])

    def _action(
        self, title: str, edit: Edit, findings: Sequence[Finding], preferred: bool = False
    ) -> types.CodeAction:
        changes = [types.TextEdit(self.places.edited(part), part.text) for part in edit.parts]
        uri, version = self._document.uri, self._document.version
        if self._versioned:
            where = types.OptionalVersionedTextDocumentIdentifier(uri, version)
            made = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(where, changes)])
        else:
            made = types.WorkspaceEdit(changes={uri: changes})
        about = [d for d in self._shown if any(self._is_of(d, f) for f in findings)]
        return types.CodeAction(
            title, KIND, diagnostics=about, is_preferred=preferred or None, edit=made
        )

    def _is_of(self, shown: types.Diagnostic, finding: Finding) -> bool:
        start = self.places.position(finding.span.line, finding.span.column)
        return shown.code == finding.rule and shown.range.start == start
