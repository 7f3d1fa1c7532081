"""Expressions of kernel C in the words of the user.

In: a C expression and how names are spelled.  Out: text for reports.  References are no pointers
there, methods have their objects before them, and bases are no members.
"""

from __future__ import annotations

import re

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from coalescecheck.frontend.spelling import Call, Spellings

_METHOD = "method__"  # a method of an object of unknown class
# what may stand before `.` and `[` without parentheses, brackets empty
_SIMPLE = re.compile(r"(?:[\w.:]|->|<[\w, *:]*>|\[\]|\(\)|\{\})*")


class UsersWords(CGenerator):  # type: ignore[misc]  # pycparser is untyped
    """Writes one expression inside of the C function ``function``."""

    def __init__(self, spellings: Spellings, function: str) -> None:
        super().__init__(reduce_parentheses=True)
        self._spellings = spellings
        self._references = spellings.references.get(function, set())

    def visit_ID(self, n: c_ast.ID) -> str:  # noqa: N802
        """A name."""
        return "this" if n.name == "self" else self._spellings.names.get(n.name, n.name)

    def visit_IdentifierType(self, n: c_ast.IdentifierType) -> str:  # noqa: N802
        """The name of a type."""
        return " ".join(self._spellings.names.get(name, name) for name in n.names)

    def visit_UnaryOp(self, n: c_ast.UnaryOp) -> str:  # noqa: N802
        """``*r`` of a reference is ``r``."""
        shown = self._object(n.expr) if n.op == "*" else None
        return str(super().visit_UnaryOp(n)) if shown is None else shown

    def visit_TernaryOp(self, n: c_ast.TernaryOp) -> str:  # noqa: N802
        """A choice."""
        condition = self.visit(n.cond)
        if isinstance(n.cond, c_ast.TernaryOp | c_ast.Assignment | c_ast.ExprList):
            condition = f"({condition})"
        sides = [
            f"({self.visit(s)})"
            if isinstance(s, c_ast.Assignment | c_ast.ExprList)
            else self.visit(s)
            for s in (n.iftrue, n.iffalse)
        ]
        return f"{condition} ? {sides[0]} : {sides[1]}"

    def visit_ArrayRef(self, n: c_ast.ArrayRef) -> str:  # noqa: N802
        """An element; a reference to an array is the array."""
        return f"{_held(self.visit(n.name))}[{self.visit(n.subscript)}]"

    def visit_StructRef(self, n: c_ast.StructRef) -> str:  # noqa: N802
        """Members; those of bases are members of the object."""
        of, sign = n.name, n.type
        while isinstance(of, c_ast.StructRef) and of.field.name.startswith("base__"):
            of, sign = of.name, of.type
        shown = self._object(of) if sign == "->" else self.visit(of)
        is_self = isinstance(of, c_ast.ID) and of.name == "self"
        if n.field.name.startswith("base__"):
            return shown if shown is not None else f"*{_held(self.visit(of))}"
        if is_self:
            return str(n.field.name)
        arrow = self._through(of)
        if arrow is not None:
            return f"{_held(arrow)}->{n.field.name}"
        if shown is not None:
            return f"{_held(shown)}.{n.field.name}"
        return f"{_held(self.visit(of))}{sign}{n.field.name}"

    def visit_FuncCall(self, n: c_ast.FuncCall) -> str:  # noqa: N802
        """A call as the user writes it."""
        name = n.name.name if isinstance(n.name, c_ast.ID) else ""
        given = list(n.args.exprs) if n.args is not None else []
        known = self._spellings.calls.get(name)
        if known is not None:
            return self._call(known, given)
        if name.startswith(_METHOD) and given:
            receiver = self._object(given[0]) or self.visit(given[0])
            rest = ", ".join(self.visit(g) for g in given[1:])
            return f"{_held(receiver)}.{name.removeprefix(_METHOD)}({rest})"
        return str(super().visit_FuncCall(n))

    def _call(self, known: Call, given: list[c_ast.Node]) -> str:
        shown = [
            place if isinstance(place, str) else self._argument(known, given, place)
            for place in known.arguments
            if isinstance(place, str) or place < len(given)
        ]
        receiver = self._receiver(given[0]) if known.method and given else ""
        listed = ", ".join(shown)
        if known.name.startswith("operator"):
            sign = known.name.removeprefix("operator").strip()
            operands = [receiver, *shown] if known.method else shown
            return _operation(sign, operands, listed)
        if receiver.startswith("(*") and known.method:  # the user's own pointer
            return f"{_held(self.visit(given[0]))}->{known.name}({listed})"
        before = f"{receiver}." if receiver and receiver != "this" else ""
        return f"{before}{known.name}({listed})"

    def _argument(self, known: Call, given: list[c_ast.Node], place: int) -> str:
        shown = self._object(given[place]) if place in known.references else None
        return str(self.visit(given[place])) if shown is None else shown

    def _receiver(self, pointer: c_ast.Node) -> str:
        if isinstance(pointer, c_ast.ID) and pointer.name == "self":
            return "this"
        shown = self._object(pointer)
        return _held(f"*{self.visit(pointer)}" if shown is None else shown)

    def _through(self, pointer: c_ast.Node) -> str | None:
        """The object whose ``->`` gives a pointer."""
        name = pointer.name.name if _is_call(pointer) else ""
        known = self._spellings.calls.get(name)
        if known is None or known.name != "operator->" or pointer.args is None:
            return None
        return self._receiver(pointer.args.exprs[0])

    def _object(self, pointer: c_ast.Node) -> str | None:
        """The object that a reference or address is of; None for the user's own pointers."""
        match pointer:
            case c_ast.UnaryOp(op="&"):
                return str(self.visit(pointer.expr))
            case c_ast.ID() if pointer.name == "self":
                return "*this"
            case c_ast.ID() if pointer.name in self._references:
                return str(self.visit(pointer))
            case c_ast.FuncCall() if _is_call(pointer):
                known = self._spellings.calls.get(pointer.name.name)
                return self.visit(pointer) if known is not None and known.refers else None
            case c_ast.ExprList() if _is_temporary(pointer.exprs):
                return str(self.visit(pointer.exprs[0].rvalue))
            case c_ast.TernaryOp():
                sides = self._object(pointer.iftrue), self._object(pointer.iffalse)
                if None in sides:
                    return None
                return f"({self.visit(pointer.cond)} ? {sides[0]} : {sides[1]})"
        return None


def _is_call(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)


def _is_temporary(parts: list[c_ast.Node]) -> bool:
    """``(tmp = value, &tmp)``."""
    first, last = parts[0], parts[-1]
    return (
        len(parts) == 2
        and isinstance(first, c_ast.Assignment)
        and isinstance(last, c_ast.UnaryOp)
        and last.op == "&"
        and isinstance(last.expr, c_ast.ID)
        and isinstance(first.lvalue, c_ast.ID)
        and first.lvalue.name == last.expr.name
    )


def _operation(sign: str, operands: list[str], listed: str) -> str:
    first = _held(operands[0]) if operands else ""
    match sign:
        case "[]":
            return f"{first}[{', '.join(operands[1:])}]"
        case "()":
            return f"{first}({listed})"
        case "->" | "cast":
            return first
    if len(operands) == 1:
        return f"{sign}{first}"
    return f" {sign} ".join(_held(o) for o in operands)


def _held(shown: str) -> str:
    """Text that binds as tightly as a name."""
    outer, depth = "", 0
    for character in shown:
        depth -= character in ")]}"
        outer += character if depth == 0 else ""
        depth += character in "([{"
    return shown if _SIMPLE.fullmatch(outer) else f"({shown})"
