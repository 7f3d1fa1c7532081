"""The files through which pre-commit, GitHub and shells call the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
KERNEL = """
__global__ void strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[STRIDE * i];
}
void run(float *out, const float *in) { strided<<<4, 64>>>(out, in); }
"""


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_hook_gets_cuda_files_and_calls_the_command() -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")
    assert (hook["id"], hook["entry"]) == ("coalescecheck", "coalescecheck --format concise")
    assert (hook["language"], hook["types"]) == ("python", ["cuda"])


@pytest.mark.parametrize(
    ("stride", "code", "annotated", "results"),
    [
        ("8", 1, "::warning file=", 1),
        ("1", 0, "1 kernel, 2 accesses, 0 findings", 0),
    ],
)
def test_the_action_writes_sarif_annotates_and_keeps_the_exit_code(
    tmp_path: Path, stride: str, code: int, annotated: str, results: int
) -> None:
    (tmp_path / "a b.cu").write_text("", encoding="utf-8")
    (tmp_path / "k.cu").write_text(KERNEL.replace("STRIDE", stride), encoding="utf-8")
    ran = step("Check", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert annotated in ran.stdout
    assert (tmp_path / "output").read_text() == f"code={code}\n"
    document = json.loads((tmp_path / "found.sarif").read_text(encoding="utf-8"))
    assert len(document["runs"][0]["results"]) == results


def test_the_action_tells_only_what_changed(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "k.cu").write_text(KERNEL.replace("STRIDE", "8"), encoding="utf-8")
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -q -m x"):
        subprocess.run(["git", *command.split()], cwd=repo, check=True)
    ran = step("Check", repo, SINCE="HEAD")
    assert "::warning" not in ran.stdout
    assert (repo / "output").read_text() == "code=0\n"
    assert "nothing new to report (1 known)" in (repo / "coalescecheck.md").read_text()
    assert (repo / "summary").read_text() == (repo / "coalescecheck.md").read_text()


def test_the_action_goes_on_where_a_verification_disagrees(tmp_path: Path) -> None:
    program(tmp_path, "coalescecheck", 'echo "$*"; exit 1')  # whatever --fail-on says
    ran = step("Check", tmp_path)
    assert ran.returncode == 0
    assert "--format github" in ran.stdout
    assert "--format markdown" in (tmp_path / "summary").read_text()
    assert (tmp_path / "output").read_text() == "code=1\n"


@pytest.mark.parametrize(
    ("there", "call"),
    [("", "--method POST repos/o/r/issues/7/comments"), ("url/1\nurl/2\n", "--method PATCH url/1")],
    ids=["first", "again"],
)
def test_the_action_keeps_one_comment(tmp_path: Path, there: str, call: str) -> None:
    (tmp_path / "there").write_text(there)
    program(tmp_path, "gh", 'case "$*" in *--paginate*) cat there;; *) echo "$*" >> calls;; esac')
    ran = step("Comment", tmp_path, GITHUB_REPOSITORY="o/r", NUMBER="7")
    assert ran.stderr == ""
    body = f"--field body=@{tmp_path}/coalescecheck.md --silent"
    assert (tmp_path / "calls").read_text() == f"api {call} {body}\n"


def program(folder: Path, name: str, text: str) -> None:
    """A shell script that stands before other programs of its name."""
    (folder / "bin").mkdir(exist_ok=True)
    command = folder / "bin" / name
    command.write_text(f"#!/bin/sh\n{text}\n")
    command.chmod(0o755)


def step(name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A step of the action, run in ``folder``."""
    steps = {each.get("name", ""): each for each in loaded("action.yml")["runs"]["steps"]}
    if not (folder / "bin" / "coalescecheck").exists():
        program(folder, "coalescecheck", f'exec "{sys.executable}" -m coalescecheck "$@"')
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PATHS": ".",
        "ARGUMENTS": "--no-verify",
        "SINCE": "",
        "SARIF": "found.sarif",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "RUNNER_TEMP": str(folder),
        **variables,
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", steps[name]["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_inputs_reach_the_shell_only_as_variables() -> None:
    runs = [step.get("run", "") for step in loaded("action.yml")["runs"]["steps"]]
    assert [run for run in runs if "${{" in run] == []


def complete(**variables: str) -> str:
    """What the command answers a shell."""
    return subprocess.run(
        [sys.executable, "-m", "coalescecheck"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    script = complete(_COALESCECHECK_COMPLETE=f"{shell}_source")
    assert "_COALESCECHECK_COMPLETE" in script
    words = {
        "COMP_WORDS": "coalescecheck --format s",
        "COMP_CWORD": "s" if shell == "fish" else "2",
    }
    assert "sarif" in complete(_COALESCECHECK_COMPLETE=f"{shell}_complete", **words)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("coalescecheck ker", "file"),
        ("coalescecheck a.cu ker", "file"),
        *((f"coalescecheck {option} ker", "file") for option in
          ("--output", "--config", "--baseline", "--write-baseline", "--compare")),
        *((f"coalescecheck {option} ker", "dir") for option in ("-I", "-p", "--build-dir")),
    ],
)  # fmt: skip
def test_names_of_files_are_completed_by_the_shell(words: str, kind: str) -> None:
    at = str(words.count(" "))
    told = complete(_COALESCECHECK_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=at)
    assert told == f"{kind},ker\n"
