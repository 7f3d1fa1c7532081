"""The HTML report: one file that needs no other and no network.

In: a ``Report``.  Out: a page.  Everything that comes from a user's file passes through
``markup``, which escapes it; the page's policy lets no script run but its own.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from coalescecheck import wording
from coalescecheck.findings import Finding, Severity, Suppressed
from coalescecheck.report.html_kernel import kernel_section
from coalescecheck.report.markup import Markup, join, tag
from coalescecheck.report.model import FileReport, Report, Terminal


def render(report: Report, terminal: Terminal | None = None) -> str:
    """The report as one page."""
    style, script = _asset("page.css"), _asset("page.js")
    numbered = list(_numbered(report))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "CoalesceCheck report"),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the kernels", href="#kernels", class_="skip"),
        _header(report),
        _contents(numbered),
        tag("main", *(kernel for _, _, kernel in numbered), *_trouble(report), id="kernels"),
        _footer(report),
        tag("script", script),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _numbered(report: Report) -> list[tuple[str, str, Markup]]:
    """Every kernel's anchor, name and section, in the order of the files."""
    result: list[tuple[str, str, Markup]] = []
    for file in report.files:
        for kernel in file.analysis.kernels:
            anchor = f"k{len(result) + 1}"
            result.append((anchor, wording.instance(kernel), kernel_section(anchor, kernel, file)))
    return result


def _asset(name: str) -> Markup:
    return Markup(files("coalescecheck.report").joinpath(name).read_text(encoding="utf-8"))


def picture_style() -> str:
    """The page's colours, light and dark, and its rules for pictures: for pictures alone."""
    page = _asset("page.css")
    colours = page[: page.index("\n* {")]
    rules = [line for line in page.splitlines() if line.startswith("svg .") or "svg text" in line]
    own = (
        "svg .ground { fill: var(--bg); }",
        "svg .heading { font-size: 12px; font-weight: 600; }",
    )
    return "\n".join(("", colours, *rules, *own, ""))


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and only the style and script of this page count."""
    return f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _header(report: Report) -> Markup:
    totals = report.totals
    kernels = wording.plural(sum(totals.kernels.values()), "kernel")
    accesses = wording.plural(sum(totals.accesses.values()), "access")
    counts = [
        tag("li", wording.plural(totals.findings[str(s)], str(s)), class_=f"count {s}")
        for s in sorted(Severity, reverse=True)
        if totals.findings[str(s)]
    ]
    hidden = sum(len(file.suppressed) for file in report.files)
    if hidden:
        counts.append(tag("li", f"{hidden} suppressed", class_="count"))
    if not counts:
        counts = [tag("li", "nothing to report", class_="count clean")]
    line = f"{kernels}, {accesses}, architecture {report.arch}"
    return tag("header", tag("h1", "CoalesceCheck"), tag("p", line), tag("ul", *counts))


def _contents(numbered: list[tuple[str, str, Markup]]) -> Markup | None:
    if len(numbered) < 2:
        return None
    entries = (tag("li", tag("a", name, href=f"#{anchor}")) for anchor, name, _ in numbered)
    return tag("nav", tag("h2", "Kernels"), tag("ol", *entries), aria_label="Kernels")


def _trouble(report: Report) -> list[Markup]:
    """What was said while reading, and findings that belong to no kernel."""
    parts = []
    for file in report.files:
        said = [str(d) if d.span.line else d.message for d in file.diagnostics]
        said += [str(f.span) + ": " + f.message for f in _homeless(file)]
        if said:
            title = tag("h2", f"Messages for {file.analysis.path}")
            entries = tag("ul", *(tag("li", line) for line in said))
            parts.append(tag("section", title, entries, class_="messages"))
        if file.suppressed:
            title = tag("summary", f"Suppressed in {file.analysis.path}: {len(file.suppressed)}")
            entries = tag("ul", *(tag("li", _hidden(each)) for each in file.suppressed))
            parts.append(tag("section", tag("details", title, entries), class_="messages"))
    if report.internal_errors:
        entries = tag("ul", *(tag("li", str(error)) for error in report.internal_errors))
        parts.append(tag("section", tag("h2", "Internal errors"), entries, class_="messages"))
    return parts


def _hidden(entry: Suppressed) -> str:
    finding = entry.finding
    why = f" ({entry.reason or entry.by})"
    return f"{finding.span}: {finding.rule} {finding.message}{why}"


def _homeless(file: FileReport) -> list[Finding]:
    names = {wording.instance(kernel) for kernel in file.analysis.kernels}
    return [f for f in file.findings if not names & set(f.instances)]


def _footer(report: Report) -> Markup:
    about = (
        "Counts are per request of a warp, of the code as written. Sectors are 32 bytes; a "
        "wavefront is one pass through the 32 banks of shared memory."
    )
    return tag("footer", tag("p", join(about)), tag("p", f"CoalesceCheck {report.version}"))
