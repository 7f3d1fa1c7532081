"""The benchmarks run: they use the package from outside, where nobody notices a new name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = str(ROOT / "examples_cu" / "transpose.cu")
RUNS = {
    "cold_start.py": ([EXAMPLE, "--runs", "1"], r"\d\.\d+ s"),
    "corpus.py": ([EXAMPLE], r"total +\d+\.\d"),
    "processes.py": ([EXAMPLE, "--rounds", "1"], r"\d\.\d+"),
    "scaling.py": (["--counts", "1,2", "--rounds", "1"], r"\b2 +\d"),
    "warm_hook.py": (["--files", "2", "--runs", "1"], r"\d\.\d+ s"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_benchmark_prints_what_it_measured(name: str) -> None:
    arguments, measured = RUNS[name]
    command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(measured, done.stdout), done.stdout
