"""Results of files that have not changed since.

In: a path and options.  Out: the file's report as it was, or nothing.  An entry counts only for
the same text of the file and of every header it names, the same options, and the same code of
this tool.  A damaged, foreign or unwritable cache costs time and nothing else; reading an entry
runs no code but the constructors of our own records.  Kernels are read when somebody asks for
them, as a list of findings needs none.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from coalescecheck.fingerprint import relative
from coalescecheck.frontend.includes import find_header
from coalescecheck.isolation import Defect, isolated
from coalescecheck.options import Options
from coalescecheck.report.model import FileReport

if TYPE_CHECKING:
    from coalescecheck.analysis import FileAnalysis, KernelAnalysis
    from coalescecheck.brief import Brief
    from coalescecheck.source import Diagnostic

VARIABLE = "COALESCECHECK_CACHE"  # a folder; empty for no cache
MAGIC = b"coalescecheck cache 2\n"
HASH_BYTES = hashlib.sha256().digest_size
MOST_HEADERS = 5000
MODULES = "analysis brief findings source launch totals cost ir.kernel ir.types report.model"
RECORDS = frozenset(f"coalescecheck.{name}" for name in MODULES.split())

_INCLUDE = re.compile(
    rb"""^[ \t]*(?:\#|%:|\?\?=)[ \t]*(?:include|include_next|import)\b[ \t]*
        (?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<other>[^\n]*))
      | \b__has_include\s*\(\s*(?:"(?P<quoted2>[^"\n]*)"|<(?P<angled2>[^>\n]*)>|(?P<other2>))""",
    re.VERBOSE | re.MULTILINE,
)


def default_folder() -> Path | None:
    """Where the cache lies: the variable's folder, else the user's own; None for nowhere."""
    told = os.environ.get(VARIABLE)
    if told is not None:
        return Path(told) if told else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "coalescecheck"


class Cache:
    """The entries in one folder, one per file and set of options; all are made anew where none
    is to be read (``reading``)."""

    def __init__(self, folder: Path, *, reading: bool = True) -> None:
        self._folder, self._reading = folder, reading
        self._code = _own_code()

    def state(self, path: str, options: Options) -> bytes | None:
        """A hash of all the file's result depends on, as it is now; None where nobody can tell."""
        said = sources(path, options)
        return None if said is None else hashlib.sha256(self._code + said).digest()

    def get(
        self,
        path: str,
        options: Options,
        state: bytes | None,
        again: Callable[[], FileAnalysis],
    ) -> FileReport | None:
        """The report of the file that was made in the same ``state``; ``again`` analyses the file
        where its kernels turn out to be damaged."""
        if not self._reading:
            return None
        try:
            data = self._entry(path, options).read_bytes()
        except (OSError, ValueError):
            return None
        start, end = len(MAGIC), len(MAGIC) + HASH_BYTES
        before, check, body = (
            data[start:end],
            data[end : end + HASH_BYTES],
            data[end + HASH_BYTES :],
        )
        if not data.startswith(MAGIC) or before != state:
            return None
        if hashlib.sha256(body).digest() != check:
            return None
        result = isolated("reading the cache", lambda: _report(io.BytesIO(body), again))
        return None if isinstance(result, Defect) else result

    def put(self, path: str, options: Options, state: bytes | None, report: FileReport) -> None:
        """Remember the report of a file; ``state`` is from before the file was read."""
        if state is None or report.unreadable:
            return
        body = isolated("writing the cache", lambda: _dumped(report))
        if isinstance(body, Defect):
            return
        _write(self._entry(path, options), MAGIC + state + hashlib.sha256(body).digest() + body)

    def _entry(self, path: str, options: Options) -> Path:
        parts = (os.getcwd(), path, repr(_relevant(options)))
        name = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / name[:2] / name[2:]


def _relevant(options: Options) -> Options:
    """The options without those that only say what to do with the result."""
    plain = Options()
    names = "format output fail_on strict emit exclude baseline write_baseline since root".split()
    same: dict[str, Any] = {name: getattr(plain, name) for name in names}
    return replace(options, **same)


def _own_code() -> bytes:
    """A hash of this package: a change of the tool makes every entry old."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for file in sorted(folder.rglob("*.py")):
        about = file.stat()
        digest.update(f"{file.relative_to(folder)} {about.st_mtime_ns} {about.st_size}\n".encode())
    return digest.digest()


def _write(target: Path, data: bytes) -> None:
    """In one step, so that no other run reads half an entry."""
    import tempfile  # not where nothing has changed

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent)
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, target)
    except OSError:
        return  # a full or read-only disk


# --- what a file depends on -------------------------------------------------------------------


def sources(path: str, options: Options, root: Path | None = None) -> bytes | None:
    """A hash of the text of the file and of every header it may read, with paths that count from
    the folder ``root``; None where nobody can tell what it reads."""
    digest = hashlib.sha256()
    for said in _texts(path, options, root):
        if said is None:
            return None
        digest.update(hashlib.sha256(said).digest())
    return digest.digest()


def _bytes(path: str) -> bytes | None:
    """Those of a file; a pipe can be read only once, and a device has no end."""
    try:
        return Path(path).read_bytes() if os.path.isfile(path) else None
    except (OSError, ValueError):
        return None


def _texts(path: str, options: Options, root: Path | None) -> Iterator[bytes | None]:
    """Paths and contents of the file and of every header it may read, found as the front end
    finds them; headers that are not there count by their absence.  None: nobody can tell."""
    stack: list[tuple[str, ...]] = [(path,)]
    seen: set[tuple[str, ...]] = set()  # a header, and the folders its own includes may be in

    def named(file: str) -> bytes:
        return os.fsencode(file if root is None else relative(file, root))

    for header in options.pre_includes:
        yield named(header) + b"\0"
        if os.path.isfile(header):
            stack.append((header,))
    while stack:
        chain = stack.pop()
        data = _bytes(chain[-1])
        if data is None:
            yield None
            return
        yield from (named(chain[-1]), data)
        for match in _INCLUDE.finditer(data.replace(b"\\\n", b"")):
            quoted = match["quoted"] or match["quoted2"]
            name = quoted or match["angled"] or match["angled2"]
            if name is None:
                yield None  # the name comes from a macro
                return
            found = find_header(os.fsdecode(name), chain, options.include_dirs, quoted is not None)
            yield name + b"\0" + (named(found) if found else b"")
            if found is None:
                continue
            place = (found, *dict.fromkeys(os.path.dirname(file) for file in chain))
            if place not in seen:
                seen.add(place)
                stack.append((*chain, found))
        if len(seen) > MOST_HEADERS:
            yield None
            return


# --- reading safely ---------------------------------------------------------------------------


class _Dumper(pickle.Pickler):
    """Writes a record as a call of its constructor: a frozen one that is filled field by field
    takes three times as long to read."""

    def reducer_override(self, record: Any) -> Any:
        kind = type(record)
        if not is_dataclass(kind):
            return NotImplemented
        return kind, tuple(getattr(record, name) for name in _names(kind))


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _dumped(report: FileReport) -> bytes:
    data, analysis = io.BytesIO(), report.analysis
    about = (analysis.path, analysis.text, analysis.diagnostics, analysis.brief)
    _Dumper(data, protocol=5).dump((*about, report.findings, report.suppressed))
    _Dumper(data, protocol=5).dump(analysis.kernels)
    return data.getvalue()


def _report(data: io.BytesIO, again: Callable[[], FileAnalysis]) -> FileReport:
    path, text, said, brief, findings, suppressed = _Loader(data).load()
    analysis = Stored(path, text, said, brief, data, again)
    return FileReport(cast("FileAnalysis", analysis), findings, suppressed=suppressed)


class Stored:
    """A ``FileAnalysis`` that reads its kernels when they are asked for."""

    def __init__(
        self,
        path: str,
        text: str,
        diagnostics: tuple[Diagnostic, ...],
        brief: Brief,
        data: io.BytesIO,
        again: Callable[[], FileAnalysis],
    ) -> None:
        self.path, self.text, self.diagnostics, self.brief = path, text, diagnostics, brief
        self._data, self._again = data, again

    @cached_property
    def kernels(self) -> tuple[KernelAnalysis, ...]:
        found = isolated("reading the cache", lambda: _Loader(self._data).load())
        return found if isinstance(found, tuple) else self._again().kernels

    def __eq__(self, other: object) -> bool:
        names = ("path", "text", "diagnostics", "kernels")
        return all(getattr(self, n) == getattr(other, n, None) for n in names)

    __hash__ = None  # type: ignore[assignment]


class _Loader(pickle.Unpickler):
    """Knows no name but those of our own records, so that an entry can do nothing."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(import_module(module), name, None) if module in RECORDS else None
        if isinstance(found, type) and found.__module__ == module and _is_record(found):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no record")


def _is_record(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum) or issubclass(kind, tuple)
