"""Which variables a later statement may still read, worked out by hand on small bodies."""

from __future__ import annotations

from coalescecheck.ir import types as t
from coalescecheck.ir.expr import ArrayBase, Const, Expr, Var
from coalescecheck.ir.kernel import Assign, Continue, If, Leave, Load, Loop, Scope, Stmt, Store
from coalescecheck.symbolic.liveness import Liveness

ONE = Const(t.I32, 1)
CELL = "q@0:i32"
ALL = {name: name for name in ("a", "b", "c")}
CELLS = {CELL: CELL}


def var(name: str) -> Var:
    return Var(name, t.I32)


def let(name: str, value: Expr = ONE) -> Stmt:
    return Assign(var(name), value)


def loop(body: tuple[Stmt, ...], test_first: bool = True, step: tuple[Stmt, ...] = ()) -> Loop:
    return Loop("loop", (), var("b"), body, step, test_first)


def scope(*body: Stmt) -> tuple[Stmt, ...]:
    return (Scope("kernel", body),)


def test_what_is_set_before_it_is_read_does_not_matter() -> None:
    branch = If(var("b"), (let("a"),), (let("a"),))
    live = Liveness(scope(branch, let("c", var("a"))))
    assert set(live.before(branch, ALL)) == {"b"}
    assert set(live.after(branch, ALL)) == {"a"}


def test_one_branch_that_does_not_set_it_keeps_it() -> None:
    branch = If(var("b"), (let("a"),), ())
    live = Liveness(scope(branch, let("c", var("a"))))
    assert set(live.before(branch, ALL)) == {"a", "b"}


def test_the_next_iteration_reads_what_this_one_leaves() -> None:
    inner = If(var("c"), (), ())
    once = loop((let("c", var("a")), inner, let("a", var("c"))))
    live = Liveness(scope(once))
    assert set(live.before(once, ALL)) == {"a", "b"}
    assert set(live.after(inner, ALL)) == {"b", "c"}


def test_a_temporary_of_the_body_is_nothing_between_iterations() -> None:
    inner = If(var("b"), (let("c", var("a")),), ())
    once = loop((let("a"), inner))
    live = Liveness(scope(once))
    assert set(live.before(once, ALL)) == {"b"}
    assert set(live.after(inner, ALL)) == {"b"}


def test_a_jump_leads_to_what_is_read_at_its_target() -> None:
    leaves = If(var("c"), (Leave("loop"),), (let("a"),))
    goes_on = If(var("c"), (Continue("loop"),), ())
    once = loop((leaves, goes_on, let("a")), step=(let("c", var("a")),))
    live = Liveness(scope(once, let("c", var("a"))))
    assert set(live.before(leaves, ALL)) == {"a", "b", "c"}
    assert set(live.before(goes_on, ALL)) == {"a", "b", "c"}
    assert set(live.after(once, ALL)) == {"a"}


def test_do_while_runs_its_body_before_the_test() -> None:
    once = loop((let("b"), let("a", var("c"))), test_first=False)
    live = Liveness(scope(once))
    assert set(live.before(once, ALL)) == {"c"}


def test_cells_matter_while_their_array_is_accessed_later() -> None:
    first, second = If(var("a"), (), ()), If(var("a"), (), ())
    load = Load(0, 0, var("c"), ArrayBase("q"))
    live = Liveness(scope(first, load, second))
    assert CELL in live.before(first, CELLS)
    assert CELL not in live.before(second, CELLS)


def test_cells_matter_for_ever_once_a_pointer_to_their_array_is_kept() -> None:
    last = If(var("a"), (), ())
    pointer = Assign(Var("p", t.PTR), ArrayBase("q"))
    assert CELL in Liveness(scope(pointer, last)).before(last, CELLS)
    stored = Store(0, 0, Var("p", t.PTR), ArrayBase("q"))
    assert CELL in Liveness(scope(stored, last)).before(last, CELLS)


def test_loops_inside_loops_take_no_more_time_for_each() -> None:
    """Solved level by level twice, fifty would never end."""
    innermost = If(var("c"), (let("a"),), ())
    body: tuple[Stmt, ...] = (innermost,)
    for depth in range(50):
        body = (Loop(f"loop{depth}", (), var("b"), body, ()),)
    live = Liveness(scope(*body))
    assert set(live.before(innermost, ALL)) == {"b", "c"}
