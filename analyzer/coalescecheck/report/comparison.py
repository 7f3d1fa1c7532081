"""Reports side by side, access by access: two versions of a file, or several launch shapes.

In: reports with a title each.  Out: text, one table per kernel.  Kernels belong together by name
and template arguments, accesses by kind and source text, else by kind and array, in their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.report.model import Change, Report, traffic
from coalescecheck.report.plain import plain

T = TypeVar("T")
Key = Callable[[T], object]

NOTHING = "-"  # the access or kernel is not there
UNKNOWN = "?"
GAP = "  "

Row = list[str]
Columns = Sequence[tuple[str, Report]]


def render(columns: Columns) -> str:
    """One table per kernel; the titles head the columns."""
    titles = [title for title, _ in columns]
    groups = _grouped([list(report.kernels) for _, report in columns])
    parts = [_table(titles, kernels) for kernels in groups]
    return plain("\n".join(parts)) if parts else "no kernels found\n"


def changes(before: Sequence[KernelAnalysis], after: Sequence[KernelAnalysis]) -> Iterator[Change]:
    """The accesses that are in both versions of a file and whose cost is not the same."""
    for old, new in _in_steps((before, after), (_launched, _instance)):
        if old is None or new is None:
            continue
        for was, now in _matched((list(old.accesses), list(new.accesses))):
            if was is not None and now is not None and _cost(was) != _cost(now):
                yield Change(
                    kernel=f"{new.name}{wording.template(new)}",
                    span=now.access.span,
                    access=wording.what(now),
                    unit=_unit(now),
                    before=_cost(was),
                    after=_cost(now),
                    verdict=_verdict([_mean(was), _mean(now)]),
                )


def _table(titles: Sequence[str], kernels: Sequence[KernelAnalysis | None]) -> str:
    first = next(kernel for kernel in kernels if kernel is not None)
    heading = f"{first.name}{wording.template(first)}  {first.span.at_line}"
    rows = [["line", "access", "kind", "unit", *titles, ""]]
    accesses = [[] if kernel is None else list(kernel.accesses) for kernel in kernels]
    rows += [_row(results) for results in _matched(accesses)]
    rows += [*_threads(kernels), *_totals(kernels)]
    lost = [
        f"  {title}: {kernel.status}: {kernel.reason}"
        for title, kernel in zip(titles, kernels, strict=True)
        if kernel is not None and kernel.status != "analysed"
    ]
    return "\n".join([heading, *_aligned(rows), *lost]) + "\n"


def _row(results: Sequence[AccessResult | None]) -> Row:
    there = [result for result in results if result is not None]
    line = "/".join(dict.fromkeys(str(result.access.span.line) for result in there))
    text = " → ".join(dict.fromkeys(result.access.index for result in there))
    values = [_mean(result) for result in results]
    about = [line, text, wording.kind(there[0]), _unit(there[0])]
    return [*about, *map(_cost, results), _verdict(values)]


def _unit(result: AccessResult) -> str:
    return "wavefronts" if result.wavefronts is not None else "sectors"


def _cost(result: AccessResult | None) -> str:
    if result is None:
        return NOTHING
    count = result.wavefronts or result.sectors
    return UNKNOWN if count is None else wording.amount(count)


def _mean(result: AccessResult | None) -> float | None:
    count = None if result is None else result.wavefronts or result.sectors
    if count is None or result is None or result.certainty == "data-dependent":
        return None
    return float(count.max) if count.mean is None else count.mean


def _verdict(values: Sequence[float | None]) -> str:
    """What became of the first in the last, where both are known."""
    first, last = values[0], values[-1]
    if first is None or last is None or len(values) != 2 or first == last:
        return ""
    return "better" if last < first else "worse"


def _threads(kernels: Sequence[KernelAnalysis | None]) -> Iterator[Row]:
    """How many threads the columns have, where that is not the same for all."""
    launches = [kernel.launch for kernel in kernels if kernel is not None]
    if len({launch.block.size for launch in launches if launch.block is not None}) > 1:
        sizes = [
            None if k is None or k.launch.block is None else k.launch.block.size for k in kernels
        ]
        yield ["", "threads of a block", "", "", *map(_shown, sizes), ""]
    if _differ(kernels):
        yield [
            "",
            "threads of the launch",
            "",
            "",
            *map(_shown, map(_launched_threads, kernels)),
            "",
        ]


def _differ(kernels: Sequence[KernelAnalysis | None]) -> bool:
    """Whether launches have different numbers of threads, so that sums are not to be compared."""
    return len({_launched_threads(k) for k in kernels if k is not None}) > 1


def _launched_threads(kernel: KernelAnalysis | None) -> int | None:
    launch = None if kernel is None else kernel.launch
    if launch is None or launch.block is None or launch.grid is None:
        return None
    return launch.block.size * launch.grid.size


def _shown(value: float | None) -> str:
    return UNKNOWN if value is None else wording.number(value)


def _totals(kernels: Sequence[KernelAnalysis | None]) -> Iterator[Row]:
    """Sums over the launch, where some column has them; per thread where launches differ."""
    differ = _differ(kernels)
    for space, unit in (("global", "sectors"), ("shared", "wavefronts")):
        sums: list[float | None] = []
        shown: list[str] = []
        for kernel in kernels:
            mine = [] if kernel is None else [a for a in kernel.accesses if a.space == space]
            complete = kernel is None or kernel.status == "analysed"
            total = traffic(mine) if complete else None
            sums.append(None if total is None else total.moved)
            none = NOTHING if complete and not mine else UNKNOWN
            shown.append(none if total is None else wording.number(total.moved))
        if any(each is not None for each in sums):
            yield ["", "all of the launch", space, unit, *shown, "" if differ else _verdict(sums)]
            threads = map(_launched_threads, kernels)
            each = [
                s / t if s is not None and t else None for s, t in zip(sums, threads, strict=True)
            ]
            if differ and any(one is not None for one in each):
                yield ["", "per thread", space, unit, *map(_shown, each), _verdict(each)]


def _aligned(rows: Sequence[Row]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = range(4, len(widths) - 1)
    for row in rows:
        cells = (
            cell.rjust(width) if at in numbers else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {GAP.join(cells)}".rstrip()


# --- what belongs together --------------------------------------------------------------------


def _grouped(
    columns: Sequence[Sequence[KernelAnalysis]],
) -> list[list[KernelAnalysis | None]]:
    return _joined(columns, _instance)


def _instance(kernel: KernelAnalysis) -> object:
    return kernel.name, tuple(kernel.template.items())


def _launched(kernel: KernelAnalysis) -> object:
    launch = kernel.launch
    return _instance(kernel), launch.block, launch.grid, tuple(kernel.params.items())


def _matched(columns: Sequence[Sequence[AccessResult]]) -> list[list[AccessResult | None]]:
    """First by the whole text; of those that are alone, by the array."""
    return _in_steps(columns, (wording.what, lambda a: (wording.kind(a), a.array)))


def _in_steps(columns: Sequence[Sequence[T]], keys: tuple[Key[T], Key[T]]) -> list[list[T | None]]:
    """Rows by the first key; of those that are alone then, by the second."""
    rows = _joined(columns, keys[0])
    whole = [row for row in rows if None not in row]
    alone = [[row[at] for row in rows if None in row] for at in range(len(columns))]
    left = [[element for element in column if element is not None] for column in alone]
    return whole + _joined(left, keys[1])


def _joined(columns: Sequence[Sequence[T]], key: Key[T]) -> list[list[T | None]]:
    """The n-th element with a key of every column in one row, in order of appearance."""
    rows: dict[tuple[object, int], list[T | None]] = {}
    for at, column in enumerate(columns):
        seen: dict[object, int] = defaultdict(int)
        for element in column:
            name = key(element)
            row = rows.setdefault((name, seen[name]), [None] * len(columns))
            row[at] = element
            seen[name] += 1
    return list(rows.values())
