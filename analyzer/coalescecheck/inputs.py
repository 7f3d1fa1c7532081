"""What a run is given, made out: which files, each with the options of its build.

In: paths as given (files, folders, ``compile_commands.json``), settings, the folder of a build.
Out: ``Inputs``.  A path that cannot be used costs only itself; where nothing is left to read and
nothing was lost, that is a ``UsageError``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coalescecheck import compile_commands
from coalescecheck.compile_commands import Database, some
from coalescecheck.compile_commands.flags import Build
from coalescecheck.config import Settings
from coalescecheck.errors import SourceError, UsageError
from coalescecheck.files import NO_FILES, SUFFIXES, Exclusions, excluded, files_below
from coalescecheck.source import Diagnostic, Span

DATABASE_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Inputs:
    """``files`` to analyse under ``settings``, and what is to be said of the paths themselves.
    ``found`` are those that only a folder was given for.

    An error that is ``said`` means that something given could not be read.
    """

    files: tuple[str, ...]
    settings: Settings
    said: tuple[Diagnostic, ...] = ()
    found: frozenset[str] = frozenset()


def gather(paths: Sequence[str], settings: Settings, build_dir: str | None = None) -> Inputs:
    """The files that ``paths`` stand for; without paths, all CUDA files of the build."""
    run = _Run(Exclusions(settings.options.root, settings.options.exclude))
    if build_dir is not None:
        try:
            run.know(compile_commands.load(build_dir))
        except SourceError as error:
            raise UsageError(f"build-dir: {error}") from None
    for path in paths:
        run.read_database(path)
    for path in paths or run.databases:
        run.path(path)
    run.tell_of_unlisted()
    errors = any(each.severity == "error" for each in run.said)
    if not run.files and run.said and not errors:
        raise UsageError("; ".join(f"{each.span.file}: {each.message}" for each in run.said))
    found = frozenset(
        name
        for name in run.files.values()
        if name not in run.named and os.path.realpath(name) not in run.builds
    )
    builds = {at: build for at, build in run.builds.items() if build is not None}
    return Inputs(
        tuple(run.files.values()), replace(settings, builds=builds), tuple(run.said), found
    )


@dataclass(slots=True)
class _Run:
    """What is known so far; builds by the real path of their file."""

    exclusions: Exclusions
    databases: dict[str, Database] = field(default_factory=dict)  # by their path
    builds: dict[str, Build | None] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # the whole path: as it is shown
    said: list[Diagnostic] = field(default_factory=list)
    named: set[str] = field(default_factory=set)  # files that are given or compiled themselves

    def read_database(self, path: str) -> None:
        """Read ``path`` if it is a database."""
        if not path.endswith(DATABASE_SUFFIX) or os.path.isdir(path) or path in self.databases:
            return
        try:
            self.know(compile_commands.load(path))
        except SourceError as error:
            message = str(error).removeprefix(f"{path}: ")
            said = Diagnostic(Span(path, 0, 0), "error", message)
            self.know(Database(path, {}, (said,)))

    def know(self, database: Database) -> None:
        """Use a database; of several entries for one file the first counts."""
        self.databases[database.path] = database
        self.said += database.said
        for file, build in database.builds.items():
            self.builds.setdefault(os.path.realpath(file), build)

    def path(self, path: str) -> None:
        """Add the files that one given path stands for."""
        if path in self.databases:
            names = [f for f in self.databases[path].builds if not excluded(f, self.exclusions)]
            if not names and not self.databases[path].broken:
                self.say(path, "warning", "it has no entry for a CUDA file that is not excluded")
        elif os.path.isdir(path):
            names = [*self.below(path), *self.compiled_below(path)]
            if not names and not any(each.span.file == path for each in self.said):
                self.say(path, "warning", NO_FILES)
        else:
            names = [path]
        if path in self.databases or not os.path.isdir(path):
            self.named.update(names)
        for name in names:
            if self.builds.get(os.path.realpath(name), Build()) is not None:  # else it is lost
                self.files.setdefault(os.path.abspath(name), name)

    def below(self, folder: str) -> tuple[str, ...]:
        """The CUDA files in ``folder``.  A part of it that cannot be looked into, such as the data
        of a service, may have nothing to do with CUDA."""

        def tell(place: Path, error: OSError) -> None:
            message = f"cannot be looked into: {error.strerror}"
            if place == Path(folder):
                self.say(folder, "error", message)
            else:
                self.say(str(place), "warning", message)

        return files_below(folder, self.exclusions, tell)

    def compiled_below(self, folder: str) -> list[str]:
        """Files of any name in ``folder`` that a database compiles as CUDA."""
        top = Path(os.path.abspath(folder))
        compiled = [file for database in self.databases.values() for file in database.builds]
        return [
            file
            for file in compiled
            if Path(os.path.abspath(file)).is_relative_to(top)
            and not file.endswith(SUFFIXES)
            and not excluded(file, self.exclusions)
        ]

    def tell_of_unlisted(self) -> None:
        """Files without an entry are analysed without anything that a build says."""
        names = self.files.values()
        unlisted = [name for name in names if os.path.realpath(name) not in self.builds]
        if self.databases and unlisted:
            message = f"no entry for {some(unlisted)}; analysed without options of the build"
            self.say(next(iter(self.databases.values())).path, "note", message)

    def say(self, path: str, severity: str, message: str) -> None:
        self.said.append(Diagnostic(Span(path, 0, 0), severity, message))
