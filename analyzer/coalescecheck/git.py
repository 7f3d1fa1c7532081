"""The files of a git repository as they were at a revision.

In: a folder and a revision.  Out: the repository's top folder, the revision's commit, and its
files written into an empty folder.  Only git's reading commands are used, without a shell and
without filters, so nothing that the repository or its configuration names is executed, nothing
is fetched, and nothing is written in the repository.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coalescecheck.errors import UsageError

MAX_BYTES = 64 * 1024 * 1024  # of one file, as for every source that is read
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SAFE = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch what it lacks
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# set inside hooks, for another folder than the one that is asked about
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
# what no C++ file includes
_NO_SOURCE = frozenset(
    ".7z .a .bin .bmp .bz2 .css .dll .doc .docx .exe .gif .gz .html .ipynb .jar .jpeg .jpg .js "
    ".lib .md .mp3 .mp4 .npy .npz .o .obj .onnx .pdf .png .ppt .pptx .pt .pth .py .pyc .rst .so "
    ".svg .tar .tgz .ts .webp .whl .woff .woff2 .xls .xlsx .xz .zip .zst".split()
)
_FILES, _LINK, _SUBMODULE = ("100644", "100755", "100664"), "120000", "160000"


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository whose work tree is the folder ``top``; ``name`` as it was
    given."""

    top: Path
    commit: str
    name: str


def revision(folder: str, name: str) -> Revision:
    """The commit that ``name`` means in the repository around ``folder``.

    ``UsageError`` where there is no repository or commit, or no git.
    """
    found = _run(folder, "rev-parse", "--show-toplevel")
    top = os.fsdecode(found.stdout).removesuffix("\n")
    if found.returncode or not top:
        raise UsageError(
            f"since: {folder} is not in the work tree of a git repository ({_said(found.stderr)})"
        )
    commit = ""
    if name and not name.startswith("-") and name.isprintable():
        answer = _run(top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        commit = os.fsdecode(answer.stdout).strip()
    if not _COMMIT.fullmatch(commit):
        raise UsageError(
            f"since: {name!r} names no commit of {top}; one that a shallow clone lacks has to be "
            "fetched first"
        )
    return Revision(Path(top), commit, name)


def export(top: Path, commit: str, target: Path) -> None:
    """Write the sources of ``commit`` below ``target``, with the submodules that are checked out.

    Line ends are those of the repository.  What is no source, too large, or only a link out of
    the tree is left out.  ``UsageError`` where git cannot read the commit.
    """
    links: list[tuple[str, Path]] = []
    with _Objects(top) as objects:
        for mode, name, path in _entries(top, commit):
            place = target / path
            if mode == _SUBMODULE and os.path.exists(top / path / ".git"):
                _submodule(top / path, name, place)
            elif mode == _LINK:
                links.append((name, place))
            elif mode in _FILES and place.suffix.lower() not in _NO_SOURCE:
                data = objects.content(name)
                if data is not None:
                    _write(place, data)
        for name, place in links:  # last, so that no file is written through one
            _link(objects.content(name), place, target)


def _submodule(top: Path, commit: str, target: Path) -> None:
    try:
        export(top, commit, target)
    except UsageError:
        return  # its checkout lacks the commit; the headers are then missing, which is reported


def _entries(top: Path, commit: str) -> Iterator[tuple[str, str, str]]:
    """Mode, object and path of everything in a commit, but no path that leads out of it."""
    listed = _run(str(top), "ls-tree", "-r", "-z", "--full-tree", commit)
    if listed.returncode:
        raise UsageError(f"since: git cannot read {commit} of {top}: {_said(listed.stderr)}")
    for entry in listed.stdout.split(b"\0"):
        about, _, path = entry.partition(b"\t")
        parts = PurePosixPath(os.fsdecode(path)).parts
        if path and not path.startswith(b"/") and not {"..", ".git"} & {p.lower() for p in parts}:
            mode, _, name = about.decode().split()[:3]
            yield mode, name, os.fsdecode(path)


def _link(content: bytes | None, place: Path, target: Path) -> None:
    if content is None or b"\0" in content or place.exists():
        return
    aim = os.path.normpath(place.parent / os.fsdecode(content))
    if Path(aim).is_relative_to(target):
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.path.relpath(aim, place.parent))


def _write(place: Path, data: bytes) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(f"since: cannot write {place}: {error.strerror}") from None


class _Objects:
    """The contents of objects, from one git process."""

    def __init__(self, top: Path) -> None:
        self._process = subprocess.Popen(
            _command(str(top), "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )

    def __enter__(self) -> _Objects:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def content(self, name: str) -> bytes | None:
        """The bytes of a file; None where it is missing or too large."""
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            return None
        try:
            questions.write(name.encode() + b"\n")
            questions.flush()
        except OSError:
            return None
        about = answers.readline().split()  # name, type and size, or name and "missing"
        if len(about) != 3:
            return None
        size = int(about[2])
        data = answers.read(size + 1)[:-1]
        return data if size <= MAX_BYTES else None


# --- calling git ------------------------------------------------------------------------------


def _run(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = _command(folder, *arguments)
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=_environment()
        )
    except FileNotFoundError:
        raise UsageError("since: git is not installed, or not on PATH") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"since: git cannot be run: {error}") from None


def _command(folder: str, *arguments: str) -> list[str]:
    return ["git", *_SAFE, "-C", folder, *arguments]


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in _FOREIGN} | _ENVIRONMENT


def _said(stderr: bytes) -> str:
    return " ".join(stderr.decode(errors="replace").split()) or "no reason given"
