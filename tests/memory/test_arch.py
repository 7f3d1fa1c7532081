"""The table of architectures."""

from __future__ import annotations

import pytest

from coalescecheck.arch import ARCHS, RULES, arch_named
from coalescecheck.errors import UsageError


def test_every_architecture_from_maxwell_to_blackwell_is_known():
    assert list(ARCHS) == [
        f"sm_{n}"
        for n in (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120)
    ]


@pytest.mark.parametrize("name", ARCHS)
def test_an_architecture_is_found_by_its_name(name):
    assert f"sm_{arch_named(name).capability}" == name


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UsageError, match=r"'sm_35'.*sm_50.*sm_120"):
        arch_named("sm_35")


def test_only_old_architectures_cut_loads():
    assert {n for n, a in ARCHS.items() if a.lanes_per_request} == {
        "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"
    }  # fmt: skip


def test_every_rule_says_how_sure_it_is_and_why():
    assert len({r.id for r in RULES}) == len(RULES)
    assert {r.sureness for r in RULES} == {"documented", "measured", "inferred"}
    assert all(r.text and r.source for r in RULES)
