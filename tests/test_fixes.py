"""``--fix`` and ``--diff``: the patch applies, the change helps, the rest of a file stays."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coalescecheck.cli import main
from coalescecheck.fixes import changes
from coalescecheck.report.model import Report
from hand_made import kernel
from hostile import COLUMN, PAD, report_of

KERNEL = """// größer
__global__ void flip(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float *out, float *in) { flip<<<1, dim3(32, 32)>>>(out, in); }
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "flip.cu"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["flip.cu", "--no-config", *arguments])


def test_fix_changes_the_file_and_reports_what_is_left(path: Path) -> None:
    result = call("--fix")
    assert result.exit_code == 0
    assert "flip.cu: 1 place changed" in result.stderr
    assert "CC201" not in result.stdout
    assert path.read_text(encoding="utf-8") == KERNEL.replace("[32][32]", "[32][33]")
    assert "changed" not in call("--fix").stderr


def test_diff_changes_nothing(path: Path) -> None:
    result = call("--diff")
    assert result.exit_code == 1
    assert path.read_text(encoding="utf-8") == KERNEL
    assert (
        "-    __shared__ float tile[32][32];\n+    __shared__ float tile[32][33];" in result.stdout
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(KERNEL, id="unix"),
        pytest.param(KERNEL.replace("\n", "\r\n"), id="dos"),
        pytest.param(KERNEL.replace("\n", "\r\n", 3), id="mixed line ends"),
        pytest.param(KERNEL.replace("\n", "\r", 1), id="lone carriage return"),
        pytest.param(KERNEL.rstrip("\n"), id="no last newline"),
        pytest.param(KERNEL.replace("{\n", "{ /* \f \v \u2028 \x85 */\n\f\n"), id="form feed"),
    ],
)
def test_git_takes_the_patch(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
    patch = call("--diff").stdout_bytes
    subprocess.run(["git", "apply", "-"], input=patch, cwd=path.parent, check=True)
    assert path.read_bytes() == text.replace("[32][32]", "[32][33]").encode("utf-8")


@pytest.mark.parametrize("program", ["git apply", "patch -p1"])
@pytest.mark.parametrize(
    "name", ["a b.cu", 'q"\\.cu', "tab\t.cu", "new\nline.cu", "ü.cu", "\udcff.cu"]
)
def test_the_patch_names_odd_files(tmp_path: Path, name: str, program: str) -> None:
    if shutil.which(program.split()[0]) is None:
        pytest.skip(f"there is no {program.split()[0]} here")
    path = tmp_path / name
    try:
        path.write_text(KERNEL, encoding="utf-8")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system has no such names")
    with pytest.MonkeyPatch.context() as patching:
        patching.chdir(tmp_path)
        patch = CliRunner().invoke(main, [name, "--no-config", "--diff"]).stdout_bytes
    subprocess.run(program.split(), input=patch, cwd=tmp_path, check=True, capture_output=True)
    assert path.read_text(encoding="utf-8") == KERNEL.replace("[32][32]", "[32][33]")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(KERNEL.replace("\n", "\r\n").encode("utf-8"), id="dos line ends"),
        pytest.param(b"\xef\xbb\xbf" + KERNEL.encode("utf-8"), id="byte order mark"),
        pytest.param(KERNEL.rstrip("\n").encode("utf-8"), id="no newline at the end"),
        pytest.param(KERNEL.replace("// gr", "//\f gr").encode("utf-8"), id="a form feed"),
        pytest.param(KERNEL.replace("\n", "\r\n", 3).encode("utf-8"), id="mixed line ends"),
    ],
)
def test_every_other_byte_stays(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    call("--fix")
    assert path.read_bytes() == data.replace(b"[32][32]", b"[32][33]")


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch here")
def test_the_patch_of_a_file_elsewhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path.parent / "below").mkdir()
    monkeypatch.chdir(path.parent / "below")
    patch = CliRunner().invoke(main, ["../flip.cu", "--no-config", "--diff"]).stdout_bytes
    command = ["patch", "-p1", "-d", path.anchor]
    subprocess.run(command, input=patch, check=True, capture_output=True)
    assert path.read_text(encoding="utf-8") == KERNEL.replace("[32][32]", "[32][33]")


def test_a_file_that_is_no_utf8_is_left_alone_and_named(path: Path) -> None:
    data = KERNEL.encode("latin-1")
    path.write_bytes(data)
    for option in ("--fix", "--diff"):
        result = call(option)
        assert result.exit_code == 1
        assert "flip.cu: warning: not changed: it is no UTF-8 text" in result.stderr
    assert path.read_bytes() == data


def test_a_fix_that_is_no_edit_is_told(path: Path) -> None:
    path.write_text(KERNEL.replace("__global__", "template <class T> __global__"), encoding="utf-8")
    text = path.read_text(encoding="utf-8").replace("(float *out", "(T *out")
    path.write_text(text.replace("flip<<<", "flip<float><<<"), encoding="utf-8")
    result = call("--diff")
    assert result.stdout == ""
    assert "flip.cu: note: 1 finding with a fix to make by hand" in result.stderr


def test_a_silenced_finding_is_not_fixed(path: Path) -> None:
    text = KERNEL.replace("[threadIdx.y];", "[threadIdx.y]; // NOLINT")
    path.write_text(text, encoding="utf-8")
    assert call("--fix").exit_code == 0
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_changed_since_is_left_alone(path: Path) -> None:
    report: Report = report_of(kernel(COLUMN, trials=(PAD,)))
    made, left = changes(report)
    assert not made
    assert [str(each.message).split(":")[0] for each in left] == ["not changed"]


HEADER = KERNEL.partition("void run")[0]
INCLUDER = (
    '#include "flip.cuh"\nvoid run(float *out, float *in) { flip<<<1, dim3(32, 32)>>>(out, in); }\n'
)


def test_a_header_of_a_file_is_left_alone_and_that_is_said(path: Path) -> None:
    path.write_text(INCLUDER)
    header = path.with_suffix(".cuh")
    header.write_text(HEADER, encoding="utf-8")
    for where in ("flip.cu", "."):
        result = CliRunner().invoke(main, [where, "--no-config", "--fix"])
        assert "flip.cuh: note: 1 finding with a fix that is not made in a header" in result.stderr
        assert header.read_text(encoding="utf-8") == HEADER
    named = CliRunner().invoke(main, ["flip.cuh", "--no-config", "--fix", "--block", "32x32"])
    assert "flip.cuh: 1 place changed" in named.stderr


def test_a_fix_that_one_includer_knows_is_not_lost(path: Path) -> None:
    path.write_text(INCLUDER)
    path.with_suffix(".cuh").write_text(HEADER, encoding="utf-8")
    result = CliRunner().invoke(main, ["flip.cuh", "flip.cu", "--no-config", "--format", "concise"])
    assert "32 → 1 wavefront with `tile[32][33]`" in result.stdout
