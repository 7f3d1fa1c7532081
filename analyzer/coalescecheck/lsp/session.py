"""The open documents and what is known of each: analysed after a pause, never twice at once.

In: texts as the editor changes them.  Out: an ``Analysed`` for the newest text of each document,
given to ``publish`` and to whoever waits for it.  What was begun for an older text is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from coalescecheck.lsp.messages import Reply, Request
from coalescecheck.lsp.worker import Worker

PAUSE = 0.3  # seconds without a key before the text is analysed


@dataclass(frozen=True, slots=True)
class Document:
    """One state of an open document; ``text`` is the editor's, with its line ends."""

    uri: str
    path: str
    text: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Analysed:
    """A state of a document and what came of it."""

    document: Document
    reply: Reply


class Session:
    """``publish`` is called with every result that is still of the document's newest text."""

    def __init__(self, publish: Callable[[Analysed], None]) -> None:
        self._publish = publish
        self._worker = Worker()
        self._tasks: dict[str, asyncio.Task[Analysed]] = {}
        self._documents: dict[str, Document] = {}

    def prepare(self) -> None:
        """Have the analysing process ready before the first document is."""
        self._worker.prepare()

    def update(self, document: Document, pause: float = 0.0) -> None:
        """Analyse a document that was opened or changed, unless it changes again in ``pause``."""
        self._cancel(document.uri)
        self._documents[document.uri] = document
        self._tasks[document.uri] = asyncio.create_task(self._analysed(document, pause))

    def again(self) -> None:
        """Analyse all documents anew: something on the disk that they depend on has changed."""
        for document in tuple(self._documents.values()):
            self.update(document)

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._cancel(uri)
        self._documents.pop(uri, None)

    async def current(self, uri: str) -> Analysed | None:
        """The result for the newest text, once it is there; None for a document not open."""
        while (task := self._tasks.get(uri)) is not None:
            await asyncio.wait({task})
            if self._tasks.get(uri) is task:
                return task.result()
        return None

    def stop(self) -> None:
        """Forget all documents and end the analysing process."""
        for uri in tuple(self._documents):
            self.close(uri)
        self._worker.close()

    async def _analysed(self, document: Document, pause: float) -> Analysed:
        self._worker.prepare()
        await asyncio.sleep(pause)
        reply = await self._worker.ask(Request(document.path, document.text))
        analysed = Analysed(document, reply)
        self._publish(analysed)
        return analysed

    def _cancel(self, uri: str) -> None:
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()
