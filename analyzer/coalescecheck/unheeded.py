"""Options that speak of parameters no kernel has: most often a misspelt name.

In: the options of the command line and a brief of every file.  Out: a warning for each name.
Nothing is said where a kernel could not be analysed: the name may be one of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from coalescecheck.brief import Brief
from coalescecheck.facts import parse_facts
from coalescecheck.options import Options
from coalescecheck.source import Diagnostic, Span


def unheeded(options: Options, briefs: Collection[Brief]) -> Iterator[Diagnostic]:
    """A warning for each name in ``--param``, ``--assume`` and ``--template`` without effect."""
    statuses = {status for brief in briefs for status in brief.kernels}
    if not statuses or "failed" in statuses:
        return
    given = frozenset[str]().union(*(brief.given for brief in briefs))
    said = (
        ("param", "no kernel has an integer parameter called", dict(options.params)),
        # it may be a pointer whose alignment is known anyway
        ("assume", "no number depends on what is said of", parse_facts(options.assume)),
        ("template", "no kernel has a template parameter called", dict(options.templates)),
    )
    for option, what, names in said:
        for name in names:
            if name not in given:
                message = f"--{option}: {what} {name}"
                yield Diagnostic(Span("coalescecheck", 0, 0), "warning", message)
