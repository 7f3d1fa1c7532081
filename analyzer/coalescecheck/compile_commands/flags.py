"""One compile command: what it says of a file's macros, headers and architecture.

In: the words of a command of nvcc, clang or a host compiler, and the folder it runs in.  Out: a
``Build``.  Everything else a compiler can be told is passed over.  What nvcc does (lists joined
by commas, ``-Xcompiler`` before its own options) is what ``nvcc --dryrun`` shows.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coalescecheck.errors import SourceError

MAX_BYTES = 1 << 24  # of a response file
MAX_DEPTH = 10  # response files that name each other

_KINDS = {
    "define": "-D --define-macro",
    "undefine": "-U --undefine-macro",
    "include": "-I -iquote --include-path --include-directory",
    "system": "-isystem --system-include",
    "last": "-idirafter",
    "pre_include": "-include -imacros --pre-include",
    "host": "-Xcompiler --compiler-options",
    "file": "-optf --options-file",
    "arch": "-arch --gpu-architecture -code --gpu-code -gencode --generate-code "
    "--cuda-gpu-arch --offload-arch",
    "skipped": "-Xarch_host -Xptxas --ptxas-options -Xlinker --linker-options -o -MF -MT -MQ",
}
_OPTIONS = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_JOINED = ("-D", "-U", "-I", "-isystem", "-iquote", "-idirafter")
_LISTS = ("define", "undefine", "include", "system", "pre_include", "file")  # of nvcc
_PASSED_ON = ("-Xclang", "-Xarch_device", "-Xpreprocessor")  # the next word is as if without it
_ARCH = re.compile(r"\b(?:sm|compute|lto)_(\d+)")
_MACRO = re.compile(r"[^\W\d][\w$]*")
_MACRO_END = re.compile(r"[\s(=]")
_LANGUAGE = re.compile(r"--?x(?:=(.+))?|-x(\w+)")
LANGUAGES = ("cu", "cuda")  # values of -x: nvcc's and clang's


@dataclass(frozen=True, slots=True)
class Build:
    """How one file is compiled.

    ``defines`` and ``undefines`` name no macro twice; folders and ``pre_includes``, which are
    read before the file, are paths, in the order the compiler looks.  ``arch`` is ``sm_90``
    where exactly one architecture is named.
    """

    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    pre_includes: tuple[str, ...] = ()
    arch: str | None = None


def parse(words: Sequence[str], folder: str) -> Build:
    """What ``words``, the compiler first, say when they are run in ``folder``.

    Raises SourceError where a response file cannot be read.
    """
    before = [os.path.basename(word) for word in _until_first_option(words)]
    nvcc = any(name.startswith("nvcc") for name in before)  # perhaps behind ccache
    said = _Said(folder)
    said.read(words, nvcc, said.own)
    macros: dict[str, str | None] = {}
    for kind, value in said.all("define", "undefine"):
        name = _MACRO_END.split(value, 1)[0]
        if not _MACRO.fullmatch(name):
            raise SourceError(f"-D{value} is not NAME or NAME=VALUE")
        macros.pop(name, None)
        macros[name] = value if kind == "define" else None
    folders = [v for kind in ("include", "system", "last") for _, v in said.all(kind)]
    folders = [shown(value, folder) for value in folders]
    archs = {number for _, value in said.all("arch") for number in _ARCH.findall(value)}
    return Build(
        tuple(value for value in macros.values() if value is not None),
        tuple(name for name, value in macros.items() if value is None),
        tuple(dict.fromkeys(folders)),
        tuple(_found(value, folder, folders) for _, value in said.all("pre_include")),
        f"sm_{archs.pop()}" if len(archs) == 1 else None,
    )


def names_cuda(words: Sequence[str]) -> bool:
    """Whether ``-x cu`` or ``-x cuda`` is among ``words``, whatever the file is called."""
    rest = iter(words)
    for word in rest:
        joined = _LANGUAGE.fullmatch(word)
        value = joined[1] or joined[2] or next(rest, "") if joined else ""
        if value in LANGUAGES:
            return True
    return False


def shown(path: str, folder: str) -> str:
    """``path`` as seen from ``folder``: from the current folder if it lies there, else whole."""
    whole = os.path.normpath(os.path.join(os.path.abspath(folder), path))
    here = os.getcwd()
    return os.path.relpath(whole, here) if Path(whole).is_relative_to(here) else whole


def _until_first_option(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word.startswith("-"):
            return
        yield word


def _found(name: str, folder: str, folders: Sequence[str]) -> str:
    """A file of ``-include``: in the compiler's folder, else where headers are."""
    places = [shown(name, folder), *(os.path.normpath(os.path.join(f, name)) for f in folders)]
    return next((place for place in places if os.path.isfile(place)), name)


@dataclass(slots=True)
class _Said:
    """The options met so far, those for the host compiler apart."""

    folder: str
    host: list[tuple[str, str]] = field(default_factory=list)
    own: list[tuple[str, str]] = field(default_factory=list)

    def all(self, *kinds: str) -> Iterator[tuple[str, str]]:
        """Options of these kinds with their values, in the order in which they count."""
        return (each for each in (*self.host, *self.own) if each[0] in kinds)

    def read(
        self, words: Sequence[str], nvcc: bool, to: list[tuple[str, str]], depth: int = 0
    ) -> None:
        """Add what ``words`` say to the options ``to``."""
        rest = iter([word for word in words if word not in _PASSED_ON])
        for word in rest:
            if word.startswith("@") and not nvcc:
                self.read(self.response(word[1:], depth), nvcc, to, depth + 1)
                continue
            kind, value = _option(word)
            if kind is None:
                continue
            if value is None:
                value = next(rest, "")
            for part in _commas(value) if nvcc and kind in _LISTS else [value]:
                if kind == "file":
                    self.read(self.response(part, depth), nvcc, to, depth + 1)
                elif part:
                    to.append((kind, part))
            if kind == "host":
                passed = [w for part in _commas(value) for w in split(part, "-Xcompiler")]
                self.read(passed, False, self.host, depth + 1)

    def response(self, name: str, depth: int) -> list[str]:
        """The words of a response file."""
        path = shown(name, self.folder)
        if depth >= MAX_DEPTH:
            raise SourceError(f"{path}: response files name each other too deeply")
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SourceError(f"response file {path} cannot be read: {reason}") from None
        if len(data) > MAX_BYTES:  # its last words may be the ones that count
            raise SourceError(f"response file {path}: more than {MAX_BYTES >> 20} MB is not read")
        return split(data.decode("utf-8", "surrogateescape"), f"response file {path}")


def _option(word: str) -> tuple[str | None, str | None]:
    """The kind of an option, and its value where it is in the same word."""
    if word in _OPTIONS:
        return _OPTIONS[word], None
    name, equals, value = word.partition("=")
    if equals and name in _OPTIONS:
        return _OPTIONS[name], value
    for name in _JOINED:
        if word.startswith(name):
            return _OPTIONS[name], word.removeprefix(name)
    return None, None


def _commas(text: str) -> list[str]:
    r"""The parts of ``a,b``; quoted commas and ``\,`` part nothing."""
    parts = re.findall(r'(?:\\.|"(?:\\.|[^"\\])*"|[^,])+', text)
    return [part.replace("\\,", ",") for part in parts]


def split(text: str, where: str) -> list[str]:
    """The words of a command as a shell reads them; ``where`` is for the message only."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise SourceError(f"{where}: {str(error).lower()}") from None
