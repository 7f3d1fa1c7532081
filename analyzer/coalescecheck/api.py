"""The Python API: what the command does, as a function that returns objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Any

from coalescecheck import running, since
from coalescecheck.config import Settings
from coalescecheck.inputs import gather
from coalescecheck.options import Options
from coalescecheck.report.model import Report


def analyze(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    build_dir: str | PathLike[str] | None = None,
    **options: Any,
) -> Report:
    """Analyse files, folders or a ``compile_commands.json``, with the options of the build in
    ``build_dir``; the other keyword arguments are those of ``options.make_options``.

    Raises ``UsageError`` for an option that makes no sense; a file that cannot be read is a
    ``FileReport`` with ``unreadable`` set.
    """
    options = {k: tuple(v) if isinstance(v, Iterator) else v for k, v in options.items()}
    given = [paths] if isinstance(paths, str | PathLike) else paths
    build = None if build_dir is None else fspath(build_dir)
    inputs = gather([fspath(path) for path in given], Settings(None, options), build)

    files, settings = inputs.files, inputs.settings

    def today(options: Options) -> Report:
        return running.analyze(files, options, settings.at, said=inputs.said, found=inputs.found)

    names = tuple(fspath(path) for path in given)
    return since.analyze(since.Now(names, files, settings.options, settings.at), today)
