"""Every rule fires on the example in its own documentation and not on what to use instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.rules import RULES
from coalescecheck.rules.base import Rule

CODE = re.compile(r"```cuda\n(.*?)```", re.DOTALL)
WITH_CODE = [rule for rule in RULES if CODE.search(rule.documentation())]


def fired(rule: Rule, heading: str, folder: Path) -> list[str]:
    """The codes of the findings of ``rule`` on the code under ``heading``."""
    section = rule.documentation().split(f"## {heading}\n")[1].split("\n## ")[0]
    (code,) = CODE.findall(section)
    path = folder / "example.cu"
    path.write_text(code, encoding="utf-8")
    report = coalescecheck.analyze(path, select=[rule.code])
    assert [kernel.status for kernel in report.kernels] != ["failed"]
    assert report.internal_errors == ()
    return [finding.rule for finding in report.findings]


@pytest.mark.parametrize("rule", WITH_CODE, ids=lambda rule: rule.slug)
def test_the_example_is_reported(rule: Rule, tmp_path: Path) -> None:
    assert rule.code in fired(rule, "Example", tmp_path)


@pytest.mark.parametrize("rule", WITH_CODE, ids=lambda rule: rule.slug)
def test_what_to_use_instead_is_not(rule: Rule, tmp_path: Path) -> None:
    assert fired(rule, "Use instead", tmp_path) == []


def test_only_the_rule_about_our_own_defects_has_no_example() -> None:
    assert [rule.code for rule in RULES if rule not in WITH_CODE] == ["CC902"]
