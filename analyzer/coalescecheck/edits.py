"""Where in the source a proposed change belongs, when it is a change of one line.

In: a file's text and its kernels' analyses.  Out: the analyses with edits at their trials.
No edit is better than a wrong one: a declaration that a macro or template wrote, or that other
launches of the kernel may need as it is, gets none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.analysis import KernelAnalysis, Trial
from coalescecheck.ir.kernel import Array
from coalescecheck.source import Edit, Span

_SUM = re.compile(r"[\w\s.+*-]+")  # binds no weaker than the ``+ 1`` that is written after it
_NUMBER = re.compile(r"[0-9]+")


def with_edits(
    path: str, text: str, analyses: Sequence[KernelAnalysis]
) -> tuple[KernelAnalysis, ...]:
    """The analyses of one file, with an edit at each trial that is one."""
    lines = text.split("\n")
    return tuple(
        replace(each, trials=tuple(_located(path, lines, each, t, analyses) for t in each.trials))
        if each.trials
        else each
        for each in analyses
    )


def _located(
    path: str,
    lines: Sequence[str],
    analysis: KernelAnalysis,
    trial: Trial,
    analyses: Sequence[KernelAnalysis],
) -> Trial:
    array = analysis.arrays.get(trial.array)
    if trial.kind != "pad":
        return trial
    if array is None or analysis.template or array.span.file != path or array.span.note:
        return trial
    if not all(_agrees(other, trial) for other in analyses if other.span == analysis.span):
        return trial
    return replace(trial, edit=_pad_edit(lines, array, trial.amount))


def _agrees(other: KernelAnalysis, trial: Trial) -> bool:
    """Whether the same change was tried under another launch and made nothing worse there."""
    return any(
        (mine.kind, mine.array, mine.amount) == (trial.kind, trial.array, trial.amount)
        and mine.helps
        for mine in other.trials
    )


def _pad_edit(lines: Sequence[str], array: Array, pad: int) -> Edit | None:
    """``[32]`` → ``[33]`` or ``[TILE]`` → ``[TILE + 1]`` in the only declaration of the line."""
    span = array.span
    if not 1 <= span.line <= len(lines):
        return None
    line = lines[span.line - 1].partition("//")[0]
    sizes = r"((?:\s*\[[^\[\]]+\])+)"
    found = list(re.finditer(rf"(?<![\w.]){re.escape(array.name)}\b{sizes}", line))
    if len(found) != 1 or found[0][1].count("[") != len(array.dims):
        return None
    end = found[0].end() - 1
    start = line.rindex("[", 0, end) + 1
    size = line[start:end]
    return Edit(Span(span.file, span.line, start + 1), end + 1, _larger(size.strip(), pad))


def _larger(size: str, pad: int) -> str:
    if _NUMBER.fullmatch(size) and not size.startswith("0"):
        return str(int(size) + pad)
    return f"{size} + {pad}" if _SUM.fullmatch(size) else f"({size}) + {pad}"
