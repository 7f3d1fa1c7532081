"""Which files a run reads: the ones it is given, and the CUDA files below given folders.

In: paths and patterns to leave out.  Out: paths.  Below a folder, what ``.gitignore`` names is
left out, with git's own rules; a file that is given by name is always read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coalescecheck.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".cu", ".cuh")
HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl")  # what other files include
IGNORE_FILE = ".gitignore"
Tell = Callable[[Path, OSError], None]
NO_FILES = "no .cu or .cuh file in this folder that is not ignored"


def read_at_most(path: str, most: int) -> bytes:
    """The file's bytes, or ``most`` and one more where it is longer; SourceError if there are
    none to read."""
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path itself
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{path}: cannot be read: {reason}") from None


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Patterns as in a ``.gitignore`` that lies in the folder ``root``."""

    root: str = "."
    patterns: tuple[str, ...] = ()


NONE = Exclusions()


def absolute(path: str | Path) -> Path:
    """The whole path without ``..``, so that paths can be compared; links are not followed."""
    return Path(os.path.abspath(path))


def excluded(path: str, exclusions: Exclusions) -> bool:
    """Whether the patterns leave out the file at ``path`` or a folder that it lies in."""
    whole, root = absolute(path), absolute(exclusions.root)
    level = _level(root, exclusions.patterns)
    folders = [folder for folder in whole.parents if folder.is_relative_to(root)]
    return any(level.says(folder, True) for folder in folders if folder != root) or bool(
        level.says(whole, False)
    )


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line of such a list, which speaks of a name or of a whole path."""

    spec: GitIgnoreSpec
    include: bool
    only_name: bool
    deep: bool

    def speaks_of(self, path: str) -> bool:
        """Whether it matches ``path`` itself (a folder's ends with ``/``) and not a folder above
        it alone: of the folders git decides first, and it may take one in again."""
        folder, _, name = path.rstrip("/").rpartition("/")
        if self.only_name:
            return self.spec.match_file(name + "/" * path.endswith("/"))
        above = folder and not self.deep and self.spec.match_file(folder + "/")
        return not above and self.spec.match_file(path)


@dataclass(frozen=True, slots=True)
class _Level:
    """One list of patterns and the folder they count from."""

    folder: Path
    patterns: tuple[_Pattern, ...]
    of_all: GitIgnoreSpec | None  # which tells at once of the many paths that nothing matches

    def says(self, path: Path, is_folder: bool) -> bool | None:
        """True to leave ``path`` out, False to keep it after all, None for no opinion: the last
        pattern that matches decides."""
        if self.of_all is None or not path.is_relative_to(self.folder):
            return None
        name = path.relative_to(self.folder).as_posix() + "/" * is_folder
        if not self.of_all.match_file(name):
            return None
        last_first = reversed(self.patterns)
        return next((one.include for one in last_first if one.speaks_of(name)), None)


def source_files(paths: Sequence[str], exclusions: Exclusions = NONE) -> tuple[str, ...]:
    """``paths`` with folders replaced by the CUDA files below them; each file once."""
    found: dict[str, None] = {}
    for path in paths:
        found |= dict.fromkeys(files_below(path, exclusions) if os.path.isdir(path) else [path])
    if paths and not found:
        raise UsageError(f"{', '.join(paths)}: {NO_FILES}")
    return tuple(found)


def files_below(
    folder: str, exclusions: Exclusions = NONE, tell: Tell = lambda folder, error: None
) -> tuple[str, ...]:
    """The CUDA files below a folder, in the order of their names; ``tell`` is told of each folder
    that cannot be looked into."""
    top = Path(folder)
    levels = [_excluded(exclusions), *_above(absolute(folder))]
    return tuple(sorted(_walk(top, levels, tell)))


def _excluded(exclusions: Exclusions) -> _Level:
    return _level(absolute(exclusions.root), exclusions.patterns)


def _walk(folder: Path, levels: Sequence[_Level], tell: Tell) -> Iterator[str]:
    whole = absolute(folder)
    levels = [*levels, *_own(whole)]
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        tell(folder, error)
        return
    for entry in entries:
        path = folder / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        # not entry.is_file(), which raises for a link to itself
        wanted = is_folder or (path.suffix in SUFFIXES and os.path.isfile(path))
        if not wanted or entry.name == ".git" or _ignored(whole / entry.name, is_folder, levels):
            continue
        if is_folder:
            yield from _walk(path, levels, tell)
        else:
            yield str(path)


def _ignored(path: Path, is_folder: bool, levels: Sequence[_Level]) -> bool:
    """The innermost list with an opinion decides."""
    for level in reversed(levels):
        says = level.says(path, is_folder)
        if says is not None:
            return says
    return False


def _above(top: Path) -> list[_Level]:
    """The ignore files of the repository that ``top`` lies in, outermost first."""
    outer: list[Path] = []
    folder = top
    while not os.path.exists(folder / ".git"):
        if folder.parent == folder:
            return []  # no repository
        folder = folder.parent
        outer.append(folder)
    return [level for folder in reversed(outer) for level in _own(folder)]


def _own(folder: Path) -> list[_Level]:
    try:
        text = (folder / IGNORE_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [_level(folder, text.splitlines())]


def _level(folder: Path, patterns: Sequence[str]) -> _Level:
    found = (_pattern(pattern.rstrip("\r")) for pattern in patterns)
    known = tuple(pattern for pattern in found if pattern is not None)
    if not known:
        return _Level(folder, (), None)
    from pathspec import GitIgnoreSpec  # not where only files are given

    return _Level(folder, known, GitIgnoreSpec([p for one in known for p in one.spec.patterns]))


def _pattern(line: str) -> _Pattern | None:
    """None for a comment, and for what cannot be understood, which in git matches nothing.

    ``deep/**`` speaks of what is in the folder and not of the folder, which pathspec does not
    tell apart.
    """
    from pathspec import GitIgnoreSpec  # not where only files are given

    glob = line.rstrip().removeprefix("!")
    glob = "*" if glob == "/**" else glob
    deep = glob.endswith("/**")
    try:
        # without its "!", which alone matches nothing
        spec = GitIgnoreSpec.from_lines([glob + "/*" if deep else glob])
    except ValueError:
        return None
    if not any(pattern.include for pattern in spec.patterns):
        return None
    only_name = "/" not in glob.removeprefix("**/").rstrip("/")
    return _Pattern(spec, not line.startswith("!"), only_name, deep)
