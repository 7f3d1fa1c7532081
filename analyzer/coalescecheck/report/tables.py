"""The tables of accesses and the lines of detail below them, one set per kernel.

In: a kernel's results.  Out: aligned text.  Nothing is ever cut: where a line does not fit, the
access's source text gets a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, Count, KernelAnalysis
from coalescecheck.arch import BANK_BYTES
from coalescecheck.report.formula import in_words

INDENT = 2
GAP = "  "
LONGEST_STEP = 16  # columns; a longer formula of the lane step goes below the table
RIGHT = ("bytes", "sectors", "wavefronts", "ideal", "useful", "lane step")


@dataclass(frozen=True, slots=True)
class Row:
    """One access: its cells by column, and whether its cost deserves the reader's eye."""

    cells: dict[str, str]
    wasteful: bool


def access_tables(kernel: KernelAnalysis, width: int) -> Iterator[Text]:
    """One table per unit the accesses are counted in, for a terminal of ``width`` columns."""
    by_sectors = [a for a in kernel.accesses if a.wavefronts is None]
    by_wavefronts = [a for a in kernel.accesses if a.wavefronts is not None]
    for unit, results in (("sectors", by_sectors), ("wavefronts", by_wavefronts)):
        if results:
            spaces = {result.space for result in results}
            space = spaces.pop() if len(spaces) == 1 else ""
            rows = [_row(unit, space, result, kernel) for result in results]
            yield _table(rows, width - INDENT)


def details(result: AccessResult, kernel: KernelAnalysis) -> list[str]:
    """What does not fit in a row, and was not said of the whole kernel: formulas and reasons."""
    lines = [
        f"{name} = {wording.as_written(in_words(count.formula), result.names)}"
        for name, count in (("sectors", result.sectors), ("wavefronts", result.wavefronts))
        if count is not None and count.formula and not count.formula.isdecimal()
    ]
    if result.requests_per_access > 1:
        lines.append(f"{result.requests_per_access} requests per access; counts are per request")
    lines += _l1(result)
    if len(_step(result)) > LONGEST_STEP:
        step = wording.as_written(str(result.lane_stride_bytes), result.names)
        lines.append(f"lane step = {step} bytes")
    if result.reason:
        lines.append(result.reason)
    own = [said for said in result.assumptions if said not in kernel.assumptions]
    lines += [f"assuming {assumption}" for assumption in own]
    if result.access.called_from:
        calls = " → ".join(str(span) for span in result.access.called_from)
        lines.append(f"called from {calls}")
    return lines


def _l1(result: AccessResult) -> list[str]:
    """What the banks of L1 cost a load that hits, where that is more than its bytes need."""
    if result.l1_wavefronts is None:
        return []
    data, tag = result.l1_wavefronts.data, result.l1_wavefronts.tag
    ideal = max(1, result.width_bytes // BANK_BYTES)
    if data.max <= max(ideal, tag.max):
        return []
    return [f"served from L1: {wording.amount(data)} wavefronts by its banks, {ideal} would do"]


def _table(rows: Sequence[Row], width: int) -> Text:
    """One line per access where that fits, else its source text on a line of its own."""
    columns = [name for name in rows[0].cells if any(row.cells[name] for row in rows)]
    if all(row.cells["certainty"] == "exact" for row in rows):
        columns.remove("certainty")
    header = Row({name: name for name in columns}, wasteful=False)
    widths = {name: max(len(row.cells[name]) for row in (header, *rows)) for name in columns}
    if sum(widths.values()) + len(GAP) * (len(columns) - 1) <= width:
        lines = [_line(header, columns, widths, "dim")]
        lines += [_line(row, columns, widths, _style(row)) for row in rows]
        return Text("\n").join(lines)
    first = [name for name in columns if name in ("line", "access")]
    second = [name for name in columns if name not in first]
    margin = " " * (widths["line"] + len(GAP) + INDENT)
    lines = [_line(header, first, widths, "dim"), _line(header, second, widths, "dim", margin)]
    for row in rows:
        lines.append(_line(row, first, widths, ""))
        lines.append(_line(row, second, widths, _style(row), margin))
    return Text("\n").join(lines)


def _style(row: Row) -> str:
    return "yellow" if row.wasteful else ""


def _line(
    row: Row, columns: Sequence[str], widths: dict[str, int], style: str, margin: str = ""
) -> Text:
    cells = [
        row.cells[name].rjust(widths[name])
        if name in RIGHT
        else row.cells[name].ljust(widths[name])
        for name in columns
    ]
    return Text(f"{' ' * INDENT}{margin}{GAP.join(cells).rstrip()}", style)


def _row(unit: str, space: str, result: AccessResult, kernel: KernelAnalysis) -> Row:
    """``space`` is that of the whole table and heads its column, empty where rows differ."""
    count = result.sectors if unit == "sectors" else result.wavefronts
    step = _step(result)
    blank = "-" if result.requests == 0 else "?"  # there is nothing to know
    cells = {
        "line": _place(result, kernel),
        "access": result.access.index,
        space or "kind": str(result.access.op) if space else wording.kind(result),
        "bytes": str(result.width_bytes or "?"),
        unit: wording.amount(count) if count else blank,
        "ideal": blank if count is None or count.ideal is None else wording.number(count.ideal),
        "useful": _useful(result, blank) if unit == "sectors" else "",
        "lane step": step if len(step) <= LONGEST_STEP else "(below)",
        "pattern": wording.pattern(result),
        "certainty": result.certainty,
    }
    return Row(cells, _is_wasteful(count, result))


def _place(result: AccessResult, kernel: KernelAnalysis) -> str:
    """``line:column``, with the file where it is not the kernel's own."""
    span = result.access.span
    short = f"{span.line}:{span.column}"
    return short if span.file == kernel.span.file else str(span)


def _is_wasteful(count: Count | None, result: AccessResult) -> bool:
    """Twice the ideal or more, and not only for unlucky data."""
    if count is None or not count.ideal or result.certainty == "data-dependent":
        return False
    return (count.max if count.mean is None else count.mean) >= 2 * count.ideal


def _useful(result: AccessResult, blank: str) -> str:
    return blank if result.efficiency is None else wording.percent(result.efficiency)


def _step(result: AccessResult) -> str:
    match result.lane_stride_bytes:
        case None:
            return "-"
        case int(step):
            return f"{step} B"
        case formula:
            text = wording.as_written(formula, result.names)
            return f"({text}) B" if " " in text else f"{text} B"
