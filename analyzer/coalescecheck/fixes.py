"""The proposed changes of a report as a patch, or made in the files.

In: a report.  Out: what each file would become, and what is left to the user.  Only changes that
were analysed again and are local edits take part; of two that touch the same place the first (of
the worse finding) counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from coalescecheck.errors import UsageError
from coalescecheck.report.model import Report, worst_first
from coalescecheck.source import Diagnostic, Edit, Span
from coalescecheck.wording import plural

_LINE_END = re.compile(r"(\r\n|\r|\n)")  # what ends a line for the analysis
_GIT_QUOTES = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')


@dataclass(frozen=True, slots=True)
class Changed:
    """One file before and after, as on the disk, and how many places differ."""

    path: str
    before: str
    after: str
    places: int


class Changes(NamedTuple):
    """The files that change, and what is said of fixes that are not made."""

    made: tuple[Changed, ...]
    left: tuple[Diagnostic, ...]


def changes(report: Report) -> Changes:
    """Every file that the fixes of ``report`` change."""
    by_file: dict[str, list[Edit]] = {}
    by_hand: dict[str, int] = {}
    known = {file.analysis.path for file in report.files}
    for finding in worst_first(report):
        edit = next((f.edit for f in finding.fixes if f.edit is not None), None)
        if edit is not None:
            by_file.setdefault(edit.span.file, []).append(edit)
        elif finding.fixes:
            by_hand[finding.span.file] = by_hand.get(finding.span.file, 0) + 1
    texts = {file.analysis.path: file.analysis.text for file in report.files}
    made = {path: _changed(path, texts.get(path, ""), _apart(e)) for path, e in by_file.items()}
    return Changes(
        tuple(change for change in made.values() if isinstance(change, Changed)),
        tuple(
            [_said(path, "warning", why) for path, why in made.items() if isinstance(why, str)]
            + [
                _said(path, "note", f"{plural(count, 'finding')} with a fix {_left(path in known)}")
                for path, count in by_hand.items()
            ]
        ),
    )


def _left(known: bool) -> str:
    """Why it is left: a header of a file that is analysed may have other users."""
    if known:
        return "to make by hand"
    return "that is not made in a header: name the header itself with --block, or make it by hand"


def _said(path: str, severity: str, message: str) -> Diagnostic:
    return Diagnostic(Span(path, 0, 0), severity, message)


def diff(changed: Iterable[Changed]) -> str:
    """A patch that ``git apply`` and ``patch -p1`` take in the current folder.

    Both refuse ``..``: files elsewhere have their whole path, for ``patch -p1 -d /``.
    """
    return "".join(line for change in changed for line in _hunks(change))


def apply(changed: Iterable[Changed]) -> None:
    """Write the files.  ``UsageError`` for one that cannot be written."""
    for change in changed:
        try:
            with open(change.path, "w", encoding="utf-8", newline="") as file:
                file.write(change.after)
        except OSError as error:
            raise UsageError(f"cannot write {change.path}: {error.strerror}") from None


def _apart(edits: Sequence[Edit]) -> list[Edit]:
    """Edits that do not overlap, the earlier in the list first; all parts of one or none."""
    kept: list[Edit] = []
    for edit in edits:
        if not any(_meet(part, other) for part in edit.parts for other in kept):
            kept += edit.parts
    return kept


def _meet(one: Edit, two: Edit) -> bool:
    same = one.span.line == two.span.line
    return same and one.span.column < two.end_column and two.span.column < one.end_column


def _changed(path: str, analysed: str, edits: Sequence[Edit]) -> Changed | str:
    """Why not, for a file that is no UTF-8 text or no longer the one that was analysed."""
    try:
        before = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        return f"not changed: it cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return "not changed: it is no UTF-8 text"
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    pieces = _LINE_END.split(before.removeprefix(mark))  # lines, and between them what ends them
    if "\n".join(pieces[::2]) != analysed:
        return "not changed: it is no longer what was analysed"
    for edit in sorted(edits, key=lambda e: -e.span.column):
        at = 2 * (edit.span.line - 1)
        start, end = edit.span.column - 1, edit.end_column - 1
        pieces[at] = pieces[at][:start] + edit.text + pieces[at][end:]
    return Changed(path, before, mark + "".join(pieces), len(edits))


def _hunks(change: Changed) -> Iterable[str]:
    name = Path(os.path.relpath(change.path)).as_posix()
    if name.startswith("../"):
        whole = Path(os.path.abspath(change.path))
        name = whole.relative_to(whole.anchor).as_posix()
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (change.before, change.after))
    for line in unified_diff(before, after, _named(f"a/{name}"), _named(f"b/{name}")):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _named(name: str) -> str:
    """A name as git writes it in a patch: odd bytes in octal, a tab behind one with blanks."""
    data = os.fsencode(name)
    if _GIT_QUOTES.search(data):
        return '"' + _GIT_QUOTES.sub(lambda m: b"\\%03o" % m[0][0], data).decode("ascii") + '"'
    return f"{name}\t" if " " in name else name
