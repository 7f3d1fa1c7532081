"""The protocol: an editor's notifications and requests on one side, the session on the other.

Whatever goes wrong in an answer becomes a message in the editor's log and an empty answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from coalescecheck import __version__
from coalescecheck.files import SUFFIXES
from coalescecheck.isolation import Defect, isolated
from coalescecheck.lsp.actions import KIND, actions
from coalescecheck.lsp.diagnostics import diagnostics
from coalescecheck.lsp.hover import hover
from coalescecheck.lsp.places import Places
from coalescecheck.lsp.session import PAUSE, Analysed, Document, Session

LANGUAGES = ("cuda", "cuda-cpp")
WATCHED = (
    "**/.coalescecheck.toml",
    "**/pyproject.toml",
    "**/setup.cfg",
    "**/*.{cuh,h,hpp,hh,inl,inc}",
)
T = TypeVar("T")


class Server(LanguageServer):
    """The language server of one editor."""

    def __init__(self) -> None:
        # whole texts: pygls counts a form feed as the end of a line, editors do not
        super().__init__("coalescecheck", __version__, types.TextDocumentSyncKind.Full)
        self.session = Session(self._publish)
        self.shut_down = False

    def opened(self, uri: str, pause: float = 0.0) -> None:
        """Analyse a document that was opened or changed, if it is CUDA in a file."""
        document = self.workspace.get_text_document(uri)
        path = to_fs_path(uri)
        if path is None:
            self.log(types.MessageType.Info, f"{uri}: not analysed, for it is no file")
        elif path.endswith(SUFFIXES) or document.language_id in LANGUAGES:
            self.session.update(Document(uri, path, document.source, document.version), pause)

    def closed(self, uri: str) -> None:
        """Take a document's diagnostics away."""
        self.session.close(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What there is to say about a place, once its text is analysed."""
        analysed = await self.session.current(params.text_document.uri)
        if analysed is None:
            return None
        return await self._apart("hover", lambda: self._hover(analysed, params.position))

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about a range, once its text is analysed."""
        analysed = await self.session.current(params.text_document.uri)
        if analysed is None:
            return []
        edits = self.client_capabilities.workspace and (
            self.client_capabilities.workspace.workspace_edit
        )
        versioned = bool(edits and edits.document_changes)
        codec = self.workspace.position_codec
        found = await self._apart(
            "code actions", lambda: actions(analysed, params, codec, versioned=versioned)
        )
        return found or []

    def watch(self) -> None:
        """Ask the editor to tell of settings and headers that change on the disk."""
        workspace = self.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if not watching or not watching.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher(glob) for glob in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("coalescecheck-files", method, options)
        self.client_register_capability(types.RegistrationParams([registration]))

    def log(self, kind: types.MessageType, message: str) -> None:
        """A line in the editor's log."""
        self.window_log_message(types.LogMessageParams(kind, message))

    async def _apart(self, stage: str, work: Callable[[], T]) -> T | None:
        """The result of ``work``, done in a thread, because a large file takes its time."""
        return self._without(await asyncio.to_thread(isolated, stage, work))

    def _without(self, result: T | Defect) -> T | None:
        """A result; None, and a line in the log, for a defect."""
        if isinstance(result, Defect):
            self.log(types.MessageType.Error, f"internal error in {result.stage}: {result.error}")
            return None
        return result

    def _publish(self, analysed: Analysed) -> None:
        for problem in analysed.reply.problems:
            self.log(types.MessageType.Error, f"{analysed.document.path}: {problem}")
        codec = self.workspace.position_codec
        found = self._without(isolated("diagnostics", lambda: diagnostics(analysed, codec)))
        uri, version = analysed.document.uri, analysed.document.version
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, found or [], version)
        )

    def _hover(self, analysed: Analysed, position: types.Position) -> types.Hover | None:
        places = Places(analysed.document.text, self.workspace.position_codec)
        said = hover(analysed.reply.report, places, *places.character(position))
        if said is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, said.markdown)
        line, column = said.span.line, said.span.column
        about = types.Range(places.position(line, column), places.position(line, said.end))
        return types.Hover(content, about)


def make_server() -> Server:
    """A server with every feature registered."""
    server = Server()
    _documents(server)
    _questions(server)
    return server


def _questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([KIND]))
    async def asked(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.actions(params)


def _documents(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.watch()
        server.session.prepare()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.opened(params.text_document.uri, PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.session.again()  # others may include this one

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def written(params: types.DidChangeWatchedFilesParams) -> None:
        server.session.again()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        server.shut_down = True
        server.session.stop()
