"""The findings that were there before, so that a run shows only new ones.

In: a report and a baseline file.  Out: the report without the known findings, or the file.  An
entry is known by its fingerprint, which has no line number in it.  A kernel that has got another
name is known again where all that was known of it is found in it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coalescecheck.errors import UsageError
from coalescecheck.findings import Finding, Suppressed
from coalescecheck.fingerprint import NO_NAMES, fingerprints, relative
from coalescecheck.report.model import FileReport, Report

VERSION = 1
Names = Callable[[FileReport], Mapping[str, str]]  # of kernels, and those that they had
Known = Callable[[Finding, str], bool]  # of a finding with this fingerprint


@dataclass(frozen=True, slots=True)
class Entry:
    """A known finding of a kernel; the file counts from the baseline's folder."""

    fingerprint: str
    file: str
    kernel: str


REMEDY = "make a new one with --write-baseline"


def read(path: str) -> list[Entry]:
    """The entries of a baseline file.  ``UsageError`` where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"baseline: {path}: no such file; {REMEDY}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"baseline: {path} cannot be read: {reason}; {REMEDY}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"baseline: {path} is no JSON; {REMEDY}") from None
    return _entries(document, path)


def _entries(document: Any, path: str) -> list[Entry]:
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise UsageError(f"baseline: {path} is no baseline of coalescecheck; {REMEDY}")
    if document.get("version") != VERSION:
        raise UsageError(f"baseline: {path} is not of version {VERSION}; {REMEDY}")
    found = [e.get("fingerprint") if isinstance(e, dict) else None for e in document["findings"]]
    if not all(isinstance(each, str) for each in found):
        raise UsageError(f"baseline: {path} has an entry without a fingerprint; {REMEDY}")
    return [
        Entry(str(e["fingerprint"]), str(e.get("file", "")), str(e.get("kernel", "")))
        for e in document["findings"]
    ]


def without_known(report: Report, path: str) -> Report:
    """The report with the findings of the baseline at ``path`` suppressed."""
    entries, root = read(path), _folder(path)
    known = {entry.fingerprint for entry in entries}

    def names(file: FileReport) -> Mapping[str, str]:
        return new_names(file, entries, root)

    return without(report, lambda _, printed: printed in known, root, names)


def without(report: Report, known: Known, root: Path, names: Names = lambda _: NO_NAMES) -> Report:
    """The report with the known findings suppressed; paths in fingerprints count from ``root``,
    and kernels count under the ``names`` that they had."""
    files = (_reduced(file, known, root, names(file)) for file in report.files)
    return replace(report, files=tuple(files))


def _reduced(file: FileReport, known: Known, root: Path, names: Mapping[str, str]) -> FileReport:
    new: list[Finding] = []
    old: list[Suppressed] = []
    for finding, fingerprint in zip(file.findings, prints(file, root, names), strict=True):
        if known(finding, fingerprint):
            old.append(Suppressed(finding, "baseline"))
        else:
            new.append(finding)
    return replace(file, findings=tuple(new), suppressed=(*file.suppressed, *old))


def known_of(file: FileReport, root: Path) -> list[Entry]:
    """The entries that the findings of a file would be."""
    return [
        Entry(fingerprint, relative(finding.span.file, root), finding.kernel)
        for finding, fingerprint in zip(file.findings, prints(file, root), strict=True)
    ]


def document(report: Report, path: str) -> str:
    """The text of a baseline at ``path`` with all findings of the report."""
    root = _folder(path)
    entries = [
        {
            "fingerprint": fingerprint,
            "rule": finding.rule,
            "file": relative(finding.span.file, root),
            "kernel": finding.kernel,
            "message": finding.message,
        }
        for file in report.files
        for finding, fingerprint in zip(file.findings, prints(file, root), strict=True)
    ]
    entries.sort(key=lambda entry: (entry["file"], entry["rule"], entry["fingerprint"]))
    content = {"tool": "coalescecheck", "version": VERSION, "findings": entries}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _folder(path: str) -> Path:
    """The folder of a baseline, from which the paths in it count."""
    return Path(os.path.abspath(path)).parent


def prints(file: FileReport, root: Path, names: Mapping[str, str] = NO_NAMES) -> list[str]:
    """The fingerprints of the file's findings, with paths that count from ``root`` and kernels
    under the ``names`` that they had."""
    return fingerprints(file.analysis.path, file.analysis.text, file.findings, root, names)


def new_names(file: FileReport, entries: Iterable[Entry], root: Path) -> dict[str, str]:
    """The kernels of a file that had another name, and that name.

    Only where the old name is nowhere in the file any more, all that was known of the old kernel
    is found in the new one, of which nothing was known, and in no other.
    """
    text, here = file.analysis.text, relative(file.analysis.path, root)
    before: dict[str, set[str]] = {}
    for entry in entries:
        if entry.file == here and entry.kernel:
            before.setdefault(entry.kernel, set()).add(entry.fingerprint)
    gone = [name for name in before if not _is_named(text, name.rpartition("::")[2])]
    if not gone:
        return {}
    fresh = dict.fromkeys(f.kernel for f in file.findings if f.kernel not in before)
    found: dict[str, list[str]] = {}
    for old in gone:
        heirs = [new for new in fresh if before[old] <= set(prints(file, root, {new: old}))]
        if len(heirs) == 1:
            found.setdefault(heirs[0], []).append(old)
    return {new: olds[0] for new, olds in found.items() if len(olds) == 1}


def _is_named(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
