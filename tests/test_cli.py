"""The command from outside: streams, exit codes, and what it says when things go wrong.

The stages before the rules are replaced by hand-made results where a test needs a particular
outcome; the last part runs the real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coalescecheck import __version__, pipeline, running
from coalescecheck.analysis import KernelAnalysis, Verified
from coalescecheck.cli import main
from coalescecheck.errors import SourceError, UnsupportedConstruct
from coalescecheck.frontend.kernel_c import KernelC, SourceFile, SourceMap
from coalescecheck.report import FORMATS
from coalescecheck.source import Diagnostic, Span
from hand_made import PATH, TEXT, access, exactly, kernel

STRIDED = access(pattern="strided", lane_stride_bytes=2048, sectors=exactly(32, 4))
MISALIGNED = access(pattern="misaligned", sectors=exactly(5, 4))

Fake = Callable[..., None]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Make each kernel of every file analyse to the given result (or raise it)."""

    def install(**outcomes: KernelAnalysis | Exception) -> None:
        kernels = tuple(
            KernelC(name, Span(PATH, 2, 17), {}, name, "", SourceMap()) for name in outcomes
        )
        said = (Diagnostic(Span(PATH, 1, 10), "note", "helper.h is not found"),)

        def load(path: str, options: object, unsaved: str | None = None) -> SourceFile:
            if path.startswith("missing"):
                raise SourceError(f"{path}: no such file")
            if path.startswith("broken"):
                raise KeyError("gone")
            return SourceFile(path, TEXT, kernels, (), said if path == PATH else ())

        def analyze_instance(kernel: KernelC, launch: object, options: object) -> KernelAnalysis:
            outcome = outcomes[kernel.name]
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(pipeline, "load", load)
        monkeypatch.setattr(pipeline, "analyze_instance", analyze_instance)

    return install


# --- exit codes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "options", "code"),
    [
        pytest.param(kernel(access()), [], 0, id="clean"),
        pytest.param(kernel(STRIDED), [], 1, id="a warning"),
        pytest.param(kernel(STRIDED), ["--fail-on", "error"], 0, id="a warning below error"),
        pytest.param(kernel(STRIDED), ["--fail-on", "never"], 0, id="never"),
        pytest.param(kernel(STRIDED), ["--ignore", "CC101"], 0, id="an ignored rule"),
        pytest.param(kernel(MISALIGNED), [], 0, id="a note"),
        pytest.param(kernel(MISALIGNED), ["--fail-on", "note"], 1, id="a note, asked for"),
        pytest.param(
            kernel(access(verified=Verified("disagrees"))),
            ["--fail-on", "never", "--ignore", "all"],
            1,
            id="a contradicted number, whatever the options",
        ),
        pytest.param(kernel(access(), status="partial"), [], 0, id="partial"),
        pytest.param(kernel(access(), status="partial"), ["--strict"], 3, id="partial, strict"),
        pytest.param(kernel(status="failed"), [], 3, id="nothing could be analysed"),
        pytest.param(UnsupportedConstruct("no"), [], 3, id="an unsupported construct"),
        pytest.param(ZeroDivisionError("oh"), [], 3, id="an internal error"),
    ],
)
def test_exit_codes(
    fake: Fake, result: KernelAnalysis | Exception, options: list[str], code: int
) -> None:
    fake(flip=result)
    assert call(PATH, *options).exit_code == code


def test_one_lost_kernel_of_two_fails_only_under_strict(fake: Fake) -> None:
    fake(flip=kernel(access()), flop=UnsupportedConstruct("inline assembly"))
    assert call(PATH).exit_code == 0
    assert call(PATH, "--strict").exit_code == 3


def test_a_kernel_that_cannot_be_read_is_lost_too(tmp_path: Path) -> None:
    path = tmp_path / "odd.cu"
    lost = "__global__ void (odd)(float *x) { x[0] = 1; }\n"
    path.write_text(lost, encoding="utf-8")
    assert call(str(path)).exit_code == 3
    path.write_text(lost + "__global__ void k(float *x) { x[threadIdx.x] = 1; }", encoding="utf-8")
    assert call(str(path)).exit_code == 0
    assert call(str(path), "--strict").exit_code == 3


def test_no_kernels_is_no_error(fake: Fake) -> None:
    fake()
    result = call("empty.cu")
    assert (result.exit_code, result.stderr) == (0, "no kernels found\n")


# --- what goes wrong costs only what it hits --------------------------------------------------


def test_an_unreadable_file_leaves_the_others(fake: Fake) -> None:
    fake(flip=kernel(STRIDED))
    result = call("missing.cu", PATH)
    assert result.exit_code == 2
    assert "missing.cu: error: missing.cu: no such file" in result.stderr
    assert "CC101" in result.stdout


def test_a_defect_in_one_kernel_leaves_the_others(fake: Fake) -> None:
    fake(flip=ZeroDivisionError("oh"), flop=kernel(STRIDED))
    result = call(PATH)
    assert result.exit_code == 3
    assert (
        f"internal error in analysis for {PATH}, kernel flip: ZeroDivisionError: oh"
        in result.stderr
    )
    assert "please report" in result.stderr
    assert "Traceback" not in result.output
    assert "CC101" in result.stdout


def test_a_defect_in_one_file_leaves_the_others(fake: Fake) -> None:
    fake(flip=kernel(STRIDED))
    result = call("broken.cu", PATH)
    assert result.exit_code == 3
    assert "internal error in reading for broken.cu: KeyError: 'gone'" in result.stderr
    assert "CC101" in result.stdout


def test_a_defect_outside_the_files_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def analyze(*_: object, **__: object) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(running, "analyze", analyze)
    result = call(PATH)
    assert result.exit_code == 3
    assert result.stderr.startswith("internal error: RuntimeError: oh at ")
    assert result.stdout == ""


# --- streams ----------------------------------------------------------------------------------


def test_stdout_is_the_report_and_stderr_the_messages(fake: Fake) -> None:
    fake(flip=kernel(access()))
    result = call(PATH, "--format", "json")
    assert json.loads(result.stdout)["schema_version"] == 1
    assert result.stderr == f"{PATH}:1:10: note: helper.h is not found\n"


def test_output_goes_to_a_file(fake: Fake, tmp_path: Path) -> None:
    fake(flip=kernel(access()))
    target = tmp_path / "report.json"
    result = call(PATH, "--format", "json", "--output", str(target))
    assert result.stdout == ""
    assert json.loads(target.read_text(encoding="utf-8"))["arch"] == "sm_80"


def test_an_output_that_cannot_be_written_is_told(fake: Fake, tmp_path: Path) -> None:
    fake(flip=kernel(access()))
    result = call(PATH, "--output", str(tmp_path))
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_a_header_finding_is_told_once_for_all_files(fake: Fake) -> None:
    fake(flip=kernel(STRIDED))
    found = json.loads(call("a.cu", "b.cu", "--format", "json").stdout)["files"]
    assert [len(file["findings"]) for file in found] == [1, 0]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_name_that_is_no_text_is_printed(tmp_path: Path, name: str) -> None:
    path = os.fsencode(tmp_path) + b"/bad\xff.cu"
    try:
        with open(path, "wb") as file:
            file.write(b"__global__ void k(int *a) { a[8 * threadIdx.x] = 1; }\n")
    except OSError:
        pytest.skip("this file system takes only text")
    command = [sys.executable, "-m", "coalescecheck", str(tmp_path), "--format", name]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    ran = subprocess.run(command, capture_output=True, env=environment)
    assert b"internal error" not in ran.stderr
    assert ran.stdout.decode("utf-8")


def test_an_interrupted_run_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coalescecheck.cli.gather", gather)
    result = call(PATH)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "interrupted\n"


# --- usage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([], "Missing argument", id="no path"),
        pytest.param(
            [PATH, "--format", "xml"], "'text', 'json'", id="format lists those there are"
        ),
        pytest.param([PATH, "--block", "0"], "block: x is 0", id="block"),
        pytest.param([PATH, "--param", "n=9..1"], "range", id="param range"),
        pytest.param([PATH, "--select", "E501"], "CC101", id="rule"),
        pytest.param([PATH, "--arch", "native"], "sm_80", id="architecture"),
        pytest.param(
            [PATH, "--kernel", "g*"], "no kernel is called g*; there are: flip", id="glob"
        ),
    ],
)
def test_wrong_usage(fake: Fake, arguments: list[str], words: str) -> None:
    fake(flip=kernel(access()))
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "alone"),
    [
        ("--fix --compare flip.cu", "fix: cannot go with --compare"),
        ("--diff --sweep block=64", "diff: cannot go with --sweep"),
        ("--fix --stats", "fix: cannot go with --stats"),
        ("--write-baseline b.json --emit ir", "write-baseline: cannot go with --emit"),
        ("--write-baseline b.json --diff", "write-baseline: cannot go with --diff"),
        ("--stats --emit ir", "cannot go with --"),
        ("--stats --sweep block=64", "cannot go with --"),
        ("--fix --diff", ""),
        ("--compare flip.cu --sweep block=64", ""),
    ],
)
def test_no_option_is_passed_over(fake: Fake, arguments: str, alone: str) -> None:
    fake(flip=kernel(access()))
    result = call(PATH, *arguments.split())
    assert (result.exit_code == 2) == bool(alone), result.stderr
    assert alone in result.stderr


def test_kernels_are_chosen_by_glob(fake: Fake) -> None:
    fake(flip=kernel(access()), other=kernel(STRIDED))
    assert call(PATH, "--kernel", "fl*").exit_code == 0


def test_a_folder_is_searched_for_cuda_files(fake: Fake, tmp_path: Path) -> None:
    fake(flip=kernel(access()))
    for name in ("b.cu", "deep/a.cuh", "host.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = json.loads(call(str(tmp_path), "--format", "json").stdout)["files"]
    names = [Path(file["path"]).relative_to(tmp_path).as_posix() for file in found]
    assert names == ["b.cu", "deep/a.cuh"]


def test_a_folder_without_cuda_files_is_wrong_usage(tmp_path: Path) -> None:
    result = call(str(tmp_path))
    assert result.exit_code == 2
    assert "no .cu or .cuh file" in result.stderr


def test_explain_prints_the_page_and_needs_no_path() -> None:
    result = call("--explain", "cc201")
    assert result.exit_code == 0
    assert result.stdout.startswith("# CC201 shared-bank-conflict\n")


def test_explaining_an_unknown_rule_lists_the_rules() -> None:
    result = call("--explain", "CC7")
    assert result.exit_code == 2
    assert "CC101 (strided-global-access)" in result.stderr


def test_version() -> None:
    assert __version__ in call("--version").stdout


@pytest.mark.parametrize("name", FORMATS)
def test_help_names_every_format(name: str) -> None:
    assert name in call("--help").stdout


@pytest.mark.parametrize(
    "arguments", [["-m", "coalescecheck", "--help"], ["-c", "import coalescecheck"]]
)
def test_starting_up_imports_no_heavy_library(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", *arguments]
    imports = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    heavy = ("sympy", "numpy", "rich", "pcpp", "pycparser", "tree_sitter")
    assert [name for name in heavy if f" {name}\n" in imports] == []


def test_the_python_api_gives_objects(fake: Fake) -> None:
    import coalescecheck

    fake(flip=kernel(STRIDED))
    report: Any = coalescecheck.analyze(PATH, block="32x8", params={"n": 512})
    assert isinstance(report, coalescecheck.Report)
    assert [finding.rule for finding in report.findings] == ["CC101"]


def test_a_message_stays_on_its_line(tmp_path: Path) -> None:
    """The name of a file gives no commands to a log or a terminal."""
    path = tmp_path / "a\n::error::pwned\x1b]0;title\x07.cu"
    path.write_text("__global__ void k(float *o) { o[0] = f(); ", encoding="utf-8")
    result = CliRunner().invoke(main, [str(path), "--no-config"])
    lines = result.stderr.splitlines()
    assert lines
    assert all("a ::error::pwned\ufffd]0;title\ufffd.cu" in line for line in lines)


@pytest.mark.parametrize(
    "output",
    [
        *(["--format", name] for name in ("text", "concise", "github", "markdown")),
        ["--sweep", "block=32"],
        ["--stats"],
        ["--emit", "ir"],
        ["--emit", "kernel-c"],
        ["--diff"],
    ],
    ids="-".join,
)
def test_a_report_gives_no_commands_either(tmp_path: Path, output: list[str]) -> None:
    path = tmp_path / "a\n::error::pwned\x1b]0;title\x07.cu"
    path.write_text(
        "__global__ void k(float *o) { __shared__ float s[32][32]; s[threadIdx.x][0] = 1; "
        "__syncthreads(); o[threadIdx.x] = s[threadIdx.x][0]; }\n"
        "void run(float *o) { k<<<4, 32>>>(o); }\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(main, [str(path), "--no-config", *output])
    assert "pwned" in result.stdout
    assert not any(line.startswith("::error::pwned") for line in result.stdout.splitlines())
    assert "\x1b" not in result.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@pytest.mark.parametrize(
    ("shell", "code", "said"),
    [
        pytest.param("> /dev/full", 2, "error: cannot write: No space left on device", id="full"),
        pytest.param("--explain CC101 > /dev/full", 2, "No space left on device", id="a page"),
        pytest.param(">&-", 1, "warning: ", id="no stdout"),
        pytest.param("> /dev/null 2>&-", 1, "", id="no stderr"),
        pytest.param("2> /dev/full > /dev/null", 2, "", id="no room for messages"),
        pytest.param("| head -1", 0, "", id="a reader that has seen enough"),
    ],
)
def test_an_output_that_takes_nothing(tmp_path: Path, shell: str, code: int, said: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *a) { a[8 * threadIdx.x] = f(); }\n"
        "void r(float *a) { k<<<4, 64>>>(a); }\n",
        encoding="utf-8",
    )
    command = f"{sys.executable} -m coalescecheck --no-config {path} {shell}"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert ran.returncode == code
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "internal error" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


PIPED = """__global__ void k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float *out, float *in) { k<<<1, dim3(32, 32)>>>(out, in); }
"""


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii", "cp1252"])
def test_a_pipe_is_read_once_and_gets_utf8(encoding: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "coalescecheck", "--no-config", "/dev/stdin"]
    if not os.path.exists(command[-1]):
        pytest.skip("no such device")
    environment = os.environ | {"PYTHONIOENCODING": encoding, "COALESCECHECK_CACHE": str(tmp_path)}
    ran = subprocess.run(command, input=PIPED.encode(), capture_output=True, env=environment)
    assert (ran.returncode, ran.stderr) == (1, b"")
    words = " ".join(ran.stdout.decode("utf-8").split())  # the terminal's width breaks lines
    assert "32 wavefronts → 1 wavefront" in words


def test_a_named_pipe_with_one_writer(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    pipe = tmp_path / "k.cu"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(PIPED,))
    writer.start()
    result = call(str(pipe), "--format", "concise")
    writer.join()
    assert "tile[32][33]" in result.stdout


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_without_end_is_told() -> None:
    result = call("/dev/zero")
    assert result.exit_code == 2
    assert "/dev/zero: more than" in result.stderr


SHARED_BY_TWO = """
__shared__ float tile[32][32];
// coalescecheck: block(32,32) grid(1)
__global__ void one(float *o)
{
    tile[threadIdx.x][threadIdx.y] = 1;
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
// coalescecheck: block(32,32) grid(1)
__global__ void two(float *o)
{
    tile[threadIdx.y][threadIdx.x] = 2;
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
"""


def test_a_defect_while_a_change_is_tried_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def change_again(*_: object) -> None:
        raise ZeroDivisionError("oh")

    (tmp_path / "k.cu").write_text(SHARED_BY_TWO)
    monkeypatch.setattr(pipeline, "change_again", change_again)
    result = call(str(tmp_path / "k.cu"), "--no-cache", "--jobs", "1")
    assert "internal error in analysis" in result.stderr
    assert "kernel two: ZeroDivisionError: oh" in result.stderr
    assert "CC201" in result.stdout
