"""Null checks: where the arrays lie that a pointer may point to decides them.

In: the form of a pointer.  Out: whether it is not null, and of which arrays that is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from coalescecheck.symbolic.form import ZERO, Context, Form, Symbol

_NOT_FOLLOWED = "a null check"
_LOADED = "a null check of a pointer from memory"


@dataclass(frozen=True, slots=True)
class Checked:
    """``holds`` is whether the pointer is not null, None where that is not known (``reason``);
    ``bases`` are the arrays that are taken not to lie at 0."""

    holds: Form | None
    bases: frozenset[str] = frozenset()
    reason: str = ""


def checked_pointer(ctx: Context, address: Form) -> Checked:
    """Arrays never lie at 0, but ``c ? a : 0`` may be 0, and so may what memory holds.

    Parameters point to arrays or are constants; whoever relies on the answer has to say so.
    """
    bases = frozenset(s.name for _, s in ctx.symbols(address) if s.kind == "base")
    if any("#" in name for name in bases):
        return Checked(None, reason=_LOADED)
    chosen = ZERO
    for monomial, coefficient in address.terms.items():
        kinds = [ctx.generators[g] for g in monomial]
        found = [
            g
            for g, s in zip(monomial, kinds, strict=True)
            if isinstance(s, Symbol) and s.kind == "base"
        ]
        if len(found) == 1:
            chosen += Form({tuple(g for g in monomial if g not in found): coefficient})
    if ctx.bounds(chosen) in ((0, 1), (1, 1)):
        return Checked(chosen, bases)
    return Checked(None, bases, _NOT_FOLLOWED)
