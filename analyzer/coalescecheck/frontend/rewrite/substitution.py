"""What a signature names but a template's arguments do not have: substitution failure (SFINAE).

While arguments are tried in a signature, nothing is said of what is not understood in it; whether
there was something is remembered.  C++ then looks at the other candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.rewrite.index import FunctionEntry


@dataclass(slots=True)
class Attempt:
    """A piece of the source that is tried; ``failed`` once something in it is not understood,
    ``doubted`` once that is what a trait of the library says, which any compiler knows."""

    start: int
    end: int
    failed: bool = False
    doubted: bool = False


class Substitution:
    """The attempts in progress, the innermost last."""

    def __init__(self) -> None:
        self._attempts: list[Attempt] = []

    def fails_at(self, node: Node) -> bool:
        """Whether what is not understood at a node makes an attempt fail instead of being said."""
        for attempt in reversed(self._attempts):
            if attempt.start <= node.start_byte < attempt.end:
                attempt.failed = True
                return True
        return False

    def doubt(self) -> None:
        """What the innermost attempt gives hangs on a trait that is not known here."""
        if self._attempts:
            self._attempts[-1].doubted = True

    @contextmanager
    def attempt(self, start: int, end: int) -> Iterator[Attempt]:
        """Tries what stands from ``start`` to ``end`` with one set of arguments."""
        attempt = Attempt(start, end)
        self._attempts.append(attempt)
        try:
            yield attempt
        finally:
            self._attempts.pop()


def signature(entry: FunctionEntry) -> tuple[int, int]:
    """Where the template head and the declaration of a function stand, without its body."""
    whole = entry.node
    while whole.parent is not None and whole.parent.type == "template_declaration":
        whole = whole.parent
    end = entry.body.start_byte if entry.body is not None else entry.node.end_byte
    return whole.start_byte, end
