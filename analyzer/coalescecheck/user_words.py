"""Accesses in the user's words, where the C that was analysed calls its functions by other names.

In: the analyses of a file and its text.  Out: the same, with ``tile.at(y, x)`` for the
``*Tile__at(&tile, y, x)`` of kernel C, and ``this->x`` for ``self->x``.  What is not on one line of
the source stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from coalescecheck.analysis import AccessResult, KernelAnalysis, Trial
from coalescecheck.errors import SourceError
from coalescecheck.frontend.reading import read_source
from coalescecheck.report.excerpt import expression_end
from coalescecheck.source import Span

_CALL = re.compile(r"\w\(")
_SELF = re.compile(r"\bself\b")
_SCOPED = re.compile(r"\w__\w")  # ``ns::name``
_METHOD = re.compile(r"\w__\w+\(")  # which may be an operator


def in_user_words(
    path: str, text: str, analyses: Sequence[KernelAnalysis]
) -> tuple[KernelAnalysis, ...]:
    """The analyses of the file at ``path``."""
    lines = _Lines(path, text)
    return tuple(_with_types(_reworded(each, lines), text) for each in analyses)


class _Lines:
    """The lines of the file and of the headers that it includes."""

    def __init__(self, path: str, text: str) -> None:
        self._files = {path: text.split("\n")}

    def at(self, span: Span) -> str:
        """The line of a place, empty for none."""
        if span.file not in self._files:
            try:
                self._files[span.file] = read_source(span.file).split("\n")
            except SourceError:
                self._files[span.file] = []
        lines = self._files[span.file]
        return lines[span.line - 1] if 1 <= span.line <= len(lines) else ""


def _with_types(analysis: KernelAnalysis, text: str) -> KernelAnalysis:
    """The types of elements as the user wrote them, where the file declares them."""
    named = {array.element for array in analysis.arrays.values()}
    named |= {result.access.element for result in analysis.accesses}
    words = {name: _type(name, text) for name in named if _SCOPED.search(name)}
    if all(name == shown for name, shown in words.items()):
        return analysis
    return replace(
        analysis,
        arrays={
            name: replace(array, element=words.get(array.element, array.element))
            for name, array in analysis.arrays.items()
        },
        accesses=tuple(
            replace(
                each,
                access=replace(
                    each.access, element=words.get(each.access.element, each.access.element)
                ),
            )
            for each in analysis.accesses
        ),
        trials=tuple(_trial(trial, words) for trial in analysis.trials),
    )


def _type(name: str, text: str) -> str:
    """``ns::Pair`` for ``ns__Pair``, where the text has a namespace and a type of these names."""
    *scopes, last = name.split("__")
    around = all(re.search(rf"\b(?:namespace|struct|class)\s+{s}\b", text) for s in scopes)
    kinds = r"\b(?:struct|class|union)\b"
    inside = re.search(rf"{kinds}[^;{{}}<]*\b{last}\s*(?:final\s*)?[:{{]", text)
    return "::".join((*scopes, last)) if around and inside and all(scopes) else name


def _reworded(analysis: KernelAnalysis, lines: _Lines) -> KernelAnalysis:
    words: dict[str, str] = {}
    accesses = []
    for result in analysis.accesses:
        index = result.access.index
        shown = _shown(index, result.access.span, lines)
        if shown != index:
            words.setdefault(index, shown)
        accesses.append(replace(result, access=replace(result.access, index=shown)))
    if not words:
        return analysis
    return replace(
        analysis,
        accesses=tuple(_reason(result, words) for result in accesses),
        trials=tuple(_trial(trial, words) for trial in analysis.trials),
    )


def _shown(index: str, span: Span, lines: _Lines) -> str:
    named = _CALL.search(index) or _SCOPED.search(index)
    if not (named or _SELF.search(index)):
        return index
    line = lines.at(span)
    if "".join(index.split()) in "".join(line.split()):
        return index
    if named and 1 <= span.column <= len(line):
        start = span.column - 1
        found = line[start : expression_end(line, start)].strip()
        if _is_whole(found, index):
            return " ".join(found.split())
    return index if _SELF.search(line) else _SELF.sub("this", index)


def _is_whole(found: str, index: str) -> bool:
    """Whether the source's expression ends where that of kernel C does, as far as one can see."""
    balanced = found.count("(") == found.count(")") and found.count("[") == found.count("]")
    if _METHOD.search(index):
        return balanced and bool(found)
    if _CALL.search(index):
        return balanced and "(" in found
    return balanced and found.count("[") == index.count("[") and not found.endswith("(")


def _reason(result: AccessResult, words: dict[str, str]) -> AccessResult:
    return replace(result, reason=_replaced(result.reason, words))


def _trial(trial: Trial, words: dict[str, str]) -> Trial:
    return replace(
        trial,
        change=_replaced(trial.change, words),
        description=_replaced(trial.description, words),
    )


def _replaced(text: str, words: dict[str, str]) -> str:
    for before, after in words.items():
        text = text.replace(f"`{before}`", f"`{after}`")
    return text
