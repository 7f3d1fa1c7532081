"""Hovers and diagnostics of results made by hand, and of hostile ones."""

from __future__ import annotations

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt
from pygls.protocol import default_converter
from pygls.workspace import PositionCodec

from coalescecheck.analysis import AccessResult, Count
from coalescecheck.lsp.actions import actions
from coalescecheck.lsp.diagnostics import diagnostics
from coalescecheck.lsp.hover import hover
from coalescecheck.lsp.messages import Reply
from coalescecheck.lsp.places import Places
from coalescecheck.lsp.session import Analysed, Document
from coalescecheck.report.model import FileReport
from hand_made import PATH, TEXT, access, exactly, kernel
from hostile import ATTACKS, HOSTILE, hostile, ordinary, report_of

CODEC = PositionCodec()


def over(report: FileReport, line: int, column: int) -> str:
    """The Markdown over a place of a report's own text."""
    said = hover(report, Places(report.analysis.text, CODEC), line, column)
    return "" if said is None else said.markdown


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (access(), "✓ fine: it takes no more sectors"),
        (access(sectors=Count(4, 5, 4.3, 4)), "✓ fine: it takes hardly more sectors"),
        (access(sectors=exactly(5, 4)), "• it takes a few more sectors"),
        (access(sectors=exactly(8, 4)), "▲ wasteful: it takes at least twice the sectors"),
        (access(sectors=None, certainty="unknown"), "? whether it could take fewer sectors"),
        (access(space="shared", wavefronts=exactly(1, 1)), "✓ fine: it takes no more wavefronts"),
    ],
)
def test_the_verdict_on_an_access(result: AccessResult, verdict: str) -> None:
    (file,) = report_of(kernel(result)).files
    assert verdict in over(file, 5, 38)


def test_instances_that_agree_are_told_together_and_the_worst_first() -> None:
    fine = [kernel(access(), params={"n": n}) for n in (1, 2)]
    bad = kernel(access(sectors=exactly(32, 4)), params={"n": 3})
    (file,) = report_of(*fine, bad).files
    text = over(file, 5, 40)
    assert text.count("**global load**") == 2
    assert text.index("n=3") < text.index("n=1") < text.index("n=2")


def test_the_innermost_access_is_meant() -> None:
    inner = access(1, at=(5, 41), index="threadIdx")
    (file,) = report_of(kernel(access(), inner)).files
    assert "`in[threadIdx.x * n]`" in over(file, 5, 39)
    assert "`threadIdx`" in over(file, 5, 41)


@pytest.mark.parametrize("text", [*ATTACKS, HOSTILE])
def test_hostile_names_stay_text(text: str) -> None:
    file = hostile(text).files[0]
    source = file.analysis.text
    markdown = over(file, 1, 1)
    assert markdown
    html = MarkdownIt("commonmark").render(markdown)
    assert not any(f"<{tag}" in html for tag in ("script", "img", "a ", "b>", "!--"))
    analysed = Analysed(Document("file:///k.cu", text, source, 1), Reply(file))
    found = diagnostics(analysed, CODEC)
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    params = types.CodeActionParams(
        types.TextDocumentIdentifier("file:///k.cu"), whole, types.CodeActionContext(found)
    )
    made = actions(analysed, params, CODEC, versioned=True)
    assert default_converter().unstructure([found, made])


def test_findings_without_a_place_in_the_text_are_shown_all_the_same() -> None:
    (file,) = ordinary().files
    analysed = Analysed(Document("file:///flip.cu", PATH, TEXT[:40], 1), Reply(file, ("oh",)))
    found = diagnostics(analysed, CODEC)
    assert sorted(str(each.code) for each in found) == ["CC101", "CC201", "None"]
    assert all(each.range.end.line <= 2 for each in found)
