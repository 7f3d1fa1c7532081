"""Formulas as a CUDA programmer reads them.

In: a formula of ``analysis``, which is SymPy's notation.  Out: the same in C's notation, piece by
piece: ``1 if stride == 0, 4*stride if 0 < stride < 8, else 32``.  Loads no SymPy.
"""

from __future__ import annotations

import ast


def in_words(formula: str) -> str:
    """``formula`` for a reader; what is not SymPy's notation comes back as it is."""
    try:
        tree = ast.parse(formula, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        return formula
    match tree:
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            return ", ".join(map(_piece, pieces))
    return _text(tree)


def _piece(piece: ast.expr) -> str:
    match piece:
        case ast.Tuple(elts=[value, ast.Constant(value=True)]):
            return f"else {_text(value)}"
        case ast.Tuple(elts=[value, condition]):
            return f"{_text(value)} if {_condition(condition)}"
    return _text(piece)


def _condition(condition: ast.expr) -> str:
    match condition:
        # SymPy has no chains: `(n > 0) & (n < 8)`
        case ast.BinOp(
            left=ast.Compare(left=low_of, ops=[ast.Gt()], comparators=[low]),
            op=ast.BitAnd(),
            right=ast.Compare(left=high_of, ops=[ast.Lt()], comparators=[high]),
        ) if ast.dump(low_of) == ast.dump(high_of):
            return f"{_text(low)} < {_text(low_of)} < {_text(high)}"
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return f"{_condition(left)} and {_condition(right)}"
    return _text(condition)


def _text(node: ast.expr) -> str:
    text = ast.unparse(_InC().visit(node))
    return text if "%" in text else text.replace(" * ", "*").replace(" / ", "/")


class _InC(ast.NodeTransformer):
    """SymPy's functions for which C has operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="Mod"), args=[left, right]):
                return ast.BinOp(left, ast.Mod(), right)
            case ast.Call(func=ast.Name(id="Eq"), args=[left, right]):
                return ast.Compare(left, [ast.Eq()], [right])
            case ast.Call(func=ast.Name(id="Abs") as name):
                name.id = "abs"
        return node
