"""What may be said of unsigned values that can be anything their type holds: what is loaded.

An address made of them is taken not to wrap, as it would leave its array (``wrapping.settle``).  A
condition is not: ``v + 1 == 0`` and ``(int)v < 0`` are how programs ask for the values at the ends.
"""

from __future__ import annotations

from dataclasses import replace

from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic.form import Context, Form


def may_wrap(ctx: Context, type_: ScalarType, form: Form, kinds: tuple[str, ...]) -> bool:
    """Whether a condition of ``type_`` may see another value than ``form`` has, because of symbols
    of these ``kinds``.

    In 64 bits an unsigned value alone may be another: 2**64 - 1 is held as -1.  A signed one may
    where an unsigned loop variable was converted, which is then below 0 in its upper half.
    """
    if type_.bits < 32 or None not in ctx.bounds(form):
        return False
    unbounded = {g: s for g, s in ctx.symbols(form) if s.high is None and s.kind in kinds}
    if type_.kind != "uint":
        return any(s.kind == "header" and s.low == 0 for s in unbounded.values())
    alone = any(form == Form({(g,): 1}) and s.low == 0 for g, s in unbounded.items())
    return bool(unbounded) and (type_.bits > 32 or not alone)


def as_signed(ctx: Context, form: Form, type_: ScalarType) -> Form:
    """``form`` converted to the signed ``type_``: a loaded unsigned value may be below 0 there."""
    if type_.kind != "int" or type_.bits < 32:
        return form
    changed = {
        g: ctx.symbol(replace(s, name=f"{s.name}#{g}", low=None))
        for g, s in ctx.symbols(form)
        if s.kind == "data" and (s.low, s.high) == (0, None)
    }
    return ctx.substitute(form, changed) if changed else form
