"""What stays the same of a finding while the code around it moves.

In: the findings of one file and its text.  Out: one text per finding, made of the file's path,
the kernel, the rule and the source line without its blanks, in a header the access instead; line
numbers and counts are not part of it.  Equal findings of one line are told apart by their order.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from coalescecheck.files import HEADERS
from coalescecheck.findings import Finding

DIGITS = 16  # hexadecimal; 64 bits tell all findings of any code base apart


NO_NAMES: Mapping[str, str] = {}


def fingerprints(
    path: str,
    text: str,
    findings: Sequence[Finding],
    root: Path,
    names: Mapping[str, str] = NO_NAMES,
) -> list[str]:
    """The fingerprints of ``findings``, in their order, of the file at ``path`` with ``text``.

    Paths count from the folder ``root``, so that a checkout elsewhere gives the same ones.
    Kernels among ``names`` count under another name.
    """
    lines = text.split("\n")
    result = [""] * len(findings)
    seen: Counter[str] = Counter()
    in_source_order = sorted(
        range(len(findings)), key=lambda i: (findings[i].span.line, findings[i].span.column)
    )
    for at in in_source_order:
        finding = findings[at]
        kernel = names.get(finding.kernel, finding.kernel)
        line = _normalised(path, lines, finding, kernel)
        parts = (relative(finding.span.file, root), kernel, finding.rule, line)
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        seen[digest] += 1
        result[at] = f"{digest[:DIGITS]}:{seen[digest]}"
    return result


def relative(path: str, root: Path) -> str:
    """``path`` from ``root`` with forward slashes, or whole when it lies elsewhere."""
    whole = Path(os.path.abspath(path))  # also resolves `..`, without following links
    return (whole.relative_to(root) if whole.is_relative_to(root) else Path(path)).as_posix()


def _normalised(path: str, lines: Sequence[str], finding: Finding, kernel: str) -> str:
    """The source line without blanks, in which the kernel has this name; for what other files
    include, and whose text is not at hand in them, what is said before any number."""
    file, number = finding.span.file, finding.span.line
    text = finding.message.partition(": ")[0]
    if file == path and not file.endswith(HEADERS) and 1 <= number <= len(lines):
        text = lines[number - 1]
    named = re.sub(rf"\b{re.escape(finding.kernel)}\b", lambda _: kernel, text)
    return "".join(named.split())
