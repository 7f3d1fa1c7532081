"""What is known of the contents of per-thread arrays: one cell per place with a known value.

A cell lives in the environment under a name with ``@`` in it, which holds the array, the byte
offset and the type: a value is only ever read back as the type it was written as, and a store
removes every cell that it overlaps or might reach.  Without a cell a place's value is not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from coalescecheck.ir import kernel as ir
from coalescecheck.ir.types import SCALARS, ScalarType
from coalescecheck.symbolic.form import Context, Form, Symbol
from coalescecheck.symbolic.values import Environment

Written = tuple[int, ScalarType, Form]  # byte offset from the store's address, type, value


def is_cell(name: str) -> bool:
    """Whether a name of the environment is a place in a per-thread array."""
    return "@" in name


def cell_type(name: str) -> ScalarType:
    """The type of a cell's value."""
    return SCALARS[name.rpartition(":")[2]]


def cell_array(name: str) -> str:
    """The array that a cell is a place of."""
    return name.partition("@")[0]


def array_key(name: str) -> str:
    """What stands for a whole array, given its name or that of one of its cells."""
    return cell_array(name) + "@"


class Cells:
    """Reads and writes the cells of one kernel's per-thread arrays."""

    def __init__(self, kernel: ir.Kernel, ctx: Context) -> None:
        self._ctx = ctx
        self._locals = frozenset(
            name for name, array in kernel.arrays.items() if array.space is ir.Space.LOCAL
        )
        self._arrays = kernel.arrays
        self._escape = any(_stores_pointers(stmt) for stmt in ir.walk(kernel.body))
        self._kinds: dict[str, set[tuple[int, str]]] = {}  # widths and types of cells so far

    def may_be_private(self, address: Form) -> bool:
        """Whether the address may lie in a per-thread array, whose values differ by lane."""
        return bool(self._reached(address))

    def read(self, env: Environment, address: Form, type_: ScalarType) -> Form | None:
        """The value last written to ``address``, where that is known."""
        place = self._place(address)
        return None if place is None else env.get(_name(*place, type_))

    def write(self, env: Environment, address: Form, values: Iterable[Written]) -> None:
        """Store scalars at ``address``; at an unknown place every cell it might be is lost."""
        place = self._place(address)
        if place is None:
            self.forget(env, address)
            return
        array, start = place
        for offset, type_, value in values:
            self._clear(env, array, start + offset, type_.size)
            if type_.size:
                self._kinds.setdefault(array, set()).add((type_.size, type_.name))
                env[_name(array, start + offset, type_)] = value

    def forget(self, env: Environment, address: Form) -> None:
        """Drop what is known of the arrays that ``address`` may lie in."""
        arrays = self._reached(address)
        if arrays:
            keys = {array_key(array) for array in arrays}
            for name in [n for n in env if is_cell(n) and array_key(n) in keys]:
                del env[name]

    def _clear(self, env: Environment, array: str, start: int, size: int) -> None:
        """Drop the cells that overlap ``size`` bytes from ``start``."""
        for width, kind in self._kinds.get(array, ()):
            for offset in range(start - width + 1, start + max(size, 1)):
                env.pop(f"{array}@{offset}:{kind}", None)

    def _reached(self, address: Form) -> frozenset[str]:
        """The per-thread arrays that ``address`` may lie in."""
        bases = self._ctx.bases(address)
        unknown = not bases or not bases <= self._arrays.keys()
        return self._locals if unknown and self._escape else self._locals & bases

    def _place(self, address: Form) -> tuple[str, int] | None:
        """The per-thread array and the byte offset, where both are known."""
        if len(address.terms) > 2:
            return None
        found: str | None = None
        for monomial, factor in address.terms.items():
            symbol = self._ctx.generators[monomial[0]] if len(monomial) == 1 else None
            if isinstance(symbol, Symbol) and symbol.kind == "base" and factor == 1:
                if found is not None or symbol.name not in self._locals:
                    return None
                found = symbol.name
            elif monomial:
                return None
        return None if found is None else (found, address.constant)


def _name(array: str, offset: int, type_: ScalarType) -> str:
    return f"{array}@{offset}:{type_.name}"


def _stores_pointers(stmt: ir.Stmt) -> bool:
    """Whether the statement may put an address where a later load finds it."""
    match stmt:
        case ir.Store():
            stored = (stmt.value, *(value for _, value in stmt.more))
        case ir.Atomic():
            stored = stmt.operands
        case ir.WarpOp():
            stored = stmt.args
        case _:
            return False
    return any(value.type.size == 8 and value.type.kind != "float" for value in stored)
