"""Comments that silence findings: which lines and rules each form speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest

import coalescecheck
from coalescecheck.findings import Finding, Severity
from coalescecheck.report.model import Report
from coalescecheck.source import Span
from coalescecheck.suppressions import find_suppressions


def finding(line: int, rule: str = "CC101") -> Finding:
    return Finding(rule, Severity.WARNING, Span("a.cu", line, 5), "k", "too much")


def silenced(text: str, rule: str = "CC101") -> list[int]:
    """The lines at which a finding of ``rule`` would be silenced."""
    comments = find_suppressions("a.cu", text)
    lines = range(1, text.count("\n") + 2)
    return [line for line in lines if comments.apply([finding(line, rule)])[1]]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("x;\ny; // coalescecheck: ignore[CC101] why\nz;", [2], id="behind the code"),
        pytest.param(
            "// coalescecheck: ignore[CC101]\n\n// more\ny;\nz;", [4], id="line of its own"
        ),
        pytest.param("/* coalescecheck: ignore[CC101] */ y;", [1], id="block comment"),
        pytest.param("y; // coalescecheck:ignore[CC201, CC101]", [1], id="several rules"),
        pytest.param("y; // coalescecheck: ignore[CC1]", [1], id="the beginning of codes"),
        pytest.param("y; // coalescecheck: ignore[strided-global-access]", [1], id="a slug"),
        pytest.param("y; // coalescecheck: ignore", [1], id="every rule"),
        pytest.param("y; // coalescecheck: ignore[CC201]", [], id="another rule"),
        pytest.param('s = "coalescecheck: ignore[CC101]";', [], id="in a string"),
        pytest.param("y; // coalescecheck: ignored[CC101]", [], id="another word"),
        pytest.param("y; // NOLINT", [1], id="NOLINT for all"),
        pytest.param("y; // NOLINT(CC101)", [1], id="NOLINT for a rule"),
        pytest.param("y; // NOLINT(bugprone-x, CC1*)", [1], id="NOLINT with a glob"),
        pytest.param("y; // NOLINT(*)", [1], id="NOLINT for everything"),
        pytest.param("y; // NOLINT(bugprone-branch-clone)", [], id="NOLINT of another tool"),
        pytest.param("y; // NOLINT()", [], id="NOLINT for nothing"),
        pytest.param("y; // XNOLINT NOLINTED", [], id="other words"),
        pytest.param("// NOLINTNEXTLINE(CC101) why\ny;\nz;", [2], id="next line"),
        pytest.param(
            "a;\n// NOLINTBEGIN(CC101)\nb;\n// NOLINTEND(CC101)\nc;", [2, 3, 4], id="block"
        ),
        pytest.param("// NOLINTBEGIN\na;\n// NOLINTEND\nb;", [1, 2, 3], id="block for all"),
        pytest.param(
            "// NOLINTBEGIN(CC101)\n// NOLINTBEGIN(CC2)\n// NOLINTEND(CC101)\na; // NOLINTEND(CC2)",
            [1, 2, 3],
            id="blocks that cross",
        ),
        pytest.param("// NOLINTBEGIN(CC101)\na;", [], id="block without an end"),
    ],
)
def test_lines_that_a_comment_silences(text: str, lines: list[int]) -> None:
    assert silenced(text) == lines


def test_several_comments_on_a_line_all_count() -> None:
    text = "y; // coalescecheck: ignore[CC101] rows // NOLINT(CC201) /* NOLINT(CC102) */ // end"
    for rule, lines in {"CC101": [1], "CC201": [1], "CC102": [1], "CC103": []}.items():
        assert silenced(text, rule) == lines
    assert [entry.reason for entry in find_suppressions("a.cu", text).entries] == ["rows", "", ""]


def test_the_reason_is_kept() -> None:
    comments = find_suppressions("a.cu", "y; // coalescecheck: ignore[CC101]: needed by cuFoo */")
    (gone,) = comments.apply([finding(1)])[1]
    assert (gone.by, gone.reason) == ("source", "needed by cuFoo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("y; // coalescecheck: ignore[CC101]", "nothing to ignore", id="unused"),
        pytest.param("y; // coalescecheck: ignore[CC777]", "no rule is called 'CC777'", id="rule"),
        pytest.param("y; // coalescecheck: ignore[]", "list of rules is empty", id="no rule"),
        pytest.param("y; // coalescecheck: ignore [CC777]", "'CC777'", id="rule behind a blank"),
        pytest.param("y; // NOLINT(CC101)", "nothing to ignore", id="NOLINT of ours"),
        pytest.param("// NOLINTBEGIN(CC101)", "without NOLINTEND", id="never closed"),
        pytest.param("// NOLINTEND(CC101)", "without NOLINTBEGIN", id="never opened"),
        pytest.param("y; // NOLINT", "", id="NOLINT may be for another tool"),
        pytest.param("y; // NOLINT(bugprone-x)", "", id="NOLINT of another tool"),
        pytest.param("// NOLINTBEGIN\n", "", id="the other tool will say it"),
    ],
)
def test_comments_that_silence_nothing(text: str, said: str) -> None:
    problems = find_suppressions("a.cu", text).unused([])
    assert [said in problem.message for problem in problems] == ([True] if said else [])


# --- in a whole run ---------------------------------------------------------------------------

KERNEL = """
__global__ void strided(float *out, const float *in)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[8 * i];{comment}
}}
void run(float *out, const float *in) {{ strided<<<4, 64>>>(out, in); }}
"""


def analysed(folder: Path, comment: str, **options: object) -> Report:
    path = folder / "strided.cu"
    path.write_text(KERNEL.format(comment=comment), encoding="utf-8")
    return coalescecheck.analyze(path, verify=False, **options)


def rules_of(report: Report) -> list[str]:
    return [found.rule for found in report.findings]


def test_a_silenced_finding_is_kept_aside(tmp_path: Path) -> None:
    report = analysed(tmp_path, " // coalescecheck: ignore[CC101] read once")
    assert rules_of(report) == []
    (gone,) = report.files[0].suppressed
    assert (gone.finding.rule, gone.reason) == ("CC101", "read once")


def test_a_comment_is_of_use_whatever_is_selected(tmp_path: Path) -> None:
    comment = " // coalescecheck: ignore[CC101]"
    assert rules_of(analysed(tmp_path, comment, select=["CC9"])) == []
    assert rules_of(analysed(tmp_path, comment, ignore=["CC101"])) == []


def test_a_useless_comment_is_a_note(tmp_path: Path) -> None:
    report = analysed(tmp_path, " // coalescecheck: ignore[CC201]")
    assert rules_of(report) == ["CC101", "CC903"]
    (_, note) = report.findings
    assert (note.severity, note.span.line, note.span.column) == (Severity.NOTE, 5, 28)
    assert rules_of(analysed(tmp_path, " // coalescecheck: ignore[CC201]", ignore=["CC903"])) == [
        "CC101"
    ]


def test_nothing_is_useless_while_kernels_are_left_out(tmp_path: Path) -> None:
    report = analysed(tmp_path, " // coalescecheck: ignore[CC201]", kernels=["strided"])
    assert rules_of(report) == ["CC101"]


def test_a_comment_in_a_header_silences_there(tmp_path: Path) -> None:
    (tmp_path / "pick.cuh").write_text(
        "__device__ float pick(const float *in, int i)\n"
        "{\n    return in[8 * i]; // NOLINT(CC101)\n}\n",
        encoding="utf-8",
    )
    path = tmp_path / "a.cu"
    path.write_text(
        '#include "pick.cuh"\n' + KERNEL.format(comment="").replace("in[8 * i]", "pick(in, i)"),
        encoding="utf-8",
    )
    report = coalescecheck.analyze(path, verify=False)
    assert rules_of(report) == []
    assert len(report.files[0].suppressed) == 1


HELPER = """__device__ inline void put(float *p, int i)
{
    p[8 * i] = 1; // coalescecheck: ignore[CC101] once
}
"""


def test_a_comment_is_judged_by_its_own_file(tmp_path: Path) -> None:
    """The header's comment silences on the header's third line, not this one on its own third."""
    (tmp_path / "put.cuh").write_text(HELPER, encoding="utf-8")
    path = tmp_path / "a.cu"
    path.write_text(
        '#include "put.cuh"\n\n// NOLINT(CC101)\n'
        "__global__ void k(float *p) { put(p, threadIdx.x); }\n",
        encoding="utf-8",
    )
    report = coalescecheck.analyze(path, verify=False, block=64)
    assert [(found.rule, found.span.line) for found in report.findings] == [("CC903", 3)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param("", [], id="a header without kernels"),
        pytest.param("__global__ void c(float *p) { p[threadIdx.x] = 2; }", [], id="not used here"),
        pytest.param("__global__ void c(float *p) { p[0] = 2; } // NOLINT(CC101)", [5], id="used"),
    ],
)
def test_comments_for_those_who_include_a_header_are_left_alone(
    tmp_path: Path, more: str, said: list[int]
) -> None:
    path = tmp_path / "put.cuh"
    path.write_text(HELPER + more, encoding="utf-8")
    found = coalescecheck.analyze(path, verify=False, block=64).findings
    assert [each.span.line for each in found if each.rule == "CC903"] == said


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        pytest.param(" // NOLINT(CC201) // coalescecheck: ignore[CC903] soon", 0, id="behind it"),
        pytest.param("\n// NOLINTNEXTLINE(CC903)\n;; // NOLINT(CC201)", 0, id="above it"),
        pytest.param("\n// NOLINTNEXTLINE(CC903)\n;;", 1, id="nothing to silence"),
    ],
)
def test_the_note_about_a_comment_can_be_silenced(tmp_path: Path, comment: str, said: int) -> None:
    found = analysed(tmp_path, comment).findings
    assert [each.rule for each in found] == ["CC101"] + ["CC903"] * said


IN_A_MACRO = """
#define ONE(o, i) o[(i) * 32] = 1{first}
#define TWO(o, i) \\
    o[(i) * 32] = 1; {second} \\
    o[(i) * 33] = 1
#define OUTER(o, i) ONE(o, i)
// coalescecheck: block(128) grid(4)
__global__ void k(float *o)
{{
    ONE(o, threadIdx.x); {use}
    TWO(o, threadIdx.x);
    OUTER(o, threadIdx.x);
    o[threadIdx.x * 32] = 1;
}}
"""


@pytest.mark.parametrize(
    ("comments", "left"),
    [
        pytest.param({}, [10, 11, 11, 12, 13], id="none"),
        pytest.param({"first": " // NOLINT(CC101)"}, [11, 11, 13], id="behind the macro"),
        pytest.param({"first": " // coalescecheck: ignore[CC101]"}, [11, 11, 13], id="our own"),
        pytest.param({"second": "/* NOLINT(CC101) */"}, [10, 11, 12, 13], id="one of two lines"),
        pytest.param({"use": "// NOLINT(CC101)"}, [11, 11, 12, 13], id="one use"),
        pytest.param({"first": " // NOLINT(CC201)"}, [10, 11, 11, 12, 13], id="another rule"),
    ],
)
def test_a_comment_in_a_macro_silences_its_uses(
    tmp_path: Path, comments: dict[str, str], left: list[int]
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(IN_A_MACRO.format(**({"first": "", "second": "", "use": ""} | comments)))
    findings = list(coalescecheck.analyze(path).findings)
    assert sorted(f.span.line for f in findings if f.rule == "CC101") == left
    useless = [f.span.line for f in findings if f.rule == "CC903"]
    assert useless == ([2] if comments.get("first", "").endswith("(CC201)") else [])


def test_a_comment_in_a_macro_of_a_header_silences_its_uses(tmp_path: Path) -> None:
    (tmp_path / "put.cuh").write_text("#define PUT(o, i) o[(i) * 32] = 1 // NOLINT(CC101) given\n")
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "put.cuh"\n// coalescecheck: block(128) grid(4)\n'
        "__global__ void k(float *o) { PUT(o, threadIdx.x); }\n"
    )
    report = coalescecheck.analyze(path)
    assert not list(report.findings)
    assert [each.reason for each in report.files[0].suppressed] == ["given"]


def test_a_comment_in_a_macro_that_silences_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define PUT(o, i) o[i] = 1 // NOLINT(CC101)\n// coalescecheck: block(128) grid(4)\n"
        "__global__ void k(float *o) { PUT(o, threadIdx.x); }\n"
    )
    (said,) = coalescecheck.analyze(path).findings
    assert (said.rule, said.span.line) == ("CC903", 1)
