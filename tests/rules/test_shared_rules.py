"""Rules on shared and constant memory, races and verification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import coalescecheck
from analysed import findings
from coalescecheck import rules
from coalescecheck.analysis import Barrier, Count, Race, Trial, Verified
from coalescecheck.source import Span
from hand_made import PATH, access, exactly, kernel


def shared(wavefronts: Count, **facts: Any) -> Any:
    values = {"lane_stride_bytes": 128, "pattern": "strided", "efficiency": None}
    return access(
        3,
        at=(7, 24),
        index="tile[threadIdx.x][threadIdx.y]",
        space="shared",
        wavefronts=wavefronts,
        **(values | facts),
    )


def trial(pad: int, after: dict[int, float], before: dict[int, float] | None = None) -> Trial:
    padded = f"`tile[32][{32 + pad}]`"
    before = before or {1: 1.0, 3: 32.0}
    change = f"declare {padded}"
    return Trial("pad", "tile", padded, change, before, after, amount=pad, simulated=True)


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(shared(exactly(1, 1)), id="no conflict"),
        pytest.param(shared(exactly(4, 4), width=16), id="16-byte lanes need four wavefronts"),
        pytest.param(
            shared(Count(1, 32, None, 1), certainty="data-dependent", pattern="gather"),
            id="a histogram's bins",
        ),
        pytest.param(access(space="constant", wavefronts=exactly(1, 1)), id="a uniform constant"),
        pytest.param(
            access(space="constant", certainty="data-dependent", wavefronts=Count(1, 32, None, 1)),
            id="a table look-up by data",
        ),
    ],
)
def test_silent_on(result: Any) -> None:
    assert rules.check(kernel(result)) == ()


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(shared(exactly(32, 1)), "warning CC201", id="a column of a tile"),
        pytest.param(
            shared(exactly(32, 4), width=16, lane_stride_bytes=256), "warning CC201", id="float4"
        ),
        pytest.param(
            shared(exactly(2, 1), lane_stride_bytes=8), "warning CC201", id="every second word"
        ),
        pytest.param(
            shared(exactly(2, 1), lane_stride_bytes=None, pattern="irregular"),
            "note CC201",
            id="rows that overlap",
        ),
        pytest.param(
            shared(exactly(2, 1), lane_stride_bytes=68),
            "note CC201",
            id="a 17-word pitch in a block of 16 x 16",
        ),
        pytest.param(
            shared(exactly(3, 1), lane_stride_bytes=68),
            "warning CC201",
            id="three rows of the block in one bank",
        ),
        pytest.param(
            shared(Count(1, 32, None, 1), lane_stride_bytes="4*n"),
            "note CC201",
            id="a pitch that is not known, and most often odd",
        ),
        pytest.param(
            shared(Count(1, 4, None, 1), lane_stride_bytes=16),
            "warning CC201",
            id="lanes that are not known, a step that is",
        ),
        pytest.param(
            shared(exactly(3, 2), width=8, lane_stride_bytes=-24),
            "note CC201",
            id="doubles three apart visit every bank too",
        ),
        pytest.param(
            shared(exactly(4, 2), width=8, lane_stride_bytes=16),
            "warning CC201",
            id="every second double",
        ),
        pytest.param(
            # what starts in the middle of a vector faults: no conflict that can happen
            shared(Count(4, 8, None, 4), width=16, lane_stride_bytes=16),
            "note CC201",
            id="vectors side by side whose start is not known",
        ),
        pytest.param(
            shared(exactly(2, 1), width=2, lane_stride_bytes=6),
            "warning CC201",
            id="narrower than a bank",
        ),
        pytest.param(
            shared(exactly(2, 1), lane_stride_bytes=None),
            "warning CC201",
            id="a stride within each row of the block",
        ),
        pytest.param(shared(Count(1, 2, 1.5, 1)), "note CC201", id="half of the requests"),
        pytest.param(
            access(space="constant", wavefronts=exactly(32, 1)),
            "warning CC202",
            id="constants lane by lane",
        ),
    ],
)
def test_reports(result: Any, expected: str) -> None:
    assert [f"{f.severity} {f.rule}" for f in rules.check(kernel(result))] == [expected]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            shared(exactly(8, 1), lane_stride_bytes=32),
            "a step of 8 words visits only 4 banks of 32",
        ),
        (shared(exactly(2, 1), lane_stride_bytes=-68), "rows of the block overlap in some banks"),
        (
            shared(Count(1, 32, None, 1), lane_stride_bytes="4*n"),
            "it hangs on the step of 4*n bytes: odd numbers of words visit every bank",
        ),
        (
            shared(exactly(16, 2), width=8, lane_stride_bytes=64, bank_conflict_degree=(8, 8)),
            "up to 8 lanes want different words of one bank",
        ),
        (
            shared(exactly(2, 1), width=2, lane_stride_bytes=6, bank_conflict_degree=(1, 2)),
            "up to 2 lanes want different words of one bank",
        ),
    ],
)
def test_the_reason_counts_the_banks(result: Any, reason: str) -> None:
    (finding,) = rules.check(kernel(result))
    assert finding.reason == reason


@pytest.mark.parametrize(
    ("trials", "fix"),
    [
        pytest.param([trial(1, {1: 1, 3: 1})], "tile[32][33]", id="the one that helps"),
        pytest.param(
            [trial(2, {1: 1, 3: 2}), trial(3, {1: 1, 3: 1}), trial(1, {1: 1, 3: 1})],
            "tile[32][33]",
            id="the best, and of equals the smallest",
        ),
        pytest.param(
            [trial(4, {1: 2, 3: 1})],
            "no pad of up to 4 elements per row of `tile` that was tried helps without harm",
            id="none that makes another access worse",
        ),
        pytest.param(
            [trial(4, {1: 1, 3: 32})],
            "no pad of up to 4 elements per row of `tile` that was tried helps without harm",
            id="none that changes nothing",
        ),
        pytest.param(
            [trial(1, {1: 1, 3: 32}, {1: 2, 3: 32})],
            "a pad of 1 element per row of `tile` helps elsewhere, not here",
            id="none that only helps elsewhere",
        ),
    ],
)
def test_a_pad_is_proposed_only_when_it_was_shown_to_help(trials: list[Trial], fix: str) -> None:
    (finding,) = rules.check(kernel(shared(exactly(32, 1)), trials=tuple(trials)))
    if " " in fix:
        assert finding.fix is None
        assert finding.advice == fix
    else:
        assert finding.fix is not None
        assert finding.fix.verified
        assert (finding.fix.before, finding.fix.after) == ("32 wavefronts", "1 wavefront")
        assert finding.advice == f"32 → 1 wavefront with `{fix}`"


@pytest.mark.parametrize(
    ("kind", "lines", "severity", "advice"),
    [
        ("RAW", (5, 7), "error", "a __syncthreads() is needed between lines 5 and 7"),
        (
            "WAR",
            (7, 5),
            "error",
            "a __syncthreads() is needed after line 7, before line 5 runs again",
        ),
        ("WAW", (5, 6), "warning", "a __syncthreads() is needed between lines 5 and 6"),
        (
            "WAW",
            (5, 5),
            "warning",
            "let one thread write a location, or add with an atomic; iterations of a loop that "
            "write it in turn need a __syncthreads() between them",
        ),
    ],
)
def test_races(kind: str, lines: tuple[int, int], severity: str, advice: str) -> None:
    first, second = (Span(PATH, line, 5) for line in lines)
    missing = None if first == second else Barrier(first, second, again=lines[0] > lines[1])
    (finding,) = rules.check(kernel(races=(Race("tile", (first, second), kind, barrier=missing),)))
    assert (finding.rule, str(finding.severity)) == ("CC401", severity)
    assert finding.advice == advice
    assert finding.span == second


@pytest.mark.parametrize(
    ("kind", "columns", "advice"),
    [
        ("RAW", (5, 20), "a __syncwarp() is needed between columns 5 and 20"),
        (
            "WAR",
            (20, 5),
            "keep what is read in a variable, and put a __syncwarp() before the write",
        ),
    ],
)
def test_a_race_of_the_lanes_of_a_warp_on_one_line(
    kind: str, columns: tuple[int, int], advice: str
) -> None:
    spans = Span(PATH, 7, columns[0]), Span(PATH, 7, columns[1])
    race = Race("tile", spans, kind, same_warp=True, barrier=Barrier(*spans))
    (finding,) = rules.check(kernel(races=(race,)))
    assert "by different lanes of a warp, no barrier" in finding.message
    assert finding.advice == advice


def test_a_barrier_before_a_function_that_stands_further_up(tmp_path: Path) -> None:
    text = """
__device__ float last(const float *s) { return s[63 - threadIdx.x]; }
// coalescecheck: block(64) grid(4)
__global__ void k(float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    out[blockIdx.x * 64 + threadIdx.x] = last(s);
}
"""
    (found,) = findings(tmp_path, text, "CC401")
    assert found.advice == "a __syncthreads() is needed after line 7, before what line 2 does"


LOOP = "for (int i = 0; i < 4; ++i) {{ {} {} {} }}"
STORE, READ, BARRIER = "s[t] = in[t + i];", "sum += s[63 - t];", "__syncthreads();"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            LOOP.format(STORE, BARRIER, READ),
            ["error a __syncthreads() is needed after column 77, before column 35 runs again"],
            id="at the end of a loop on one line",
        ),
        pytest.param(
            LOOP.format(STORE, "\n", READ + BARRIER),
            ["error a __syncthreads() is needed between lines 7 and 8"],
            id="inside of the loop",
        ),
        pytest.param(
            "s[t] = in[t]; __syncthreads(); s[t] += s[63 - t]; __syncthreads(); sum = s[t];",
            ["error keep what is read in a variable, and put a __syncthreads() before the write"],
            id="a sum in place",
        ),
        pytest.param(
            "s[t] = 1; atomicAdd(&s[63 - t], 1.0f); __syncthreads(); sum = s[t];",
            ["error a __syncthreads() is needed between columns 5 and 15"],
            id="a sum that a store may clear is no harmless pair of stores",
        ),
        pytest.param(
            "if (t == 0) s[0] = 1;\n atomicExch(&s[0], 2.0f); __syncthreads(); sum = s[t];",
            ["warning a __syncthreads() is needed between lines 7 and 8, "
             "where all threads come by"],
            id="a condition",
        ),
    ],
)  # fmt: skip
def test_where_a_barrier_belongs(tmp_path: Path, body: str, expected: list[str]) -> None:
    text = (
        "\n// coalescecheck: block(64) grid(4)\n__global__ void k(float *out, const float *in)\n"
        "{\n    __shared__ float s[64]; int t = threadIdx.x;\n    float sum = 0;\n"
        f"    {body}\n    out[blockIdx.x * 64 + t] = sum;\n}}\n"
    )
    found = findings(tmp_path, text, "CC401")
    assert [f"{f.severity} {f.advice}" for f in found] == expected


@pytest.mark.parametrize(
    ("verified", "words"),
    [
        (Verified(simulation="disagrees"), "the simulation"),
        (Verified(simulation="agrees", gpu="disagrees"), "the GPU's counters"),
    ],
)
def test_a_contradicted_number_is_an_error(verified: Verified, words: str) -> None:
    (finding,) = rules.check(kernel(access(verified=verified)))
    assert (finding.rule, str(finding.severity)) == ("CC902", "error")
    assert words in finding.message


def test_a_table_that_lanes_index_apart_is_strided(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("""
__constant__ float c[64];
// coalescecheck: block(32) grid(4)
__global__ void k(float *o) { o[threadIdx.x] = c[threadIdx.x]; }
""")
    (kernel,) = coalescecheck.analyze(path).kernels
    (load,) = (a for a in kernel.accesses if a.space == "constant")
    assert load.wavefronts is not None
    assert (load.pattern, load.wavefronts.max) == ("strided", 32)


LOCKSTEP = """
__device__ void last_warp(volatile float *s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
}
// coalescecheck: block(64) grid(4)
__global__ void sum(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 64] = 0;
    __syncthreads();
    if (t < 32) last_warp(s, t);
    if (t == 0) out[0] = s[0];
}
"""


def test_code_in_lockstep_is_one_finding(tmp_path: Path) -> None:
    # of three sums each but the first reads what the one before wrote; each writes what others read
    (found,) = findings(tmp_path, LOCKSTEP, "CC401")
    assert (found.span.line, str(found.severity)) == (4, "error")
    assert "read and write each other's values in lines 4 to 6" in found.message
    assert "(4 pairs of accesses)" in found.message
    assert "__syncwarp()" in found.advice


def test_lanes_in_order_are_not(tmp_path: Path) -> None:
    ordered = LOCKSTEP
    for step in (32, 16, 8):
        plain = f"    s[t] += s[t + {step}];\n"
        by_hand = f"    v += s[t + {step}]; __syncwarp(); s[t] = v; __syncwarp();\n"
        ordered = ordered.replace(plain, by_hand)
    ordered = ordered.replace("int t)\n{\n", "int t)\n{\n    float v = s[t];\n")
    assert not findings(tmp_path, ordered, "CC401")


@pytest.mark.parametrize(
    ("stores", "expected"),
    [
        pytest.param("s[t].x = 1; s[t].y = 2; s[t].z = 3; s[t].w = 4;", ["note"] * 4, id="all"),
        pytest.param("s[t].x = 1; s[t].y = 2; s[t].z = 3;", ["note"] * 3, id="most"),
        pytest.param("s[t].x = 1; s[t].y = 2;", ["warning"] * 2, id="half"),
        pytest.param(
            "s[2 * t].x = 1; s[2 * t].y = 2; s[2 * t].z = 3; s[2 * t].w = 4;",
            ["warning"] * 4,
            id="whole vectors would conflict, too",
        ),
    ],
)
def test_members_that_a_compiler_may_join(tmp_path: Path, stores: str, expected: list[str]) -> None:
    text = f"""
// coalescecheck: block(64) grid(4)
__global__ void k(float4 *o)
{{
    __shared__ float4 s[128]; int t = threadIdx.x;
    {stores}
    __syncthreads();
    o[t] = s[t ^ 1];
}}
"""
    found = findings(tmp_path, text, "CC201")
    assert [str(finding.severity) for finding in found] == expected
    assert all(
        finding.message.endswith("which a compiler may join to whole vectors")
        == (expected[0] == "note")
        for finding in found
    )


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        pytest.param("", ["note"], id="a pitch that is not known"),
        pytest.param(" pitch=33", [], id="an odd one"),
        pytest.param(" pitch=32", ["warning"], id="an even one"),
    ],
)
def test_a_pitch_that_is_not_known_is_a_note(
    tmp_path: Path, above: str, expected: list[str]
) -> None:
    text = f"""
// coalescecheck: block(32){above}
__global__ void k(float *o, int pitch)
{{
    extern __shared__ float s[];
    o[threadIdx.x] = s[threadIdx.x * pitch];
}}
"""
    found = findings(tmp_path, text, "CC201")
    assert [str(finding.severity) for finding in found] == expected
    if not above:
        assert "the step of 4*pitch bytes: odd numbers of words visit every bank" in found[0].reason


@pytest.mark.parametrize(
    ("assumptions", "after"),
    [
        ((), "1 wavefront"),
        (("n >= 8", "m % 2 == 0"), "1 wavefront if n >= 8 and m % 2 == 0"),
        (("whole warps: i < wrap(n - 1, 32, 0)",), "1 wavefront in whole warps"),
        (("n >= 8", "whole warps: i < n"), "1 wavefront if n >= 8 in whole warps"),
    ],
)
def test_what_a_fix_hangs_on(assumptions: tuple[str, ...], after: str) -> None:
    tried = replace(trial(1, {1: 1, 3: 1}), assumptions=assumptions)
    (finding,) = rules.check(kernel(shared(exactly(32, 1)), trials=(tried,)))
    assert finding.fix is not None
    assert finding.fix.after == after
