"""Shared arrays that several kernels or launches have: what is said for one must suit all.

In: the analyses of one file.  Out: whom a change of an array concerns, and the analyses without
what is said of a shared array that does not hold for all who have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from coalescecheck.analysis import KernelAnalysis, Trial
from coalescecheck.array_uses import blanked, end_of_block, line_start
from coalescecheck.errors import SourceError
from coalescecheck.frontend.reading import read_source
from coalescecheck.ir.kernel import Array

OF_ARRAYS = ("pad", "swizzle")  # the changes of one shared array
MOST_AGAIN = 40  # analyses of other kernels for the changes of one file; beyond, none is known
Again = Callable[[KernelAnalysis, Trial, str], Trial | None]


class Sharing:
    """Which kernels of a file a change of a shared array concerns."""

    def __init__(
        self, path: str, text: str, analyses: Sequence[KernelAnalysis], *, whole: bool
    ) -> None:
        self._codes, self.analyses = {path: blanked(text)}, analyses  # by file
        self._all_read = whole and all(each.status == "analysed" for each in analyses)

    def of(self, analysis: KernelAnalysis, array: Array) -> list[KernelAnalysis]:
        """All analyses with the array, of ``analysis`` and others; none where some may not be at
        hand, or where one kernel has it several times, as that of a function template."""
        if not self.is_own(analysis, array) and not self._all_read:
            return []
        found = [each for each in self.analyses if each.span == analysis.span or _has(each, array)]
        return found if all(_has(each, array) == 1 for each in found) else []

    def is_own(self, analysis: KernelAnalysis, array: Array) -> bool:
        """Whether the array is declared in the body of the kernel, maybe in a header."""
        file = analysis.span.file
        if array.span.file != file:
            return False
        if file not in self._codes:
            try:
                self._codes[file] = blanked(read_source(file))
            except SourceError:
                self._codes[file] = ""
        return _is_inside(self._codes[file], analysis.span.line, array.span.line)


def _has(analysis: KernelAnalysis, array: Array) -> int:
    """How many arrays of the kernel the declaration of ``array`` makes."""
    return sum(1 for _ in _named(analysis, array))


def _named(analysis: KernelAnalysis, array: Array) -> Iterator[str]:
    """The arrays of a kernel that the declaration of ``array`` makes."""
    name = array.name.partition(".")[0]
    for other in analysis.arrays.values():
        if other.span == array.span and other.name.partition(".")[0] == name:
            yield other.name


def _is_inside(code: str, kernel: int, line: int) -> bool:
    """Whether a line belongs to the body of the function that starts on the line ``kernel``."""
    start, end = line_start(code, kernel), line_start(code, line)
    opening = code.find("{", start)
    return 0 <= opening < end + 1 and end < end_of_block(code, opening + 1)


def reconciled(
    path: str,
    text: str,
    analyses: Sequence[KernelAnalysis],
    again: Again,
    others: Callable[[], Sequence[KernelAnalysis]],
) -> tuple[KernelAnalysis, ...]:
    """The ``analyses`` of the file at ``path`` without the changes that are wrong elsewhere,
    and without the steps in arrays whose declared rows are used elsewhere.

    ``again`` makes the change of a trial to an array of another analysis; ``others`` are those of
    the kernels of the file that were not asked for.
    """
    shared = _Shared(Sharing(path, text, analyses, whole=True), again, others)
    return tuple(
        replace(
            each,
            trials=tuple(kept for t in each.trials if (kept := shared.suiting(each, t))),
            shared_steps={
                name: None if shared.may_step_by_rows(each, name) else steps
                for name, steps in each.shared_steps.items()
            },
        )
        for each in analyses
    )


class _Shared:
    """What the kernels of a file say to a change that helps one of them."""

    def __init__(
        self,
        sharing: Sharing,
        again: Again,
        others: Callable[[], Sequence[KernelAnalysis]],
    ) -> None:
        self._sharing, self._again, self._others = sharing, again, others
        self._said: dict[tuple[int, str, tuple[str, int, str]], Trial | None] = {}
        self._made = 0

    def suiting(self, analysis: KernelAnalysis, trial: Trial) -> Trial | None:
        """The trial in words that are right for all who have its array; None where one loses by
        it, or may."""
        array = analysis.arrays.get(trial.array)
        if trial.kind not in OF_ARRAYS or not trial.helps or array is None:
            return trial
        concerned = self._concerned(analysis, array)
        if concerned is None:
            return None
        words = trial.description
        for each in concerned:
            for name in _named(each, array):
                if each.arrays[name].dims != array.dims:
                    continue  # template arguments choose the size: it may change for one of them
                if not any(name in access.array.split("|") for access in each.accesses):
                    continue
                found = self._elsewhere(each, trial, name)
                if found is None or found.harms:
                    return None
                words = max(words, found.description, key=len)  # says what flat accesses become
        return replace(trial, description=words) if trial.kind == "swizzle" else trial

    def may_step_by_rows(self, analysis: KernelAnalysis, name: str) -> bool:
        """Whether any kernel or launch with the array may use its rows as they are declared."""
        array = analysis.arrays[name]
        if _uses_rows(analysis, name):
            return True
        concerned = self._concerned(analysis, array)
        return concerned is None or any(
            _uses_rows(each, other) for each in concerned for other in _named(each, array)
        )

    def _concerned(self, analysis: KernelAnalysis, array: Array) -> list[KernelAnalysis] | None:
        """All who may have the array; None where one of them is not known in full."""
        every = [each for each in self._sharing.analyses if each.span == analysis.span]
        if not self._sharing.is_own(analysis, array):
            every = [*self._sharing.analyses, *self._others()]
        return every if all(each.status == "analysed" for each in every) else None

    def _elsewhere(self, other: KernelAnalysis, trial: Trial, name: str) -> Trial | None:
        """The same change of the array ``name`` of another kernel or launch."""
        key = (id(other), name, _what(trial))
        if key not in self._said:
            same = [t for t in other.trials if (t.array, _what(t)) == (name, key[2])]
            self._made += not same
            if same or self._made > MOST_AGAIN:
                self._said[key] = next(iter(same), None)
            else:
                self._said[key] = self._again(other, trial, name)
        return self._said[key]


def _uses_rows(analysis: KernelAnalysis, name: str) -> bool:
    steps, array = analysis.shared_steps.get(name, frozenset()), analysis.arrays[name]
    pitch = array.dims[-1] * array.element_size if array.dims else 0
    return steps is None or not pitch or any(step % pitch == 0 for step in steps)


def _what(trial: Trial) -> tuple[str, int, str]:
    return trial.kind, trial.amount, trial.operand
