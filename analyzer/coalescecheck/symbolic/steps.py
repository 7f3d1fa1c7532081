"""By how many bytes the indices of a shared array with rows move its accesses.

In: addresses as forms.  Out: the distances, from which one sees whether the declared row pitch
is the one that is used.  Knows nothing of lanes and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coalescecheck.ir.kernel import Array, Space
from coalescecheck.symbolic.form import Context, Form, Symbol
from coalescecheck.symbolic.reach import Reach

INDICES = ("tid", "bid", "counter")  # symbols that are what they seem, and hide no row


def row_steps(
    ctx: Context, arrays: Mapping[str, Array], reaches: Iterable[Reach]
) -> dict[str, frozenset[int] | None]:
    """The steps of every shared array with rows, None where an access of it hides its own."""
    pitches = {
        array.name: array.dims[-1] * array.element_size
        for array in arrays.values()
        if array.space is Space.SHARED and len(array.dims) > 1
    }
    found: dict[str, frozenset[int] | None] = {}
    if not pitches:
        return found
    for reach in reaches:
        for name in {s.name for _, s in ctx.symbols(reach.address) if s.kind == "base"}:
            if name in pitches:
                before = found.get(name, frozenset())
                steps = _steps(ctx, reach.address, pitches[name])
                both = None if before is None or steps is None else before | steps
                found[name] = both
    return found


def _steps(ctx: Context, address: Form, pitch: int) -> frozenset[int] | None:
    """The steps of one access; None where a term may hide a step of whole rows."""
    steps = set()
    for monomial, coefficient in address.terms.items():
        step = abs(coefficient)
        if not monomial:
            if step >= pitch:  # a row of its own: of which pitch cannot be seen
                return None
            continue
        if len(monomial) > 1:
            return None
        generator = ctx.generators[monomial[0]]
        if isinstance(generator, Symbol) and generator.kind == "base":
            continue
        shown = isinstance(generator, Symbol) and generator.kind in INDICES
        if not shown and not _within(ctx, monomial, step, pitch) and 2 * step < pitch:
            return None
        steps.add(step)
    return frozenset(steps)


def _within(ctx: Context, monomial: tuple[int, ...], step: int, pitch: int) -> bool:
    """Whether an expression never leaves a row."""
    low, high = ctx.bounds(Form({monomial: 1}))
    return low is not None and high is not None and (high - low) * step < pitch
