"""Two versions and several launches side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coalescecheck.cli import main
from coalescecheck.launch import Dim3
from coalescecheck.options import parse_sweep
from coalescecheck.report.comparison import render
from hand_made import access, exactly, kernel
from hostile import COLUMN, STRIDED, report_of

EXAMPLE = str(Path(__file__).parents[2] / "examples_cu" / "transpose.cu")
OLD = report_of(kernel(STRIDED, COLUMN))


def rows(text: str) -> list[list[str]]:
    """The cells of every access: whatever two blanks part."""
    lines = [line.strip() for line in text.splitlines()]
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]


def test_better_and_worse_are_said() -> None:
    better = access(0, sectors=exactly(4, 4))
    worse = access(
        3,
        at=(9, 24),
        index="tile[threadIdx.x][threadIdx.y]",
        space="shared",
        wavefronts=exactly(33, 1),
    )
    found = rows(render([("old", OLD), ("new", report_of(kernel(better, worse)))]))
    assert found[0] == ["flip<PAD=0>", "flip.cu:2"]
    assert found[1] == ["line", "access", "kind", "unit", "old", "new"]
    assert found[2] == ["5", "in[threadIdx.x * n]", "global load", "sectors", "32", "4", "better"]
    assert found[3][0] == "7/9"
    assert found[3][-3:] == ["32", "33", "worse"]
    assert found[4][-4:] == ["sectors", "2,048", "256", "better"]


def test_another_index_of_the_same_array_stays_in_one_row() -> None:
    changed = access(7, index="in[threadIdx.x]", sectors=exactly(4, 4))
    found = rows(render([("old", OLD), ("new", report_of(kernel(COLUMN, changed)))]))
    assert found[3][1:3] == ["in[threadIdx.x * n] → in[threadIdx.x]", "global load"]


def test_what_is_only_in_one_version_stays_alone() -> None:
    other = access(1, index="extra[i]")
    new = report_of(kernel(STRIDED, COLUMN, other), kernel(access(), name="added"))
    found = rows(render([("old", OLD), ("new", new)]))
    assert ["5", "extra[i]", "global load", "sectors", "-", "4"] in found
    assert ["added<PAD=0>", "flip.cu:2"] in found


def test_a_range_that_data_decides_is_not_judged() -> None:
    gather = access(0, certainty="data-dependent", sectors=exactly(4, 4), requests=None)
    found = rows(render([("old", OLD), ("new", report_of(kernel(gather, COLUMN)))]))
    assert found[2][-1] == "4"


def test_no_kernels() -> None:
    assert render([("old", report_of()), ("new", report_of())]) == "no kernels found\n"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("block=256", [Dim3(256)]),
        ("block = 32x8,16x16, 32x8", [Dim3(32, 8), Dim3(16, 16)]),
        ("block=(32,8), (16,4,2),64", [Dim3(32, 8), Dim3(16, 4, 2), Dim3(64)]),
    ],
)
def test_a_sweep(text: str, blocks: list[Dim3]) -> None:
    assert list(parse_sweep(text)) == blocks


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--no-verify", "--no-config"])


def test_launch_shapes_side_by_side() -> None:
    result = call(EXAMPLE, "--kernel", "transpose_naive", "--sweep", "block=32x8,16x16,8x32")
    assert result.exit_code == 0
    found = rows(result.stdout)
    assert found[1][4:] == ["32x8", "16x16", "8x32"]
    assert found[3][4:] == ["32", "16", "8"]  # a warp has 32, 16 and 8 different threadIdx.x


def test_versions_side_by_side(tmp_path: Path) -> None:
    new = tmp_path / "new.cu"
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    new.write_text(text.replace("out[x * n + y + j]", "out[(y + j) * n + x]"), encoding="utf-8")
    result = call(str(new), "--compare", EXAMPLE)
    assert result.exit_code == 0
    better = [row for row in rows(result.stdout) if row[-1:] == ["better"]]
    assert better[0][-3:] == ["32", "4", "better"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--sweep", "grid=3"], 2, "list of blocks"),
        (["--sweep", "block=5000"], 2, "x is 5000"),
        (["--sweep", "block=(32,8"], 2, "'(32' is no dimension"),
        (["--sweep", "block=32,"], 2, "'' is no dimension"),
        (["--compare", "missing.cu"], 2, "no such file"),
    ],
)
def test_wrong_usage(arguments: list[str], code: int, words: str) -> None:
    result = call(EXAMPLE, *arguments)
    assert result.exit_code == code
    assert words in result.stderr


def test_the_sums_of_what_is_not_there_are_no_unknowns() -> None:
    found = rows(render([("old", report_of(kernel(STRIDED))), ("new", OLD)]))
    (shared,) = (row for row in found if row[:2] == ["all of the launch", "shared"])
    assert shared[3] == "-"


def test_the_sums_of_a_kernel_with_lost_accesses_are_not_known() -> None:
    lost = kernel(STRIDED, COLUMN, status="partial", reason="a syntax error")
    found = rows(render([("old", OLD), ("new", report_of(lost))]))
    sums = [row[-1] for row in found if row[0] == "all of the launch"]
    assert sums == ["?", "?"]


def test_launches_of_different_sizes_are_compared_per_thread() -> None:
    """4 iterations of a load of 4 and a store of 32 sectors for 32 threads: 4.5 for each."""
    sizes = ["--grid", "16x16", "--sweep", "block=32x8,64"]
    found = rows(call(EXAMPLE, "--kernel", "transpose_naive", *sizes).stdout)
    assert found[4:] == [
        ["threads of a block", "256", "64"],
        ["threads of the launch", "65,536", "16,384"],
        ["all of the launch", "global", "sectors", "294,912", "73,728"],
        ["per thread", "global", "sectors", "4.5", "4.5"],
    ]


def test_launches_of_one_size_are_compared_as_they_are() -> None:
    found = rows(render([("old", OLD), ("new", OLD)]))
    assert not [row for row in found if "thread" in row[0]]


def test_where_the_grid_is_not_known_neither_is_the_sum_per_thread() -> None:
    found = rows(call(EXAMPLE, "--kernel", "transpose_naive", "--sweep", "block=32x8,64").stdout)
    assert found[5] == ["threads of the launch", "65,536", "?"]
    assert found[7] == ["per thread", "global", "sectors", "4.5", "?"]
