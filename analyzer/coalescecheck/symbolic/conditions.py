"""Which of the conditions on an access can be evaluated, and what the others cost.

In: the path and loops of a :class:`Reach`.  Out: guards to evaluate exactly, and statements
about the rest: taken as true (a tail guard with an unknown size), decided by data, or decided
by a loop whose exits are not understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import Atom, Bounds, Context, Form, Symbol, number
from coalescecheck.symbolic.reach import LoopInfo, Reach
from coalescecheck.symbolic.trials import DIMENSIONS, Trials
from coalescecheck.symbolic.trips import holds_before
from coalescecheck.symbolic.wrapping import unwrapped

_REPEATING = ("and", "or", "xor", "cmod", "fmod", "popc")
_COMPARISONS = ("lt0", "eq0")
LEFT = "a loop that is left in a way that is not understood"


@dataclass(slots=True)
class Conditions:
    """``known`` guards decide lanes exactly.  ``assumed`` guards hold parameters that are not
    known: counts are for warps they do not cut.  ``masked`` says why some lanes may be off
    in a way that cannot be known, which is a matter of ``sizes`` if data has no part in it, and
    of no more than the ``deciding`` symbols; ``optional`` that whole requests may not happen."""

    known: list[Form] = field(default_factory=list)
    assumed: list[Form] = field(default_factory=list)
    masked: str = ""
    sizes: bool = False
    deciding: list[Symbol] = field(default_factory=list)
    optional: bool = False

    @property
    def complete(self) -> bool:
        """Whether the set of requests is known."""
        return not (self.assumed or self.masked or self.optional)


def ranges_of(ctx: Context, reach: Reach) -> dict[int, int]:
    """Number of values of every uniform symbol that counts from 0: block indices and loop
    counters with a known end."""
    ranges = {info.counter: info.limit for info in reach.loops if info.limit is not None}
    used: set[int] = set()
    for form in (reach.address, *reach.path, *(c for i in reach.loops for c in i.carry)):
        used |= ctx.leaves(form) & ctx.of_kind["bid"]
    for g in sorted(used):
        symbol = ctx.generators[g]
        if isinstance(symbol, Symbol) and symbol.high is not None:
            ranges[g] = symbol.high + 1
    return ranges


def conditions_of(ctx: Context, reach: Reach, ranges: Mapping[int, int]) -> Conditions:
    """Sort the access's conditions by what can be done with them."""
    result = Conditions()
    own = {info.counter for info in reach.loops}
    known = _known(ctx, ranges)
    for guard in reach.path:
        _sort(ctx, guard, known, own, result)
    for info in reach.loops:
        if info.limit is None:
            result.optional = True
        if not info.steady:
            _sort_entry(ctx, info, known, own, result)
        for carry in info.carry:
            _sort_carry(ctx, info, carry, known, own, result)
    return result


def _known(ctx: Context, ranges: Mapping[int, int]) -> Set[int]:
    """The symbols that the counting engine has values for (``is_known``)."""
    return ranges.keys() | ctx.of_kind["tid"] | ctx.of_kind["base"]


def values_from(ctx: Context, path: tuple[Form, ...], ranges: Mapping[int, int]) -> dict[int, Form]:
    """The unknown uniform symbols that a guard such as ``n == 3`` gives a value."""
    found: dict[int, Form] = {}
    for guard in path:
        atom = op.single_atom(ctx, guard)
        if atom is None or atom.op != "eq0":
            continue
        linear = _linear(ctx, atom.args[0])
        if linear is None or abs(linear[1]) != 1:
            continue
        g, slope, constant = linear
        symbol = ctx.generators[g]
        if isinstance(symbol, Symbol) and not (symbol.varying or is_known(g, symbol, ranges)):
            found.setdefault(g, number(-constant * slope))
    return found


def limits_from(ctx: Context, path: tuple[Form, ...], symbol: int) -> Bounds:
    """The least and the greatest value of a symbol that guards such as ``n < 3`` allow."""
    low: int | None = None
    high: int | None = None
    for guard in path:
        atom = op.single_atom(ctx, guard)
        linear = None if atom is None or atom.op != "lt0" else _linear(ctx, atom.args[0])
        if linear is None or linear[0] != symbol:
            continue
        _, slope, constant = linear  # slope * n + constant < 0
        if slope > 0:
            most = (-constant - 1) // slope
            high = most if high is None else min(high, most)
        else:
            least = constant // -slope + 1
            low = least if low is None else max(low, least)
    return low, high


def limiting(ctx: Context, path: tuple[Form, ...]) -> Iterator[Form]:
    """The guards from which ``limits_from`` takes the limits of some symbol."""
    for guard in path:
        atom = op.single_atom(ctx, guard)
        if atom is not None and atom.op == "lt0" and _linear(ctx, atom.args[0]) is not None:
            yield guard


def _linear(ctx: Context, form: Form) -> tuple[int, int, int] | None:
    """(symbol, slope, constant) of a form that is linear in one symbol and holds no other."""
    moving = [(m, c) for m, c in form.terms.items() if m]
    if len(moving) != 1 or len(moving[0][0]) != 1:
        return None
    ((g,), slope) = moving[0]
    return (g, slope, form.constant) if isinstance(ctx.generators[g], Symbol) else None


def _sort(ctx: Context, guard: Form, known: Set[int], own: Set[int], result: Conditions) -> None:
    """``known`` are the symbols that the counting engine has values for (``is_known``), ``own``
    the counters of the loops around the access."""
    if guard == op.ONE:
        return
    unknown = ctx.leaves(guard) - known
    if not unknown:
        if guard not in result.known:
            result.known.append(guard)
    elif not ctx.varying(guard):
        result.optional = True
    elif data := unknown & ctx.of_kind["data"]:
        symbols = [ctx.generators[g] for g in sorted(data)]
        reasons = [s.reason for s in symbols if isinstance(s, Symbol) and s.reason]
        result.masked = reasons[0] if reasons else "a condition that is not known"
        result.sizes = False
    elif any(s.kind in ("counter", "header") and g not in own for g, s in ctx.symbols(guard)):
        result.masked, result.sizes = LEFT, False
    elif _may_hold_for_all(ctx, guard) and not any(
        _narrow(ctx, guard, other) for other in result.assumed
    ):
        result.assumed.append(guard)
    else:
        _mask(ctx, guard, known, result)


def _mask(ctx: Context, guard: Form, known: Set[int], result: Conditions) -> None:
    """Sizes decide which lanes meet ``guard``."""
    if not result.masked:
        result.deciding = [s for g, s in ctx.symbols(guard) if g not in known]
        result.masked = ", ".join(sorted({s.name for s in result.deciding}))
        result.sizes = True


def keep_possible(
    ctx: Context, conditions: Conditions, ranges: Mapping[int, int], trials: Trials
) -> None:
    """Of what is assumed only what whole warps can meet: ``(i + n) % 2`` changes between lanes,
    whatever ``n``, and none of them is in the last three of ``blockDim.x``."""
    known = _known(ctx, ranges)
    met = trials.where(conditions.known)
    for guard in list(conditions.assumed):
        if _is_doubtful(ctx, guard) and not met.by_all(guard):
            conditions.assumed.remove(guard)
            _mask(ctx, guard, known, conditions)


def _is_doubtful(ctx: Context, guard: Form) -> bool:
    """Whether values repeat in it, or indices are compared with their dimensions: what else there
    is of conditions on sizes may be met by whole warps, rarely as ``i / n == 5``."""
    return _repeats(ctx, guard) or any(s.kind in DIMENSIONS for _, s in ctx.symbols(guard))


def _repeats(ctx: Context, form: Form) -> bool:
    """Whether values repeat in it.  Two conditions that are compared are each met by whole warps,
    their difference, as in ``(i < n) != (i < n + 2)``, need not be."""
    return any(
        atom.op in _REPEATING or (compared and atom.op in _COMPARISONS)
        for atom, compared in _atoms(ctx, form)
    )


def _atoms(ctx: Context, form: Form) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a form and of their arguments, each once, and whether it is compared."""
    left = [(g, False) for g in form.generators()]
    seen = set(left)
    while left:
        g, compared = left.pop()
        atom = ctx.generators[g]
        if not isinstance(atom, Atom):
            continue
        yield atom, compared
        below = compared or atom.op in _COMPARISONS
        new = {(inner, below) for arg in atom.args for inner in arg.generators()} - seen
        seen |= new
        left += new


def _may_hold_for_all(ctx: Context, guard: Form) -> bool:
    """Whether a whole warp is likely to meet a guard on sizes: ``i == n - 1`` or ``i % n == 0``
    is one lane's and ``i < 7`` that of seven, while the lanes of a warp may share a row ``i / n``.
    """
    atom = op.single_atom(ctx, guard)
    if atom is None:
        return True
    match atom.op:
        case "any":
            return any(_may_hold_for_all(ctx, arg) for arg in atom.args)
        case "all":
            return all(_may_hold_for_all(ctx, arg) for arg in atom.args)
        case "eq0":
            lanes = [g for m in atom.args[0].terms for g in m if ctx.generators[g].varying]
            return all(_is_row(ctx, g) for g in lanes)
        case "lt0":
            least, _ = ctx.bounds(atom.args[0])
            return least is None or least + _spread(ctx, atom.args[0]) < 0
    return True


def _narrow(ctx: Context, guard: Form, other: Form) -> bool:
    """Whether both leave fewer values than a warp has lanes: ``n <= i`` and ``i < n + 8``.  Where
    an unsigned ``n - 3`` wraps, ``n - 3 <= i`` leaves none."""
    sides = [op.single_atom(ctx, guard), op.single_atom(ctx, other)]
    if any(side is None or side.op != "lt0" for side in sides):
        return False
    first, second = (unwrapped(ctx, side.args[0]) for side in sides if side is not None)
    width = first + second  # constant where the lanes and the sizes cancel out
    return width.is_constant and -width.constant - 1 <= _spread(ctx, first)


def _spread(ctx: Context, form: Form) -> int:
    """How far the values of a warp's lanes are apart at least if they are 32 different ones, or as
    many as there can be."""
    lanes = Form({m: c for m, c in form.terms.items() if ctx.varying(Form({m: c}))})
    low, high = ctx.bounds(lanes)
    apart = ctx.multiple_of(lanes) * (WARP_SIZE - 1)
    return apart if low is None or high is None else min(apart, high - low)


def _is_row(ctx: Context, g: int) -> bool:
    generator = ctx.generators[g]
    if isinstance(generator, Symbol) or generator.op not in ("cdiv", "fdiv"):
        return False
    return not generator.args[1].is_constant


def is_known(g: int, symbol: Symbol, ranges: Mapping[int, int]) -> bool:
    """Whether the counting engine has values for the symbol."""
    return symbol.kind in ("tid", "base") or g in ranges


def _sort_entry(
    ctx: Context, info: LoopInfo, known: Set[int], own: Set[int], result: Conditions
) -> None:
    """A loop's own condition has held in all earlier iterations."""
    k = Form({(info.counter,): 1})
    before = [holds_before(ctx, condition, info.counter, k) for condition in info.entry]
    if None in before:
        _give_up(ctx, info.entry, result, "a loop condition that may hold again later")
    for condition in before:
        if condition is not None:
            _sort(ctx, condition, known, own, result)


def _sort_carry(
    ctx: Context,
    info: LoopInfo,
    carry: Form,
    known: Set[int],
    own: Set[int],
    result: Conditions,
) -> None:
    """A condition of all earlier iterations, as one of this iteration where it has such a form."""
    if carry == op.ONE:
        return
    before = holds_before(ctx, carry, info.counter, Form({(info.counter,): 1}))
    if before is None:
        _give_up(ctx, (carry,), result, LEFT)
    else:
        _sort(ctx, before, known, own, result)


def _give_up(ctx: Context, conditions: tuple[Form, ...], result: Conditions, reason: str) -> None:
    result.optional = True
    if any(ctx.varying(c) for c in conditions):
        data = [s.reason for c in conditions for _, s in ctx.symbols(c) if s.kind == "data"]
        result.sizes = False
        result.masked = next((r for r in data if r), reason)
