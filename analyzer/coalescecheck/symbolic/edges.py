"""Parts of addresses whose position in the grid is not known, brought into countable form.

Two exact or stated simplifications of one address:

- *Phases*: ``(256*b + t) / 100`` repeats in the unknown block index ``b`` with a period; writing
  ``b = 25*b' + r`` moves ``b'`` out of the division and leaves the 25 values of ``r`` to try.
- *Edges*: ``i == 0 ? c : c - 1`` differs from ``c - 1`` in one lane of one warp, and ``i / w`` with
  unknown ``w`` changes within a warp only where a row ends.  Counts are given for warps that no
  such edge cuts, like those of a tail guard, and the assumption is stated.  A quotient that lanes
  of one warp can never share is no such edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import gcd, lcm

from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.form import ZERO, Atom, Context, Form, Symbol, number
from coalescecheck.symbolic.trials import Met
from coalescecheck.symbolic.wrapping import is_index

MAX_EDGES = 3  # inequalities whose two sides are both tried
MAX_PHASES = 512
PARAMETERS = ("param", "bid", "bdim", "gdim")
PLACES = (*PARAMETERS, "counter")
ROW = "where in its row the warp lies is not known"

Known = Callable[[int, Symbol], bool]
Spread = Callable[[Form], int]  # the least distance between the values in any warp


@dataclass(frozen=True, slots=True)
class Phases:
    """An address after unknown symbols were split; ``ranges`` are the phases' numbers of values
    by symbol id."""

    address: Form
    ranges: dict[int, int]


@dataclass(frozen=True, slots=True)
class Inside:
    """The values of an address in warps that no edge cuts, and what the edges are: equalities
    that hold for no lane, conditions that all lanes agree on, quotients that all share, and values
    that are taken to fit into 32 bits."""

    addresses: tuple[Form, ...]
    equalities: tuple[Form, ...]
    conditions: tuple[Form, ...]
    quotients: tuple[Form, ...]
    short: tuple[Form, ...] = ()


def phases(ctx: Context, address: Form, known: Known) -> Phases:
    """Split unknown symbols that stand in divisions by constants into period and phase."""
    periods: dict[int, int] = {}
    for g in sorted(ctx.divisions(address)):
        atom = ctx.generators[g]
        if isinstance(atom, Atom):
            _add_periods(ctx, atom, known, periods)
    ranges: dict[int, int] = {}
    values: dict[int, Form] = {}
    for g, period in periods.items():
        symbol = ctx.generators[g]
        if period < 2 or period > MAX_PHASES or not isinstance(symbol, Symbol):
            continue
        whole = ctx.symbol(Symbol(f"{symbol.name}'{period}", symbol.kind, False, 0, None))
        phase = ctx.symbol(Symbol(f"{symbol.name}%{period}", "phase", False, 0, period - 1))
        ranges[next(iter(phase.generators()))] = period
        values[g] = whole.scaled(period) + phase
    return Phases(op.replaced(ctx, address, values) if values else address, ranges)


def _add_periods(ctx: Context, atom: Atom, known: Known, periods: dict[int, int]) -> None:
    divisor = atom.args[1].constant
    for monomial, coefficient in atom.args[0].terms.items():
        if len(monomial) != 1:
            continue
        symbol = ctx.generators[monomial[0]]
        if not isinstance(symbol, Symbol) or symbol.kind != "bid" or known(monomial[0], symbol):
            continue
        period = divisor // gcd(coefficient, divisor)
        periods[monomial[0]] = lcm(periods.get(monomial[0], 1), period)


def inside(ctx: Context, address: Form, known: Known, spread: Spread, met: Met) -> Inside:
    """``address`` away from edges of unknown position.

    An equality is taken to hold nowhere in the warp; of an inequality both sides are returned;
    a quotient is taken to be the same for all lanes, and an index below 0 for all or none.
    ``met`` tells whether there are such warps.
    """
    fixed: dict[int, Form] = {}
    sides: list[int] = []
    quotients: list[Form] = []
    shared: set[int] = set()
    signs: list[Form] = []
    short: list[Form] = []
    for g in sorted(address.generators()):
        atom = ctx.generators[g]
        if not isinstance(atom, Atom) or not atom.varying:
            continue
        if not _movable(ctx, atom, known, PLACES if atom.op == "wrap" else PARAMETERS):
            continue
        if atom.op == "eq0" and met.by_none(Form({(g,): 1})):
            fixed[g] = ZERO
        elif atom.op == "lt0" and met.alike(Form({(g,): 1})):
            sides.append(g)
        elif atom.op == "wrap" and (whole := _before_wrap(ctx, atom)) is not None:
            below = op.less(ctx, atom.args[0], ZERO)
            if met.alike(below):
                fixed[g] = atom.args[0]
                signs.append(below)
                short += [whole] if _is_scaled(ctx, whole) else []
        elif atom.op in ("cdiv", "cmod") and _may_be_shared(ctx, atom, spread):
            quotient = ctx.atom("cdiv", atom.args)
            if not met.alike(quotient):
                continue
            name = f"row{next(iter(quotient.generators()))}"
            row = ctx.symbol(Symbol(name, "place", reason=ROW))
            whole = row * atom.args[1]
            fixed[g] = row if atom.op == "cdiv" else atom.args[0] - whole
            if not _is_shared_with(ctx, atom.args[0], shared):
                quotients.append(quotient)
            shared |= quotient.generators()
    if len(sides) > MAX_EDGES:
        sides = []
    if not (fixed or sides):
        return Inside((address,), (), (), ())
    choices = product((0, 1), repeat=len(sides))
    addresses = [
        _with(address, fixed | dict(zip(sides, map(number, values), strict=True)))
        for values in choices
    ]
    equalities = tuple(Form({(g,): 1}) for g in fixed if _is(ctx, g, "eq0"))
    conditions = (*(Form({(g,): 1}) for g in sides), *signs)
    return Inside(
        tuple(dict.fromkeys(addresses)),
        equalities,
        conditions,
        tuple(dict.fromkeys(quotients)),
        tuple(dict.fromkeys(short)),
    )


def _may_be_shared(ctx: Context, atom: Atom, spread: Spread) -> bool:
    """Whether all lanes of a warp may have one quotient: by a number, not where they are further
    apart than it."""
    dividend, divisor = atom.args
    if not divisor.is_constant:
        return not ctx.varying(divisor)
    lanes = Form({m: c for m, c in dividend.terms.items() if ctx.varying(Form({m: c}))})
    if not all(s.kind == "tid" for _, s in ctx.symbols(lanes)):
        return False
    return spread(lanes) < abs(divisor.constant)


def _is_shared_with(ctx: Context, dividend: Form, shared: set[int]) -> bool:
    """Whether lanes that share the quotients ``shared`` share the dividend, too."""
    return all(g in shared or not ctx.generators[g].varying for g in dividend.generators())


def unwrapped(ctx: Context, address: Form, known: Known, step: int) -> Form:
    """``address`` without the wrap of an index that leaves 0 at the start of a row of ``step``
    bytes: lanes below it are in other rows whether they are 2**32 elements further on or not."""
    for monomial, factor in address.terms.items():
        atom = ctx.generators[monomial[0]] if len(monomial) == 1 else None
        if not isinstance(atom, Atom) or atom.op != "wrap" or not _is_signless(ctx, atom):
            continue
        rest = address - Form({monomial: factor})
        bases = {m for m in rest.terms if len(m) == 1 and _is_base(ctx, m[0])}
        offset = Form({m: c for m, c in rest.terms.items() if m not in bases})
        aligned = len(bases) == 1 and ctx.multiple_of(offset) % step == 0
        if aligned and not ctx.varying(offset) and _movable(ctx, atom, known, PLACES):
            return rest + atom.args[0].scaled(factor)
    return address


def _is_base(ctx: Context, g: int) -> bool:
    generator = ctx.generators[g]
    return isinstance(generator, Symbol) and generator.kind == "base"


def _before_wrap(ctx: Context, atom: Atom) -> Form | None:
    """The least that an unsigned 32-bit index is made of (``i`` of ``i - 1``), where it wraps below
    0 only, as long as that fits: this moves a warp by whole lines if it is below 0 in all lanes."""
    index = atom.args[0]
    low, high = ctx.bounds(index)
    below = (low is None or low < 0) and None in (low, high)
    if atom.data != (32, 0) or not below or not is_index(index):
        return None
    if low is None:
        return None if _is_scaled(ctx, index) else index
    return index - number(low)


def _is_signless(ctx: Context, atom: Atom) -> bool:
    """Whether that is so whatever fits."""
    whole = _before_wrap(ctx, atom)
    return whole is not None and not _is_scaled(ctx, whole)


def _is_scaled(ctx: Context, index: Form) -> bool:
    """Whether a size times a lane's own number is in an index: it may wrap any number of times."""
    forms = (Form({monomial: 1}) for monomial in index.terms if len(monomial) > 1)
    return any(ctx.varying(form) and None in ctx.bounds(form) for form in forms)


def _is(ctx: Context, g: int, name: str) -> bool:
    generator = ctx.generators[g]
    return isinstance(generator, Atom) and generator.op == name


def _movable(ctx: Context, atom: Atom, known: Known, kinds: tuple[str, ...]) -> bool:
    """Whether the atom depends on sizes or block indices that are not known, and on no data."""
    unknown = [s for arg in atom.args for g, s in ctx.symbols(arg) if not known(g, s)]
    return bool(unknown) and all(s.kind in kinds for s in unknown)


def _with(form: Form, values: dict[int, Form]) -> Form:
    result = ZERO
    for monomial, coefficient in form.terms.items():
        term = number(coefficient)
        for g in monomial:
            term = term * values.get(g, Form({(g,): 1}))
        result = result + term
    return result
