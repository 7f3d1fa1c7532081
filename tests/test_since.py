"""``--since REV``: what changed, and nothing that the repository names is executed."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import coalescecheck
from coalescecheck import git, pipeline
from coalescecheck.cli import main
from coalescecheck.errors import UsageError

# 64 threads: a float at every eighth place has a sector of its own (32 per warp), side by side 4
KERNEL = """#include "step.h"
__global__ void NAME(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[STEP * i];
}
void run(float *out, const float *in) { NAME<<<4, 64>>>(out, in); }
"""
CLEAN, STRIDED = KERNEL.replace("STEP *", "1 *"), KERNEL.replace("STEP *", "8 *")


def run_git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> str:
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "--quiet", "--allow-empty", "-m", "x")
    return run_git(folder, "rev-parse", "HEAD").strip()


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("NAME", Path(name).stem), encoding="utf-8")
    return path


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``old`` has a bad access, ``good`` none, ``stepped`` what ``step.h`` says: a good one."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "repo"
    folder.mkdir()
    run_git(folder, "init", "--quiet")
    write(folder, "src/old.cu", STRIDED)
    write(folder, "src/good.cu", CLEAN)
    write(folder, "src/stepped.cu", KERNEL)
    write(folder, "src/step.h", "#define STEP 1\n")
    commit(folder)
    monkeypatch.chdir(folder)
    return folder


def call(*arguments: str, since: str = "HEAD") -> Result:
    return CliRunner().invoke(main, [*(arguments or (".",)), "--no-verify", f"--since={since}"])


def shown(*arguments: str) -> list[str]:
    """Kernels with new findings, in order."""
    report = json.loads(call(*(arguments or (".",)), "--format", "json").stdout)
    return [finding["kernel"] for file in report["files"] for finding in file["findings"]]


def since(*paths: str) -> Any:
    report = coalescecheck.analyze(paths or (".",), since="HEAD", verify=False)
    assert report.since is not None
    return report.since


# --- what changed -----------------------------------------------------------------------------


def test_what_was_there_is_not_shown(repo: Path) -> None:
    result = call()
    assert (result.exit_code, result.stderr) == (0, "since HEAD: fixed: 0\n")
    assert "CC101" not in result.stdout
    assert (since().gone, since().changes) == ((), ())


def test_a_new_finding_is_shown_alone(repo: Path) -> None:
    write(repo, "src/good.cu", STRIDED)
    assert shown() == ["good"]
    assert call().exit_code == 1


def test_a_finding_that_is_gone_and_the_numbers_that_changed(repo: Path) -> None:
    write(repo, "src/old.cu", CLEAN)
    (gone,) = since().gone
    assert (gone.rule, gone.kernel, gone.span.line) == ("CC101", "old", 5)
    (change,) = since().changes
    assert (change.access, change.unit) == ("global load in[1 * i]", "sectors")
    assert (change.before, change.after, change.verdict) == ("32", "4", "better")


def test_headers_are_read_as_they_were(repo: Path) -> None:
    write(repo, "src/step.h", "#define STEP 8\n")
    assert shown() == ["stepped"]
    (change,) = since().changes
    assert (change.kernel, change.before, change.after) == ("stepped", "4", "32")


def test_headers_below_an_include_folder_are_read_as_they_were(repo: Path) -> None:
    write(repo, "include/step.h", "#define STEP 8\n")
    (repo / "src/step.h").unlink()
    commit(repo)
    write(repo, "include/step.h", "#define STEP 1\n")
    report = coalescecheck.analyze(
        "src/stepped.cu", include_dirs=["include"], since="HEAD", verify=False
    )
    assert report.since is not None
    assert [(c.before, c.after) for c in report.since.changes] == [("32", "4")]


def test_a_known_finding_that_becomes_worse_is_shown(repo: Path) -> None:
    """The line stays the same; 2 * 4 bytes between lanes are 8 sectors, 8 * 4 bytes are 32."""
    write(repo, "src/step.h", "#define STEP 2\n")
    commit(repo)
    assert shown() == []
    write(repo, "src/step.h", "#define STEP 4\n")
    assert shown() == ["stepped"]
    assert since().gone == ()
    write(repo, "src/step.h", "#define STEP 1\n")
    assert [finding.kernel for finding in since().gone] == ["stepped"]


def test_an_edited_line_with_the_same_access_is_not_new(repo: Path) -> None:
    write(repo, "src/old.cu", STRIDED.replace("in[8 * i];", "in[8 * i] + 1;"))
    assert shown() == []
    assert since().gone == ()


def test_another_index_of_the_same_array_is_new_and_nothing_is_fixed(repo: Path) -> None:
    write(repo, "src/old.cu", STRIDED.replace("8 *", "9 *"))
    assert shown() == ["old"]
    assert since().gone == ()


def test_a_second_finding_like_a_known_one_is_new(repo: Path) -> None:
    line = "    out[i] = in[8 * i];\n"
    write(repo, "src/old.cu", STRIDED.replace(line, line * 2))
    assert shown() == ["old"]


def test_a_renamed_file_is_the_same_file(repo: Path) -> None:
    (repo / "src/old.cu").rename(repo / "src/other.cu")
    assert shown() == []
    assert since().gone == ()
    assert shown("src/other.cu") == []


def test_a_renamed_kernel_is_the_same_kernel(repo: Path) -> None:
    write(repo, "src/old.cu", STRIDED.replace("NAME", "other"))
    assert shown() == []
    assert since().gone == ()
    write(repo, "src/old.cu", STRIDED.replace("NAME", "other").replace("8 *", "9 *"))
    assert shown() == ["other"]


def test_a_renamed_and_edited_file_shows_the_edit(repo: Path) -> None:
    (repo / "src/old.cu").unlink()
    write(repo, "src/moved/other.cu", STRIDED.replace("NAME", "old").replace("step", "../step"))
    assert shown() == []
    write(repo, "src/moved/other.cu", CLEAN.replace("NAME", "old"))
    assert [finding.kernel for finding in since().gone] == ["old"]


def test_a_new_file_is_new(repo: Path) -> None:
    write(repo, "src/added.cu", STRIDED + "// one more\nint x;\nint y;\n")
    assert shown() == ["added"]
    assert since().gone == ()


def test_a_deleted_file_is_fixed(repo: Path) -> None:
    (repo / "src/old.cu").unlink()
    assert shown() == []
    assert [(finding.kernel, finding.span.file) for finding in since().gone] == [
        ("old", "src/old.cu")
    ]


def test_only_given_paths_count(repo: Path) -> None:
    write(repo, "src/old.cu", CLEAN)
    assert since("src/good.cu").gone == ()
    assert len(since("src").gone) == 1


def test_an_excluded_file_is_not_fixed(repo: Path) -> None:
    report = coalescecheck.analyze(".", since="HEAD", exclude=["/src/old.cu"], verify=False)
    assert report.since is not None
    assert report.since.gone == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STRIDED.replace("];", "]; // coalescecheck: ignore[CC101]"), id="silenced"),
        pytest.param(STRIDED.replace("    int i", "    asm int goto (("), id="no kernel any more"),
        pytest.param("\0", id="unreadable"),
    ],
)
def test_what_is_only_silent_is_not_fixed(repo: Path, text: str) -> None:
    write(repo, "src/old.cu", text)
    assert since().gone == ()


def test_a_kernel_that_is_not_there_any_more_is_fixed(repo: Path) -> None:
    write(repo, "src/old.cu", "int nothing;\n")
    assert len(since().gone) == 1


def test_only_files_that_changed_are_analysed_twice(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real = pipeline.analyze_file

    def analyze_file(path: str, options: Any) -> Any:
        done.append(Path(path).name)
        return real(path, options)

    monkeypatch.setattr(pipeline, "analyze_file", analyze_file)
    write(repo, "src/step.h", "#define STEP 8\n")
    commit(repo)
    write(repo, "src/good.cu", STRIDED)
    since()
    assert sorted(done) == ["good.cu", "good.cu", "old.cu", "stepped.cu"]


def test_a_launch_is_compared_with_the_same_launch(repo: Path) -> None:
    one = "old<<<4, 64>>>(out, in);"
    text = STRIDED.replace("NAME", "old")
    write(repo, "src/old.cu", text.replace(one, f"{one} old<<<4, 128>>>(out, in);"))
    assert since().changes == ()


def test_any_older_revision(repo: Path) -> None:
    first = run_git(repo, "rev-parse", "HEAD").strip()
    write(repo, "src/good.cu", STRIDED)
    commit(repo)
    assert call().exit_code == 0
    assert call(since=first[:12]).exit_code == 1
    assert call(since="HEAD^").exit_code == 1


@pytest.mark.parametrize("where", ["src", ".."])
def test_the_current_folder_does_not_matter(
    repo: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "src/good.cu", STRIDED)
    monkeypatch.chdir(repo / where)
    assert shown(str(repo)) == ["good"]
    assert shown(os.path.relpath(repo / "src")) == ["good"]


def test_a_repository_behind_a_link(repo: Path, tmp_path: Path) -> None:
    write(repo, "src/good.cu", STRIDED)
    (tmp_path / "link").symlink_to(repo)
    assert shown(str(tmp_path / "link" / "src")) == ["good"]


def test_headers_of_a_submodule_are_read_as_they_were(repo: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    run_git(library, "init", "--quiet")
    write(library, "step.h", "#define STEP 8\n")
    commit(library)
    run_git(repo, "submodule", "--quiet", "add", str(library), "src/library")
    write(repo, "src/stepped.cu", KERNEL.replace("step.h", "library/step.h"))
    commit(repo)
    assert shown() == []
    write(repo, "src/library/step.h", "#define STEP 1\n")
    assert [finding.kernel for finding in since().gone] == ["stepped"]


# --- formats and other options ----------------------------------------------------------------


def test_the_markdown_comment_has_only_what_changed(repo: Path) -> None:
    write(repo, "src/good.cu", STRIDED.replace("in[8", "in[7"))
    write(repo, "src/old.cu", CLEAN)
    lines = call("--format", "markdown", ".").stdout.splitlines()
    assert lines[1] == "## CoalesceCheck: 1 new warning, fixed: 1"
    (finding,) = (line for line in lines if line.startswith("| 🟠"))
    assert finding.startswith("| 🟠 | `src/good.cu:5` `good` | **CC101** ")
    assert (
        "| `src/good.cu:5` `good` | `global load in[7 * i]` | sectors | 4 | 28 | worse |" in lines
    )
    assert "| `src/old.cu:5` `old` | `global load in[1 * i]` | sectors | 32 | 4 | better |" in lines
    assert "<details><summary>Fixed: 1</summary>" in lines
    assert "stepped" not in "".join(lines)


def test_sarif_and_json_leave_out_what_was_there(repo: Path) -> None:
    sarif = json.loads(call(".", "--format", "sarif").stdout)
    assert sarif["runs"][0]["results"] == []
    report = json.loads(call(".", "--format", "json").stdout)
    assert [s["by"] for file in report["files"] for s in file["suppressed"]] == ["baseline"]


def test_together_with_a_baseline(repo: Path) -> None:
    write(repo, "src/good.cu", STRIDED)
    call(".", "--write-baseline", "known.json")
    assert len(json.loads((repo / "known.json").read_text())["findings"]) == 2
    write(repo, "src/stepped.cu", STRIDED)
    assert shown(".", "--baseline", "known.json") == ["stepped"]


@pytest.mark.parametrize("other", ["--stats", "--emit=ir", "--compare=src/old.cu"])
def test_it_is_for_reports(repo: Path, other: str) -> None:
    result = call("src/good.cu", other)
    assert result.exit_code == 2
    assert "since: cannot go with --" in result.stderr


def test_a_kernel_that_was_not_there_may_be_asked_for(repo: Path) -> None:
    write(repo, "src/added.cu", STRIDED)
    assert call("src/added.cu", "--kernel", "added").exit_code == 1


# --- git --------------------------------------------------------------------------------------

BAD = [
    "nope",
    "",
    "-h",
    "--all",
    "HEAD..HEAD",
    "^HEAD",
    "HEAD:src",
    "HEAD^{tree}",
    "a\nb",
    "@{999}",
]


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_revision_is_wrong_usage(repo: Path, name: str) -> None:
    result = call(since=name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "names no commit" in " ".join(result.stderr.split())


def test_no_repository(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", CLEAN)
    result = call(str(path))
    assert result.exit_code == 2
    assert "not in the work tree of a git repository" in " ".join(result.stderr.split())


def test_a_path_outside_the_repository(repo: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, "k.cu", CLEAN)
    result = call("src/good.cu", str(outside))
    assert result.exit_code == 2
    assert "is not in the repository" in " ".join(result.stderr.split())


def test_no_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = call()
    assert result.exit_code == 2
    assert "git is not installed" in result.stderr


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def test_nothing_is_written_in_the_repository(repo: Path) -> None:
    write(repo, "src/good.cu", STRIDED)
    before = snapshot(repo)
    assert call().exit_code == 1
    assert snapshot(repo) == before


def test_a_hostile_repository_executes_nothing(repo: Path, tmp_path: Path) -> None:
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/attacked\ncat\n")
    script.chmod(0o755)
    hooks = repo / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    write(repo, ".gitattributes", "* filter=evil diff=evil merge=evil export-subst ident\n")
    commit(repo)
    (tmp_path / "attacked").unlink(missing_ok=True)
    keys = "core.fsmonitor core.pager core.editor core.sshCommand diff.external diff.evil.command "
    keys += "diff.evil.textconv filter.evil.clean filter.evil.smudge filter.evil.process "
    keys += (
        "credential.helper gpg.program alias.rev-parse alias.cat-file uploadpack.packObjectsHook"
    )
    for key in keys.split():
        run_git(repo, "config", key, f"!{script}" if key.startswith("alias") else str(script))
    write(repo, "src/good.cu", STRIDED)
    assert shown() == ["good"]
    assert not (tmp_path / "attacked").exists()
    run_git(repo, "diff")
    assert (tmp_path / "attacked").exists()  # so the traps work


def test_what_a_partial_clone_lacks_is_not_fetched(repo: Path, tmp_path: Path) -> None:
    """A lacking file counts as new."""
    blob = run_git(repo, "rev-parse", "HEAD:src/old.cu").strip()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c touch% {tmp_path}/attacked",
        "protocol.ext.allow": "always",
    }.items():
        run_git(repo, "config", key, value)
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert shown() == ["old"]
    assert not (tmp_path / "attacked").exists()
    subprocess.run(["git", "-C", str(repo), "cat-file", "-p", blob], capture_output=True)
    deadline = time.monotonic() + 10  # git does not wait for what it starts
    while not (tmp_path / "attacked").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (tmp_path / "attacked").exists()  # so the trap works


def test_no_file_is_written_outside_the_folder(tmp_path: Path, repo: Path) -> None:
    """A tree with hostile names cannot be made with git's own commands, its entries can."""
    (repo / "src" / "out").symlink_to(tmp_path)
    (repo / "src" / "in.cu").symlink_to("good.cu")
    name = commit(repo)
    target = tmp_path / "target"
    git.export(repo, name, target)
    assert not (target / "src" / "out").is_symlink()
    assert (target / "src" / "in.cu").read_text() == (repo / "src" / "good.cu").read_text()

    blob = run_git(repo, "rev-parse", "HEAD:src/good.cu").strip()
    tree = b"100644 ..\0" + bytes.fromhex(blob) + b"100644 .git\0" + bytes.fromhex(blob)
    command = ["git", "-C", str(repo), "hash-object", "-t", "tree", "--literally", "-w", "--stdin"]
    made = subprocess.run(command, input=tree, capture_output=True, check=True).stdout.decode()
    hostile = tmp_path / "hostile"
    git.export(repo, made.strip(), hostile)
    assert not hostile.exists()


def test_a_commit_that_cannot_be_read_is_wrong_usage(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="git cannot read"):
        git.export(repo, "0" * 40, tmp_path / "target")
