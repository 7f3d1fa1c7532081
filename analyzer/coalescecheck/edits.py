"""Where in the source a proposed change belongs, when it is a change of some lines.

In: a file's text and its kernels' analyses.  Out: the analyses with edits at their trials.
No edit is better than a wrong one: a declaration that a macro or template wrote, or that other
launches of the kernel may need as it is, gets none.  A swizzle, which changes every access of its
array, gets one where no pad does and the changed text was analysed again with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from coalescecheck.analysis import AccessResult, KernelAnalysis, Trial
from coalescecheck.ir.kernel import Array
from coalescecheck.source import Edit, Span
from coalescecheck.xor_edits import swizzle_edit

_SUM = re.compile(r"[\w\s.+*-]+")  # binds no weaker than the ``+ 1`` that is written after it
_NUMBER = re.compile(r"[0-9]+")

Again = Callable[[KernelAnalysis, str], KernelAnalysis | None]


def with_edits(
    path: str, text: str, analyses: Sequence[KernelAnalysis], again: Again
) -> tuple[KernelAnalysis, ...]:
    """The analyses of one file, with an edit at each trial that is one; ``again`` analyses a kernel
    of a changed text."""
    lines = text.split("\n")
    padded = [
        replace(each, trials=tuple(_located(path, lines, each, t, analyses) for t in each.trials))
        if each.trials
        else each
        for each in analyses
    ]
    return tuple(_swizzled(path, text, each, padded, again) for each in padded)


def _swizzled(
    path: str,
    text: str,
    analysis: KernelAnalysis,
    analyses: Sequence[KernelAnalysis],
    again: Again,
) -> KernelAnalysis:
    others = [other for other in analyses if other.span == analysis.span]
    done = {trial.array for trial in analysis.trials if trial.edit is not None}
    trials = list(analysis.trials)
    for at, trial in enumerate(trials):
        wanted = trial.kind == "swizzle" and trial.helps and trial.array not in done
        if not wanted or analysis.template or not all(_agrees(each, trial) for each in others):
            continue
        edit = swizzle_edit(path, text, analysis, trial)
        if edit is None:
            continue
        changed = edited(text, edit)
        if all(_is_confirmed(each, trial, again(each, changed)) for each in others):
            trials[at] = replace(trial, edit=edit)
    return replace(analysis, trials=tuple(trials))


def _is_confirmed(old: KernelAnalysis, trial: Trial, new: KernelAnalysis | None) -> bool:
    """Whether the changed text costs what the trial of the same change under the launch of ``old``
    said, and the rest what it did."""
    mine = next(t for t in old.trials if (t.kind, t.array) == (trial.kind, trial.array))
    if new is None or new.status != old.status or len(new.races) > len(old.races):
        return False
    if len(new.accesses) != len(old.accesses):
        return False
    return all(
        was.access.span.line == now.access.span.line
        and now.verified.simulation != "disagrees"
        and _cost(now) == mine.after.get(was.access.id, _cost(was))
        for was, now in zip(old.accesses, new.accesses, strict=True)
    )


def _cost(result: AccessResult) -> float | None:
    count = result.wavefronts or result.sectors
    return None if count is None else float(count.max if count.mean is None else count.mean)


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


def edited(text: str, edit: Edit) -> str:
    """``text`` with all parts of ``edit`` made."""
    lines = text.split("\n")
    for part in sorted(edit.parts, key=lambda e: -e.span.column):
        at = part.span.line - 1
        lines[at] = lines[at][: part.span.column - 1] + part.text + lines[at][part.end_column - 1 :]
    return "\n".join(lines)
