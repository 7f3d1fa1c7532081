"""Rules on global memory: what they stay silent on, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysed import findings
from coalescecheck import rules
from coalescecheck.analysis import Count
from coalescecheck.ir.kernel import Array, Op, Space
from coalescecheck.launch import Dim3, Launch
from hand_made import access, exactly, kernel


def said(result: Any, **facts: Any) -> list[str]:
    """Severity and code of every finding of the default rules."""
    return [f"{f.severity} {f.rule}" for f in rules.check(kernel(result, **facts))]


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(access(), id="coalesced"),
        pytest.param(
            access(pattern="broadcast", lane_stride_bytes=0, sectors=exactly(1, 1)),
            id="all lanes read one element",
        ),
        pytest.param(
            access(pattern="irregular", lane_stride_bytes=None, sectors=exactly(4, 4)),
            id="not contiguous, but every sector is used",
        ),
        pytest.param(access(width=1, sectors=exactly(1, 1)), id="bytes: narrow but perfect"),
        pytest.param(access(width=16, sectors=exactly(16, 16)), id="float4"),
        pytest.param(
            access(pattern="gather", certainty="data-dependent", sectors=Count(1, 32, None, 4)),
            id="data-dependent",
        ),
        pytest.param(
            access(pattern="coalesced", certainty="bounded", sectors=Count(4, 5, None, 4)),
            id="alignment depends on a parameter",
        ),
        pytest.param(
            access(pattern="misaligned", certainty="bounded", sectors=Count(4, 5, None, 4)),
            id="misaligned for some values only",
        ),
        pytest.param(
            access(pattern="coalesced", sectors=Count(4, 5, 4.02, 4)), id="a hundredth more"
        ),
        pytest.param(
            access(space="local", sectors=exactly(32, 4), pattern="strided"),
            id="local memory is not global memory",
        ),
    ],
)
def test_silent_on(result: Any) -> None:
    assert said(result) == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(
            access(pattern="strided", lane_stride_bytes=2048, sectors=exactly(32, 4)),
            "warning CC101",
            id="a column",
        ),
        pytest.param(
            access(pattern="strided", lane_stride_bytes=8, sectors=exactly(8, 4)),
            "warning CC101",
            id="every second element is twice the ideal",
        ),
        pytest.param(
            access(pattern="irregular", lane_stride_bytes=None, sectors=Count(4, 6, 5.43, 4)),
            "note CC101",
            id="half as much again",
        ),
        pytest.param(
            access(pattern="irregular", width=2, lane_stride_bytes=None, sectors=exactly(5, 2)),
            "note CC101",
            id="scattered, but less than a line of waste",
        ),
        pytest.param(
            access(pattern="irregular", lane_stride_bytes=0, sectors=exactly(2, 1)),
            "note CC101",
            id="two rows, each of which uses one address",
        ),
        pytest.param(
            access(pattern="irregular", lane_stride_bytes=0, sectors=exactly(8, 1)),
            "warning CC101",
            id="eight of them",
        ),
        pytest.param(
            access(pattern="irregular", lane_stride_bytes=None, sectors=exactly(8, 4)),
            "warning CC101",
            id="scattered over a line more than needed",
        ),
        pytest.param(
            access(
                pattern="strided",
                lane_stride_bytes="4*n",
                certainty="exact-symbolic",
                sectors=Count(1, 32, None, 4),
            ),
            "warning CC101",
            id="a stride that grows with a parameter",
        ),
        pytest.param(
            access(pattern="misaligned", sectors=exactly(5, 4)), "note CC102", id="off by one"
        ),
        pytest.param(
            access(pattern="misaligned", width=1, sectors=exactly(2, 1)),
            "note CC102",
            id="shifted bytes are twice the ideal and still a note",
        ),
        pytest.param(
            access(certainty="unknown", sectors=None, reason="f() is not known"),
            "note CC901",
            id="unknown",
        ),
    ],
)
def test_reports(result: Any, expected: str) -> None:
    assert said(result) == [expected]


def test_the_message_states_the_numbers_and_the_step() -> None:
    result = access(
        index="a[i * n + k]", pattern="strided", lane_stride_bytes="4*n", sectors=exactly(32, 4)
    )
    (finding,) = rules.check(kernel(result))
    assert finding.message == (
        "global load a[i * n + k]: 32 sectors per warp, 4 would do (8x); lanes step 4*n bytes"
    )


def test_a_size_below_which_it_costs_less_is_named() -> None:
    sizes = ("whole warps: i < n", "n >= 0", "w >= 8", "p.rows[1] >= 19")
    result = access(pattern="irregular", sectors=exactly(32, 4), assumptions=sizes)
    (finding,) = rules.check(kernel(result))
    assert finding.reason.endswith("counted for w >= 8 and p.rows[1] >= 19")


def test_a_most_that_depends_on_a_parameter_is_called_a_most() -> None:
    result = access(
        pattern="strided",
        lane_stride_bytes="4*n",
        certainty="exact-symbolic",
        sectors=Count(1, 32, None, 4),
    )
    (finding,) = rules.check(kernel(result))
    assert "up to 32 sectors per warp, 4 would do (up to 8x)" in finding.message


def test_a_struct_member_is_advised_to_live_in_its_own_array() -> None:
    result = access(index="p[i].x", lane_stride_bytes=32, sectors=exactly(32, 4), pattern="strided")
    array = Array("p", Space.GLOBAL, "Particle", 32, element_kind="struct")
    (finding,) = rules.check(kernel(result, arrays={"p": array}))
    assert finding.advice == "keep the members of Particle in separate arrays, one element per lane"


def test_a_narrow_block_is_told_how_wide_a_row_must_be() -> None:
    result = access(pattern="misaligned", sectors=exactly(8, 4))
    (finding,) = rules.check(kernel(result, launch=Launch(Dim3(4, 64), None, "host")))
    assert (finding.rule, str(finding.severity)) == ("CC101", "warning")
    assert finding.reason == "blockDim.x = 4: a warp covers 8 rows of the block"
    assert finding.advice == "a row of the block should fill a sector: blockDim.x a multiple of 8"


def test_rows_of_one_sector_that_straddle_two_are_misaligned() -> None:
    result = access(pattern="misaligned", sectors=exactly(8, 4))
    (finding,) = rules.check(kernel(result, launch=Launch(Dim3(8, 32), None, "host")))
    assert (finding.rule, str(finding.severity)) == ("CC102", "note")


def test_a_note_gives_no_advice_on_strides() -> None:
    result = access(pattern="irregular", lane_stride_bytes=None, sectors=exactly(6, 4))
    (finding,) = rules.check(kernel(result))
    assert finding.advice == ""


def test_data_dependent_accesses_are_named_when_asked_for() -> None:
    result = access(
        index="x[order[i]]",
        pattern="gather",
        certainty="data-dependent",
        sectors=Count(1, 32, None, 4),
        reason="the index is loaded",
    )
    (finding,) = rules.check(kernel(result), rules.select(("CC103",), ()))
    assert finding.message == (
        "global load x[order[i]]: between 1 and 32 sectors per warp, by the data"
    )


@pytest.mark.parametrize(
    ("stride", "kind", "guards", "expected"),
    [
        pytest.param(16, "vector", (), [], id="a float4 apart is aligned"),
        pytest.param(None, "vector", (), [], id="no fixed distance"),
        pytest.param(4, "plain", (), [], id="float4 elements are aligned by their type"),
        pytest.param(4, "vector", (), ["error CC301"], id="a float apart"),
        pytest.param(20, "vector", ("i < n",), [], id="a condition may choose every fourth lane"),
    ],
)
def test_vector_accesses_whose_lanes_cannot_all_be_aligned(
    stride: int | None, kind: str, guards: tuple[str, ...], expected: list[str]
) -> None:
    result = access(
        width=16,
        kind=kind,
        op=Op.STORE,
        lane_stride_bytes=stride,
        guards=guards,
        sectors=exactly(16, 16),
    )
    assert said(result) == expected


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        pytest.param(1, ["warning CC301"], id="all lanes, 4 bytes apart"),
        pytest.param(2, ["warning CC301"], id="8 bytes apart"),
        pytest.param(4, [], id="16 bytes apart"),
        pytest.param(32, [], id="one lane"),
    ],
)
def test_lanes_of_a_vector_access_that_a_condition_chooses(every: int, expected: list[str]) -> None:
    lanes = tuple(4 * lane if lane % every == 0 else None for lane in range(32))
    result = access(
        width=16,
        kind="vector",
        lane_stride_bytes=4,
        guards=(f"i % {every} == 0",),
        sectors=exactly(8, 8),
        sample_lanes=lanes,
    )
    assert [each for each in said(result) if each.endswith("CC301")] == expected


def test_a_block_of_one_thread_has_no_neighbouring_lanes() -> None:
    alone = access(
        width=16,
        kind="vector",
        lane_stride_bytes=4,
        sectors=exactly(1, 1),
        sample_lanes=(0, *[None] * 31),
    )
    assert said(alone) == []


@pytest.mark.parametrize(
    ("guards", "reason"),
    [
        ((), "a misaligned vector access faults"),
        (("i < n",), "a misaligned vector access faults where both run"),
    ],
)
def test_why_lanes_cannot_be_aligned(guards: tuple[str, ...], reason: str) -> None:
    lanes = tuple(4 * lane for lane in range(32))
    result = access(width=16, kind="vector", lane_stride_bytes=4, guards=guards, sample_lanes=lanes)
    (finding,) = rules.check(kernel(result))
    assert finding.reason == f"two neighbouring lanes cannot both be aligned, and {reason}"


def test_a_member_of_an_aligned_struct_is_not_aligned(tmp_path: Path) -> None:
    text = """
struct __align__(16) Pair { float head, tail[7]; };
// coalescecheck: block(64) grid(4)
__global__ void k(float2 *out, const Pair *in)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = *reinterpret_cast<const float2 *>(&in[i].tail[AT]);
}
"""
    assert findings(tmp_path, text.replace("AT", "1"), "CC301") == []
    (found,) = findings(tmp_path, text.replace("AT", "0"), "CC301")
    assert "starts 4 bytes behind a multiple of 8" in found.message


@pytest.mark.parametrize(
    ("first", "facts", "expected"),
    [
        (0, {}, []),
        (48, {}, []),
        (4, {}, ["warning CC301"]),
        # a move of all lanes by an unknown parameter may align them
        (4, {"certainty": "exact-symbolic"}, []),
        (4, {"space": "shared"}, []),  # nobody said where the array itself starts
        (4, {"kind": "async"}, []),  # cp.async is refused by the compiler
    ],
)
def test_vector_accesses_that_start_where_they_must_not(
    first: int, facts: dict[str, Any], expected: list[str]
) -> None:
    lanes = tuple(first + 16 * lane for lane in range(32))
    values: dict[str, Any] = {"kind": "vector", "lane_stride_bytes": 16, "sample_lanes": lanes}
    result = access(width=16, op=Op.STORE, **values | facts)
    assert said(result) == expected


def test_the_start_is_that_of_the_first_lane_that_runs() -> None:
    result = access(
        width=16,
        kind="vector",
        lane_stride_bytes=16,
        guards=("i > 0",),
        sample_lanes=(None, *(4 + 16 * lane for lane in range(1, 32))),
    )
    (finding,) = rules.check(kernel(result))
    assert "it starts 4 bytes behind a multiple of 16" in finding.message


def test_accesses_lost_for_one_reason_are_one_finding() -> None:
    lost = [access(i, certainty="unknown", sectors=None, reason="f() is not known") for i in (0, 1)]
    other = access(2, certainty="unknown", sectors=None, reason="g() is not known")
    messages = [finding.message for finding in rules.check(kernel(*lost, other))]
    assert messages == [
        "global load in[threadIdx.x * n] and 1 more access: not analysed",
        "global load in[threadIdx.x * n]: not analysed",
    ]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        # rows of a block, which may start between two sectors
        ({"pattern": "irregular", "lane_stride_bytes": None, "sectors": Count(32, 34, None, 16)},
         "at least 32 sectors per warp, 16 would do (at least 2x)"),
        ({"pattern": "strided", "lane_stride_bytes": "4*n", "sectors": Count(1, 32, None, 4)},
         "up to 32 sectors per warp, 4 would do (up to 8x)"),
        ({"pattern": "irregular", "lane_stride_bytes": None, "sectors": Count(1, 34, 32.5, 16)},
         "32.5 sectors per warp, 16 would do (2.03x)"),
        ({"pattern": "irregular", "lane_stride_bytes": None, "sectors": Count(32, 32, None, 16)},
         "32 sectors per warp, 16 would do (2x)"),
    ],
)  # fmt: skip
def test_a_number_that_is_not_the_only_one_says_so(facts: dict[str, Any], words: str) -> None:
    (finding,) = rules.check(kernel(access(**facts)))
    assert finding.message.partition(": ")[2].startswith(words)


def test_rows_that_use_one_address_each_are_not_all_lanes() -> None:
    result = access(pattern="irregular", lane_stride_bytes=0, sectors=exactly(2, 1))
    (finding,) = rules.check(kernel(result))
    assert finding.message.endswith("; lanes of a row of the block use one address")


PAIRS = """
// coalescecheck: block(64) grid(4)
__global__ void k(float *out, const float *in, int shift)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    const float *p = in + shift;
    BODY
}
"""
LOOP = "for (int k = 0; k < {}; k++) out[i] += p[{}];"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # where the pairs start is not known, so that no float2 can be proposed
        pytest.param("out[i] = p[2 * i] + p[2 * i + 1];", ["note"] * 2, id="both of a pair"),
        pytest.param("out[i] = p[2 * i];", ["warning"], id="one of a pair"),
        pytest.param("out[i] = p[4 * i] + p[4 * i + 1];", ["warning"] * 2, id="two of four"),
        pytest.param(
            "out[i] = p[4 * i] + p[4 * i + 1] + p[4 * i + 3];", ["note"] * 3, id="three of four"
        ),
        pytest.param("float *q = out + shift; q[2 * i] = 1; q[2 * i + 1] = 2;", ["warning"] * 2,
                     id="stores, which go one by one"),
        pytest.param("out[i] = p[2 * i]; if (shift > 9) out[i] += p[2 * i + 1];", ["warning"] * 2,
                     id="one of them under a condition"),
        pytest.param(LOOP.format(4, "4 * i + k"), ["note"], id="a loop over all of them"),
        pytest.param(LOOP.format(4, "4 * i - k"), ["note"], id="backwards"),
        pytest.param(LOOP.format(3, "4 * i + k"), ["note"], id="over three of four"),
        pytest.param("for (int k = 0; k < 4; k++) for (int r = 0; r < 3; r++) out[i] += "
                     "p[4 * i + k];", ["note"], id="a loop inside that moves nothing"),
        pytest.param(LOOP.format(2, "4 * i + k"), ["warning"], id="over two of four"),
        pytest.param(LOOP.format(5, "2 * i + k"), ["note"], id="over those of other lanes, too"),
        pytest.param(LOOP.format(16, "16 * i + k"), ["note"], id="over 64 bytes"),
        pytest.param(LOOP.format(17, "17 * i + k"), ["warning"], id="over 68 bytes"),
        pytest.param(LOOP.format(4, "4 * i + 5 * k"), ["warning"], id="with longer steps"),
        pytest.param(LOOP.format("shift", "4 * i + k"), ["warning"], id="over who knows how many"),
        pytest.param(LOOP.format(4, "4 * i + k * shift"), ["warning"], id="with unknown steps"),
    ],
)  # fmt: skip
def test_loads_whose_neighbours_take_the_rest(
    tmp_path: Path, body: str, expected: list[str]
) -> None:
    found = findings(tmp_path, PAIRS.replace("BODY", body), "CC101")
    assert [str(finding.severity) for finding in found] == expected


HALO = """
// coalescecheck: block(32,2) grid(4,4) n=66
__global__ void halo(float *out, const float *in, int n)
{
    __shared__ float tile[34][35];
    int lane = threadIdx.x, at = blockIdx.y * 32 * n + blockIdx.x * 32;
    if (threadIdx.y == 0) tile[lane + 1][0] = in[at + (lane + 1) * n];
    __syncthreads();
    %s
}
"""


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        (
            "out[at + lane] = tile[lane][0];",
            ["the data goes to shared memory: let neighbouring lanes load neighbouring elements"],
        ),
        (
            "out[at + lane * n] = tile[lane][0];",
            [
                "the data goes to shared memory: let neighbouring lanes load neighbouring elements",
                "the data comes from shared memory:"
                " let neighbouring lanes store neighbouring elements",
            ],
        ),
    ],
)
def test_what_is_staged_is_not_to_be_staged(body: str, advice: list[str], tmp_path: Path) -> None:
    found = findings(tmp_path, HALO % body, "CC101")
    assert sorted(f.advice for f in found) == sorted(advice)
