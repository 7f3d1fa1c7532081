"""What the README shows is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from coalescecheck.cli import main
from coalescecheck.rules import RULES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CAPTURE = re.compile(r"```console\n\$ coalescecheck ([^\n]*)\n(.*?)```", re.DOTALL)


def test_the_capture_is_real_output(monkeypatch: pytest.MonkeyPatch) -> None:
    match = CAPTURE.search(README)
    assert match is not None
    arguments, shown = match.groups()
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    assert CliRunner().invoke(main, shlex.split(arguments)).stdout == shown


@pytest.mark.parametrize("option", [o for p in main.params for o in p.opts if o.startswith("-")])
def test_every_option_is_in_the_readme(option: str) -> None:
    self_explaining = {"--version"}
    negative = re.sub("--(verify|cache|progress)", r"--no-\1", option)
    assert option in self_explaining or f"`{negative}" in README


def test_every_rule_is_in_the_readme_with_its_severity() -> None:
    rows = re.findall(r"^\| (CC\d+) \| ([\w-]+) \| (\w+)", README, re.MULTILINE)
    assert rows == [(rule.code, rule.slug, str(rule.severity)) for rule in RULES]
