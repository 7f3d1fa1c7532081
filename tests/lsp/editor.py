"""An editor for tests: a real client that starts the language server and talks over its stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

import coalescecheck

WAIT = 120  # seconds for one answer; a machine may be busy, a server that hangs still fails
START = "from coalescecheck.lsp.cli import main; main()"

TYPICAL = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
)


class Editor:
    """Documents as an editor holds them, and what the server said of each."""

    def __init__(self) -> None:
        self.client = LanguageClient("test", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.logged: list[str] = []
        self._news = asyncio.Condition()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def publish(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.published.append(params)
                self._news.notify_all()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        async def log(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

    # --- what a user does ---------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None, language: str = "cuda") -> str:
        """Open a file, with a text that is not saved where one is given."""
        uri = path.as_uri()
        self.texts[uri] = path.read_text(encoding="utf-8") if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        """Replace the text."""
        self.texts[uri] = text
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    def save(self, uri: str) -> None:
        """Say that the document was saved; the test writes the file."""
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def apply(self, uri: str, edit: types.WorkspaceEdit | None) -> None:
        """Make the changes of a code action that are for this document and this version."""
        assert edit is not None
        assert edit.document_changes is not None
        (change,) = edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == uri
        assert change.text_document.version == self.versions[uri]
        (one,) = change.edits
        assert isinstance(one, types.TextEdit)
        text = self.texts[uri]
        start, end = (offset(text, place) for place in (one.range.start, one.range.end))
        self.change(uri, text[:start] + one.new_text + text[end:])

    # --- what a user sees ---------------------------------------------------------------------

    async def diagnostics(self, uri: str, after: int = 0) -> list[types.Diagnostic]:
        """Those of the newest text, from the ``after``-th message of the server on."""

        def wanted() -> list[types.PublishDiagnosticsParams]:
            version = self.versions[uri]
            return [p for p in self.published[after:] if (p.uri, p.version) == (uri, version)]

        async with self._news:
            await asyncio.wait_for(self._news.wait_for(wanted), WAIT)
        return list(wanted()[-1].diagnostics)

    async def hover(self, uri: str, line: int, character: int) -> str:
        """The Markdown over a position, empty for nothing."""
        where = types.HoverParams(
            types.TextDocumentIdentifier(uri), types.Position(line, character)
        )
        said = await answer(self.client.text_document_hover_async(where))
        if said is None:
            return ""
        assert isinstance(said.contents, types.MarkupContent)
        return said.contents.value

    async def actions(
        self, uri: str, diagnostic: types.Diagnostic, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        """What is offered where a diagnostic is."""
        context = types.CodeActionContext([diagnostic], only=only)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), diagnostic.range, context
        )
        found = await answer(self.client.text_document_code_action_async(params))
        return [each for each in found or [] if isinstance(each, types.CodeAction)]


async def answer(request: Awaitable[Any]) -> Any:
    """The answer to a request; a failure where none comes."""
    return await asyncio.wait_for(request, WAIT)


def offset(text: str, position: types.Position) -> int:
    """The index of a UTF-16 position in ``text``, counted with Python's own codec."""
    lines = text.split("\n")
    line = lines[position.line].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
    return sum(len(each) + 1 for each in lines[: position.line]) + len(line)


def codes(diagnostics: list[types.Diagnostic]) -> list[object]:
    """The rules' codes, sorted."""
    return sorted(str(each.code) for each in diagnostics)


@asynccontextmanager
async def editing(
    folder: Path, capabilities: types.ClientCapabilities = TYPICAL, *, goodbye: bool = True
) -> AsyncIterator[Editor]:
    """An editor in ``folder`` whose server must end as the protocol says, within ``WAIT``."""
    editor = Editor()
    source = str(Path(coalescecheck.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    await editor.client.start_io(sys.executable, "-P", "-c", START, cwd=folder, env=environment)
    server = editor.client._server
    assert server is not None
    try:
        params = types.InitializeParams(capabilities, root_uri=folder.as_uri())
        await answer(editor.client.initialize_async(params))
        editor.client.initialized(types.InitializedParams())
        yield editor
        if goodbye:
            await answer(editor.client.shutdown_async(None))
        editor.client.exit(None)
        assert await asyncio.wait_for(server.wait(), WAIT) == (0 if goodbye else 1)
        assert server.stderr is not None
        errors = (await server.stderr.read()).decode()
        assert "Traceback" not in errors, errors
    finally:
        if server.returncode is None:
            server.kill()
        await editor.client.stop()


def edit(folder: Path, story: Callable[[Editor], Awaitable[None]], **how: Any) -> None:
    """Run a story with an editor."""

    async def run() -> None:
        async with editing(folder, **how) as editor:
            await story(editor)

    asyncio.run(run())
