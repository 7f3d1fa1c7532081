"""Constant expressions: values as a C++ compiler for LP64 computes them."""

from __future__ import annotations

import pytest
import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from coalescecheck.frontend.constants import evaluate, evaluate_value
from coalescecheck.frontend.ctypes_lp64 import Value

NAMES = {"N": 100, "A::b": 7, "s.x": 3}


def expression(text: str) -> Node:
    tree = Parser(Language(tree_sitter_cuda.language())).parse(f"int a = {text};".encode())
    declarator = tree.root_node.children[0].child_by_field_name("declarator")
    assert declarator is not None
    value = declarator.child_by_field_name("value")
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1'F", 31),
        ("017", 15),
        ("0b101u", 5),
        ("10ULL", 10),
        ("'c'", 99),
        (r"'\n'", 10),
        (r"'\x41'", 65),
        ("true + 1", 2),
        ("1 + 2 * 3", 7),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("(N + 31) / 32", 4),
        ("(N)-1", 99),
        ("N > 3 ? 1 : 2", 1),
        ("!N", 0),
        ("~0", -1),
        ("N & 3", 0),
        ("6 ^ 3 | 8", 13),
        ("1 << 31", -(2**31)),
        ("(long)1 << 40", 2**40),
        ("0u - 1", 2**32 - 1),
        ("-1 < 0u", 0),
        ("(int)3.7", 3),
        ("(int)-3.7", -3),
        ("static_cast<unsigned>(-1)", 2**32 - 1),
        ("unsigned(-1)", 2**32 - 1),
        ("(unsigned char)300", 44),
        ("uint32_t(7)", 7),
        ("std::size_t(7)", 7),
        ("int{5}", 5),
        ("A::b", 7),
        ("::N", 100),
        ("s.x", 3),
        ("sizeof(float) * 2", 8),
        ("sizeof(int[4])", 16),
        ("sizeof(float4 *)", 8),
        ("sizeof(double3)", 24),
        ("sizeof(long double) ", None),
        ("min(3, N)", 3),
        ("std::max<int>(3, N)", 100),
        ("(int)ceil((float)N / 32)", 4),
        ("(int)ceil(N / 64.0)", 2),
        ("(int)ceilf(2.5f)", 3),
        ("0 && x", 0),
        ("1 || x", 1),
        ("x && 0", None),
        ("1 / 0", None),
        ("2147483647 + 1", None),
        ("1 << 32", None),
        ("x", None),
        ("f(3)", None),
        ("N + x", None),
        ("1.5", None),
        ("N++", None),
        ("*p", None),
    ],
)
def test_value(text: str, value: int | None) -> None:
    assert evaluate(expression(text), NAMES.get) == value


def test_a_callback_resolves_helper_functions() -> None:
    def call(node: Node, arguments: object) -> Value | None:
        assert isinstance(arguments, list)
        a, b = arguments
        return Value((a.number + b.number - 1) // b.number, a.type)

    assert evaluate(expression("ceil_div(N, 32)"), NAMES.get, call=call) == 4


def test_a_callback_resolves_type_names() -> None:
    names = {"index_t": "unsigned long", "real": "double"}
    node = expression("sizeof(real) * index_t(-1)")
    assert evaluate(node, NAMES.get, type_name=names.get) == 2**64 - 8


def test_deep_expressions_are_unknown_not_fatal() -> None:
    assert evaluate_value(expression("(" * 3000 + "1" + ")" * 3000), NAMES.get) is None
