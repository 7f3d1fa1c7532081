"""What the server and the process that analyses say to each other.

A message is its length in eight bytes and a pickle; both ends are this package.  Loads no stage
of the analysis, so that the server starts at once.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import IO

from coalescecheck.analysis import FileAnalysis
from coalescecheck.report.model import FileReport

LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Request:
    """A file, which need not exist, and the text that the editor has for it."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The report of one document; ``problems`` is what the user should know went wrong."""

    report: FileReport
    problems: tuple[str, ...] = ()


def failed(request: Request, problem: str) -> Reply:
    """The reply to a request that nothing came of."""
    return Reply(FileReport(FileAnalysis(request.path, "", ())), (problem,))


def packed(message: Request | Reply) -> bytes:
    """A message as it is sent."""
    body = pickle.dumps(message, protocol=5)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def received(source: IO[bytes]) -> object | None:
    """The next message, None where the other end was closed before it was whole."""
    length = source.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "big")
    body = source.read(size)
    return pickle.loads(body) if len(body) == size else None
