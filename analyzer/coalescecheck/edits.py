"""Where in the source a proposed change belongs, when it is a change of some lines.

In: a file's text and its kernels' analyses.  Out: the analyses with edits at their trials.
No edit is better than a wrong one: a declaration that a macro or template wrote, or that other
launches of the kernel may need as it is, gets none.  A swizzle, which changes every access of its
array, gets one where no pad does and the changed text was analysed again with the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from coalescecheck.analysis import AccessResult, KernelAnalysis, Trial
from coalescecheck.arch import ARCHS, STATIC_SHARED_BYTES
from coalescecheck.ir.kernel import Array, Space
from coalescecheck.pad_edits import pad_edit
from coalescecheck.sharing import Sharing
from coalescecheck.source import Edit, Span
from coalescecheck.xor_edits import swizzle_edit

Again = Callable[[KernelAnalysis, str], KernelAnalysis | None]


def with_edits(
    path: str, text: str, analyses: Sequence[KernelAnalysis], again: Again, *, whole: bool
) -> tuple[KernelAnalysis, ...]:
    """The analyses of one file, with an edit at each trial that is one; ``again`` analyses a kernel
    of a changed text.  ``whole`` tells that all kernels of the file are among them."""
    if not any(each.trials for each in analyses):
        return tuple(analyses)
    sharing = Sharing(path, text, analyses, whole=whole)
    pads = _Pads(path, text, sharing)
    padded = [
        replace(each, trials=tuple(pads.located(each, trial) for trial in each.trials))
        for each in analyses
    ]
    return tuple(_swizzled(path, text, each, sharing, again) for each in padded)


def _swizzled(
    path: str,
    text: str,
    analysis: KernelAnalysis,
    sharing: Sharing,
    again: Again,
) -> KernelAnalysis:
    done = {trial.array for trial in analysis.trials if trial.edit is not None}
    trials = list(analysis.trials)
    for at, trial in enumerate(trials):
        wanted = trial.kind == "swizzle" and trial.helps and trial.array not in done
        if not wanted or analysis.template:
            continue
        others = sharing.of(analysis, analysis.arrays[trial.array])
        if not others or not all(_agrees(each, trial) for each in others):
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


class _Pads:
    """Edits of the declarations of one file, which all together keep within the limit of shared
    memory."""

    def __init__(self, path: str, text: str, sharing: Sharing) -> None:
        self._path, self._text, self._sharing = path, text, sharing
        self._made: dict[tuple[Span, str], tuple[int, Edit | None]] = {}  # by declaration
        self._added: Counter[int] = Counter()  # bytes, by identity of the analysis

    def located(self, analysis: KernelAnalysis, trial: Trial) -> Trial:
        """The trial with an edit, where the pad may be made."""
        array = analysis.arrays.get(trial.array)
        if trial.kind != "pad" or not trial.in_rows or not trial.helps or analysis.template:
            return trial
        if array is None or array.span.file != self._path or array.span.note:
            return trial
        key = array.span, array.name
        if key not in self._made:
            self._made[key] = trial.amount, self._edit(analysis, array, trial)
        amount, edit = self._made[key]
        return replace(trial, edit=edit if amount == trial.amount else None)

    def _edit(self, analysis: KernelAnalysis, array: Array, trial: Trial) -> Edit | None:
        sharing = self._sharing.of(analysis, array)
        if not sharing or not all(_agrees(each, trial) for each in sharing):
            return None
        rows = (array.size or 0) // (array.dims[-1] * array.element_size)
        more = rows * trial.amount * array.element_size
        if not all(_fits(each, self._added[id(each)], more) for each in sharing):
            return None
        if any(_moves_vectors(each, array, more) for each in sharing):
            return None
        edit = pad_edit(self._text, array, trial.amount)
        if edit is not None:
            self._added.update(dict.fromkeys(map(id, sharing), more))
        return edit


def _fits(analysis: KernelAnalysis, added: int, more: int) -> bool:
    """Whether a block can have ``more`` bytes of shared memory beside those that were ``added``."""
    shared = [a for a in analysis.arrays.values() if a.space is Space.SHARED]
    dynamic = analysis.launch.shared_bytes
    if dynamic is None and any(array.dynamic for array in shared):
        return False
    static = sum(array.size or 0 for array in shared) + added
    total = static + (dynamic or 0)
    most = ARCHS[analysis.arch].max_shared_bytes if total > STATIC_SHARED_BYTES else 0
    return static + more <= STATIC_SHARED_BYTES and total + more <= max(most, STATIC_SHARED_BYTES)


def _moves_vectors(analysis: KernelAnalysis, array: Array, more: int) -> bool:
    """Whether ``more`` bytes of one array may misalign vector accesses of another, which is not
    declared as aligned as they need it."""
    others = {a.name: a.align for a in analysis.arrays.values() if a.space is Space.SHARED}
    return any(
        more % access.width_bytes and access.width_bytes > others[name]
        for access in analysis.accesses
        for name in access.array.split("|")
        if name in others and name != array.name
    )


def _agrees(other: KernelAnalysis, trial: Trial) -> bool:
    """Whether the same change was tried under another launch and made nothing worse there."""
    return any(
        (mine.kind, mine.array, mine.amount) == (trial.kind, trial.array, trial.amount)
        and mine.helps
        and mine.in_rows
        for mine in other.trials
    )


def edited(text: str, edit: Edit) -> str:
    """``text`` with all parts of ``edit`` made."""
    lines = text.split("\n")
    for part in sorted(edit.parts, key=lambda e: -e.span.column):
        at = part.span.line - 1
        lines[at] = lines[at][: part.span.column - 1] + part.text + lines[at][part.end_column - 1 :]
    return "\n".join(lines)
