"""``compile_commands.json``: which CUDA files a build compiles, and how.

In: the path of such a file (CMake, Bear and others write it).  Out: a ``Database``.  An entry
that makes no sense costs only itself; nothing is run and no compiler is asked.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coalescecheck.arch import ARCHS
from coalescecheck.compile_commands.flags import Build, names_cuda, parse, shown, split
from coalescecheck.errors import SourceError
from coalescecheck.files import read_at_most
from coalescecheck.source import Diagnostic, Span

NAME = "compile_commands.json"
SUFFIXES = (".cu", ".cuh")
MAX_BYTES = 1 << 28
MAX_NAMES = 3  # files that one message lists
_CUDA_LANGUAGE = re.compile(r"-x[\s=\"']*cu")


@dataclass(frozen=True, slots=True)
class Database:
    """The CUDA files of one ``compile_commands.json`` in its order, and what was wrong in it.

    A build is None where the entry cannot be used: how the file is compiled is not known.
    """

    path: str
    builds: Mapping[str, Build | None]
    said: tuple[Diagnostic, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether something in it could not be read."""
        return any(each.severity == "error" for each in self.said)


def load(path: str) -> Database:
    """The database in the file, or in the folder, ``path``; a SourceError says what is wrong."""
    if os.path.isdir(path):
        folder, path = path, os.path.join(path, NAME)
        if not os.path.isfile(path):
            raise SourceError(f"{folder}: there is no {NAME} in it")
    reader = _Reader(path)
    for number, entry in enumerate(_entries(path), 1):
        reader.entry(number, entry)
    return reader.database()


def some(names: Sequence[str]) -> str:
    """The first of ``names``, and how many there are besides."""
    rest = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _entries(path: str) -> list[Any]:
    data = read_at_most(path, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path}: more than {MAX_BYTES >> 20} MB is not read")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: is no JSON: {error}") from None
    if not isinstance(document, list):
        raise SourceError(f"{path}: is no list of compile commands")
    return document


def _words(entry: Mapping[str, Any], surely: bool) -> list[str]:
    """The words of an entry's command; none where it does not compile CUDA."""
    arguments, command = entry.get("arguments"), entry.get("command")
    if isinstance(arguments, list) and arguments and all(isinstance(w, str) for w in arguments):
        words = arguments
    elif not isinstance(command, str) or not command.strip():
        raise SourceError('has no "command" and no "arguments"')
    elif surely or _CUDA_LANGUAGE.search(command):  # splitting is slow
        words = split(command, "command")
    else:
        return []
    return words if surely or names_cuda(words) else []


@dataclass(slots=True)
class _Reader:
    path: str
    builds: dict[str, Build | None] = field(default_factory=dict)
    said: list[Diagnostic] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def entry(self, number: int, entry: Any) -> None:
        """Add one entry; of several for one file the first counts."""
        try:
            file, folder = self.place(entry)
            words = _words(entry, surely=file.endswith(SUFFIXES))
        except SourceError as error:
            self.say("error", f"entry {number}: {error}")
            return
        if not words:
            return
        self.counts[file] += 1
        if self.counts[file] > 1:
            return
        try:
            self.builds[file] = parse(words, folder)
        except SourceError as error:
            self.builds[file] = None
            self.say("error", f"{file} is not analysed: {error}")

    def place(self, entry: Any) -> tuple[str, str]:
        """The path of the file an entry is for, and the folder its command runs in."""
        if not isinstance(entry, dict):
            raise SourceError("is no object")
        for key in ("file", "directory"):
            if not isinstance(entry.get(key), str) or not entry[key] or "\0" in entry[key]:
                raise SourceError(f'has no "{key}"')
        folder = os.path.join(os.path.dirname(os.path.abspath(self.path)), entry["directory"])
        return shown(entry["file"], folder), folder

    def say(self, severity: str, message: str) -> None:
        self.said.append(Diagnostic(Span(self.path, 0, 0), severity, message))

    def database(self) -> Database:
        several = [file for file, count in self.counts.items() if count > 1]
        if several:
            self.say("note", f"of several entries for one file the first counts: {some(several)}")
        archs = {build.arch for build in self.builds.values() if build and build.arch}
        unknown = sorted(archs - ARCHS.keys())
        if unknown:
            self.say("note", f"nothing is known of {some(unknown)}; it does not set --arch")
        builds = {
            file: replace(build, arch=None) if build and build.arch in unknown else build
            for file, build in self.builds.items()
        }
        return Database(self.path, builds, tuple(self.said))
