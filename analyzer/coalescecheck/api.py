"""The Python API: what the command does, as a function that returns objects."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

from coalescecheck import since
from coalescecheck.options import make_options
from coalescecheck.report.model import Report


def analyze(paths: str | PathLike[str] | Sequence[str | PathLike[str]], **options: Any) -> Report:
    """Analyse files or folders; the keyword arguments are those of ``options.make_options``.

    Raises ``UsageError`` for an option that makes no sense; a file that cannot be read is a
    ``FileReport`` with ``unreadable`` set.
    """
    given = [paths] if isinstance(paths, str | PathLike) else paths
    return since.analyze([fspath(path) for path in given], make_options(**options))
