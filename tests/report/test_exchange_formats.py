"""SARIF, GitHub annotations, Markdown and JUnit, read as their readers read them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator
from markdown_it import MarkdownIt

from coalescecheck import rules
from coalescecheck.findings import Severity
from coalescecheck.fingerprint import fingerprints
from coalescecheck.report import FORMATS, renderer
from coalescecheck.report.model import FileReport, Report, Terminal
from hand_made import TEXT, access, exactly, file, kernel
from hostile import ATTACKS, HOSTILE, STRIDED, hostile, ordinary, report_of

DATA = Path(__file__).parents[1] / "data"
SARIF_SCHEMA = json.loads((DATA / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))


def rendered(name: str, report: Report) -> str:
    return renderer(name)(report, Terminal())


def many(warnings: int, notes: int = 0) -> Report:
    """A report with this many findings of two severities, the worst last in the file."""
    accesses = [
        access(i, at=(5, i + 1), pattern="strided", lane_stride_bytes=8, sectors=exactly(8 + i, 4))
        for i in range(warnings)
    ]
    shifted = [
        access(100 + i, at=(7, i + 1), pattern="misaligned", sectors=exactly(5, 4))
        for i in range(notes)
    ]
    return report_of(kernel(*accesses, *shifted))


# --- all formats ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", [*ATTACKS, HOSTILE, ""], ids=lambda t: ascii(t)[:20])
def test_hostile_names_are_rendered(name: str, text: str) -> None:
    assert rendered(name, hostile(text)).encode("utf-8")


@pytest.mark.parametrize("name", ["text", "concise", "github", "markdown"])
def test_no_name_moves_the_cursor_or_reorders_a_log(name: str) -> None:
    steering = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    text = renderer(name)(hostile(HOSTILE), Terminal(colour=True))
    assert re.findall(steering, re.sub(r"\x1b\[[\d;]*m", "", text)) == []


# --- SARIF ------------------------------------------------------------------------------------


def sarif(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(rendered("sarif", report))
    return document


@pytest.mark.parametrize(
    "report", [ordinary(), hostile(), many(12, 12), Report("0.1.0", "sm_80", ())]
)
def test_sarif_is_valid(report: Report) -> None:
    errors = Draft4Validator(SARIF_SCHEMA).iter_errors(sarif(report))
    assert [f"{list(error.path)}: {error.message[:200]}" for error in errors] == []


def test_the_schema_notices_a_wrong_level() -> None:
    document = sarif(ordinary())
    document["runs"][0]["results"][0]["level"] = "bad"
    assert not Draft4Validator(SARIF_SCHEMA).is_valid(document)


def test_sarif_describes_every_rule_from_its_docstring() -> None:
    described = sarif(ordinary())["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == [rule.code for rule in rules.RULES]
    for entry, rule in zip(described, rules.RULES, strict=True):
        assert entry["help"]["markdown"] == rule.documentation()
        assert len(entry["fullDescription"]["text"]) > 40


def test_a_sarif_result_says_what_where_and_how_to_change_it() -> None:
    (conflict, _) = sarif(ordinary())["runs"][0]["results"]
    assert conflict["ruleId"] == "CC201"
    assert conflict["level"] == "warning"
    location = conflict["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "flip.cu", "uriBaseId": "%SRCROOT%"}
    start = TEXT.splitlines()[6].index("tile[") + 1
    end = TEXT.splitlines()[6].index(";") + 1
    assert location["region"] == {"startLine": 7, "startColumn": start, "endColumn": end}
    assert location["contextRegion"]["snippet"] == {"text": TEXT.splitlines()[6]}
    (fix,) = conflict["fixes"]
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 4, "startColumn": 27, "endColumn": 29},
        "insertedContent": {"text": "33"},
    }
    assert fix["description"]["text"].endswith("32 wavefronts → 1 wavefront")


def test_a_sarif_result_has_the_fingerprint_that_code_scanning_reads() -> None:
    report = many(2)
    (part,) = report.files
    printed = fingerprints(part.analysis.path, part.analysis.text, part.findings, Path.cwd())
    results = json.loads(rendered("sarif", report))["runs"][0]["results"]
    found = [result["partialFingerprints"] for result in results]
    assert [each["primaryLocationLineHash"] for each in found] == printed
    assert [each["coalescecheck/v1"] for each in found] == printed
    assert len(set(printed)) == 2


def test_rule_indices_point_at_the_rule() -> None:
    run = sarif(ordinary())["runs"][0]
    described = run["tool"]["driver"]["rules"]
    assert [described[r["ruleIndex"]]["id"] for r in run["results"]] == ["CC201", "CC101"]


def test_an_unreadable_file_is_no_successful_run() -> None:
    (invocation,) = sarif(hostile())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False


# --- fingerprints -----------------------------------------------------------------------------


def prints(text: str, *places: tuple[int, int], path: str = "flip.cu") -> list[str]:
    found = [
        finding
        for at, place in enumerate(places)
        for finding in rules.check(
            kernel(access(at, at=place, file=path, sectors=exactly(32, 4), pattern="strided"))
        )
    ]
    return fingerprints(path, text, found, Path.cwd())


def test_a_fingerprint_survives_lines_above_and_other_indentation() -> None:
    before = prints("\n\n    x = in[i *  n];\n", (3, 9))
    assert prints("// new\n\n\n\n\tx = in[i*n];\n", (5, 6)) == before


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("\n\n    x = in[i * m];\n", "flip.cu", id="another line"),
        pytest.param("\n\n    x = in[i * n];\n", "flop.cu", id="another file"),
    ],
)
def test_a_fingerprint_changes_with(text: str, path: str) -> None:
    assert prints(text, (3, 9), path=path) != prints("\n\n    x = in[i * n];\n", (3, 9))


def test_two_findings_of_one_line_are_told_apart_by_their_order() -> None:
    text = "a[i * n] = b[i * n];\n"
    first, second = prints(text, (1, 1), (1, 12))
    assert first != second
    assert prints(text, (1, 12), (1, 1)) == [second, first]


# --- GitHub -----------------------------------------------------------------------------------


def test_github_gets_ten_of_each_kind_worst_first_and_a_line_about_the_rest() -> None:
    lines = rendered("github", many(13, 12)).splitlines()
    kinds = [line.partition(" ")[0] for line in lines if line.startswith("::")]
    assert kinds == ["::warning"] * 10 + ["::notice"] * 10
    sectors = [int(n) for line in lines for n in re.findall(r"^::warning.*: (\d+) sectors", line)]
    assert sectors == list(range(20, 10, -1))
    assert lines[-2].startswith("3 more warnings, 2 more notes: ")


def test_a_github_annotation() -> None:
    shown = rendered("github", report_of(kernel(STRIDED)))
    assert shown == (
        "::warning file=flip.cu,line=5,col=38,title=CC101 in flip::global load in[threadIdx.x * n]:"
        " 32 sectors per warp, 4 would do (8x); lanes step 2048 bytes%0Aevery lane has a sector of"
        " its own and uses 4 of its 32 bytes%0Alet threadIdx.x select the contiguous index, or"
        " stage the data through a shared tile\n"
        "coalescecheck: 1 kernel, 1 access, 1 finding\n"
    )


def test_no_name_starts_a_workflow_command_of_its_own() -> None:
    lines = re.split("[\r\n]", rendered("github", hostile()))
    assert [
        line
        for line in lines
        if line and not re.match("::(error|warning|notice) file=|coalescecheck: ", line)
    ] == []


def test_a_clean_report_annotates_nothing() -> None:
    shown = rendered("github", report_of(kernel(access())))
    assert shown == "coalescecheck: 1 kernel, 1 access, 0 findings\n"


# --- Markdown ---------------------------------------------------------------------------------


def test_a_markdown_comment() -> None:
    shown = rendered("markdown", ordinary())
    assert shown.startswith("<!-- coalescecheck -->\n## CoalesceCheck: 2 warnings\n")
    assert "| 🟠 | `flip.cu:7` `flip` | **CC201** shared load tile\\[threadIdx" in shown
    assert "- `flip.cu:7` `flip`: declare `tile[32][33]` instead of `tile[32][32]`" in shown
    assert "1 kernel, 3 accesses" in shown


def test_markdown_of_nothing_says_so() -> None:
    assert "CoalesceCheck: nothing to report" in rendered("markdown", report_of(kernel(access())))


def test_a_markdown_comment_stays_below_the_limit_of_a_comment() -> None:
    shown = rendered("markdown", many(70))
    assert "… and 45 more" in shown
    long = replace(STRIDED, reason="x" * 5000)
    assert (
        len(rendered("markdown", report_of(*[kernel(long, params={"n": i}) for i in range(99)])))
        < 65_536
    )


def test_no_name_becomes_markup_in_markdown() -> None:
    html = MarkdownIt("commonmark").enable("table").render(rendered("markdown", hostile()))
    ours = {"h2", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "sub", "br"}
    ours |= {"details", "summary", "ul", "li"}
    assert set(re.findall(r"<([a-zA-Z][\w-]*)", html)) - ours == set()
    assert re.findall(r"(?<!-->)@[a-z]+", re.sub("<code>.*?</code>", "", html)) == []


# --- JUnit ------------------------------------------------------------------------------------


def test_junit_has_one_case_per_kernel_instance() -> None:
    other = kernel(access(), params={"n": 64})
    root = ElementTree.fromstring(rendered("junit", report_of(kernel(STRIDED), other)))
    suite = root[0]
    assert suite.attrib == {"name": "flip.cu", "tests": "2", "failures": "1", "errors": "0"}
    names = [case.get("name") for case in suite]
    assert names == ["flip<PAD=0>, block 32x8, n=512", "flip<PAD=0>, block 32x8, n=64"]
    failure = suite[0].find("failure")
    assert failure is not None
    assert failure.get("type") == str(Severity.WARNING)
    assert (failure.text or "").startswith("flip.cu:5:38: warning: CC101 global load")


def test_junit_notes_do_not_fail() -> None:
    shifted = access(pattern="misaligned", sectors=exactly(5, 4))
    case = ElementTree.fromstring(rendered("junit", report_of(kernel(shifted))))[0][0]
    assert [child.tag for child in case] == ["system-out"]


def test_junit_shows_what_could_not_be_analysed() -> None:
    lost = kernel(status="failed", reason="inline assembly")
    unreadable = FileReport(file(path="gone.cu"), unreadable=True)
    report = report_of(lost)
    root = ElementTree.fromstring(
        rendered("junit", replace(report, files=(*report.files, unreadable)))
    )
    assert root.get("errors") == "1"
    error = root[0][0].find("error")
    assert error is not None
    assert error.get("message") == "inline assembly"
