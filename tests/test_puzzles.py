"""Small kernels from real questions, each access with its known cost.

The expected numbers were made by enumerating lanes and, for most, by tracing the compiled source
on a CPU.  ``mean`` of puzzle 61 was taken over the first 64 blocks only, so it is not compared.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import coalescecheck
from coalescecheck.analysis import AccessResult, KernelAnalysis

FOLDER = Path(__file__).parent / "data" / "puzzles"
EXPECTED: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
SAMPLED_MEAN = ("61_",)


@cache
def kernels(file: str, params: tuple[tuple[str, int], ...]) -> tuple[KernelAnalysis, ...]:
    report = coalescecheck.analyze(FOLDER / file, params=dict(params))
    assert not report.internal_errors
    assert not report.disagrees
    found = tuple(report.kernels)
    assert {kernel.status for kernel in found} == {"analysed"}
    return found


def instance(kernel: KernelAnalysis) -> str:
    arguments = ",".join(kernel.template.values())
    return f"{kernel.name}<{arguments}>" if arguments else kernel.name


def fits(kernel: KernelAnalysis, entry: dict[str, Any]) -> bool:
    wanted = entry["kernel"].replace(" ", "")
    same = wanted in (kernel.name, instance(kernel).replace(" ", ""))
    block = kernel.launch.block
    known = {n: v for n, v in entry["params"].items() if n in kernel.params}
    return (
        same
        and block is not None
        and list(block) == entry["block"]
        and all(kernel.params[n] == v for n, v in known.items())
    )


def is_meant(access: AccessResult, entry: dict[str, Any]) -> bool:
    op = "ldmatrix" if access.access.kind == "ldmatrix" else access.access.op.value
    lines = [access.access.span.line, *(s.line for s in access.access.called_from)]
    text = entry.get("expr", "").replace(" ", "")
    return (
        (op, access.space) == (entry["op"], entry["space"])
        and entry["line"] in lines
        and access.array.split(".")[-1] == entry["array"]
        and text in access.access.index.replace(" ", "")
    )


def matching(entry: dict[str, Any]) -> list[AccessResult]:
    launched = [k for k in kernels(entry["file"], ()) if fits(k, entry)]
    if not launched:  # the launch in the file has other values: they are told
        params = tuple(sorted(entry["params"].items()))
        launched = [k for k in kernels(entry["file"], params) if fits(k, entry)]
    return [a for kernel in launched for a in kernel.accesses if is_meant(a, entry)]


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda entry: entry["id"])
def test_the_access_costs_what_is_known(entry: dict[str, Any]) -> None:
    accesses = matching(entry)
    assert accesses
    banked = entry["space"] != "global"
    wanted = entry["wavefronts"] if banked else entry["sectors_per_request"]
    low, high = wanted if isinstance(wanted, list) else (wanted, wanted)
    for access in accesses:
        count = access.wavefronts if banked else access.sectors
        assert count is not None
        assert (count.min, count.max) == (low, high)
        mean = entry.get("mean")
        sampled = entry["file"].startswith(SAMPLED_MEAN)
        if mean is not None and count.mean is not None and not sampled:
            assert count.mean == pytest.approx(mean, abs=5e-3)
        if low == high:
            ideal = entry["ideal_wavefronts"] if banked else entry["ideal"]
            if isinstance(ideal, int) and access.certainty == "exact":
                assert count.ideal == pytest.approx(ideal)
