"""Options without effect: of parameters no kernel has, most often a misspelt name, of rules that
are ignored too, or of folders that are not there.

In: the options of the command line and a brief of every file.  Out: a warning for each name.
Nothing is said of parameters where a kernel could not be analysed: the name may be one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from coalescecheck.brief import Brief
from coalescecheck.facts import parse_facts
from coalescecheck.options import Options
from coalescecheck.source import Diagnostic, Span


def unheeded(options: Options, briefs: Collection[Brief]) -> Iterator[Diagnostic]:
    """A warning for each name without effect."""
    if options.select:
        from coalescecheck import rules
    for name in options.select:
        if not rules.select((name,), options.ignore):
            yield _said(f"--select: {name} is ignored, too, and does not run")
    for folder in options.include_dirs:
        if not os.path.isdir(folder):
            yield _said(f"-I: there is no folder {folder}")
    yield from _of_kernels(options, briefs)


def _of_kernels(options: Options, briefs: Collection[Brief]) -> Iterator[Diagnostic]:
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
                yield _said(f"--{option}: {what} {name}")


def _said(message: str) -> Diagnostic:
    return Diagnostic(Span("coalescecheck", 0, 0), "warning", message)
