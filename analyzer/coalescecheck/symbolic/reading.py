"""Reads back what ``render`` and ``formulas`` write: the text of an address or a formula in, the
SymPy expression that it means out.

``sympify`` reads the same syntax, but it takes names such as ``N``, ``E`` or ``beta`` for SymPy's
own, leaves the functions below unevaluated, and runs whatever the text holds as Python.  Here
every name is a symbol, C's operations have C's values, and nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from coalescecheck.symbolic.arithmetic import apply, in_64_bits
from coalescecheck.symbolic.render import FUNCTIONS, WITH_DATA

_SYMPY = {
    name: getattr(sympy, name) for name in ("Abs", "Eq", "Max", "Min", "Mod", "Piecewise", "floor")
}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.BitAnd: sympy.And,
    ast.BitOr: sympy.Or,
    ast.USub: operator.neg,
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}


def parse(text: str) -> sympy.Basic:
    """The expression of a formula or an address that a report gives.

    Names are plain symbols (``parse("4*N").subs(sympy.Symbol("N"), 3)``).  Raises ``ValueError``
    for text that no report holds.
    """
    try:
        return _expression(ast.parse(text, mode="eval").body)
    except (SyntaxError, KeyError, RecursionError) as error:
        raise ValueError(f"not a formula: {text}") from error


def _expression(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=bool() | int()):
            return sympy.sympify(node.value)
        case ast.Name():
            return sympy.Symbol(node.id)
        case ast.Tuple():
            return tuple(map(_expression, node.elts))
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return (_SYMPY.get(name) or _OWN[name])(*map(_expression, node.args))
        case ast.UnaryOp():
            return _OPERATORS[type(node.op)](_expression(node.operand))
        case ast.BinOp():
            left, right = _expression(node.left), _expression(node.right)
            return _OPERATORS[type(node.op)](left, right)
        case ast.Compare(ops=[sign], comparators=[right]):
            return _OPERATORS[type(sign)](_expression(node.left), _expression(right))
    raise KeyError(node)


def _function(name: str, op: str) -> Any:
    """C's operation ``op``: unevaluated until its arguments are numbers."""

    def evaluated(cls: Any, *args: Any) -> Any:
        if not all(isinstance(arg, sympy.Integer) for arg in args):
            return None
        numbers = [int(arg) for arg in args]
        count = 1 if op in WITH_DATA else len(numbers)
        values = [np.asarray(in_64_bits(n), np.int64) for n in numbers[:count]]
        return sympy.Integer(int(apply(op, values, tuple(numbers[count:]))))

    return type(name, (sympy.Function,), {"eval": classmethod(evaluated)})


_OWN = {name: _function(name, op) for op, name in FUNCTIONS.items() if name not in _SYMPY}
