"""The text report, read as a person would."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coalescecheck import rules
from coalescecheck.analysis import AccessResult, Count, KernelAnalysis, Verified
from coalescecheck.ir.kernel import Op
from coalescecheck.launch import Dim3, Launch
from coalescecheck.report import renderer
from coalescecheck.report.excerpt import excerpt, expression_end
from coalescecheck.report.model import FileReport, InternalError, Report, Terminal
from hand_made import TEXT, access, exactly, file, kernel

STRIDED = access(
    0, lane_stride_bytes=2048, pattern="strided", sectors=exactly(32, 4), efficiency=0.125
)
STORE = access(2, at=(7, 5), index="out[threadIdx.x]", op=Op.STORE)
COLUMN = access(
    3,
    at=(7, 24),
    index="tile[threadIdx.x][threadIdx.y]",
    space="shared",
    wavefronts=exactly(32, 1),
    lane_stride_bytes=128,
    pattern="strided",
    efficiency=None,
)
SYMBOLIC = access(
    0,
    index="in[(blockIdx.y * blockDim.y + threadIdx.y) * width + threadIdx.x]",
    lane_stride_bytes="4*blockDim.x*width",
    pattern="strided",
    certainty="exact-symbolic",
    sectors=Count(1, 32, None, 4, "Min(32, width)"),
    efficiency=None,
    requests=None,
)


def report(*kernels: KernelAnalysis, errors: tuple[InternalError, ...] = ()) -> Report:
    findings = rules.merge(f for each in kernels for f in rules.check(each))
    return Report("0.1.0", "sm_80", (FileReport(file(*kernels), findings),), errors)


def text(*kernels: KernelAnalysis, width: int = 120, colour: bool = False) -> str:
    return renderer("text")(report(*kernels), Terminal(width, colour))


def test_a_launch_in_another_file_is_told_with_its_file() -> None:
    """The kernel stands in flip.cu; line 20 of what else would be looked for there."""
    there = Launch(Dim3(32, 8), Dim3(16, 16), "host", file="main.cu", line=20)
    assert "(launch in the source, main.cu:20)" in text(kernel(STRIDED, launch=there))
    here = replace(there, file="flip.cu")
    assert "(launch in the source, line 20)" in text(kernel(STRIDED, launch=here))


def test_what_never_runs_costs_nothing() -> None:
    # STORE alone: 64 requests of 4 sectors
    never = replace(
        access(0, lane_stride_bytes=None, sectors=None, efficiency=None, requests=0),
        reason="never runs in this launch",
    )
    shown = text(kernel(never, STORE))
    assert re.search(r" - +- +- +-  never runs\n", shown)
    assert "total     0 sectors read, 256 written, 100% useful" in shown


def test_a_whole_report_at_120_columns() -> None:
    assert (
        text(kernel(STRIDED, COLUMN))
        == """\
flip<PAD=0>  flip.cu:2
  launch    block 32x8, grid 16x16 (launch in the source, line 20)
  params    n=512
  verified  simulation: 8 warps checked, 2 accesses all agree
  total     2,048 sectors read, 0 written, 12.5% useful
            32 wavefronts per shared request

  line  access               global  bytes  sectors  ideal  useful  lane step  pattern
  5:38  in[threadIdx.x * n]  load        4       32      4   12.5%     2048 B  strided

  line  access                          shared  bytes  wavefronts  ideal  lane step  pattern
  7:24  tile[threadIdx.x][threadIdx.y]  load        4          32      1      128 B  strided

flip.cu:7:24: warning: CC201 shared load tile[threadIdx.x][threadIdx.y]: 32 wavefronts per warp, \
1 would do (32x); lanes step 128 bytes
     7 |     out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
       |                        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  why     a step of 32 words visits only 1 bank of 32
  advice  a step of an odd number of words visits every bank
  in      flip<PAD=0>, block 32x8, n=512

flip.cu:5:38: warning: CC101 global load in[threadIdx.x * n]: 32 sectors per warp, \
4 would do (8x); lanes step 2048 bytes
     5 |     tile[threadIdx.y][threadIdx.x] = in[threadIdx.x * n];
       |                                      ^~~~~~~~~~~~~~~~~~~
  why     every lane has a sector of its own and uses 4 of its 32 bytes
  advice  let threadIdx.x select the contiguous index, or stage the data through a shared tile
  in      flip<PAD=0>, block 32x8, n=512

1 kernel, 2 accesses: 2 exact
2 warnings (architecture sm_80)
"""
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_number_and_no_name_is_cut_at_any_width(width: int) -> None:
    shown = text(kernel(SYMBOLIC, STORE), kernel(COLUMN), width=width)
    assert "…" not in shown
    whole = ["1..32", "exact-symbolic", "(below)", SYMBOLIC.access.index, "Min(32, width)"]
    flat = re.sub(r"\s+", " ", shown)
    assert [part for part in whole if part not in flat] == []


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal(width: int) -> None:
    shown = text(kernel(STRIDED, COLUMN, STORE), width=width)
    tables = shown.split("flip.cu:7:24: warning")[0]
    assert max(map(len, tables.splitlines())) <= width


def test_without_colour_there_are_no_escape_codes() -> None:
    assert "\x1b" not in text(kernel(STRIDED))


def test_with_colour_the_words_are_the_same() -> None:
    coloured = text(kernel(STRIDED, COLUMN), colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text(kernel(STRIDED, COLUMN))


def test_brackets_in_source_text_are_not_taken_for_markup() -> None:
    assert "in[bold]" in text(kernel(access(index="in[bold]")))


@pytest.mark.parametrize(
    ("verified", "words"),
    [
        pytest.param([Verified()], "not run", id="not run"),
        pytest.param(
            [Verified("agrees", warps_checked=64)] * 2,
            "simulation: 64 warps checked, 2 accesses all agree",
            id="all agree",
        ),
        pytest.param(
            [Verified("agrees", warps_checked=1), Verified()],
            "simulation: 1 warp checked, 1 access agrees; 1 access not compared",
            id="one left out",
        ),
        pytest.param(
            [Verified("agrees", warps_checked=8), Verified("disagrees", warps_checked=8)],
            "simulation DISAGREES for 1 of 2 accesses (8 warps)",
            id="one disagrees",
        ),
    ],
)
def test_the_verification_line(verified: list[Verified], words: str) -> None:
    shown = text(kernel(*(access(i, verified=v) for i, v in enumerate(verified))))
    assert f"  verified  {words}\n" in shown


def test_an_assumed_launch_says_so() -> None:
    shown = text(
        kernel(
            access(),
            launch=Launch(None, None, "assumed"),
            params={},
            assumptions=("blockDim.x is a multiple of 32",),
        )
    )
    assert "block unknown, grid unknown (no launch found)" in shown
    assert "assuming  blockDim.x is a multiple of 32" in shown


def test_a_failed_kernel_is_shown_with_its_reason() -> None:
    shown = text(kernel(status="failed", reason="inline assembly"))
    assert "failed  inline assembly" in shown
    assert shown.endswith("1 kernel (1 failed), 0 accesses\nno findings (architecture sm_80)\n")


def test_the_summary_counts_what_is_known_and_what_is_not() -> None:
    unknown = access(1, certainty="unknown", sectors=None, reason="f() is not known")
    shown = text(kernel(STRIDED, unknown))
    assert shown.endswith(
        "1 kernel, 2 accesses: 1 exact, 1 unknown\n1 warning, 1 note (architecture sm_80)\n"
    )


def test_the_load_and_the_store_of_one_expression_share_their_explanation() -> None:
    store = access(
        1, op=Op.STORE, pattern="strided", lane_stride_bytes=2048, sectors=exactly(32, 4)
    )
    shown = text(kernel(STRIDED, store))
    assert shown.count("warning: CC101") == 2
    assert shown.count("^~~~") == shown.count("  why  ") == 1


def test_what_is_assumed_for_the_whole_kernel_is_said_once() -> None:
    facts = ("n % 8 == 0",)
    shown = text(kernel(access(assumptions=facts), access(1, assumptions=facts), assumptions=facts))
    assert shown.count("n % 8 == 0") == 1


def test_a_clean_kernel_is_called_clean() -> None:
    assert text(kernel(access())).endswith("\nclean: nothing to report (architecture sm_80)\n")


@pytest.mark.parametrize(
    ("line", "start", "marked"),
    [
        ("x = a[i] + b[j];", 4, "a[i]"),
        ("x = a[b[i + 1]] * 2;", 4, "a[b[i + 1]]"),
        ("p->data[i].x = 1;", 0, "p->data[i].x"),
        ("v = *(const float4 *)&a[4 * i];", 4, "*(const float4 *)&a[4 * i]"),
        ("v = *(float4 *)(a + 4 * i) + 1;", 4, "*(float4 *)(a + 4 * i)"),
        ("v = *(a * b) + 1;", 4, "*(a * b)"),
        ("v = *(a) + 1;", 4, "*(a)"),
        (
            "reinterpret_cast<const float4 *>(a)[i] = 1;",
            0,
            "reinterpret_cast<const float4 *>(a)[i]",
        ),
        ("x = pick<32>(s, i) + 1;", 4, "pick<32>(s, i)"),
        ("x = n < m && k > (i);", 4, "n"),
        ("ns::table[i](j), k", 0, "ns::table[i](j)"),
        ("atomicAdd(&bins[x], 1);", 0, "atomicAdd(&bins[x], 1)"),
        ("a[i +", 0, "a[i +"),
        ("+", 0, "+"),
    ],
)
def test_the_underline_covers_the_access(line: str, start: int, marked: str) -> None:
    assert line[start : expression_end(line, start)] == marked


def test_the_caret_stands_under_the_access_behind_tabs_and_wide_characters() -> None:
    line, underline = excerpt("\tx = /* 漢 */ a[i];\n", 1, [14]) or ("", "")
    assert line == "    x = /* 漢 */ a[i];"
    assert underline == " " * 17 + "^~~~"


def test_several_accesses_of_a_line_are_underlined_together() -> None:
    assert excerpt("x = a[i] + b[i];", 1, [5, 12]) == ("x = a[i] + b[i];", "    ^~~~   ^~~~")


@pytest.mark.parametrize(("line", "column"), [(99, 1), (1, 99), (0, 0)])
def test_a_place_outside_the_text_has_no_excerpt(line: int, column: int) -> None:
    assert excerpt(TEXT, line, [column]) is None


def test_a_remark_that_holds_for_several_accesses_is_made_once() -> None:
    places = [access(i, at=(4 + i, 5), reason="depends on n") for i in range(3)]
    assert "  4:5  depends on n (also 5:5, 6:5)\n" in text(kernel(*places))


def test_a_finding_in_a_header_is_shown_without_an_excerpt() -> None:
    there = access(file="tile.cuh", pattern="strided", lane_stride_bytes=32, sectors=exactly(32, 4))
    shown = text(kernel(there))
    assert "tile.cuh:5:38: warning" in shown
    assert "^~" not in shown


@pytest.mark.parametrize(
    ("accesses", "words"),
    [
        pytest.param([access()], "1 of 1 access", id="the only one"),
        pytest.param([access(), access(1)], "all 2 accesses", id="all"),
        pytest.param([STRIDED, access(1)], "1 of 2 accesses", id="some"),
        pytest.param([access(pattern="irregular", lane_stride_bytes=None)], "1 of 1 access",
                     id="whatever the pattern, it costs what it must"),
        pytest.param([STRIDED], None, id="none"),
        pytest.param([access(certainty="unknown", sectors=None)], None, id="unknown"),
        pytest.param([access(certainty="data-dependent", pattern="gather",
                             sectors=Count(4, 32, None, 4))], None, id="the data decides"),
        pytest.param([access(sectors=Count(4, 5, None, 4))], None, id="perhaps a sector more"),
    ],
)  # fmt: skip
def test_accesses_that_are_fine_are_called_clean(
    accesses: list[AccessResult], words: str | None
) -> None:
    shown = text(kernel(*accesses))
    line = next((s for s in shown.splitlines() if s.startswith("  clean ")), None)
    assert line == (None if words is None else f"  clean     {words}")


def test_the_sums_of_a_kernel_with_lost_accesses_are_the_least() -> None:
    shown = text(kernel(STRIDED, status="partial", reason="a syntax error"))
    assert "total     at least 2,048 sectors read, 0 written\n" in shown
