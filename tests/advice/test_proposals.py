"""Which trials are proposed for an access, and how every report shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coalescecheck import rules
from coalescecheck.analysis import Count, KernelAnalysis, Trial
from coalescecheck.findings import Finding
from coalescecheck.report import renderer
from coalescecheck.report.model import FileReport, Report, Terminal
from coalescecheck.rules.base import fixes, proposal
from coalescecheck.source import Edit, Span
from hand_made import PATH, access, exactly, file, kernel

STRIDED = access(
    0, pattern="strided", lane_stride_bytes=2048, sectors=exactly(32, 4),
    sample_lanes=tuple(2048 * lane for lane in range(32)),
)  # fmt: skip
UP_TO = access(
    0, pattern="strided", lane_stride_bytes="4*n", certainty="exact-symbolic",
    sectors=Count(1, 32, None, 4),
)  # fmt: skip


def trial(kind: str, before: float, after: float, **facts: Any) -> Trial:
    costs = {0: before}, {0: after}
    facts.setdefault("simulated", True)
    return Trial(kind, "", f"`{kind}`", f"do the {kind}", *costs, **facts)


SWAP = trial("swap", 32, 4, lanes_after={0: tuple(4 * lane for lane in range(32))})


def finding(analysis: KernelAnalysis) -> Finding:
    (found,) = rules.check(analysis)
    return found


def shown(name: str, *kernels: KernelAnalysis) -> str:
    found = rules.merge(f for each in kernels for f in rules.check(each))
    report = Report("0.1.0", "sm_80", (FileReport(file(*kernels), found),))
    return renderer(name)(report, Terminal(200))


# --- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trials", "kinds"),
    [
        pytest.param([SWAP], ["swap"], id="one that helps"),
        pytest.param([trial("swap", 32, 32)], [], id="none that changes nothing"),
        pytest.param([trial("swap", 32, 30)], [], id="less than a tenth is worth no word"),
        pytest.param([trial("layout", 32, 4), trial("block", 32, 4)], ["block", "layout"],
                     id="of equals the least work first"),
        pytest.param([trial("block", 32, 8), trial("layout", 32, 4)], ["layout", "block"],
                     id="what leaves least first"),
        pytest.param([trial("vector", 128, 16), trial("layout", 32, 8)], ["vector", "layout"],
                     id="sums of several accesses are compared by their share"),
        pytest.param([trial("layout", 32, 8), trial("layout", 32, 4)], ["layout"],
                     id="the best of a kind"),
        pytest.param([Trial("swap", "", "s", "s", {0: 32, 1: 4}, {0: 4, 1: 8})], [],
                     id="none that makes another access worse"),
        pytest.param([Trial("swap", "", "s", "s", {0: 32, 1: 8}, {0: 32, 1: 4})], [],
                     id="none that helps another access only"),
        pytest.param([Trial("layout", "p", "s", "s", {7: 32}, {7: 4})], [],
                     id="none of another array"),
    ],
)  # fmt: skip
def test_what_is_proposed(trials: list[Trial], kinds: list[str]) -> None:
    analysis = kernel(STRIDED, trials=tuple(trials))
    assert [t.kind for t in analysis.proposals(STRIDED)] == kinds
    assert len(fixes(analysis, STRIDED)) == len(kinds)


def test_the_best_is_the_advice_and_the_others_are_alternatives() -> None:
    found = finding(kernel(STRIDED, trials=(trial("block", 32, 8), SWAP)))
    assert found.advice == "32 → 4 sectors with `swap`"
    assert [fix.description for fix in found.fixes] == ["do the swap", "do the block"]
    assert found.fixes[1:] == found.alternatives


def test_what_is_a_most_is_called_one_and_what_is_assumed_is_said() -> None:
    change = trial("swap", 32, 5, at_most=frozenset({0}), assumptions=("n >= 8",))
    analysis = kernel(UP_TO, trials=(change,))
    assert proposal(analysis, UP_TO) == "up to 32 → up to 5 sectors if n >= 8 with `swap`"
    (fix,) = fixes(analysis, UP_TO)
    assert (fix.before, fix.after) == ("up to 32 sectors", "up to 5 sectors if n >= 8")


def test_a_swap_that_makes_another_access_worse_is_a_reason_for_a_tile() -> None:
    worse = Trial("swap", "", "s", "s", {0: 32, 1: 4}, {0: 4, 1: 8})
    found = finding(kernel(STRIDED, trials=(worse,)))
    assert found.fix is None
    assert found.advice == (
        "stage the data through a shared tile: swapped indices make another access worse"
    )


def test_instances_with_different_changes_are_different_findings() -> None:
    one = kernel(STRIDED, trials=(SWAP,), template={"N": "1"})
    other = kernel(STRIDED, template={"N": "2"})
    same = kernel(STRIDED, trials=(SWAP,), template={"N": "3"})
    found = rules.merge(f for each in (one, other, same) for f in rules.check(each))
    assert [len(each.instances) for each in found] == [2, 1]
    assert [each.fix is not None for each in found] == [True, False]


# --- the reports ------------------------------------------------------------------------------

BOTH = kernel(STRIDED, trials=(trial("block", 32, 8), SWAP, trial("layout", 32, 32)))


def test_text_names_all_changes_that_help() -> None:
    text = shown("text", BOTH)
    assert "  fix  do the swap: 32 sectors → 4 sectors (re-analysed)\n" in text
    assert "  or   do the block: 32 sectors → 8 sectors (re-analysed)\n" in text
    assert "layout" not in text


def test_text_says_what_was_not_simulated() -> None:
    text = shown("text", kernel(STRIDED, trials=(trial("swap", 32, 4, simulated=False),)))
    assert "  fix  do the swap: 32 sectors → 4 sectors (re-analysed, not simulated)\n" in text


def test_json_lists_the_trials_that_help_with_all_their_numbers() -> None:
    (analysis,) = json.loads(shown("json", BOTH))["files"][0]["kernels"]
    assert [each["kind"] for each in analysis["trials"]] == ["block", "swap"]
    assert analysis["trials"][1] == {
        "kind": "swap",
        "array": "",
        "change": "`swap`",
        "description": "do the swap",
        "accesses": [{"id": 0, "before": 32, "after": 4}],
        "assumptions": [],
    }
    (found,) = json.loads(shown("json", BOTH))["files"][0]["findings"]
    assert found["fix"]["after"] == "4 sectors"
    assert [each["after"] for each in found["alternatives"]] == ["8 sectors"]


def test_html_draws_the_request_before_and_after() -> None:
    page = shown("html", BOTH)
    assert "Tried: </b>do the swap: 32 sectors → 4 sectors" in page
    assert "Or: </b>do the block: 32 sectors → 8 sectors" in page
    assert "with <code>swap</code>" in page
    assert "32 sectors of 32 bytes for 128 bytes" in page
    assert "4 sectors of 32 bytes for 128 bytes" in page


def test_sarif_offers_every_change_that_is_an_edit() -> None:
    pad = Edit(Span(PATH, 4, 27), 29, "33")
    column = access(
        0, space="shared", wavefronts=exactly(32, 1), lane_stride_bytes=128, pattern="strided"
    )
    tried = (trial("swizzle", 32, 1), trial("pad", 32, 2, edit=pad, amount=2))
    (result,) = json.loads(shown("sarif", kernel(column, trials=tried)))["runs"][0]["results"]
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == "do the pad: 32 wavefronts → 2 wavefronts"
    assert "32 → 1 wavefront with `swizzle`" in result["message"]["text"]
