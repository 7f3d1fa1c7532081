"""Input that contradicts itself, or the source, is told; nothing is passed over in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import coalescecheck
from coalescecheck.cli import main
from coalescecheck.compile_commands.flags import parse
from coalescecheck.errors import SourceError, UsageError
from coalescecheck.options import make_options

KERNEL = """\
__global__ void k(float *o, int n, unsigned char u) { o[threadIdx.x * n + u] = 1; }
"""


def command(folder: Path, text: str, *arguments: str) -> tuple[int, str]:
    """The exit code, and what goes to stderr, without the path of the file."""
    path = folder / "k.cu"
    path.write_text(text)
    result = CliRunner().invoke(main, [str(path), "--no-config", "--no-cache", *arguments])
    return result.exit_code, result.stderr.replace(f"{path}:", "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"assume": ["n % 32 == 0"], "params": {"n": 33}}, "n is 33, so n % 32 == 0 cannot hold"),
        ({"assume": ["n > 33"], "params": {"n": 33}}, "n is 33, so n > 33 cannot hold"),
        ({"params": ["n=5..9", "n=10"]}, "n is 10, so n <= 9 cannot hold"),
        ({"assume": ["n > 5", "n < 6"]}, "no value of n meets n > 5 and n < 6"),
        ({"assume": ["n >= 33", "n <= 63", "n % 32 == 0"]}, "no value of n meets n >= 33"),
        ({"assume": ["n == 5", "n % 2 == 0"]}, "no value of n meets n == 5 and n % 2 == 0"),
        ({"defines": ["1=2"]}, "-D: '1=2' is not NAME"),
        ({"defines": [""]}, "-D: '' is not NAME"),
        ({"defines": ["=2"]}, "-D: '=2' is not NAME"),
        ({"defines": ["A B=2"]}, "-D: 'A B=2' is not NAME"),
        ({"defines": ["f(x=x"]}, "is not NAME"),
        ({"defines": ["defined=1"]}, "-D: 'defined=1' is not NAME"),
    ],
)
def test_what_cannot_be_is_wrong_usage(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_options(**options)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "options",
    [
        {"assume": ["n % 32 == 0"], "params": {"n": 64, "m": 33}},
        {"assume": ["n >= 32", "n <= 63", "n % 32 == 0"]},
        {"assume": ["n > 5", "n < 7", "(n % 6) == 0"]},
        {"params": ["n=5..9", "n=9"]},
        {"defines": ["A", "A=1", "A=", "F(x, ...)=x", "_a$1=b c", "ä=1"]},
    ],
)
def test_what_can_be_is_not(options: dict[str, Any]) -> None:
    make_options(**options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--param", "n=5", "--param", "n=6"], "param: n is both 5 and 6"),
        (["--template", "T=int", "--template", "T=float"], "template: T is both int and float"),
        (["--config", "x.toml", "--no-config"], "config: cannot go with --no-config"),
        (["--sweep", "block=32", "--block", "64"], "block: cannot go with --sweep"),
        (["--stats", "--format", "json"], "format: cannot go with --stats"),
        (["--emit", "ir", "--baseline", "b.json"], "baseline: cannot go with --emit"),
    ],
)
def test_one_of_two_options_is_not_passed_over(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    code, said = command(tmp_path, KERNEL, *arguments)
    assert (code, words in said) == (2, True)


def test_the_same_value_twice_is_no_contradiction(tmp_path: Path) -> None:
    assert command(tmp_path, KERNEL, "--param", "n=1", "--param", "n = 1") == (0, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--select", "CC101", "--ignore", "CC1"], "--select: CC101 is ignored, too"),
        (["--select", "CC1,CC2", "--ignore", "CC101"], ""),
        (["-I", "missing"], "-I: there is no folder missing"),
    ],
)
def test_an_option_without_effect_is_told(tmp_path: Path, arguments: list[str], told: str) -> None:
    _, said = command(tmp_path, KERNEL, *arguments)
    assert (told in said) if told else said == ""


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("n % 32 == 0", "n is 33, so n % 32 == 0 cannot hold; it is not relied on"),
        ("n >= 33", ""),
        ("u <= 255", ""),
        ("u > 255", "no value of u meets u > 255; it is not relied on"),
        ("u >= 0", ""),
        ("u < 0", "no value of u meets u < 0; it is not relied on"),
    ],
)
def test_a_fact_that_the_source_contradicts_is_a_warning(
    tmp_path: Path, fact: str, told: str
) -> None:
    text = KERNEL + "void run(float *o, unsigned char u) { k<<<1, 32>>>(o, 33, u); }\n"
    code, said = command(tmp_path, text, "--assume", fact)
    assert code == 1, "32 lanes a row apart"
    assert [line for line in said.splitlines() if "relied on" in line] == (
        [f"1:17: warning: {told}"] if told else []
    )


def test_a_range_takes_the_place_of_the_source_s_value(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL + "void run(float *o) { k<<<1, 32>>>(o, 33, 0); }\n")
    (kernel,) = coalescecheck.analyze(path, params=["n=64..96"]).kernels
    assert kernel.params == {"u": 0}
    assert {"n >= 64", "n <= 96"} <= set(kernel.assumptions)


@pytest.mark.parametrize(
    ("given", "above", "params", "assumed"),
    [
        ([], "", {}, ["n >= 64", "n <= 96"]),
        (["--param", "n=8"], "", {"n": 8}, []),
        (["--param", "n=8..9"], "", {}, ["n >= 8", "n <= 9"]),
        ([], "// coalescecheck: n=8\n", {"n": 8}, []),
    ],
)
def test_a_range_in_a_settings_file_counts(
    tmp_path: Path, given: list[str], above: str, params: dict[str, int], assumed: list[str]
) -> None:
    (tmp_path / ".coalescecheck.toml").write_text('param = { n = "64..96" }')
    path = tmp_path / "k.cu"
    path.write_text(above + KERNEL)
    result = CliRunner().invoke(main, [str(path), "--no-cache", *given, "--format", "json"])
    assert "relied on" not in result.stderr
    (kernel,) = json.loads(result.stdout)["files"][0]["kernels"]
    assert kernel["params"] == params
    assert [each for each in kernel["assumptions"] if each.startswith("n ")][:2] == assumed


@pytest.mark.parametrize(
    ("launch", "why"),
    [
        ("<<<1, 1024>>>", ""),
        ("<<<1, 1025>>>", "x of the block is 1025, which has to be from 1 to 1024"),
        ("<<<1, dim3(32, 33)>>>", "a block of 1056 threads, 1024 are the most"),
        ("<<<1, dim3(4, 4, 64)>>>", ""),
        ("<<<1, dim3(1, 1, 65)>>>", "z of the block is 65, which has to be from 1 to 64"),
        ("<<<0, 32>>>", "x of the grid is 0, which has to be from 1 to 2147483647"),
        ("<<<1, 0>>>", "x of the block is 0, which has to be from 1 to 1024"),
        ("<<<dim3(1, 65535), 32>>>", ""),
        ("<<<dim3(1, 65536), 32>>>", "y of the grid is 65536, which has to be from 1 to 65535"),
    ],
)
def test_a_launch_that_must_fail_is_told(tmp_path: Path, launch: str, why: str) -> None:
    code, said = command(tmp_path, f"{KERNEL}void run(float *o) {{ k{launch}(o, 1, 0); }}\n")
    assert (code, said) == (0, f"2:22: warning: this launch fails: {why}\n" if why else "")


def test_a_launch_that_must_fail_is_none_beside_another(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL + "void f(float *o) { k<<<1, 2048>>>(o, 1, 0); k<<<1, 64>>>(o, 1, 0); }")
    report = coalescecheck.analyze(path)
    assert [kernel.launch.block for kernel in report.kernels] == [(64, 1, 1)]
    assert [d.span.column for d in report.files[0].analysis.diagnostics] == [20]


@pytest.mark.parametrize(("block", "told"), [("128", False), ("129", True)])
def test_more_threads_than_the_launch_bounds(tmp_path: Path, block: str, told: bool) -> None:
    text = "__global__ void __launch_bounds__(128) k(float *o) { o[threadIdx.x] = 1; }\n"
    _, said = command(tmp_path, text, "--block", block)
    message = f"this launch fails: {block} threads per block, __launch_bounds__ allows 128"
    assert (message in said) == told


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("n=33 assume(n % 32 == 0)", "n is 33, so n % 32 == 0 cannot hold; it is not relied on"),
        ("assume(n > 5) assume(n < 5)", "no value of n meets n > 5 and n < 5"),
        ("assume((n % 32) == 0)", ""),
        ("assume(n is even)", "`assume(n is even)` in a coalescecheck comment is not understood"),
        ("n=33 n=34", "n is both 33 and 34; another launch is another comment"),
        ("n=33 n=33", ""),
        ("block(64) block(32)", "a second block(32); another launch is another comment"),
        ("block(1,1,65)", "block(1,1,65): z of the block is 65"),
        ("grid(1,65536)", "grid(1,65536): y of the grid is 65536"),
    ],
)
def test_a_comment_that_contradicts_itself_is_a_warning(
    tmp_path: Path, comment: str, told: str
) -> None:
    code, said = command(tmp_path, f"// coalescecheck: {comment}\n{KERNEL}", "--fail-on", "never")
    assert code == 0
    assert (f"warning: {told}" in said) if told else said == ""


def test_a_build_with_a_macro_that_is_none_costs_its_file() -> None:
    assert parse(["nvcc", "-DF(x)=x", "-DA=1"], ".").defines == ("F(x)=x", "A=1")
    with pytest.raises(SourceError, match="-D1=2 is not NAME"):
        parse(["nvcc", "-D1=2"], ".")
