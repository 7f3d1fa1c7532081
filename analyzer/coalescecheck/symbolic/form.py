"""Integer values of one generic thread: polynomials over symbols and atoms.

A :class:`Form` is a polynomial with integer coefficients.  Its generators are
:class:`Symbol` (thread and block indices, dimensions, parameters, loop counters, unknowns,
base addresses of arrays) and :class:`Atom` (an operation that is not a polynomial: division,
remainder, bit operations, comparison, selection).  Every generator knows whether it differs
between the lanes of a warp, and its bounds.

The ring is our own because generators appear while the kernel is read; ``sympy.polys.rings``
fixes them at creation, and converting between rings costs more than these additions.
SymPy is used where it is good: for the expressions that are shown (``render``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import gcd

import numpy as np

from coalescecheck.symbolic.arithmetic import apply, in_64_bits

Bounds = tuple[int | None, int | None]
Monomial = tuple[int, ...]  # generator ids in increasing order, repeated for powers


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named integer.

    ``kind``: tid, row (``threadIdx.y``/``z`` of an unknown block: one value per warp), place (a
    quotient that the lanes of a warp share), bid, bdim, gdim, param, counter, base (address of
    array ``name``), data (a value the source text does not determine; ``reason`` says where it
    comes from), header (the value a loop variable has when an iteration starts; only during loop
    analysis).
    ``varying``: lanes of one warp may differ.  ``multiple``: the value is a multiple of it.
    ``bits``: the width of a header's variable.
    """

    name: str
    kind: str
    varying: bool = False
    low: int | None = None
    high: int | None = None
    multiple: int = 1
    reason: str = ""
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Atom:
    """``op`` applied to forms.

    ``fdiv fmod`` (floor), ``cdiv cmod`` (C, truncating), ``and or xor shl shr min max``,
    ``lt0 eq0`` (1 if the argument is < 0, == 0), ``all any not`` on truth values,
    ``select`` (condition, value): value if the condition holds, else 0; ``wrap`` (reduce to
    ``data[0]`` bits, signed if ``data[1]``), ``table`` (``data`` indexed by the argument),
    ``popc clz ffs brev abs``.
    """

    op: str
    args: tuple[Form, ...]
    varying: bool
    low: int | None
    high: int | None
    data: tuple[int, ...] = ()


Generator = Symbol | Atom


class Form:
    """An immutable polynomial; ``terms`` maps monomials to non-zero coefficients.

    The slots with an underscore keep answers of the form's :class:`Context`, ``opposite`` that of
    :func:`~coalescecheck.symbolic.truth.negate`.
    """

    __slots__ = ("_bounds", "_hash", "_leaves", "_varying", "opposite", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._leaves: frozenset[int] | None = None
        self._varying: bool | None = None
        self._bounds: Bounds | None = None
        self.opposite: Form | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Form) and self.terms == other.terms)

    def __add__(self, other: Form) -> Form:
        if len(other.terms) > len(self.terms):
            self, other = other, self
        if not other.terms:
            return self
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Form(terms)

    def __neg__(self) -> Form:
        return Form({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Form) -> Form:
        if not other.terms:
            return self
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) - coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Form(terms)

    def __mul__(self, other: Form) -> Form:
        if self.is_constant:
            return other.scaled(self.constant)
        if other.is_constant:
            return self.scaled(other.constant)
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                monomial = tuple(sorted(m1 + m2))
                total = terms.get(monomial, 0) + c1 * c2
                if total:
                    terms[monomial] = total
                else:
                    terms.pop(monomial, None)
        return Form(terms)

    def scaled(self, factor: int) -> Form:
        """The form times an integer."""
        if factor == 0:
            return ZERO
        if factor == 1:
            return self
        return Form({m: c * factor for m, c in self.terms.items()})

    @property
    def is_constant(self) -> bool:
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def constant(self) -> int:
        """The coefficient of the empty monomial."""
        return self.terms.get((), 0)

    def generators(self) -> set[int]:
        """Ids of the generators that occur directly (not those inside atoms)."""
        return {g for m in self.terms for g in m}


class _Kind(Enum):
    """What is known of a product: the same for all lanes, a matter of thread indices, or not."""

    UNIFORM, THREADS, DIFFERS = range(3)


ZERO = Form({})
ONE = Form({(): 1})


@lru_cache(maxsize=4096)
def number(value: int) -> Form:
    """The constant form."""
    return Form({(): value}) if value else ZERO


class Context:
    """Holds the generators of one kernel analysis; hash-consing makes equal atoms identical.

    ``differs(context, form)`` decides for a form over thread indices alone whether it differs
    within some warp of the block; without it every such form is taken to differ.
    """

    def __init__(self, differs: Callable[[Context, Form], bool] | None = None) -> None:
        self.generators: list[Generator] = []
        self.of_kind: defaultdict[str, set[int]] = defaultdict(set)  # ids of symbols
        self.uniform: set[int] = set()  # ids of symbols that are the same for all lanes
        self._differs = differs
        self._varying: dict[Form, bool] = {}
        self._kinds: dict[Monomial, _Kind] = {}
        self._ids: dict[object, int] = {}
        self._leaves: dict[int, frozenset[int]] = {}
        self._divisions: dict[int, frozenset[int]] = {}
        self._symbols: dict[frozenset[int], tuple[tuple[int, Symbol], ...]] = {}
        self._bases: dict[frozenset[int], frozenset[str]] = {}

    # --- making generators --------------------------------------------------------------------

    def symbol(self, symbol: Symbol) -> Form:
        """The form that is just this symbol; symbols are identified by name and kind."""
        g = self._intern((symbol.kind, symbol.name), symbol)
        self._sort_in(g, symbol)
        return Form({(g,): 1})

    def fresh(self, symbol: Symbol) -> Form:
        """Like :meth:`symbol` but never shared with another symbol."""
        g = len(self.generators)
        self.generators.append(symbol)
        self._sort_in(g, symbol)
        return Form({(g,): 1})

    def _sort_in(self, g: int, symbol: Symbol) -> None:
        self.of_kind[symbol.kind].add(g)
        if not symbol.varying:
            self.uniform.add(g)

    def atom(
        self,
        op: str,
        args: tuple[Form, ...],
        bounds: Bounds = (None, None),
        data: tuple[int, ...] = (),
        varying: bool | None = None,
    ) -> Form:
        """The form that is just ``op(args)``; ``varying`` defaults to that of the arguments.

        An operation on numbers is its result: whatever looks at the symbols of a form would
        not find it.
        """
        if all(arg.is_constant for arg in args):
            values = [np.asarray(in_64_bits(arg.constant), np.int64) for arg in args]
            return number(int(apply(op, values, data)))
        key = (op, args, data)
        known = self._ids.get(key)
        if known is None:
            if varying is None:
                varying = any(self.varying(arg) for arg in args)
            atom = Atom(op, args, varying, bounds[0], bounds[1], data)
            known = self._intern(key, atom)
            if varying and not self.varying(Form({(known,): 1})):
                self.generators[known] = replace(atom, varying=False)
                self._kinds[known,] = _Kind.UNIFORM
        return Form({(known,): 1})

    def _intern(self, key: object, generator: Generator) -> int:
        known = self._ids.get(key)
        if known is None:
            known = len(self.generators)
            self.generators.append(generator)
            self._ids[key] = known
        return known

    # --- asking about forms -------------------------------------------------------------------

    def varying(self, form: Form) -> bool:
        """Whether lanes of one warp may hold different values."""
        if form._varying is None:
            form._varying = self._is_varying(form)
        return form._varying

    def _is_varying(self, form: Form) -> bool:
        threads: dict[Monomial, int] = {}
        for monomial, coefficient in form.terms.items():
            kind = self._kinds.get(monomial)
            if kind is None:
                kind = self._kinds[monomial] = self._kind(monomial)
            if kind is _Kind.DIFFERS:
                return True
            if kind is _Kind.THREADS:
                threads[monomial] = coefficient
        if not threads:
            return False
        lanes = form if len(threads) == len(form.terms) else Form(threads)
        known = self._varying.get(lanes)
        if known is None:
            known = self._varying[lanes] = self._differs is None or self._differs(self, lanes)
        return known

    def _kind(self, monomial: Monomial) -> _Kind:
        moving = tuple(g for g in monomial if self.generators[g].varying)
        if not moving:
            return _Kind.UNIFORM
        if not self.leaves(Form({moving: 1})) <= self.of_kind["tid"]:
            return _Kind.DIFFERS
        if len(moving) == len(monomial):
            return _Kind.THREADS
        # a row that is the same for a whole warp, times what is the same for all
        return _Kind.DIFFERS if self.varying(Form({moving: 1})) else _Kind.UNIFORM

    def leaves(self, form: Form) -> frozenset[int]:
        """Ids of all symbols the form depends on, through atoms."""
        if form._leaves is None:
            found: frozenset[int] | None = None
            for monomial in form.terms:
                for g in monomial:
                    own = self._leaves.get(g) or self._leaves_of(g)
                    found = own if found is None or found is own else found | own
            form._leaves = frozenset() if found is None else found
        return form._leaves

    def _leaves_of(self, g: int) -> frozenset[int]:
        known = self._leaves.get(g)
        if known is None:
            generator = self.generators[g]
            if isinstance(generator, Symbol):
                known = frozenset((g,))
            else:
                known = frozenset().union(*(self.leaves(arg) for arg in generator.args))
            self._leaves[g] = known
        return known

    def divisions(self, form: Form) -> frozenset[int]:
        """Ids of all floor divisions and remainders by a number that the form depends on."""
        return frozenset().union(*(self._divisions_of(g) for m in form.terms for g in m))

    def _divisions_of(self, g: int) -> frozenset[int]:
        known = self._divisions.get(g)
        if known is None:
            generator = self.generators[g]
            if isinstance(generator, Symbol):
                known = frozenset()
            else:
                known = frozenset().union(*(self.divisions(arg) for arg in generator.args))
                if generator.op in ("fdiv", "fmod") and generator.args[1].is_constant:
                    known |= {g}
            self._divisions[g] = known
        return known

    def symbols(self, form: Form) -> tuple[tuple[int, Symbol], ...]:
        """The symbols the form depends on, through atoms, with their ids."""
        leaves = self.leaves(form)
        known = self._symbols.get(leaves)
        if known is None:
            pairs = ((g, self.generators[g]) for g in sorted(leaves))
            known = tuple((g, s) for g, s in pairs if isinstance(s, Symbol))
            self._symbols[leaves] = known
        return known

    def bases(self, form: Form) -> frozenset[str]:
        """The names of the arrays whose addresses the form depends on."""
        leaves = self.leaves(form)
        known = self._bases.get(leaves)
        if known is None:
            known = frozenset(s.name for _, s in self.symbols(form) if s.kind == "base")
            self._bases[leaves] = known
        return known

    def bounds(self, form: Form) -> Bounds:
        """An interval that contains every value of the form (None: no bound known)."""
        if form._bounds is None:
            low: int | None = 0
            high: int | None = 0
            for monomial, coefficient in form.terms.items():
                m_low, m_high = self._monomial_bounds(monomial)
                if coefficient < 0:
                    m_low, m_high = m_high, m_low
                low = None if low is None or m_low is None else low + coefficient * m_low
                high = None if high is None or m_high is None else high + coefficient * m_high
            form._bounds = (low, high)
        return form._bounds

    def _monomial_bounds(self, monomial: Monomial) -> Bounds:
        if len(monomial) == 1:
            return self.generators[monomial[0]].low, self.generators[monomial[0]].high
        bounds: Bounds = (1, 1)
        for g in monomial:
            generator = self.generators[g]
            bounds = _product_bounds(bounds, (generator.low, generator.high))
        if len(monomial) == 2 and monomial[0] == monomial[1] and (bounds[0] or -1) < 0:
            bounds = (0, bounds[1])
        return bounds

    def multiple_of(self, form: Form) -> int:
        """A positive integer that divides every value of the form (0 for the zero form)."""
        divisor = 0
        for monomial, coefficient in form.terms.items():
            factor = abs(coefficient)
            for g in monomial:
                factor *= self._divisor(self.generators[g])
            divisor = gcd(divisor, factor)
        return divisor

    def _divisor(self, generator: Generator) -> int:
        """What divides every value: of a multiple of 32, floored by 16, it is 2."""
        if isinstance(generator, Symbol):
            return generator.multiple
        if generator.op not in ("fdiv", "fmod") or not generator.args[1].is_constant:
            return 1
        of, by = self.multiple_of(generator.args[0]), generator.args[1].constant
        if generator.op == "fmod":
            return gcd(of, by)
        return of // by if by and of % by == 0 and of else 1

    def substitute(
        self, form: Form, values: dict[int, Form], done: dict[int, Form] | None = None
    ) -> Form:
        """The form with symbols replaced, inside atoms as well.

        Atoms are rebuilt as they are: bounds stay those of the original (still valid when the
        replacement lies inside the symbol's own bounds).  ``done`` keeps what became of each
        generator: one that stands in several places is rebuilt once.
        """
        if self.leaves(form).isdisjoint(values):
            return form
        done = {} if done is None else done
        result = ZERO
        for monomial, coefficient in form.terms.items():
            product = number(coefficient)
            for g in monomial:
                new = done.get(g)
                if new is None:
                    new = done[g] = self._substituted(g, values, done)
                product = product * new
            result = result + product
        return result

    def _substituted(self, g: int, values: dict[int, Form], done: dict[int, Form]) -> Form:
        if g in values:
            return values[g]
        generator = self.generators[g]
        if isinstance(generator, Symbol) or self._leaves_of(g).isdisjoint(values):
            return Form({(g,): 1})
        args = tuple(self.substitute(arg, values, done) for arg in generator.args)
        return self.atom(generator.op, args, (generator.low, generator.high), generator.data)


def _product_bounds(left: Bounds, right: Bounds) -> Bounds:
    """Interval product; unbounded ends are handled for the non-negative case only."""
    (a, b), (c, d) = left, right
    if a is not None and b is not None and c is not None and d is not None:
        products = (a * c, a * d, b * c, b * d)
        return min(products), max(products)
    if a is not None and a >= 0 and c is not None and c >= 0:
        high = None if b is None or d is None else b * d
        return a * c, high
    return None, None


def single_atom(ctx: Context, form: Form) -> Atom | None:
    """The atom, if the form is one atom and nothing else."""
    if len(form.terms) != 1:
        return None
    (monomial, coefficient), *_ = form.terms.items()
    if coefficient != 1 or len(monomial) != 1:
        return None
    generator = ctx.generators[monomial[0]]
    return None if isinstance(generator, Symbol) else generator


def ordered(left: Form, right: Form) -> tuple[Form, Form]:
    """The operands of a commutative operation, so that both orders make one atom."""
    return (left, right) if hash(left) <= hash(right) else (right, left)
