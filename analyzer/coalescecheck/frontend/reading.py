"""Source files as text: what the disk holds, decoded, with line ends normalised.

In: a path.  Out: text whose lines end in a single newline.  Raises SourceError with the
reason in the user's words; must not know what the text means.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from coalescecheck.errors import SourceError

MAX_BYTES = 64 * 1024 * 1024


def read_source(path: str) -> str:
    """The text of a source file: UTF-8, or Latin-1 where it is no UTF-8."""
    file = Path(path)
    try:
        if file.is_dir():
            raise SourceError(f"{path}: is a folder, not a source file")
        data = _bytes(file) if file.is_file() else _only_once(file)
        if len(data) > MAX_BYTES:
            raise SourceError(f"{path}: more than the {MAX_BYTES} bytes that are read")
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path itself
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{path}: cannot be read: {reason}") from error
    return decode_source(data, path)


def _bytes(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(MAX_BYTES + 1)  # of a device there is no end


_only_once = cache(_bytes)  # a pipe gives its text to the first who reads it


def unsaved_source(text: str, path: str) -> str:
    """``text``, which an editor holds for the file at ``path``, as ``read_source`` would give it.

    Half a surrogate pair, which is no character, becomes a question mark.
    """
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path}: {len(data)} bytes is more than the {MAX_BYTES} that are read")
    return decode_source(data, path)


def decode_source(data: bytes, path: str) -> str:
    """``data`` as text; ``path`` is for the message only."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return _newlines(data.decode("utf-16"))
        except UnicodeDecodeError:
            raise SourceError(f"{path}: is no text (damaged UTF-16)") from None
    if b"\0" in data:
        raise SourceError(f"{path}: is a binary file (it contains NUL bytes)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _newlines(text)


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
