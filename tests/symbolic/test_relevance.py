"""Which values decide addresses and conditions, worked out by hand on small bodies."""

from __future__ import annotations

import pytest

from coalescecheck.ir import types as t
from coalescecheck.ir.expr import ArrayBase, Binary, Const, Expr, Var
from coalescecheck.ir.kernel import (
    Array,
    Assign,
    Atomic,
    If,
    Kernel,
    Load,
    Loop,
    Scope,
    Space,
    Stmt,
    Store,
    WarpOp,
)
from coalescecheck.source import NOWHERE
from coalescecheck.symbolic.prepared import prepared
from coalescecheck.symbolic.relevance import Relevance

NAMES = ("a", "b", "c", "d", "p")
ARRAYS = {
    name: Array(name, space, "int", 4)
    for name, space in (("g", Space.GLOBAL), ("q", Space.LOCAL), ("r", Space.LOCAL))
}


def var(name: str) -> Var:
    return Var(name, t.PTR if name == "p" else t.I32)


def let(name: str, value: Expr) -> Stmt:
    return Assign(var(name), value)


def at(array: str, index: str | None = None) -> Expr:
    """The address of an element; of the first one without ``index``."""
    base: Expr = var("p") if array == "p" else ArrayBase(array)
    return Binary("+", base, var(index), t.PTR) if index else base


def load(name: str, address: Expr) -> Stmt:
    return Load(0, 0, var(name), address)


def store(address: Expr, value: str) -> Store:
    return Store(0, 0, address, var(value))


def kernel(*body: Stmt) -> Kernel:
    return Kernel("k", NOWHERE, (), ARRAYS, (), (Scope("kernel", body),))


def needed(*body: Stmt) -> set[str]:
    relevance = Relevance(kernel(*body))
    return {name for name in NAMES if relevance.variable(name)}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ((let("b", var("a")), store(at("g", "b"), "c")), {"a", "b"}),  # the value is not needed
        ((let("b", var("a")), store(at("g"), "b")), set()),
        ((let("b", var("a")), load("c", at("g", "b"))), {"a", "b"}),
        ((let("b", var("a")), If(var("b"), (), ())), {"a", "b"}),
        ((Loop("l", (), var("b"), (), (let("b", var("a")),)),), {"a", "b"}),
        ((Atomic(0, var("c"), "add", at("g", "b"), (var("a"),)),), {"b"}),
        ((WarpOp(var("b"), "shfl", (var("a"), var("c"))), store(at("g", "b"), "d")), set("abc")),
        ((WarpOp(var("b"), "shfl", (var("a"),)), store(at("g"), "b")), set()),
        # a loop turns the order round: c is read before it is set
        ((let("b", var("c")), let("c", var("a")), store(at("g", "b"), "d")), set("abc")),
        # what global memory holds is not followed
        ((store(at("g"), "a"), load("b", at("g")), store(at("g", "b"), "d")), {"b"}),
        # what a per-thread array holds is: an index that is kept in one
        ((store(at("q"), "a"), load("b", at("q")), store(at("g", "b"), "d")), {"a", "b"}),
        ((store(at("r"), "a"), load("b", at("q")), store(at("g", "b"), "d")), {"b"}),
        ((store(at("q"), "a"), load("b", at("q")), store(at("g"), "b")), set()),
        # through a pointer to it, and through one of unknown origin
        (
            (
                let("p", at("q")),
                store(at("p"), "a"),
                load("b", at("q")),
                store(at("g", "b"), "d"),
            ),
            {"a", "b", "p"},
        ),
        (
            (
                load("p", at("g")),
                store(at("p"), "a"),
                load("b", at("q")),
                store(at("g", "b"), "d"),
            ),
            {"a", "b", "p"},
        ),
        (
            (
                let("p", at("q")),
                store(at("q"), "a"),
                load("b", at("p")),
                store(at("g", "b"), "d"),
            ),
            {"a", "b", "p"},
        ),
        # from one array into the other
        (
            (
                store(at("r"), "a"),
                load("c", at("r")),
                store(at("q"), "c"),
                load("b", at("q")),
                store(at("g", "b"), "d"),
            ),
            {"a", "b", "c"},
        ),
    ],
)
def test_what_addresses_and_conditions_depend_on(body: tuple[Stmt, ...], names: set[str]) -> None:
    assert needed(*body) == names


def test_only_stores_that_come_back_are_followed() -> None:
    kept, lost = store(at("q"), "a"), store(at("r"), "a")
    found = Relevance(kernel(kept, lost, load("b", at("q")), If(var("b"), (), ())))
    assert found.contents(kept)
    assert not found.contents(lost)


def test_a_kernel_is_prepared_once_and_one_that_is_only_equal_again() -> None:
    one, other = (kernel(If(Const(t.BOOL, 1), (), ())) for _ in range(2))
    assert one == other
    assert prepared(one) is prepared(one)
    assert prepared(one) is not prepared(other)
