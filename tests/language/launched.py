"""CUDA text in, the kernels with their launches out."""

from __future__ import annotations

from pathlib import Path

import coalescecheck
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.launch import Launch


def kernels_in(folder: Path, text: str) -> list[KernelAnalysis]:
    """One for every launch, without a simulation."""
    path = folder / "launch.cu"
    path.write_text(text)
    report = coalescecheck.analyze(path, verify=False)
    assert report.internal_errors == ()
    return list(report.kernels)


def shape(launch: Launch) -> str:
    """``32x4 of 7``; ``?`` is not known."""
    block = f"{launch.block.x}x{launch.block.y}" if launch.block else "?"
    return f"{block} of {launch.grid.x if launch.grid else '?'}"
