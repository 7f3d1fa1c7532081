"""Slices worked out by hand, on statements that are called by what they set."""

from __future__ import annotations

import pytest

from coalescecheck.ir.expr import TRUE, Binary, Const, Expr, Var
from coalescecheck.ir.kernel import Assign, If, Leave, Loop, Scope, Stmt, expressions, walk
from coalescecheck.ir.mentions import Mentions
from coalescecheck.ir.slicing import Dependences, Slicer
from coalescecheck.ir.types import BOOL, I32


def read(*names: str) -> Expr:
    value: Expr = Const(I32, 1)
    for name in names:
        value = Binary("+", value, Var(name, I32), I32)
    return value


def let(name: str, *names: str) -> Stmt:
    return Assign(Var(name, I32), read(*names))


def below(name: str) -> Expr:
    return Binary("<", Var(name, I32), Const(I32, 9), BOOL)


def when(name: str, *then: Stmt) -> If:
    return If(below(name), then, ())


def loop(label: str, counter: str, *body: Stmt) -> Loop:
    return Loop(label, (), below(counter), body, (let(counter, counter),))


def kept(body: tuple[Stmt, ...], names: str, inside: Stmt | None = None) -> str:
    """The variables that the kept assignments set, and labels of the kept jumps, in order."""
    slicer = Slicer(Dependences(body, Mentions()), expressions, lambda stmt: False)
    found = slicer.all(names) if inside is None else slicer.inside(inside, names)
    here = [stmt for stmt in walk(body) if id(stmt) in found.statements]
    return "".join(
        stmt.var.name if isinstance(stmt, Assign) else stmt.label
        for stmt in here
        if isinstance(stmt, Assign | Leave)
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("d", "acd"),
        ("b", "ab"),
        ("", ""),
    ],
)
def test_what_a_value_is_made_of_is_kept(names: str, expected: str) -> None:
    assert kept((let("a"), let("b", "a"), let("c", "a"), let("d", "c")), names) == expected


def test_the_conditions_around_are_kept() -> None:
    body = (let("a"), let("b"), let("c"), when("a", let("d", "b")), when("c", let("e")))
    assert kept(body, "d") == "abd"


def test_the_loops_around_and_their_counters_are_kept() -> None:
    body = (let("i"), loop("l", "i", let("s", "s")), let("j"), loop("m", "j", let("t", "i")))
    assert kept(body, "s") == "isi"
    assert kept(body, "t") == "iijtj"


def test_a_jump_matters_to_all_inside_what_it_leaves() -> None:
    early = when("a", Leave("S"))
    body = (let("a"), let("b"), Scope("S", (early, let("c"))), when("b", let("d")))
    assert kept(body, "c") == "aSc"
    assert kept(body, "d") == "bd"


def test_inside_a_loop_its_own_condition_and_all_ways_out_are_kept() -> None:
    inner = Scope("R", (when("c", Leave("R")), let("x")))
    body = loop("l", "i", let("c", "i"), let("b", "i"), when("b", Leave("out")), inner)
    assert kept((Scope("out", (let("i"), body)),), "", inside=body) == "bouti"
    assert kept((Scope("out", (let("i"), body)),), "x", inside=body) == "cboutRxi"


def test_a_label_that_is_used_twice_means_the_scope_around() -> None:
    first = Scope("S", (when("a", Leave("S")), let("b")))
    second = Scope("S", (when("c", Leave("S")), let("d")))
    assert kept((let("a"), let("c"), first, second), "b") == "aSb"


def test_statements_may_be_wanted_in_any_case() -> None:
    body = (let("a"), let("b", "a"), If(TRUE, (let("c"),), ()))
    found = Slicer(Dependences(body, Mentions()), expressions, lambda stmt: stmt is body[1]).all()
    assert found.statements == {id(body[0]), id(body[1])}
    assert found.variables == {"a"}
