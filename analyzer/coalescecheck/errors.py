"""Errors a user can cause; each knows the place it speaks of."""

from __future__ import annotations

from coalescecheck.source import NOWHERE, Span


class CoalesceCheckError(Exception):
    """Base of every error that is shown to the user without a traceback."""


class SourceError(CoalesceCheckError):
    """A file cannot be read: missing, a folder, binary, or too large."""


class UsageError(CoalesceCheckError):
    """An option's value makes no sense."""


class UnsupportedConstruct(CoalesceCheckError):
    """A construct the tool does not understand makes a whole kernel unusable."""

    def __init__(self, message: str, span: Span = NOWHERE) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
