"""Where the comment goes that silences a finding."""

from __future__ import annotations

import pytest

from coalescecheck.findings import Finding, Severity
from coalescecheck.lsp.silencing import silencing
from coalescecheck.source import Span


def silenced(text: str, line: int, rule: str = "CC101") -> str | None:
    """The text with the proposed comment, None where there is no proposal."""
    finding = Finding(rule, Severity.WARNING, Span("a.cu", line, 1), "k", "m")
    edit = silencing("a.cu", text, finding)
    if edit is None:
        return None
    lines = text.split("\n")
    at = lines[edit.span.line - 1]
    changed = at[: edit.span.column - 1] + edit.text + at[edit.end_column - 1 :]
    lines[edit.span.line - 1] = changed
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("x;\n\ta = b;\n", 2, "x;\n\t// coalescecheck: ignore[CC101]\n\ta = b;\n"),
        ("a = b;", 1, "// coalescecheck: ignore[CC101]\na = b;"),
        # into a list that is there, behind the code or above it
        (
            "a; // coalescecheck: ignore[CC102] why",
            1,
            "a; // coalescecheck: ignore[CC102, CC101] why",
        ),
        (
            "// coalescecheck: ignore[CC102] why\na;",
            2,
            "// coalescecheck: ignore[CC102, CC101] why\na;",
        ),
        # a list above that speaks of its own line is of no use
        (
            "b; // coalescecheck: ignore[CC102]\na;",
            2,
            "b; // coalescecheck: ignore[CC102]\n// coalescecheck: ignore[CC101]\na;",
        ),
        # between another tool's comment and its line there is no room
        (
            "// NOLINTNEXTLINE(x)\na;",
            2,
            "// NOLINTNEXTLINE(x)\na; // coalescecheck: ignore[CC101]",
        ),
        # the last line of a macro: not above, where it would end the macro
        (
            "#define A \\\n  a = b;\n",
            2,
            "#define A \\\n  a = b; // coalescecheck: ignore[CC101]\n",
        ),
    ],
)
def test_the_comment_is_put_where_it_works(before: str, line: int, after: str) -> None:
    assert silenced(before, line) == after


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("#define A \\\n  a = b; \\\n  c;\n", 2, "CC101"),  # would end the macro
        ("a;", 2, "CC101"),  # no such line
        ("a; // coalescecheck: ignore[CC101]", 1, "CC903"),  # is about such comments
    ],
)
def test_there_is_no_proposal_that_does_not_work(text: str, line: int, rule: str) -> None:
    assert silenced(text, line, rule) is None
