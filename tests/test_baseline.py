"""Baselines: what they hide, what they survive, and what is no baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coalescecheck import baseline
from coalescecheck.cli import main
from coalescecheck.errors import UsageError

KERNEL = """
__global__ void strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[8 * i];
}
void run(float *out, const float *in) { strided<<<4, 64>>>(out, in); }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text(KERNEL, encoding="utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> Result:
    paths = [str(folder / "src" / "a.cu"), "--no-verify", "--no-config"]
    return CliRunner().invoke(main, [*paths, *arguments])


def written(folder: Path) -> str:
    path = str(folder / "known.json")
    result = call(folder, "--write-baseline", path)
    assert result.exit_code == 0
    assert f"{path}: 1 finding recorded" in result.stderr
    assert "CC101" in result.stdout
    return path


def rewrite(folder: Path, before: str, after: str) -> None:
    path = folder / "src" / "a.cu"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_known_findings_are_not_shown(folder: Path) -> None:
    result = call(folder, "--baseline", written(folder))
    assert result.exit_code == 0
    assert "CC101" not in result.stdout


def test_a_kernel_in_a_header_is_known_whichever_file_is_given(tmp_path: Path) -> None:
    kernel, host = KERNEL.split("void run")
    (tmp_path / "k.cuh").write_text(kernel, encoding="utf-8")
    (tmp_path / "a.cu").write_text(f'#include "k.cuh"\nvoid run{host}', encoding="utf-8")
    known = [str(tmp_path / name) for name in ("from_a.json", "from_k.json")]
    paths = [str(tmp_path / name) for name in ("a.cu", "k.cuh")]

    def called(path: str, *arguments: str) -> Result:
        given = [path, "--block=64", "--grid=4", "--no-verify", "--no-config", *arguments]
        return CliRunner().invoke(main, given)

    for path, file in zip(paths, known, strict=True):
        assert "CC101" in called(path, "--write-baseline", file).stdout
    for file in known:
        for path in paths:
            assert "CC101" not in called(path, "--baseline", file).stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("\n__global__", "// new\n\nint other;\n\n__global__", id="moved down"),
        pytest.param("    out[i] = in", "\tout[i]  =  in", id="another indentation"),
        pytest.param("<<<4, 64>>>", "<<<8, 128>>>", id="other sizes"),
        pytest.param("int i", "unsigned i", id="other lines"),
    ],
)
def test_a_known_finding_stays_known(folder: Path, before: str, after: str) -> None:
    path = written(folder)
    rewrite(folder, before, after)
    assert call(folder, "--baseline", path).exit_code == 0


TWO = """
__global__ void first(float *out, const float *in) { out[threadIdx.x] = in[8 * threadIdx.x]; }
__global__ void second(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[8 * i];
    out[4 * i] = in[i];
}
void run(float *out, const float *in)
{
    first<<<4, 64>>>(out, in);
    second<<<4, 64>>>(out, in);
}
"""
COPY = """
__global__ void copy(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[8 * i];
    out[4 * i] = in[i];
}
void again(float *out, const float *in) { copy<<<4, 64>>>(out, in); }
"""


@pytest.mark.parametrize(
    ("old", "new", "more", "shown"),
    [
        pytest.param("second", "other", "", [], id="a new name"),
        pytest.param("first", "other", "", [], id="a name that is on the line itself"),
        pytest.param("second", "third", COPY, ["copy", "copy", "third", "third"], id="two heirs"),
        pytest.param("none", "none", COPY, ["copy", "copy"], id="a copy beside the old one"),
        pytest.param("out[4 * i] = in[i];\n}\nvoid run", "}\nvoid run", "", [], id="one is mended"),
        pytest.param(
            "second",
            "// second\nvoid other",
            "",
            ["other", "other"],
            id="a comment knows the old one",
        ),
    ],
)
def test_kernels_with_new_names(
    folder: Path, old: str, new: str, more: str, shown: list[str]
) -> None:
    path = folder / "src" / "a.cu"
    path.write_text(TWO, encoding="utf-8")
    known = str(folder / "known.json")
    assert "3 findings recorded" in call(folder, "--write-baseline", known).stderr
    text = TWO.replace("void second", "// second\nvoid other") if "//" in new else TWO
    text = text.replace("second<<<", "other<<<") if "//" in new else text.replace(old, new)
    path.write_text(text + more, encoding="utf-8")
    found = json.loads(call(folder, "--baseline", known, "--format", "json").stdout)
    assert sorted(each["kernel"] for each in found["files"][0]["findings"]) == shown


def test_a_new_name_and_a_new_line_are_not_known(folder: Path) -> None:
    """What was known of the old kernel is not all in the new one: it may be another."""
    path = folder / "src" / "a.cu"
    path.write_text(TWO, encoding="utf-8")
    known = str(folder / "known.json")
    call(folder, "--write-baseline", known)
    path.write_text(TWO.replace("second", "other").replace("4 * i", "2 * i"), encoding="utf-8")
    found = json.loads(call(folder, "--baseline", known, "--format", "json").stdout)
    assert [each["kernel"] for each in found["files"][0]["findings"]] == ["other", "other"]


def test_a_second_finding_like_a_known_one_is_new(folder: Path) -> None:
    path = written(folder)
    rewrite(folder, "    out[i] = in[8 * i];", "    out[i] = in[8 * i];\n    out[i] = in[8 * i];")
    assert call(folder, "--baseline", path).exit_code == 1


def test_a_changed_line_is_new(folder: Path) -> None:
    path = written(folder)
    rewrite(folder, "in[8 * i]", "in[9 * i]")
    assert call(folder, "--baseline", path).exit_code == 1


def test_a_baseline_does_not_depend_on_the_current_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(folder)
    monkeypatch.chdir(folder / "src")
    result = CliRunner().invoke(main, ["a.cu", "--no-verify", "--baseline", path])
    assert result.exit_code == 0
    assert json.loads(Path(path).read_text(encoding="utf-8"))["findings"][0]["file"] == "src/a.cu"


def test_a_baseline_in_a_folder_further_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder)
    monkeypatch.chdir(folder / "src")
    result = CliRunner().invoke(main, [".", "--no-config", "--baseline", "../known.json"])
    assert result.exit_code == 0


def test_sarif_and_markdown_leave_known_findings_out(folder: Path) -> None:
    path = written(folder)
    sarif = json.loads(call(folder, "--baseline", path, "--format", "sarif").stdout)
    assert sarif["runs"][0]["results"] == []
    shown = call(folder, "--baseline", path, "--format", "markdown").stdout
    assert "nothing new to report (1 known)" in shown


def test_markdown_shows_only_what_is_new(folder: Path) -> None:
    path = written(folder)
    rewrite(folder, "    out[i] = in[8 * i];", "    out[i] = in[8 * i];\n    out[i] = in[9 * i];")
    shown = call(folder, "--baseline", path, "--format", "markdown").stdout
    assert "CoalesceCheck: 1 new warning (1 known)" in shown
    assert "9 \\* i" in shown
    assert "8 \\* i" not in shown


def test_writing_again_keeps_what_was_known(folder: Path) -> None:
    path = written(folder)
    before = Path(path).read_text(encoding="utf-8")
    assert call(folder, "--baseline", path, "--write-baseline", path).exit_code == 0
    assert Path(path).read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "no JSON", id="empty"),
        pytest.param(b"{", "no JSON", id="cut off"),
        pytest.param(b"\xff\xfe\x00", "no UTF-8", id="binary"),
        pytest.param(b"[" * 100_000, "no JSON", id="nested too deeply"),
        pytest.param(b"[]", "no baseline", id="a list"),
        pytest.param(b'{"findings": 3}', "no baseline", id="no findings"),
        pytest.param(b'{"version": 9, "findings": []}', "not of version", id="version"),
        pytest.param(b'{"version": 1, "findings": [3]}', "without a fingerprint", id="entry"),
    ],
)
def test_what_is_no_baseline_is_wrong_usage(folder: Path, content: bytes, words: str) -> None:
    path = folder / "known.json"
    path.write_bytes(content)
    result = call(folder, "--baseline", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())
    assert "--write-baseline" in result.stderr


def test_a_baseline_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        baseline.read(str(tmp_path / "none.json"))
    with pytest.raises(UsageError, match="cannot be read"):
        baseline.read(str(tmp_path))
