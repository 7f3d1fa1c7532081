"""Launch totals of CoalesceCheck against Nsight Compute, on the kernels of RaCUDA (POPL 2021).

In: a checkout of github.com/smuller/RaCUDA (its kernels are not part of this repository).  Out: a
scoreboard: for every kernel how many of the measured launches are met exactly, within 2 % and
not, and every row that differs by more.  ``data/racuda_truth.tsv`` holds the measured totals of
global sectors and shared bank conflicts, ``popl21/curesults`` of that repository where they
come from.

    python benchmarks/racuda.py PATH [--rows]

How the kernels were launched is not recorded in full.  What is known: the blocks (paper, table 1).
What follows from the measured numbers is said beside the launches below.

Rows are told apart by whether all sizes are multiples of 32.  Where they are, requests cover whole
128-byte lines, and the measured numbers are those of the addresses.  Where they are not, the
measured sectors are up to 9 % lower even where every request is aligned to sectors and shares none
with another warp (addSub3 584x584: 73 sectors a row, read and written, are 85,264, without the
loads of A; measured 80,827 in all), and not in proportion to the trips of the loop (addSub3 with
w = 258 misses 332, 1,685 and 2,059 sectors at h = 258, 514 and 770).  So the deficit is no
property of the addresses: that GPU (the model is not recorded) merged some requests that
straddle lines.  These rows are reported, not fitted.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coalescecheck import analyze
from coalescecheck.analysis import KernelTotals, Total

TRUTH = Path(__file__).parent / "data" / "racuda_truth.tsv"
CLOSE = 0.02

Launch = tuple[str, str, dict[str, int]]  # block, grid, parameters


@dataclass(frozen=True)
class Row:
    """One measured launch of one kernel."""

    benchmark: str
    source: str
    sizes: tuple[int, ...]
    sectors: int
    conflicts: int

    @property
    def whole_lines(self) -> bool:
        """Whether a row of the data is a whole number of 128-byte lines; a vector is one row."""
        return (len(self.sizes) == 1 and "matrix" not in self.benchmark) or not any(
            size % 32 for size in self.sizes
        )


@dataclass(frozen=True)
class Outcome:
    """A row beside what the analysis says."""

    row: Row
    sectors: Total
    conflicts: Total

    @property
    def verdict(self) -> str:
        """``exact``, ``close``, ``inside`` (bounds), ``off``."""
        pairs = ((self.row.sectors, self.sectors), (self.row.conflicts, self.conflicts))
        if all(total.exact == measured for measured, total in pairs):
            return "exact"
        if all(total.exact is not None for _, total in pairs):
            return "close" if all(_error(m, t.min) <= CLOSE for m, t in pairs) else "off"
        inside = (t.min <= m and (t.max is None or m <= t.max) for m, t in pairs)
        return "inside" if all(inside) else "off"


def _error(measured: int, derived: int) -> float:
    return abs(derived - measured) / max(measured, 1)


def _square(n: int) -> Launch:
    """Blocks of the tile; N/32 of them, rounded down: the measured conflicts of
    matrixMulTranspose at 321, 584 and 641 are those of that many blocks, exactly."""
    return "32,32", f"{n // 32},{n // 32}", {"wA": n, "wB": n}


def _reduce(elements: int) -> Callable[[int], Launch]:
    """Blocks of 256 threads that read ``elements`` each."""
    return lambda n: ("256", str(n // elements), {"n": n})


def _rows_of_threads(threads: Callable[[int, int], int]) -> Callable[[int, int], Launch]:
    """One block: the measured sectors of addSub3 at multiples of 32 are those of one."""
    return lambda w, h: (str(threads(w, h)), "1", {"w": w, "h": h})


LAUNCHES: dict[str, Callable[..., Launch]] = {
    "matrixMul": _square,
    "matrixMulBad": _square,
    "matrixMulTranspose": _square,
    "vectorAdd": lambda n: ("256", str(-(-n // 256)), {"numElements": n}),
    "reduce0": _reduce(256),
    "reduce1": _reduce(256),
    "reduce2": _reduce(256),
    "reduce3": _reduce(512),
    "addSub0": _rows_of_threads(lambda w, h: h),
    "addSub1": _rows_of_threads(lambda w, h: h // 2),
    "addSub2": _rows_of_threads(lambda w, h: w),
    "addSub3": _rows_of_threads(lambda w, h: w),
}


def truth() -> Iterator[Row]:
    """The measured launches."""
    with TRUTH.open(encoding="utf-8") as file:
        for entry in csv.DictReader(file, delimiter="\t"):
            yield Row(
                entry["benchmark"],
                entry["kernel_source"],
                tuple(int(entry[s]) for s in ("size1", "size2") if entry[s]),
                int(entry["measured_sectors_total"]),
                int(entry["measured_bank_conflicts_total"]),
            )


def analysed(row: Row, checkout: Path) -> Outcome:
    """The totals of the row's launch."""
    block, grid, params = LAUNCHES[row.benchmark](*row.sizes)
    path = checkout / row.source
    report = analyze(path, block=block, grid=grid, params=params, verify=False)
    (kernel,) = report.kernels
    totals = kernel.totals
    if not isinstance(totals, KernelTotals):
        raise SystemExit(f"{path}: {kernel.reason}")
    return Outcome(row, totals.global_sectors, totals.shared_bank_conflicts)


# --- output -----------------------------------------------------------------------------------


def _number(total: Total) -> str:
    if total.exact is not None:
        return f"{total.exact:,}"
    return f"{total.min:,}..{'?' if total.max is None else format(total.max, ',')}"


def _row_text(outcome: Outcome) -> str:
    row = outcome.row
    return (
        f"{outcome.verdict:6} {row.benchmark:20} {'x'.join(map(str, row.sizes)):>12}  "
        f"sectors {_number(outcome.sectors):>13} measured {row.sectors:>13,}  "
        f"conflicts {_number(outcome.conflicts):>11} measured {row.conflicts:>11,}"
    )


def _scoreboard(outcomes: list[Outcome], absent: dict[str, int]) -> Iterator[str]:
    yield "| kernel | sizes | rows | exact | within 2 % | in bounds | off | largest difference |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for whole in (True, False):
        some = [o for o in outcomes if o.row.whole_lines is whole]
        for name in dict.fromkeys(o.row.benchmark for o in some):
            yield _score(name, whole, [o for o in some if o.row.benchmark == name])
    for name, rows in absent.items():
        yield f"| {name} | kernel not in the repository | {rows} | | | | | |"


def _score(name: str, whole: bool, outcomes: list[Outcome]) -> str:
    verdicts = ("exact", "close", "inside", "off")
    counts = [sum(o.verdict == verdict for o in outcomes) for verdict in verdicts]
    worst = max(_error(o.row.sectors, o.sectors.min) for o in outcomes)
    sizes = "whole lines" if whole else "other"
    cells = (name, sizes, len(outcomes), *counts, f"{worst:.2%}")
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Totals against RaCUDA's measurements.")
    parser.add_argument("checkout", type=Path, help="folder with popl21/kernels")
    parser.add_argument("--rows", action="store_true", help="print every row, not only those off")
    given = parser.parse_args()
    outcomes: list[Outcome] = []
    absent: dict[str, int] = {}
    for row in truth():
        if row.benchmark in LAUNCHES:
            outcomes.append(analysed(row, given.checkout))
        else:
            absent[row.benchmark] = absent.get(row.benchmark, 0) + 1
    for outcome in outcomes:
        if given.rows or outcome.verdict == "off":
            print(_row_text(outcome))
    print("\n".join(_scoreboard(outcomes, absent)))


if __name__ == "__main__":
    main()
