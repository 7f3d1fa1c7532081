"""Writes the reports of this folder, one per format, and pictures, from ``examples_cu``.

``python reports/make.py`` in a clone; the tests fail when a report is not what it would write.
"""

from __future__ import annotations

import os
from pathlib import Path

import coalescecheck
from coalescecheck import wording
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.report import FORMATS, renderer
from coalescecheck.report.html import picture_style
from coalescecheck.report.model import Report, Terminal
from coalescecheck.report.pictures import bank_map, sector_strip, standalone

FOLDER = Path(__file__).parent
ENDINGS = {
    "text": "txt",
    "concise": "concise.txt",
    "github": "github.txt",
    "markdown": "md",
    "junit": "xml",
}


def examples() -> Report:
    """The report that all files here are made of."""
    before = Path.cwd()
    os.chdir(FOLDER.parent)  # paths in reports count from the repository
    try:
        return coalescecheck.analyze("examples_cu")
    finally:
        os.chdir(before)


def reports(report: Report) -> dict[str, str]:
    """The text of every report by its file name."""
    before = Path.cwd()
    os.chdir(FOLDER.parent)
    try:
        return {
            f"examples.{ENDINGS.get(name, name)}": renderer(name)(report, Terminal(width=100))
            for name in FORMATS
        }
    finally:
        os.chdir(before)


def pictures(report: Report) -> dict[str, str]:
    """The pictures of the README by their file names."""
    naive = _kernel(report, "transpose_naive")
    sectors = [
        (f"{wording.what(a)} in {naive.name}", sector_strip(a.sample_lanes, a.width_bytes))
        for a in naive.accesses
    ]
    tile = _kernel(report, "transpose_tile")
    column = next(a for a in tile.accesses if a.wavefronts and a.wavefronts.max == 32)
    trial = next(t for t in tile.proposals(column) if t.kind == "pad")
    width, op = column.width_bytes, str(column.access.op)
    padded = trial.lanes_after[column.access.id]
    banks = [
        (f"{wording.what(column)}, as written", bank_map(column.sample_lanes, width, op)),
        (f"the same, with {trial.change.strip('`')}", bank_map(padded, width, op)),
    ]
    shifted = [
        (f"{wording.what(a)} in {kernel.name}", sector_strip(a.sample_lanes, a.width_bytes))
        for kernel in (_kernel(report, "contiguous"), _kernel(report, "shifted_by_one"))
        for a in kernel.accesses[:1]
    ]
    style = picture_style()
    drawn = {"transpose_sectors": sectors, "transpose_banks": banks, "shifted_sectors": shifted}
    return {f"{name}.svg": standalone(parts, style) for name, parts in drawn.items()}


def _kernel(report: Report, name: str) -> KernelAnalysis:
    return next(kernel for kernel in report.kernels if kernel.name == name)


def main() -> None:
    """Write all reports and pictures."""
    report = examples()
    for name, text in reports(report).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    for name, text in pictures(report).items():
        (FOLDER / "pictures" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
