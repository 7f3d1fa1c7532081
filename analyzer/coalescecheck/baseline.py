"""The findings that were there before, so that a run shows only new ones.

In: a report and a baseline file.  Out: the report without the known findings, or the file.  An
entry is known by its fingerprint, which has no line number in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from coalescecheck.errors import UsageError
from coalescecheck.findings import Finding, Suppressed
from coalescecheck.fingerprint import fingerprints, relative
from coalescecheck.report.model import FileReport, Report

VERSION = 1
Known = Callable[[Finding, str], bool]  # of a finding with this fingerprint
REMEDY = "make a new one with --write-baseline"


def read(path: str) -> frozenset[str]:
    """The fingerprints in a baseline file.  ``UsageError`` where it is none."""
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
    return frozenset(_entries(document, path))


def _entries(document: Any, path: str) -> list[str]:
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise UsageError(f"baseline: {path} is no baseline of coalescecheck; {REMEDY}")
    if document.get("version") != VERSION:
        raise UsageError(f"baseline: {path} is not of version {VERSION}; {REMEDY}")
    found = [e.get("fingerprint") if isinstance(e, dict) else None for e in document["findings"]]
    if not all(isinstance(each, str) for each in found):
        raise UsageError(f"baseline: {path} has an entry without a fingerprint; {REMEDY}")
    return [each for each in found if isinstance(each, str)]


def without_known(report: Report, path: str) -> Report:
    """The report with the findings of the baseline at ``path`` suppressed."""
    known = read(path)
    return without(report, lambda _, printed: printed in known, _folder(path))


def without(report: Report, known: Known, root: Path) -> Report:
    """The report with the known findings suppressed; paths in fingerprints count from ``root``."""
    return replace(report, files=tuple(_reduced(file, known, root) for file in report.files))


def _reduced(file: FileReport, known: Known, root: Path) -> FileReport:
    new: list[Finding] = []
    old: list[Suppressed] = []
    for finding, fingerprint in zip(file.findings, prints(file, root), strict=True):
        if known(finding, fingerprint):
            old.append(Suppressed(finding, "baseline"))
        else:
            new.append(finding)
    return replace(file, findings=tuple(new), suppressed=(*file.suppressed, *old))


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


def prints(file: FileReport, root: Path) -> list[str]:
    """The fingerprints of the file's findings, with paths that count from ``root``."""
    return fingerprints(file.analysis.path, file.analysis.text, file.findings, root)
