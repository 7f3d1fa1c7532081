"""One kernel instance on the HTML page: facts, findings, source, table, pictures.

In: a kernel's analysis and its file.  Out: markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, Count, KernelAnalysis, Trial
from coalescecheck.findings import Finding
from coalescecheck.report.formula import in_words
from coalescecheck.report.markup import Markup, join, tag
from coalescecheck.report.model import CLEAN, FileReport, excess_of
from coalescecheck.report.pictures import bank_map, figure, sector_strip
from coalescecheck.report.source_view import Line, Piece, kernel_source
from coalescecheck.report.text import launch_text, verification_text

COLUMNS = (
    ("line", "line"),
    ("access", "access"),
    ("kind", "kind"),
    ("bytes", "bytes"),
    ("cost", "sectors or wavefronts"),
    ("ideal", "ideal"),
    ("waste", "times ideal"),
    ("certainty", "certainty"),
)
MARKS = {"clean": "✓", "note": "•", "wasteful": "▲", "unknown": "?"}


def kernel_section(anchor: str, kernel: KernelAnalysis, file: FileReport) -> Markup:
    """The section of one kernel instance; ``anchor`` is its id on the page."""
    name = wording.instance(kernel)
    findings = [f for f in file.findings if name in f.instances]
    lines = kernel_source(file.analysis.text, kernel, file.analysis.path)
    return tag(
        "section",
        tag("h2", tag("span", f"{kernel.name}{wording.template(kernel)}", class_="name")),
        _facts(kernel),
        *(_finding(anchor, f) for f in findings),
        _source(anchor, lines, findings) if lines else None,
        _table(anchor, kernel) if kernel.accesses else None,
        *(_access(anchor, result, kernel) for result in kernel.accesses),
        id=anchor,
        class_="kernel",
    )


# --- facts and findings -----------------------------------------------------------------------


def _facts(kernel: KernelAnalysis) -> Markup:
    facts = [
        ("where", kernel.span.at_line),
        ("launch", launch_text(kernel)),
    ]
    if kernel.params:
        facts.append(("parameters", ", ".join(f"{k}={v}" for k, v in kernel.params.items())))
    facts += [("assuming", said) for said in kernel.assumptions]
    if kernel.status != "analysed":
        facts.append((kernel.status, kernel.reason or "see the messages"))
    if kernel.accesses:
        facts.append(("verified", verification_text(kernel)))
    return _list(facts)


def _list(facts: Sequence[tuple[str, str]]) -> Markup:
    return tag("dl", *(join(tag("dt", name), tag("dd", _prose(value))) for name, value in facts))


def _finding(anchor: str, finding: Finding) -> Markup:
    title = join(
        tag("strong", f"{finding.severity} {finding.rule}"),
        " ",
        tag("a", f"line {finding.span.line}", href=f"#{anchor}-l{finding.span.line}"),
    )
    tried = (
        tag(
            "p",
            tag("b", "Or: " if at else "Tried: "),
            _prose(f"{fix.description}: {fix.before} → {fix.after}"),
            class_="fix",
        )
        for at, fix in enumerate(finding.fixes)
    )
    advice = finding.advice if finding.fix is None else ""
    return tag(
        "article",
        tag("p", title),
        tag("p", _prose(finding.message)),
        tag("p", _prose(finding.reason)) if finding.reason else None,
        tag("p", tag("b", "Advice: "), _prose(advice)) if advice else None,
        *tried,
        class_=f"finding {finding.severity}",
    )


def _prose(text: str) -> Markup:
    """What stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner
        return join(text)
    return join(*(tag("code", part) if at % 2 else part for at, part in enumerate(parts)))


# --- source -----------------------------------------------------------------------------------


def _source(anchor: str, lines: Sequence[Line], findings: Sequence[Finding]) -> Markup:
    worst: dict[int, str] = {}
    for finding in sorted(findings, key=lambda f: f.severity):
        worst[finding.span.line] = str(finding.severity)
    rows = (
        tag(
            "div",
            tag("span", str(line.number), class_="number"),
            tag("code", *(_piece(anchor, piece) for piece in line.pieces)),
            id=f"{anchor}-l{line.number}",
            class_=f"line {worst.get(line.number, '')}".strip(),
        )
        for line in lines
    )
    box = tag("div", *rows, class_="source", tabindex=0, role="group", aria_label="source")
    return tag("details", tag("summary", "Source"), box, open=True)


def _piece(anchor: str, piece: Piece) -> Markup:
    inside: list[str] = [_piece(anchor, each) for each in piece.inside] or [piece.text]
    if not piece.accesses:
        return join(*inside)
    worst = max(piece.accesses, key=lambda result: excess_of(result) or 0.0)
    said = "; ".join(f"{wording.kind(r)}: {cost_of(r)}" for r in piece.accesses)
    link = tag("a", MARKS[grade_of(worst)], href=f"#{anchor}-a{worst.access.id}", aria_label=said)
    return tag("mark", *inside, link, class_=grade_of(worst), title=said)


# --- the table --------------------------------------------------------------------------------


def _table(anchor: str, kernel: KernelAnalysis) -> Markup:
    heads = (tag("th", tag("button", text, type="button"), scope="col") for _, text in COLUMNS)
    rows = (_row(anchor, result, kernel) for result in kernel.accesses)
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="accesses")


def _row(anchor: str, result: AccessResult, kernel: KernelAnalysis) -> Markup:
    span, excess = result.access.span, excess_of(result)
    count = _count(result)
    place = f"{span.line}:{span.column}"
    shown = place if span.file == kernel.span.file else f"{span.file}:{place}"
    link = tag("a", tag("code", result.access.index), href=f"#{anchor}-a{result.access.id}")
    cells = (
        _cell(shown, span.line * 1000 + span.column),
        tag("td", link, data_value=result.access.index),
        _cell(wording.kind(result), wording.kind(result)),
        _cell(str(result.width_bytes or "?"), result.width_bytes),
        _cell(cost_of(result), -1 if count is None else _mean(count)),
        _cell(
            "?" if count is None or count.ideal is None else wording.number(count.ideal),
            -1 if count is None else count.ideal or -1,
        ),
        _cell("?" if excess is None else f"{wording.number(excess)}×", excess or -1),
        _cell(result.certainty, result.certainty),
    )
    return tag("tr", *cells, class_=grade_of(result))


def _cell(text: str, value: str | float) -> Markup:
    numeric = not isinstance(value, str)
    return tag("td", text, data_value=value, class_="number" if numeric else None)


# --- one access -------------------------------------------------------------------------------


def _access(anchor: str, result: AccessResult, kernel: KernelAnalysis) -> Markup:
    grade = grade_of(result)
    title = tag(
        "summary",
        tag("span", MARKS[grade], class_=f"grade {grade}"),
        " ",
        tag("code", result.access.index),
        f" {wording.kind(result)}, line {result.access.span.line}: {cost_of(result)}",
        " (clean)" if grade == "clean" else None,
    )
    name = f"{anchor}-a{result.access.id}"
    pictures = tuple(_pictures(result, kernel))
    return tag(
        "details",
        title,
        *pictures,
        _list(derivation(result)),
        id=name,
        class_="access",
        open=grade == "wasteful",
    )


def _pictures(result: AccessResult, kernel: KernelAnalysis) -> Iterator[Markup]:
    lanes, width = result.sample_lanes, result.width_bytes
    if not any(lane is not None for lane in lanes) or not width:
        return
    if result.space not in ("global", "shared"):
        return
    before = _picture(result, lanes)
    trial = _helpful(kernel, result)
    if trial is None:
        yield tag("div", before, class_="pictures")
        return
    after = _picture(result, trial.lanes_after[result.access.id])
    yield tag(
        "div",
        tag("div", tag("h4", "as written"), before),
        tag("div", tag("h4", "with ", _prose(trial.change)), after),
        class_="pictures",
    )


def _picture(result: AccessResult, lanes: Sequence[int | None]) -> Markup:
    if result.space == "global":
        return figure(sector_strip(lanes, result.width_bytes))
    return figure(bank_map(lanes, result.width_bytes, str(result.access.op)))


def _helpful(kernel: KernelAnalysis, result: AccessResult) -> Trial | None:
    """The best change after which a request of this access is known."""
    here = result.access.id
    return next((t for t in kernel.proposals(result) if t.lanes_after.get(here)), None)


def derivation(result: AccessResult) -> list[tuple[str, str]]:
    """How the number came about."""
    count = _count(result)
    address = wording.as_written(result.address or "", result.names)
    facts = [("address", address), ("lanes", wording.lane_step(result))]
    if count is not None and count.formula:
        unit = "wavefronts" if result.wavefronts is not None else "sectors"
        formula = in_words(count.formula)
        facts.append((unit, wording.as_written(formula, result.names)))
    facts.append(("pattern", wording.pattern(result)))
    facts += [("runs if", guard) for guard in result.guards]
    facts += [("inside", loop) for loop in result.loops]
    facts.append(("certainty", result.certainty))
    facts.append(("because", result.reason))
    facts += [("assuming", said) for said in result.assumptions]
    if result.requests is not None:
        facts.append(("requests", wording.number(result.requests)))
    if result.requests_per_access > 1:
        facts.append(("per access", wording.plural(result.requests_per_access, "request")))
    facts += [("called from", str(span)) for span in result.access.called_from]
    return [(name, value) for name, value in facts if value]


# --- judging ----------------------------------------------------------------------------------


def _count(result: AccessResult) -> Count | None:
    return result.wavefronts if result.wavefronts is not None else result.sectors


def _mean(count: Count) -> float:
    return count.max if count.mean is None else count.mean


def cost_of(result: AccessResult) -> str:
    """``32 sectors``, or why there is no number."""
    count = _count(result)
    if count is None:
        return result.reason or "?"
    unit = "wavefront" if result.wavefronts is not None else "sector"
    return f"{wording.amount(count)} {unit}{'' if count.min == count.max == 1 else 's'}"


def grade_of(result: AccessResult) -> str:
    """``clean``, ``note``, ``wasteful`` (twice the ideal or more) or ``unknown``."""
    excess = excess_of(result)
    if excess is None:
        return "unknown"
    return "wasteful" if excess >= 2 else "note" if excess >= CLEAN else "clean"
