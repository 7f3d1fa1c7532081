"""All CUDA of ours is CUDA: nvcc compiles it, where there is an nvcc."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

NVCC = shutil.which("nvcc")
ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("examples_cu/*.cu"), *ROOT.glob("tests/language/cu/*.cu")])
FLAGS = ["-std=c++20", "-arch=sm_80", "-cubin", "-w"]
WORKERS = 2


def _complaints(path: Path) -> str:
    command = [str(NVCC), *FLAGS, "-o", os.devnull, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return "" if done.returncode == 0 else f"{path.name}: {done.stderr or done.stdout}"


@pytest.mark.skipif(NVCC is None, reason="no nvcc on this machine")
def test_nvcc_accepts_every_file() -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        complaints = [said for said in pool.map(_complaints, FILES) if said]
    assert not complaints, "\n".join(complaints)
