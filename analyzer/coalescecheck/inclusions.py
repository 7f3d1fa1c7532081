"""Files of a folder that others of the run include: their kernels are analysed with the includer.

In: files and how they were found.  Out: which to analyse first, and which of the others then
still hold kernels that nobody has seen.  A file that was given by name is always analysed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coalescecheck.analysis import FileAnalysis

HEADER_SUFFIX = ".cuh"

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+\.cuh?)"', re.MULTILINE)
_ANY_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_KERNEL = re.compile(rb"\b__global__\b")
_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\.)*?\b__global__\b", re.MULTILINE | re.DOTALL
)


def split(files: Sequence[str], found: Collection[str]) -> tuple[list[str], list[str]]:
    """The files that are compiled by themselves, and those of ``found`` that may be headers."""
    if not found:
        return list(files), []
    included = {place for path in files for place in _included(path)}
    later = [
        path
        for path in files
        if path in found and (path.endswith(HEADER_SUFFIX) or os.path.realpath(path) in included)
    ]
    away = set(later)
    return [path for path in files if path not in away], later


def _included(path: str, which: re.Pattern[bytes] = _INCLUDE) -> Iterable[str]:
    folder = os.path.dirname(path)
    for name in which.findall(_bytes(path)):
        place = os.path.realpath(os.path.join(folder, os.fsdecode(name)))
        if place != os.path.realpath(path):
            yield place


class Seen:
    """The kernels that have been seen so far, by the file they stand in."""

    def __init__(self) -> None:
        self._lines: dict[str, set[tuple[int, str]]] = {}
        self._read: dict[str, tuple[bool, tuple[str, ...]]] = {}

    def add(self, analysis: FileAnalysis) -> None:
        """Note the kernels of one analysed file, those of its headers included."""
        for kernel in analysis.kernels:
            place = os.path.realpath(kernel.span.file)
            self._lines.setdefault(place, set()).add((kernel.span.line, kernel.name))

    def all_of(self, path: str) -> bool:
        """Whether at least as many kernels of the file were seen as it names ``__global__``, in
        comments too: then a reading of its own would show nothing new.  Not where a macro makes
        kernels, since it makes any number of them from one word."""
        text = _bytes(path)
        if not _KERNEL.search(text):  # it may gather other headers
            holders = [place for place in self._reached(path) if self._file(place)[0]]
            return bool(holders) and all(self.all_of(place) for place in holders)
        seen = self._lines.get(os.path.realpath(path), ())
        return len(_KERNEL.findall(text)) <= len(seen) and not _MACRO.search(text)

    def _reached(self, path: str) -> set[str]:
        """The files that a file includes, and those that these include."""
        found: set[str] = set()
        waiting = [path]
        while waiting:
            new = set(self._file(waiting.pop())[1]) - found
            found |= new
            waiting += new
        return found

    def _file(self, path: str) -> tuple[bool, tuple[str, ...]]:
        """Whether a file names ``__global__``, and what it includes: read once."""
        if path not in self._read:
            holds = bool(_KERNEL.search(_bytes(path)))
            self._read[path] = (holds, tuple(_included(path, _ANY_INCLUDE)))
        return self._read[path]


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError):
        return b""  # whoever reads the file says so
