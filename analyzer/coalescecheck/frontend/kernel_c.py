"""What the front end hands on: kernels as plain C with the way back to the user's source."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from coalescecheck.frontend.spelling import Spellings
from coalescecheck.launch import Dim3, Launch
from coalescecheck.source import Diagnostic, Span


class SourceMap:
    """Maps a (line, column) of kernel C to the user's place.

    Entries are added in increasing order of kernel C position; a look-up finds the nearest
    entry at or before the position (on the same line where there is one).
    """

    def __init__(self) -> None:
        self._keys: list[tuple[int, int]] = []
        self._spans: list[Span] = []

    def add(self, line: int, column: int, span: Span) -> None:
        self._keys.append((line, column))
        self._spans.append(span)

    def span(self, line: int, column: int) -> Span:
        """The user's place of the kernel C text at ``line``, ``column`` (both from 1)."""
        at = bisect_right(self._keys, (line, column)) - 1
        if at < 0:
            return self._spans[0] if self._spans else Span("", 0, 0)
        if self._keys[at][0] != line and at + 1 < len(self._keys):
            following = self._keys[at + 1]
            if following[0] == line:
                return self._spans[at + 1]
        return self._spans[at]


@dataclass(frozen=True, slots=True)
class KernelC:
    """One kernel instance as a self-contained plain C translation unit.

    ``name`` is the source name (``ns::kernel``), ``template`` the instance's arguments as
    written, ``function`` the C name of the kernel in ``text``.  ``text`` is None when the
    kernel could not be rewritten; ``diagnostics`` then says why.  ``assumptions`` are on template
    values that nobody gives.
    """

    name: str
    span: Span
    template: dict[str, str]
    function: str
    text: str | None
    source_map: SourceMap
    launches: tuple[Launch, ...] = ()
    max_threads: int | None = None  # __launch_bounds__
    diagnostics: tuple[Diagnostic, ...] = ()
    assumptions: tuple[str, ...] = ()
    spellings: Spellings = field(default_factory=Spellings, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """A ``// coalescecheck: block(32,8) grid(64,64) N=1024`` comment."""

    span: Span
    block: Dim3 | None = None
    grid: Dim3 | None = None
    params: tuple[tuple[str, int], ...] = ()
    assume: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Everything the front end found in one file.

    ``text`` is the file as read (for carets and excerpts).
    """

    path: str
    text: str
    kernels: tuple[KernelC, ...]
    directives: tuple[Directive, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())
