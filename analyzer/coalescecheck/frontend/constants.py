"""Constant expressions over tree-sitter nodes, with C's types and conversions.

In: an expression node and callbacks that give names and functions their values.
Out: the constant, or None when it is not one (or when C leaves it undefined, as signed
overflow).  It must not know where names come from: scopes are the callers' business.

    evaluate(node, lookup) -> int | None
    evaluate_value(node, lookup, call=..., type_name=...) -> Value | None
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    CType,
    Value,
    common_type,
    convert,
    limits,
    parse_type,
    plain,
    promote,
    size_of_type,
)
from coalescecheck.frontend.misread_casts import is_within_operator

Lookup = Callable[[str], "int | Value | None"]
"""A name as written without blanks (``N``, ``A::b``, ``s.x``) -> its value."""

Call = Callable[[Node, "Sequence[Value | None]"], "Value | None"]
"""A call expression and its evaluated arguments -> its value."""

TypeName = Callable[[str], "str | None"]
"""A type name that is no builtin -> the builtin spelling it stands for."""

Other = Callable[[Node], "Value | None"]
"""A name or call that nothing else gives a value -> its value."""

_MAX_DEPTH = 150  # nodes; deeper expressions are generated code, not launch bounds
_OTHERS = frozenset(
    {"qualified_identifier", "template_function", "sizeof_expression", "call_expression"}
)
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)$")
_FLOAT = re.compile(r"((?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)([fFlL]?)$")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8}
_ROUNDING: dict[str, Callable[[float], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
}


def evaluate(
    node: Node,
    lookup: Lookup,
    *,
    call: Call | None = None,
    type_name: TypeName | None = None,
) -> int | None:
    """The integer value of a constant expression, None when it is not known to be one."""
    value = evaluate_value(node, lookup, call=call, type_name=type_name)
    if value is None or value.type.is_float:
        return None
    return int(value.number)


def evaluate_value(
    node: Node,
    lookup: Lookup,
    *,
    call: Call | None = None,
    type_name: TypeName | None = None,
    other: Other | None = None,
) -> Value | None:
    """Like :func:`evaluate`, with the C type, floating constants included."""
    return _Evaluator(lookup, call, type_name, other).value(node, 0)


@lru_cache(maxsize=4096)
def integer_literal(text: str) -> Value | None:
    """The value of an integer literal in any C++ spelling (``0x1'Fu``, ``0b11``, ``017``)."""
    match = _INTEGER.match(text.replace("'", ""))
    if match is None:
        return None
    digits, suffix = match[1], match[2].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    try:
        number = int(digits, 8 if octal else 0)
    except ValueError:
        return None
    long = "l" in suffix or "z" in suffix
    if "u" in suffix:
        order = [ULONG] if long else [UINT, ULONG]
    elif digits[:2].isdigit() and not octal:
        order = [LONG] if long else [INT, LONG]
    else:  # C++ [lex.icon]: octal, hexadecimal and binary literals may become unsigned
        order = [LONG, ULONG] if long else [INT, UINT, LONG, ULONG]
    for candidate in order:
        if number <= limits(candidate)[1]:
            return Value(number, candidate)
    return None


def char_literal(text: str) -> Value | None:
    """The value of a character literal of one character."""
    body = text[text.find("'") + 1 : -1]
    if len(body) == 1:
        return Value(ord(body), INT) if ord(body) < 128 else None
    if len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        return Value(_ESCAPES[body[1]], INT)
    match = re.fullmatch(r"\\x([0-9a-fA-F]{1,2})|\\([0-7]{1,3})", body)
    if match is None:
        return None
    code = int(match[1], 16) if match[1] else int(match[2], 8)
    return convert(code, CType("int", 8))


def binary(operator: str, a: Value, b: Value) -> Value | None:
    """``a operator b`` under C's usual arithmetic conversions; None where undefined."""
    a, b = promote(a), promote(b)
    if operator in ("<<", ">>"):
        return _shift(operator, a, b)
    to = common_type(a.type, b.type)
    left, right = convert(a.number, to), convert(b.number, to)
    if left is None or right is None:
        return None
    x, y = left.number, right.number
    match operator:
        case "==" | "!=" | "<" | ">" | "<=" | ">=":
            return Value(int(_compare(operator, x, y)), BOOL)
        case "+" | "-" | "*":
            result = x + y if operator == "+" else x - y if operator == "-" else x * y
            return _fit(result, to)
        case "/" if to.is_float:
            return None if y == 0 else _fit(x / y, to)
        case "/" | "%" if not to.is_float:
            return _divide(operator, int(x), int(y), to)
        case "&" | "|" | "^" if not to.is_float:
            i, j = int(x), int(y)
            return convert(i & j if operator == "&" else i | j if operator == "|" else i ^ j, to)
    return None


def _compare(operator: str, x: int | float, y: int | float) -> bool:
    match operator:
        case "==":
            return x == y
        case "!=":
            return x != y
        case "<":
            return x < y
        case ">":
            return x > y
        case "<=":
            return x <= y
    return x >= y


def _divide(operator: str, x: int, y: int, to: CType) -> Value | None:
    """C truncates towards zero; Python floors."""
    if y == 0:
        return None
    quotient = abs(x) // abs(y)
    if (x < 0) != (y < 0):
        quotient = -quotient
    return _fit(quotient if operator == "/" else x - quotient * y, to)


def _shift(operator: str, a: Value, b: Value) -> Value | None:
    if a.type.is_float or b.type.is_float or not 0 <= b.number < a.type.bits:
        return None
    x, by = int(a.number), int(b.number)
    if operator == ">>":
        return convert(x >> by, a.type)
    if x >= 0 and (x << by) >> a.type.bits == 0:  # C++14 [expr.shift]: fits the unsigned type
        return convert(x << by, a.type)
    return _fit(x << by, a.type)


def _fit(number: int | float, to: CType) -> Value | None:
    """Unsigned results wrap; a signed result that does not fit is undefined behaviour."""
    if to.kind == "int":
        low, high = limits(to)
        return Value(number, to) if low <= number <= high else None
    return convert(number, to)


class _Evaluator:
    """One evaluation: the callbacks, and a depth that keeps generated code from overflowing."""

    def __init__(
        self, lookup: Lookup, call: Call | None, type_name: TypeName | None, other: Other | None
    ) -> None:
        self._lookup = lookup
        self._call = call
        self._type_name = type_name
        self._other = other

    def value(self, node: Node | None, depth: int) -> Value | None:
        if node is None or depth > _MAX_DEPTH:
            return None
        found = self._own(node, depth)
        if found is None and self._other is not None and node.type in _OTHERS:
            return self._other(node)
        return found

    def _own(self, node: Node, depth: int) -> Value | None:
        match node.type:
            case "number_literal":
                return _number(_text(node))
            case "char_literal":
                return char_literal(_text(node))
            case "true" | "false":
                return Value(int(node.type == "true"), BOOL)
            case "parenthesized_expression" | "initializer_list":
                inner = _expressions(node)
                return self.value(inner[0], depth + 1) if len(inner) == 1 else None
            case "identifier" | "qualified_identifier" | "field_expression" | "type_identifier":
                return self._name(node)
            case "type_descriptor" if node.named_child_count == 1:
                return self.value(node.named_children[0], depth + 1)  # `f<N>`: a value after all
            case "sizeof_expression" | "alignof_expression":
                return self._sizeof(node, depth)
            case _:
                return self._operation(node, depth)

    def _operation(self, node: Node, depth: int) -> Value | None:
        match node.type:
            case "unary_expression":
                return self._unary(node, depth)
            case "binary_expression":
                return self._binary(node, depth)
            case "conditional_expression":
                condition = self.value(node.child_by_field_name("condition"), depth + 1)
                if condition is None:
                    return None
                taken = "consequence" if condition.number else "alternative"
                return self.value(node.child_by_field_name(taken), depth + 1)
            case "cast_expression" | "compound_literal_expression":
                return self._cast(node, depth)
            case "call_expression":
                return self._function(node, depth)
        return None

    def _name(self, node: Node) -> Value | None:
        name = "".join(_text(node).split())
        found = self._lookup(name)
        if found is None and name.startswith("::"):
            found = self._lookup(name[2:])
        return plain(found) if isinstance(found, int) else found

    def _unary(self, node: Node, depth: int) -> Value | None:
        value = self.value(node.child_by_field_name("argument"), depth + 1)
        sign = node.child_by_field_name("operator")
        if value is None or sign is None:
            return None
        return _apply_unary(_text(sign), value)

    def _binary(self, node: Node, depth: int) -> Value | None:
        sign = node.child_by_field_name("operator")
        operator = _text(sign) if sign is not None else ""
        left = self.value(node.child_by_field_name("left"), depth + 1)
        if operator in ("&&", "and", "||", "or"):
            if left is None:
                return None
            if bool(left.number) == (operator in ("||", "or")):
                return Value(int(bool(left.number)), BOOL)
            right = self.value(node.child_by_field_name("right"), depth + 1)
            return None if right is None else Value(int(bool(right.number)), BOOL)
        right = self.value(node.child_by_field_name("right"), depth + 1)
        if left is None or right is None:
            return None
        return binary(operator, left, right)

    def _cast(self, node: Node, depth: int) -> Value | None:
        named = node.child_by_field_name("type")
        operand = node.child_by_field_name("value")
        if named is None or operand is None:
            return None
        value = self.value(operand, depth + 1)
        if value is None:
            return None
        target = self._type(_text(named))
        if target is not None:
            return convert(value.number, target)
        # `(N)-1` reads as a cast of -1 to a type N; N being a value makes it a difference.
        left = self._lookup(_text(named).strip()) if node.type == "cast_expression" else None
        sign = operand.child_by_field_name("operator")
        if left is None or operand.type != "unary_expression" or sign is None:
            return None
        if is_within_operator(node):
            return None
        argument = self.value(operand.child_by_field_name("argument"), depth + 1)
        left = plain(left) if isinstance(left, int) else left
        return None if argument is None else binary(_text(sign), left, argument)

    def _function(self, node: Node, depth: int) -> Value | None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        values = [self.value(a, depth + 1) for a in _expressions(arguments)]
        target = self._cast_target(function)
        if target is not None:
            if len(values) != 1 or values[0] is None:
                return None
            return convert(values[0].number, target)
        found = self._call(node, values) if self._call is not None else None
        if found is not None:
            return found
        known = [v for v in values if v is not None]
        return _known_function(_text(function), known) if len(known) == len(values) else None

    def _cast_target(self, function: Node) -> CType | None:
        """The type of ``static_cast<T>(x)``, ``T(x)`` and ``(T)(x)``."""
        if function.type == "template_function":
            name = function.child_by_field_name("name")
            arguments = function.child_by_field_name("arguments")
            if name is None or arguments is None or _text(name) not in _CASTS:
                return None
            return self._type(_text(arguments)[1:-1])
        text = _text(function)
        if function.type == "parenthesized_expression":
            text = text[1:-1]
        return self._type(text)

    def _type(self, spelling: str) -> CType | None:
        known = parse_type(spelling)
        if known is None and self._type_name is not None:
            stands_for = self._type_name(" ".join(spelling.split()))
            known = parse_type(stands_for) if stands_for is not None else None
        return known

    def _sizeof(self, node: Node, depth: int) -> Value | None:
        named = node.child_by_field_name("type")
        if named is None:
            return self._sizeof_operand(node.child_by_field_name("value"))
        size = self._size(named, depth)
        return None if size is None else Value(size, ULONG)

    def _sizeof_operand(self, operand: Node | None) -> Value | None:
        """``sizeof(T)`` reads as a value when T is no builtin name."""
        while operand is not None and operand.type == "parenthesized_expression":
            operand = next(iter(_expressions(operand)), None)
        if operand is None or operand.type != "identifier":
            return None
        name = _text(operand)
        size = size_of_type(name)
        if size is None and self._type_name is not None:
            stands_for = self._type_name(name)
            size = size_of_type(stands_for) if stands_for is not None else None
        return None if size is None else Value(size, ULONG)

    def _size(self, named: Node, depth: int) -> int | None:
        """Size in bytes of a type descriptor, arrays included."""
        declarator = named.child_by_field_name("declarator")
        base = named.child_by_field_name("type")
        if base is None:
            return None
        count = 1
        while declarator is not None and declarator.type == "abstract_array_declarator":
            length = self.value(declarator.child_by_field_name("size"), depth + 1)
            if length is None or length.type.is_float:
                return None
            count *= int(length.number)
            declarator = declarator.child_by_field_name("declarator")
        if declarator is not None:
            return 8 * count if declarator.type == "abstract_pointer_declarator" else None
        size = size_of_type(_text(base))
        if size is None and self._type_name is not None:
            stands_for = self._type_name(_text(base))
            size = size_of_type(stands_for) if stands_for is not None else None
        return None if size is None else size * count


def _apply_unary(operator: str, value: Value) -> Value | None:
    if operator in ("!", "not"):
        return Value(int(not value.number), BOOL)
    value = promote(value)
    match operator:
        case "+":
            return value
        case "-":
            return _fit(-value.number, value.type)
        case "~" | "compl" if not value.type.is_float:
            return convert(~int(value.number), value.type)
    return None


def _known_function(name: str, values: Sequence[Value]) -> Value | None:
    """The functions of <cmath> and <algorithm> that host code uses for launch bounds."""
    short = re.sub(r"<.*>$", "", name).rsplit("::", 1)[-1]
    if short in ("min", "max") and len(values) == 2:
        a, b = promote(values[0]), promote(values[1])
        to = common_type(a.type, b.type)
        left, right = convert(a.number, to), convert(b.number, to)
        if left is None or right is None:
            return None
        smaller, larger = sorted((left.number, right.number))
        return Value(smaller if short == "min" else larger, to)
    if len(values) != 1:
        return None
    value = values[0]
    if short == "abs":
        return value if value.number >= 0 else _apply_unary("-", value)
    single = short.endswith("f") and short[:-1] in _ROUNDING
    rounding = _ROUNDING.get(short[:-1] if single else short)
    if rounding is None or not math.isfinite(value.number):
        return None
    to = FLOAT if single or value.type == FLOAT else DOUBLE
    argument = convert(value.number, to)
    return None if argument is None else convert(rounding(argument.number), to)


def _number(text: str) -> Value | None:
    if text[:1] in ("-", "+"):  # the grammar's literals may carry a sign
        unsigned = _number(text[1:].lstrip())
        return None if unsigned is None else _apply_unary(text[0], unsigned)
    whole = integer_literal(text)
    if whole is not None:
        return whole
    match = _FLOAT.match(text.replace("'", ""))
    if match is None or match[2] in ("l", "L"):
        return None
    return convert(float(match[1]), FLOAT if match[2] else DOUBLE)


def _expressions(node: Node) -> list[Node]:
    return [c for c in node.named_children if c.type != "comment"]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
