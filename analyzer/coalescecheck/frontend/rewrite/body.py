"""The C function being written: its lines, temporaries and result type.

In: pieces of text, statement by statement.  Out: the lines of the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Line, Piece
from coalescecheck.frontend.rewrite.types import CType, Record


class FunctionWriter:
    """Collects one function.  ``self_type`` is the class of ``self`` in a method."""

    def __init__(self, result: CType, self_type: Record | None = None) -> None:
        self.result = result
        self.self_type = self_type
        self.self_const = False  # in a method declared const
        self.self_name = "self"
        self.returns_object = False  # a constructor
        self.returns_last = False  # a GNU statement expression
        self.references: set[str] = set()  # names of pointers that the user knows as references
        self.prologue: list[Line] = []
        self.lines: list[Line] = []
        self.depth = 1
        self._numbers: dict[str, int] = {}

    def line(self, piece: Piece) -> None:
        """One line of the body."""
        self.lines.append((self.depth, piece))

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Lines written inside are indented one level more."""
        self.depth += 1
        yield
        self.depth -= 1

    def fresh(self, stem: str) -> str:
        """A local name of our own (``tmp__1``)."""
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f"{stem}__{number}"

    def temporary(self, type_: CType) -> str:
        """A variable of ``type_`` declared at the top of the function."""
        name = self.fresh("tmp")
        self.prologue.append((1, f"{types.declare(types.unqualified(type_), name)};"))
        return name

    def body(self) -> list[Line]:
        return [*self.prologue, *self.lines]
