"""The variables of all lanes, and expressions evaluated over them.

In: pure IR expressions.  Out: one value per lane (a scalar while all lanes agree for certain).
It knows variables and builtins; it does not know statements or what lies in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coalescecheck.ir.expr import Expr
from coalescecheck.ir.types import ScalarType
from coalescecheck.simulate.compiled import Compiler
from coalescecheck.simulate.lanes import Batch, Mask
from coalescecheck.simulate.values import (
    UNDEFINED,
    Data,
    Taint,
    Value,
    convert,
    is_tainted,
    join,
    scalar,
    where_taint,
)


class Environment:
    """Variables by name, over one batch of lanes."""

    def __init__(
        self,
        batch: Batch,
        everyone: Mask,
        given: dict[str, Value],
        bases: dict[str, Value],
        shared_bytes: int,
        compiler: Compiler,
    ) -> None:
        self._batch = batch
        self._bases = bases
        self._shared_bytes = np.uint32(shared_bytes)
        self._compiler = compiler
        self._values = dict(given)
        # the lanes for which a variable has ever been set
        self._owners = dict.fromkeys(given, everyone)
        self._builtins: dict[tuple[str, str], Value] = {}

    def assign(self, name: str, value: Value, mask: Mask) -> None:
        """Set the variable for the lanes of ``mask``; the others keep what they had."""
        owner = self._owners.get(name)
        if owner is None or _within(owner, mask):
            self._values[name] = Value(value.data, join(value.taint, mask.taint))
            self._owners[name] = mask
            return
        before = self._values[name]
        data = np.where(mask.lanes, value.data, before.data)
        taint = where_taint(mask.lanes, value.taint, before.taint)
        self._values[name] = Value(data, join(taint, mask.taint))
        if not _within(mask, owner):
            self._owners[name] = Mask(owner.lanes | mask.lanes)

    def add_taint(self, name: str, taint: Taint) -> None:
        """The variable might have been set by a branch that did not run."""
        value = self._values.get(name)
        if value is not None:
            self._values[name] = Value(value.data, join(value.taint, taint))

    def evaluate(self, expr: Expr) -> Value:
        """The expression's value for every lane."""
        return self._compiler.function(expr)(self)

    def full(self, data: Data) -> Any:
        """One entry per lane."""
        return data if np.ndim(data) else np.full(self._batch.size, data)

    def variable(self, name: str) -> Value | None:
        """The variable's value, None when it was never set."""
        return self._values.get(name)

    def builtin(self, name: str, kind: ScalarType) -> Value:
        """A CUDA variable converted to ``kind``."""
        known = self._builtins.get((name, kind.name))
        if known is None:
            known = self._builtins[name, kind.name] = self._new_builtin(name, kind)
        return known

    def base(self, array: str) -> Value:
        """The address of an array's first byte."""
        return self._bases[array]

    def _new_builtin(self, name: str, kind: ScalarType) -> Value:
        data = self._shared_bytes if name == "shared_bytes" else self._batch.builtin(name)
        if data is None:
            return Value(scalar(0, kind), UNDEFINED)
        return Value(convert(data, kind))


def _within(inner: Mask, outer: Mask) -> bool:
    """Whether every lane of ``inner`` is in ``outer`` and neither is in doubt."""
    if inner is outer:
        return True
    if is_tainted(inner.taint) or is_tainted(outer.taint):
        return False
    return not np.count_nonzero(inner.lanes & ~outer.lanes)
