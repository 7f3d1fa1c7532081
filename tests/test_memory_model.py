"""docs/memory_model.md shows the constants, rules and architectures that the code uses."""

from __future__ import annotations

import re

import pytest

import memory_model_page as page
from coalescecheck import arch

TEXT = page.PAGE.read_text(encoding="utf-8")


def test_the_tables_of_the_page_are_up_to_date() -> None:
    assert page.updated(TEXT) == TEXT, "run: python tests/memory_model_page.py"


@pytest.mark.parametrize("table", page.TABLES)
def test_the_page_holds_every_table(table: str) -> None:
    assert f"<!-- begin {table} -->" in TEXT


def test_every_constant_of_the_model_is_explained() -> None:
    names = {n for n in vars(arch) if re.fullmatch(r"[A-Z_]+", n) and n[0] != "_"}
    numbers = {n for n in names if isinstance(getattr(arch, n), int)}
    assert numbers == page.CONSTANTS.keys()


@pytest.mark.parametrize("rule", arch.RULES, ids=lambda rule: rule.id)
def test_every_rule_has_a_known_sureness_and_a_source(rule: arch.HardwareRule) -> None:
    assert rule.sureness in ("documented", "measured", "inferred")
    assert rule.source
    assert "|" not in rule.text + rule.source  # it would break the table
