"""Writes the reports of this folder, one per format, from ``examples_cu``.

``python reports/make.py`` in a clone; the tests fail when a report is not what it would write.
"""

from __future__ import annotations

import os
from pathlib import Path

import coalescecheck
from coalescecheck.report import FORMATS, renderer
from coalescecheck.report.model import Terminal

FOLDER = Path(__file__).parent
ENDINGS = {
    "text": "txt",
    "concise": "concise.txt",
    "github": "github.txt",
    "markdown": "md",
    "junit": "xml",
}


def reports() -> dict[str, str]:
    """The text of every report by its file name."""
    before = Path.cwd()
    os.chdir(FOLDER.parent)  # paths in reports count from the repository
    try:
        report = coalescecheck.analyze("examples_cu")
        return {
            f"examples.{ENDINGS.get(name, name)}": renderer(name)(report, Terminal(width=100))
            for name in FORMATS
        }
    finally:
        os.chdir(before)


def main() -> None:
    """Write all reports."""
    for name, text in reports().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
