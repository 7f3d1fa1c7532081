"""Which launches of a kernel are analysed, and who wins where several sources speak."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coalescecheck.frontend.kernel_c import Directive, KernelC, SourceFile, SourceMap
from coalescecheck.launch import Dim3, Launch
from coalescecheck.launches import cases_of, without_effect
from coalescecheck.options import make_options
from coalescecheck.source import Span
from hand_made import kernel as analysed

HOST = Launch(Dim3(256), Dim3(64), "host", args=(("n", 1024),), file="k.cu", line=30)


def kernel(*launches: Launch, line: int = 10, max_threads: int | None = None) -> KernelC:
    span = Span("k.cu", line, 1)
    return KernelC("k", span, {}, "k", "", SourceMap(), launches, max_threads)


def chosen(
    subject: KernelC, *directives: Directive, others: tuple[KernelC, ...] = (), **options: Any
) -> list[tuple[Any, ...]]:
    source = SourceFile("k.cu", "", (*others, subject), directives)
    found = [case.launch for case in cases_of(subject, source, make_options(**options))]
    return [(launch.source, launch.block, launch.grid, dict(launch.args)) for launch in found]


def comment(line: int, **facts: Any) -> Directive:
    return Directive(Span("k.cu", line, 1), **facts)


def test_nothing_known_is_an_assumption() -> None:
    assert chosen(kernel()) == [("assumed", None, None, {})]


def test_launch_bounds_are_a_source_of_their_own() -> None:
    assert chosen(kernel(max_threads=256)) == [("bounds", None, None, {})]


def test_a_value_that_no_kernel_takes_is_told() -> None:
    said = comment(9, params=(("n", 4), ("m", 3)), assume=("a % 128 == 0",))
    source = SourceFile("k.cu", "", (kernel(),), (said,))
    found = analysed(span=kernel().span, params={"n": 4})
    assert [str(each) for each in without_effect(source, [found])] == [
        "k.cu:9:1: warning: flip has no integer parameter called m"
    ]
    assert not [*without_effect(source, [replace(found, status="failed")])]
    assert not [*without_effect(source, [])]  # not one of those that were asked for


def test_each_launch_of_the_host_counts_once() -> None:
    other = Launch(Dim3(128), Dim3(64), "host", line=40)
    again = Launch(Dim3(256), Dim3(64), "host", args=(("n", 1024),), line=50)
    assert [block for _, block, _, _ in chosen(kernel(HOST, other, again))] == [
        Dim3(256),
        Dim3(128),
    ]


def test_a_comment_wins_over_the_host_and_keeps_its_arguments() -> None:
    found = chosen(kernel(HOST), comment(9, block=Dim3(32, 8), params=(("m", 3),)))
    assert found == [("comment", Dim3(32, 8), None, {"n": 1024, "m": 3})]


def test_the_command_line_wins_over_the_comment() -> None:
    found = chosen(kernel(HOST), comment(9, block=Dim3(32, 8)), block="64", params=["n=5"])
    assert found == [("cli", Dim3(64), None, {"n": 5})]


def test_the_same_block_keeps_the_grid() -> None:
    assert chosen(kernel(HOST), block="256") == [("cli", Dim3(256), Dim3(64), {"n": 1024})]


def test_parameters_alone_leave_the_launch_where_it_came_from() -> None:
    assert chosen(kernel(HOST), params=["n=5"]) == [("host", Dim3(256), Dim3(64), {"n": 5})]


def test_several_comments_are_several_launches() -> None:
    found = chosen(kernel(), comment(8, block=Dim3(32)), comment(9, block=Dim3(64)))
    assert [block for _, block, _, _ in found] == [Dim3(32), Dim3(64)]


def test_a_comment_does_not_reach_past_the_next_kernel() -> None:
    above = kernel(line=5)
    assert chosen(kernel(), comment(4, block=Dim3(32)), others=(above,)) == [
        ("assumed", None, None, {})
    ]


def test_facts_of_the_comment_and_of_the_command_line_add_up() -> None:
    source = SourceFile("k.cu", "", (kernel(),), (comment(9, assume=("n > 0",)),))
    (case,) = cases_of(kernel(), source, make_options(assume=["n % 32 == 0"]))
    assert case.assume == ("n > 0", "n % 32 == 0")
