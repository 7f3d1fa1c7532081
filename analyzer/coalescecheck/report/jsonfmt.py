"""The JSON report: ``schema.json`` in words, one function per object of it.

In: a ``Report``.  Out: JSON text.  Fields may be added here and in the schema; none may change
or go while ``SCHEMA_VERSION`` stays.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from coalescecheck.analysis import (
    AccessResult,
    ArrayTraffic,
    Count,
    KernelAnalysis,
    KernelTotals,
    L1Wavefronts,
    Race,
    RelativeTime,
    Total,
    Trial,
    UniqueSectors,
    Verified,
)
from coalescecheck.findings import Finding, Fix, Related, Suppressed
from coalescecheck.launch import Launch
from coalescecheck.report.model import FileReport, InternalError, Report, Terminal
from coalescecheck.source import Diagnostic, Edit

SCHEMA_VERSION = 1
_WORD = re.compile(r"[^\W\d]\w*")


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as JSON text; it looks the same on every terminal."""
    return json.dumps(document(report), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries and lists."""
    totals = report.totals
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "coalescecheck", "version": report.version},
        "arch": report.arch,
        "files": [_file(file) for file in report.files],
        "internal_errors": [_internal_error(error) for error in report.internal_errors],
        "diagnostics": [_diagnostic(entry) for entry in report.diagnostics],
        "totals": {
            "kernels": dict(totals.kernels),
            "accesses": dict(totals.accesses),
            "findings": dict(totals.findings),
        },
    }


def _file(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.analysis.path,
        "unreadable": file.unreadable,
        "diagnostics": [_diagnostic(entry) for entry in file.diagnostics],
        "kernels": [_kernel(kernel) for kernel in file.analysis.kernels],
        "findings": [_finding(finding) for finding in file.findings],
        "suppressed": [_suppressed(each) for each in file.suppressed],
    }


def _diagnostic(entry: Diagnostic) -> dict[str, Any]:
    return {
        "file": entry.span.file,
        "line": entry.span.line,
        "column": entry.span.column,
        "severity": entry.severity,
        "message": entry.message,
    }


def _kernel(kernel: KernelAnalysis) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "template": kernel.template,
        "file": kernel.span.file,
        "line": kernel.span.line,
        "launch": _launch(kernel.launch),
        "params": kernel.params,
        "assumptions": list(kernel.assumptions),
        "status": kernel.status,
        "reason": kernel.reason,
        "accesses": [_access(access) for access in kernel.accesses],
        "races": [_race(race) for race in kernel.races],
        "totals": _totals(kernel.totals),
        "relative_time": _relative_time(kernel.relative_time),
        "arrays": [_array(traffic) for traffic in kernel.array_traffic],
        "trials": [_trial(trial) for trial in kernel.trials if trial.helps],
    }


def _launch(launch: Launch) -> dict[str, Any]:
    return {
        "block": list(launch.block) if launch.block else None,
        "grid": list(launch.grid) if launch.grid else None,
        "source": launch.source,
        "file": launch.file or None,
        "line": launch.line or None,
    }


def _access(result: AccessResult) -> dict[str, Any]:
    access = result.access
    degree = result.bank_conflict_degree
    return {
        "id": access.id,
        "file": access.span.file,
        "line": access.span.line,
        "column": access.span.column,
        "array": result.array,
        "space": result.space,
        "op": str(access.op),
        "width_bytes": result.width_bytes,
        "index": access.index,
        "address": result.address,
        "lane_stride_bytes": result.lane_stride_bytes,
        "pattern": result.pattern,
        "certainty": result.certainty,
        "reason": result.reason,
        "requests": result.requests,
        "requests_per_access": result.requests_per_access,
        "sectors": _count(result.sectors),
        "lines128": _lines(result.lines128),
        "efficiency": result.efficiency,
        "wavefronts": _count(result.wavefronts),
        "l1_wavefronts": _l1(result.l1_wavefronts),
        "unique_sectors": _unique(result.unique_sectors),
        "bank_conflict_degree": {"min": degree[0], "max": degree[1]} if degree else None,
        "guards": list(result.guards),
        "loops": list(result.loops),
        "assumptions": list(result.assumptions),
        "names": _names(result),
        "called_from": [str(span) for span in access.called_from],
        "verified": _verified(result.verified),
    }


def _names(result: AccessResult) -> dict[str, str]:
    """The source's names of the symbols in the address, the lane stride and the formulas."""
    counts = (result.sectors, result.wavefronts)
    texts = [result.address, result.lane_stride_bytes, *(c.formula for c in counts if c)]
    used = set(_WORD.findall(" ".join(map(str, texts))))
    return {symbol: name for symbol, name in sorted(result.names.items()) if symbol in used}


def _count(count: Count | None) -> dict[str, Any] | None:
    if count is None:
        return None
    return {
        "min": count.min,
        "max": count.max,
        "mean": count.mean,
        "ideal": count.ideal,
        "formula": count.formula,
    }


def _lines(count: Count | None) -> dict[str, Any] | None:
    if count is None:
        return None
    return {"min": count.min, "max": count.max, "mean": count.mean}


def _l1(found: L1Wavefronts | None) -> dict[str, Any] | None:
    return None if found is None else {"data": _lines(found.data), "tag": _lines(found.tag)}


def _unique(found: UniqueSectors | None) -> dict[str, float | None] | None:
    return None if found is None else {"block": found.block, "launch": found.launch}


def _array(traffic: ArrayTraffic) -> dict[str, Any]:
    unique = traffic.unique
    return {
        "name": traffic.name,
        "sectors_requested": traffic.requested.exact,
        "unique_sectors_block": unique.block if unique else None,
        "unique_sectors_launch": unique.launch if unique else None,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "kind": trial.kind,
        "array": trial.array,
        "change": trial.change,
        "description": trial.description,
        "accesses": [
            {"id": access, "before": before, "after": trial.after[access]}
            for access, before in trial.before.items()
        ],
        "assumptions": list(trial.assumptions),
    }


def _relative_time(found: RelativeTime | None) -> dict[str, Any] | None:
    return None if found is None else {"gpu": found.gpu, "up_to": round(found.up_to, 2)}


def _totals(totals: KernelTotals | None) -> dict[str, int | None] | None:
    """Each total as an exact number or null, and its bounds beside it."""
    if totals is None:
        return None
    document: dict[str, int | None] = {}
    for field in fields(totals):
        total: Total = getattr(totals, field.name)
        document[field.name] = total.exact
        document[f"{field.name}_min"] = total.min
        document[f"{field.name}_max"] = total.max
    return document


def _verified(verified: Verified) -> dict[str, Any]:
    return {
        "simulation": verified.simulation,
        "gpu": verified.gpu,
        "warps_checked": verified.warps_checked,
        "reason": verified.reason,
    }


def _race(race: Race) -> dict[str, Any]:
    return {
        "array": race.array,
        "lines": [span.line for span in race.spans],
        "kind": race.kind,
        "beyond_warp": race.beyond_warp,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "file": finding.span.file,
        "line": finding.span.line,
        "column": finding.span.column,
        "kernel": finding.kernel,
        "message": finding.message,
        "reason": finding.reason,
        "advice": finding.advice,
        "fix": _fix(finding.fix),
        "alternatives": [_fix(fix) for fix in finding.alternatives],
        "access": finding.access,
        "ratio": finding.ratio,
        "instances": list(finding.instances),
        "related": [_related(each) for each in finding.related],
    }


def _related(related: Related) -> dict[str, Any]:
    span = related.span
    place = {"file": span.file, "line": span.line, "column": span.column}
    return place | {"message": related.message}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "description": fix.description,
        "verified": fix.verified,
        "before": fix.before,
        "after": fix.after,
        "edit": _edit(fix.edit),
    }


def _edit(edit: Edit | None) -> dict[str, Any] | None:
    if edit is None:
        return None
    return {
        "file": edit.span.file,
        "line": edit.span.line,
        "column": edit.span.column,
        "end_column": edit.end_column,
        "text": edit.text,
        "also": [_edit(other) for other in edit.also],
    }


def _suppressed(entry: Suppressed) -> dict[str, Any]:
    return {"finding": _finding(entry.finding), "by": entry.by, "reason": entry.reason}


def _internal_error(error: InternalError) -> dict[str, Any]:
    return {
        "stage": error.stage,
        "file": error.file,
        "kernel": error.kernel,
        "error": error.error,
    }
