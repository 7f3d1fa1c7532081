"""The JUnit XML report, which build servers show as tests.

In: a ``Report``.  Out: one suite per file with one case per kernel instance and launch.  A case
fails when a warning or an error speaks of it; notes are its output.  What belongs to no kernel
is a case of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.report.model import FileReport, InternalError, Report, Terminal

# what XML 1.0 cannot hold, not even escaped
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Element = ElementTree.Element


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as XML."""
    root = Element("testsuites", name="coalescecheck")
    for file in report.files:
        errors = [e for e in report.internal_errors if e.file == file.analysis.path]
        _suite(root, file, errors)
    _count(root)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite(root: Element, file: FileReport, errors: Iterable[InternalError]) -> None:
    path = file.analysis.path
    suite = ElementTree.SubElement(root, "testsuite", name=_clean(path))
    left = list(file.findings)
    for kernel in file.analysis.kernels:
        name = wording.instance(kernel)
        mine = [finding for finding in left if name in finding.instances]
        left = [finding for finding in left if finding not in mine]
        _kernel(_case(suite, path, name), kernel, mine)
    troubles = [str(error) for error in errors]
    if file.unreadable:
        troubles += [entry.message for entry in file.diagnostics]
    if left or troubles:
        case = _case(suite, path, "the file itself")
        for message in troubles:
            ElementTree.SubElement(case, "error", message=_clean(message))
        _findings(case, left)
    _count(suite)


def _case(suite: Element, path: str, name: str) -> Element:
    return ElementTree.SubElement(suite, "testcase", classname=_clean(path), name=_clean(name))


def _kernel(case: Element, kernel: KernelAnalysis, findings: Sequence[Finding]) -> None:
    if kernel.status == "failed":
        ElementTree.SubElement(case, "error", message=_clean(kernel.reason))
    partial = f"not all of it could be analysed: {kernel.reason}"
    _findings(case, findings, [partial] if kernel.status == "partial" else [])


def _findings(case: Element, findings: Sequence[Finding], said: Sequence[str] = ()) -> None:
    loud = [finding for finding in findings if finding.severity > Severity.NOTE]
    quiet = [finding for finding in findings if finding.severity is Severity.NOTE]
    if loud:
        title = loud[0].message if len(loud) == 1 else f"{len(loud)} findings"
        worst = str(max(finding.severity for finding in loud))
        failure = ElementTree.SubElement(case, "failure", message=_clean(title), type=worst)
        failure.text = _clean("\n".join(map(_line, loud)))
    if quiet or said:
        output = ElementTree.SubElement(case, "system-out")
        output.text = _clean("\n".join((*said, *map(_line, quiet))))


def _line(finding: Finding) -> str:
    said = f"{finding.span}: {finding.severity}: {finding.rule} {finding.message}"
    return said + "".join(f"\n  {part}" for part in (finding.reason, finding.advice) if part)


def _count(parent: Element) -> None:
    """The attributes that readers add up."""
    cases = list(parent.iter("testcase"))
    parent.set("tests", str(len(cases)))
    parent.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    parent.set("errors", str(sum(case.find("error") is not None for case in cases)))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
