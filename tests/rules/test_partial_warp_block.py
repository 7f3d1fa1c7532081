"""CC402: silent on full warps and on blocks nobody gave; counts the lanes without a thread."""

from __future__ import annotations

import pytest

from coalescecheck import rules
from coalescecheck.findings import Finding
from coalescecheck.launch import Dim3, Launch
from coalescecheck.source import Span
from hand_made import PATH, kernel


def check(launch: Launch) -> list[Finding]:
    return list(rules.check(kernel(launch=launch), rules.select(("CC402",), ())))


@pytest.mark.parametrize(
    "launch",
    [
        pytest.param(Launch(Dim3(256), None, "host"), id="eight full warps"),
        pytest.param(Launch(Dim3(8, 8), None, "host"), id="narrow rows, full warps"),
        pytest.param(Launch(Dim3(1, 32), None, "host"), id="one column, a full warp"),
        pytest.param(Launch(Dim3(1000), None, "host"), id="24 of 1024 lanes are worth no word"),
        pytest.param(Launch(Dim3(48), None, "bounds"), id="a bound is no block"),
        pytest.param(Launch(Dim3(16), None, "assumed"), id="assumed"),
        pytest.param(Launch(None, Dim3(16), "host"), id="block not known"),
        pytest.param(Launch(Dim3(1), Dim3(1), "host"), id="one thread that sets something up"),
        pytest.param(Launch(Dim3(16), Dim3(1), "host"), id="a single block"),
    ],
)
def test_silent_on(launch: Launch) -> None:
    assert check(launch) == []


@pytest.mark.parametrize(
    ("block", "severity", "words"),
    [
        pytest.param(
            Dim3(16),
            "warning",
            "a block of 16 threads in 1 warp: 16 of 32 lanes never run",
            id="narrower than a warp",
        ),
        pytest.param(
            Dim3(4, 4),
            "warning",
            "a block of 4x4 = 16 threads in 1 warp: 16 of 32 lanes never run",
            id="two dimensions",
        ),
        pytest.param(
            Dim3(1), "warning", "a block of 1 thread in 1 warp: 31 of 32 lanes never run", id="one"
        ),
        pytest.param(
            Dim3(10, 10),
            "note",
            "a block of 10x10 = 100 threads in 4 warps: 28 of 128 lanes never run",
            id="28% more lanes than threads",
        ),
        pytest.param(
            Dim3(33), "note", "a block of 33 threads in 2 warps: 31 of 64 lanes never run", id="33"
        ),
    ],
)
def test_reports(block: Dim3, severity: str, words: str) -> None:
    (finding,) = check(Launch(block, Dim3(64), "host", file=PATH, line=20, column=5))
    assert (str(finding.severity), finding.message) == (severity, f"flip: {words}")
    assert finding.span == Span(PATH, 20, 5), "where the block is written"
    assert finding.ratio == -(-block.size // 32) * 32 / block.size


def test_a_block_of_the_command_line_is_said_at_the_kernel() -> None:
    (finding,) = check(Launch(Dim3(16), None, "cli"))
    assert finding.span == Span(PATH, 2, 17)
