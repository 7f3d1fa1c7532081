"""Reports: one module per format, each with ``render(report, terminal) -> str``.

A format's module is imported when it is asked for, so that naming the formats costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from coalescecheck.errors import UsageError
from coalescecheck.report.model import Report, Terminal


class Renderer(Protocol):
    """A report, and the terminal it will be read on, to text."""

    def __call__(self, report: Report, terminal: Terminal, /) -> str: ...


FORMATS = {
    "text": "coalescecheck.report.text",
    "json": "coalescecheck.report.jsonfmt",
    "concise": "coalescecheck.report.concise",
    "sarif": "coalescecheck.report.sarif",
    "github": "coalescecheck.report.github",
    "markdown": "coalescecheck.report.markdown",
    "junit": "coalescecheck.report.junit",
    "html": "coalescecheck.report.html",
}


def renderer(name: str) -> Renderer:
    """The renderer of the format called ``name``."""
    if name not in FORMATS:
        raise UsageError(f"no format is called {name!r}; there are {', '.join(FORMATS)}")
    return cast(Renderer, import_module(FORMATS[name]).render)
