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
    [("8", 1, "::warning file=", 1), ("1", 0, "coalescecheck: 2 accesses, 0 findings", 0)],
)
def test_the_action_writes_sarif_annotates_and_keeps_the_exit_code(
    tmp_path: Path, stride: str, code: int, annotated: str, results: int
) -> None:
    (tmp_path / "a b.cu").write_text("", encoding="utf-8")
    (tmp_path / "k.cu").write_text(KERNEL.replace("STRIDE", stride), encoding="utf-8")
    steps = {step.get("name", ""): step for step in loaded("action.yml")["runs"]["steps"]}
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "coalescecheck"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m coalescecheck "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PATHS": ".",
        "ARGUMENTS": "--no-verify",
        "SARIF": "found.sarif",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    step = ["bash", "-e", "-o", "pipefail", "-c", steps["Check"]["run"]]
    ran = subprocess.run(step, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert annotated in ran.stdout
    assert (tmp_path / "output").read_text() == f"code={code}\n"
    document = json.loads((tmp_path / "found.sarif").read_text(encoding="utf-8"))
    assert len(document["runs"][0]["results"]) == results


def test_inputs_reach_the_shell_only_as_variables() -> None:
    runs = [step.get("run", "") for step in loaded("action.yml")["runs"]["steps"]]
    assert [run for run in runs if "${{" in run] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    def complete(**variables: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "coalescecheck"],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
        ).stdout

    script = complete(_COALESCECHECK_COMPLETE=f"{shell}_source")
    assert "_COALESCECHECK_COMPLETE" in script
    words = {
        "COMP_WORDS": "coalescecheck --format s",
        "COMP_CWORD": "s" if shell == "fish" else "2",
    }
    assert "sarif" in complete(_COALESCECHECK_COMPLETE=f"{shell}_complete", **words)
