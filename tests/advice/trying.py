"""Kernels analysed from text, and what was tried on them."""

from __future__ import annotations

from pathlib import Path

import coalescecheck
from coalescecheck.analysis import KernelAnalysis, Trial


def analysed(folder: Path, text: str) -> KernelAnalysis:
    """The one kernel of ``text``, simulated."""
    path = folder / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    report = coalescecheck.analyze(path)
    assert report.internal_errors == ()
    assert not report.disagrees
    (kernel,) = report.kernels
    return kernel


def helping(kernel: KernelAnalysis, kind: str) -> Trial | None:
    """The only trial of this kind, None where none helps."""
    found = [trial for trial in kernel.trials if trial.kind == kind and trial.helps]
    assert len(found) <= 1
    return found[0] if found else None


def numbers(kernel: KernelAnalysis, kind: str) -> dict[str, tuple[float, float]]:
    """``store out[i]`` → cost before and after, of the trial of this kind that helps."""
    trial = helping(kernel, kind)
    if trial is None:
        return {}
    return {
        f"{a.access.op} {a.access.index}": (
            round(trial.before[a.access.id], 4),
            round(trial.after[a.access.id], 4),
        )
        for a in kernel.accesses
        if a.access.id in trial.before
    }
