"""The proposed changes of a report as a patch, or made in the files.

In: a report.  Out: what each file would become.  Only changes that were analysed again and are
local edits take part; of two that touch the same place the first (of the worse finding) counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from coalescecheck.errors import UsageError
from coalescecheck.report.model import Report, worst_first
from coalescecheck.source import Edit


@dataclass(frozen=True, slots=True)
class Changed:
    """One file before and after, as on the disk, and how many places differ."""

    path: str
    before: str
    after: str
    places: int


def changes(report: Report) -> tuple[Changed, ...]:
    """Every file that the fixes of ``report`` change."""
    by_file: dict[str, list[Edit]] = {}
    for finding in worst_first(report):
        edit = next((f.edit for f in finding.fixes if f.edit is not None), None)
        if edit is not None:
            by_file.setdefault(edit.span.file, []).append(edit)
    texts = {file.analysis.path: file.analysis.text for file in report.files}
    made = (_changed(path, texts.get(path, ""), _apart(edits)) for path, edits in by_file.items())
    return tuple(change for change in made if change is not None)


def diff(changed: Iterable[Changed]) -> str:
    """A patch that ``git apply`` and ``patch -p1`` take."""
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


def _changed(path: str, analysed: str, edits: Sequence[Edit]) -> Changed | None:
    """None for a file that is no UTF-8 text, or no longer the one that was analysed."""
    try:
        before = Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if before.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n") != analysed:
        return None
    lines = before.replace("\r\n", "\n").split("\n")
    if "\n".join(lines).count("\r"):
        return None  # lone carriage returns end lines for the analysis but not here
    offset = len(before) - len(before.removeprefix("\ufeff"))
    for edit in sorted(edits, key=lambda e: -e.span.column):
        at = edit.span.line - 1
        shift = offset if at == 0 else 0
        start, end = edit.span.column - 1 + shift, edit.end_column - 1 + shift
        lines[at] = lines[at][:start] + edit.text + lines[at][end:]
    ending = "\r\n" if "\r\n" in before else "\n"
    if ending == "\r\n" and before.count("\n") != before.count("\r\n"):
        return None  # mixed line ends
    return Changed(path, before, ending.join(lines), len(edits))


def _hunks(change: Changed) -> Iterable[str]:
    name = Path(os.path.relpath(change.path)).as_posix()
    before = change.before.splitlines(keepends=True)
    after = change.after.splitlines(keepends=True)
    for line in unified_diff(before, after, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
