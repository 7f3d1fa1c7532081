"""The SARIF 2.1.0 report, which code hosts and editors import.

In: a ``Report``.  Out: JSON text that the standard's schema accepts.  Suppressed findings are
left out: viewers show them as findings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from coalescecheck.findings import Finding, Fix, Related, Severity
from coalescecheck.fingerprint import fingerprints, relative
from coalescecheck.report.excerpt import expression_end
from coalescecheck.report.model import FileReport, Report, RuleInfo, Terminal
from coalescecheck.source import Diagnostic, Edit, Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"  # the folder the command ran in; code hosts take it for the repository
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}

Json = dict[str, Any]


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as SARIF text."""
    return json.dumps(document(report), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def document(report: Report) -> Json:
    """The report as plain dictionaries and lists."""
    indices = {rule.code: at for at, rule in enumerate(report.rules)}
    run: Json = {
        "tool": {
            "driver": {
                "name": "CoalesceCheck",
                "version": report.version,
                "semanticVersion": report.version,
                "rules": [_rule(rule) for rule in report.rules],
            }
        },
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "properties": {"arch": report.arch},
        "results": [
            result for file in report.files for result in _results(file, indices, Path.cwd())
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


# --- what ran ---------------------------------------------------------------------------------


def _rule(rule: RuleInfo) -> Json:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.slug.split("-")),
        "shortDescription": {"text": rule.slug.replace("-", " ")},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["performance", "cuda"]},
    }


def _invocation(report: Report) -> Json:
    """What could not be read or analysed, so that an empty list of results is no false comfort."""
    said = dict.fromkeys(entry for file in report.files for entry in file.diagnostics)
    notes = [_notification(entry) for entry in said]
    notes += [{"level": "error", "message": {"text": str(e)}} for e in report.internal_errors]
    whole = not report.internal_errors and not any(file.unreadable for file in report.files)
    return {"executionSuccessful": whole, "toolExecutionNotifications": notes}


def _notification(entry: Diagnostic) -> Json:
    return {
        "level": entry.severity if entry.severity in LEVELS.values() else "note",
        "message": {"text": entry.message},
        "locations": [_location(entry.span, None)],
    }


# --- findings ---------------------------------------------------------------------------------


def _results(file: FileReport, indices: dict[str, int], root: Path) -> Iterator[Json]:
    path, text = file.analysis.path, file.analysis.text
    lines = text.split("\n")
    prints = fingerprints(path, text, file.findings, root)
    for finding, fingerprint in zip(file.findings, prints, strict=True):
        result: Json = {
            "ruleId": finding.rule,
            "level": LEVELS[finding.severity],
            "kind": "fail",
            "message": {"text": _message(finding)},
            "locations": [_place(finding, path, lines)],
            "partialFingerprints": {
                "coalescecheck/v1": fingerprint,
                # the one key that GitHub's code scanning reads
                "primaryLocationLineHash": fingerprint,
            },
            "properties": _properties(finding),
        }
        if finding.related:
            result["relatedLocations"] = [_related(each) for each in finding.related]
        if finding.rule in indices:
            result["ruleIndex"] = indices[finding.rule]
        fixes = [_fix(fix, fix.edit) for fix in finding.fixes if fix.edit is not None]
        if fixes:
            result["fixes"] = fixes
        yield result


def _message(finding: Finding) -> str:
    parts = [finding.message]
    if finding.reason:
        parts.append(finding.reason)
    if finding.advice:
        parts.append(finding.advice)
    return ". ".join(part.rstrip(".") for part in parts) + "."


def _properties(finding: Finding) -> Json:
    """How the number came about; the names are those of the JSON report."""
    known = {
        "kernel": finding.kernel,
        "instances": list(finding.instances),
        "ratio": finding.ratio,
        "reason": finding.reason,
        "advice": finding.advice,
        "place": finding.span.note,
    }
    return {name: value for name, value in known.items() if value not in (None, "", [])}


def _fix(fix: Fix, edit: Edit) -> Json:
    changes = [
        {
            "deletedRegion": _region(part.span, part.end_column),
            "insertedContent": {"text": part.text},
        }
        for part in edit.parts
    ]
    return {
        "description": {"text": f"{fix.description}: {fix.before} → {fix.after}"},
        "artifactChanges": [
            {"artifactLocation": _artifact(edit.span.file), "replacements": changes}
        ],
    }


# --- places -----------------------------------------------------------------------------------


def _place(finding: Finding, path: str, lines: list[str]) -> Json:
    """The access expression, with its line where the text is at hand."""
    span = finding.span
    known = span.file == path and 1 <= span.line <= len(lines)
    line = lines[span.line - 1] if known else ""
    end = None
    if 1 <= span.column <= len(line) and not span.note:
        end = expression_end(line, span.column - 1) + 1
    location = _location(span, end)
    if known:
        context = {"startLine": span.line, "snippet": {"text": line}}
        location["physicalLocation"]["contextRegion"] = context
    if finding.kernel:
        location["logicalLocations"] = [{"name": finding.kernel, "kind": "function"}]
    return location


def _related(related: Related) -> Json:
    return _location(related.span, None) | {"message": {"text": related.message}}


def _location(span: Span, end_column: int | None) -> Json:
    physical: Json = {"artifactLocation": _artifact(span.file)}
    if span.line >= 1:
        physical["region"] = _region(span, end_column)
    return {"physicalLocation": physical}


def _region(span: Span, end_column: int | None) -> Json:
    region = {"startLine": span.line}
    if span.column >= 1:
        region["startColumn"] = span.column
        if end_column is not None:
            region["endColumn"] = end_column
    return region


def _artifact(path: str) -> Json:
    shown = relative(path, Path.cwd())
    quoted = quote(shown.encode("utf-8", "surrogateescape"))
    if PurePath(shown).is_absolute():
        return {"uri": f"file://{quoted}"}
    return {"uri": quoted, "uriBaseId": ROOT}
