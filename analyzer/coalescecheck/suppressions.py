"""Comments that silence findings, and those that silence nothing.

In: a file's text, and findings.  Out: which findings remain.  Understood are
``// coalescecheck: ignore[CC201] reason`` (behind the code, or on a line of its own above it)
and clang-tidy's ``NOLINT``, ``NOLINTNEXTLINE``, ``NOLINTBEGIN`` and ``NOLINTEND``, with or
without a list of rules.  Names in a NOLINT list that are no rules of ours belong to other tools.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from coalescecheck.findings import Finding, Suppressed
from coalescecheck.frontend.cleaning import clean
from coalescecheck.frontend.positions import FilePlaces
from coalescecheck.rules import RULES
from coalescecheck.rules.base import Rule
from coalescecheck.source import Span

_OURS, _CLANG = r"coalescecheck:\s*ignore(?!\w)", r"(?<!\w)NOLINT(?:NEXTLINE|BEGIN|END)?(?!\w)"
_REASON = rf"(?:(?!{_OURS}|{_CLANG}|\*/)[^\n])*"  # a line may hold several comments
_MARK = re.compile(
    rf"{_OURS}(?:[ \t]*\[(?P<names>[^\]\n]*)\])?(?P<why>{_REASON})"
    r"|(?<!\w)NOLINT(?P<form>NEXTLINE|BEGIN|END)?(?!\w)(?:\((?P<checks>[^)\n]*)\))?"
    rf"(?P<note>{_REASON})"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment and the lines ``first`` to ``last`` it speaks of.

    ``rules`` are the codes it silences.  ``ours`` comments are written for this tool, so one
    that silences nothing is worth a word.
    """

    span: Span
    rules: frozenset[str]
    first: int
    last: int
    reason: str
    ours: bool

    def covers(self, finding: Finding) -> bool:
        return finding.rule in self.rules and any(
            file == self.span.file and self.first <= line <= self.last
            for file, line in finding.span.lines
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A comment that does not do what its author meant."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Suppressions:
    """The comments of one file."""

    entries: tuple[Suppression, ...] = ()
    problems: tuple[Problem, ...] = ()

    def apply(
        self, findings: Iterable[Finding]
    ) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
        """The findings that remain and those that are silenced."""
        kept: list[Finding] = []
        silenced: list[Suppressed] = []
        for finding in findings:
            covering = [entry for entry in self.entries if entry.covers(finding)]
            if covering:
                silenced.append(Suppressed(finding, "source", covering[0].reason))
            else:
                kept.append(finding)
        return tuple(kept), tuple(silenced)

    def unused(
        self, silenced: Sequence[Suppressed], judged: Collection[int] | None = None
    ) -> tuple[Problem, ...]:
        """What to say about comments, given everything that was silenced in the file.

        ``judged`` are the only lines whose comments can be called useless; None for all.
        """
        idle = [
            entry
            for entry in self.entries
            if entry.ours and not any(entry.covers(each.finding) for each in silenced)
            if judged is None or any(entry.first <= line <= entry.last for line in judged)
        ]
        said = [
            Problem(entry.span, f"nothing to ignore here for {', '.join(sorted(entry.rules))}")
            for entry in idle
        ]
        return (*self.problems, *said)


def find_suppressions(path: str, text: str) -> Suppressions:
    """The comments of the file at ``path``, in the order of the text."""
    if "NOLINT" not in text and "coalescecheck:" not in text:
        return Suppressions()
    return _Reader(path, text).read()


class _Reader:
    """Reads one file; holds the NOLINTBEGINs that are still open."""

    def __init__(self, path: str, text: str) -> None:
        self._text = text
        self._code = clean(text).text
        self._lines = self._code.replace("\v", "\n").split("\n")
        self._places = FilePlaces(path, text)
        self._open: list[tuple[Span, tuple[str, ...] | None, str]] = []
        self._entries: list[Suppression] = []
        self._problems: list[Problem] = []

    def read(self) -> Suppressions:
        for match in _MARK.finditer(self._text):
            if self._code[match.start()].strip():
                continue  # code or a string, no comment
            span = self._places.span(match.start())
            if match["form"] is None and match[0].startswith("coalescecheck"):
                self._ignore(span, match)
            else:
                self._nolint(span, match)
        for span, names, _ in self._open:
            if _ours(names):
                self._problems.append(Problem(span, "NOLINTBEGIN without NOLINTEND: not applied"))
        return Suppressions(tuple(self._entries), tuple(self._problems))

    def _ignore(self, span: Span, match: re.Match[str]) -> None:
        names = None if match["names"] is None else _listed(match["names"])
        for name in names or ():
            if not _rules_named(name):
                self._problems.append(Problem(span, f"no rule is called {name!r}"))
        if names == ():
            self._problems.append(Problem(span, "the list of rules is empty: nothing is ignored"))
        line = span.line
        if not self._lines[line - 1].strip():
            line = self._next_code(line)
        self._add(span, names, line, line, _reason(match["why"]), ours=True)

    def _nolint(self, span: Span, match: re.Match[str]) -> None:
        names = None if match["checks"] is None else _listed(match["checks"])
        reason = _reason(match["note"])
        match match["form"]:
            case None:
                self._add(span, names, span.line, span.line, reason, _ours(names))
            case "NEXTLINE":
                self._add(span, names, span.line + 1, span.line + 1, reason, _ours(names))
            case "BEGIN":
                self._open.append((span, names, reason))
            case _:
                self._close(span, names)

    def _close(self, span: Span, names: tuple[str, ...] | None) -> None:
        """A NOLINTEND belongs to the last open NOLINTBEGIN with the same list."""
        for at in reversed(range(len(self._open))):
            begin, opened, reason = self._open[at]
            if opened == names:
                del self._open[at]
                self._add(begin, names, begin.line, span.line, reason, _ours(names))
                return
        if _ours(names):
            self._problems.append(Problem(span, "NOLINTEND without NOLINTBEGIN"))

    def _add(
        self,
        span: Span,
        names: tuple[str, ...] | None,
        first: int,
        last: int,
        reason: str,
        ours: bool,
    ) -> None:
        rules = RULES if names is None else [r for name in names for r in _rules_named(name)]
        if rules:
            codes = frozenset(rule.code for rule in rules)
            self._entries.append(Suppression(span, codes, first, last, reason, ours))

    def _next_code(self, line: int) -> int:
        """The first line after ``line`` that is more than blanks and comments."""
        for number in range(line + 1, len(self._lines) + 1):
            if self._lines[number - 1].strip():
                return number
        return line


def _listed(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def _rules_named(name: str) -> list[Rule]:
    """The rules with this code, slug, beginning of a code, or that match this glob."""
    code = name.upper()
    return [
        rule
        for rule in RULES
        if (code.startswith("CC") and rule.code.startswith(code))
        or fnmatchcase(rule.code, code)
        or fnmatchcase(rule.slug, name.lower())
    ]


def _ours(names: tuple[str, ...] | None) -> bool:
    """Whether a list names one of our rules, and not only everything."""
    return any(_rules_named(name) and name.strip("*") for name in names or ())


def _reason(text: str) -> str:
    return re.sub(r"/[/*]\Z", "", text.strip(" \t:-—")).rstrip()
