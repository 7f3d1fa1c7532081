"""The rules as a set: registered, documented, selectable."""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import rules, wording
from coalescecheck.errors import UsageError
from coalescecheck.findings import Finding, Severity
from coalescecheck.launch import Dim3, Launch
from coalescecheck.rules import DEFAULT_RULES, RULES
from coalescecheck.rules.base import HEADINGS, Rule
from coalescecheck.source import NOWHERE
from hand_made import access, exactly, kernel

FOLDER = Path(rules.__file__).parent
README = Path(__file__).parents[2] / "README.md"


def test_every_file_of_the_folder_is_a_registered_rule() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "base"}
    assert files == {rule.slug.replace("-", "_") for rule in RULES}


def test_rules_stand_in_the_order_of_their_codes_and_no_code_is_used_twice() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_a_rule_documents_itself_under_all_headings(rule: Rule) -> None:
    page = rule.documentation()
    places = [page.find(f"## {heading}\n") for heading in HEADINGS]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_the_readme_lists_the_rule(rule: Rule) -> None:
    assert f"| {rule.code} | {rule.slug} |" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wanted", "unwanted", "codes"),
    [
        pytest.param(
            (), ("CC1", "CC2", "CC3", "CC9"), "CC401 CC402 CC403", id="defaults minus groups"
        ),
        pytest.param(("CC103",), (), "CC103", id="a rule that is off by default"),
        pytest.param(("CC2",), (), "CC201 CC202 CC203 CC204 CC205", id="the beginning of a code"),
        pytest.param(("shared-memory-race",), (), "CC401", id="a slug"),
        pytest.param(("cc4",), ("CC402",), "CC401 CC403", id="ignore wins over select"),
        pytest.param(("all",), ("CC1", "CC2", "CC3", "CC4"), "CC901 CC902 CC903", id="all"),
    ],
)
def test_select_and_ignore(wanted: tuple[str, ...], unwanted: tuple[str, ...], codes: str) -> None:
    assert [rule.code for rule in rules.select(wanted, unwanted)] == codes.split()


def test_without_select_the_default_rules_run() -> None:
    assert rules.select((), ()) == DEFAULT_RULES


@pytest.mark.parametrize("name", ["CC7", "E501", ""])
def test_an_unknown_name_lists_the_rules_there_are(name: str) -> None:
    with pytest.raises(UsageError, match="CC101"):
        rules.select((name,), ())


def test_one_place_in_several_instances_is_one_finding() -> None:
    strided = access(pattern="strided", lane_stride_bytes=32, sectors=exactly(32, 4))
    kernels = [kernel(strided, template={"PAD": pad}) for pad in ("0", "1")]
    (finding,) = rules.merge(f for each in kernels for f in rules.check(each))
    assert finding.instances == (
        "flip<PAD=0>, block 32x8, n=512",
        "flip<PAD=1>, block 32x8, n=512",
    )


def test_equal_words_of_different_severity_keep_the_worst() -> None:
    note, warning = (
        Finding("CC101", severity, NOWHERE, "k", "said", access=number, instances=(f"n={number}",))
        for number, severity in enumerate((Severity.NOTE, Severity.WARNING))
    )
    (finding,) = rules.merge([note, warning])
    assert (finding.severity, finding.access) == (Severity.WARNING, 1)
    assert finding.instances == ("n=1", "n=0")  # the first is the one the access belongs to


def test_different_numbers_at_one_place_stay_apart() -> None:
    eight = access(pattern="strided", lane_stride_bytes=8, sectors=exactly(8, 4))
    many = access(pattern="strided", lane_stride_bytes=32, sectors=exactly(32, 4))
    findings = rules.merge(f for each in (eight, many) for f in rules.check(kernel(each)))
    assert [finding.ratio for finding in findings] == [8.0, 2.0]


def test_findings_come_worst_first() -> None:
    findings = rules.check(
        kernel(
            access(0, pattern="misaligned", sectors=exactly(5, 4)),
            access(1, pattern="strided", lane_stride_bytes=8, sectors=exactly(8, 4)),
            access(2, pattern="strided", lane_stride_bytes=32, sectors=exactly(32, 4)),
        )
    )
    assert [finding.access for finding in findings] == [2, 1, 0]
    assert findings[0].severity is Severity.WARNING


def test_of_equal_severity_the_costliest_over_the_launch_comes_first() -> None:
    def found(severity: Severity, waste: int | None, ratio: float) -> Finding:
        return Finding(
            "CC101", severity, NOWHERE, "k", f"{waste} {ratio}", ratio=ratio, waste=waste
        )

    wanted = [
        found(Severity.ERROR, None, 1.0),
        found(Severity.WARNING, 100, 2.0),
        found(Severity.WARNING, 10, 8.0),
        found(Severity.WARNING, None, 8.0),  # how often it runs is not known
        found(Severity.WARNING, None, 4.0),
        found(Severity.NOTE, 1000, 32.0),
    ]
    assert list(rules.merge(reversed(wanted))) == wanted


def test_an_unknown_block_beside_a_known_one_is_named() -> None:
    known = Launch(Dim3(16), None, "host")
    unknown = Launch(None, None, "host")
    named = [wording.instance(kernel(launch=launch)) for launch in (known, unknown)]
    assert named == ["flip<PAD=0>, block 16, n=512", "flip<PAD=0>, block unknown, n=512"]
