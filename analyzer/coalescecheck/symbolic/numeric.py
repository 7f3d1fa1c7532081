"""Evaluates forms over NumPy arrays: the values of symbols in, the form's values out.

Everything a form can contain is computable once its symbols have values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coalescecheck.symbolic.arithmetic import Values, apply, in_64_bits
from coalescecheck.symbolic.form import Atom, Context, Form, Symbol


class Evaluator:
    """Evaluates forms of one context for one assignment of symbols.

    ``values`` maps symbol ids to arrays that broadcast against each other.  Results of atoms
    are kept, so forms that share parts are cheap.
    """

    def __init__(self, context: Context, values: Mapping[int, Values]) -> None:
        self._context = context
        self._known: dict[int, Values] = dict(values)

    @property
    def work(self) -> int:
        """How many generators have been evaluated so far, or were given."""
        return len(self._known)

    def form(self, form: Form) -> Values:
        """The value of ``form``; KeyError if a symbol has no value."""
        total: Values = np.asarray(in_64_bits(form.constant), dtype=np.int64)
        for monomial, coefficient in form.terms.items():
            if monomial:
                product = self.generator(monomial[0])
                for g in monomial[1:]:
                    product = product * self.generator(g)
                factor = in_64_bits(coefficient)
                total = total + (product if factor == 1 else product * factor)
        return total

    def magnitude(self, form: Form) -> int:
        """A bound on what the terms of the form add up to, whatever their signs, for numbers."""
        total = 0
        for monomial, coefficient in form.terms.items():
            product = abs(coefficient)
            for g in monomial:
                product *= abs(int(self.generator(g)))
            total += product
        return total

    def generator(self, g: int) -> Values:
        """The value of one generator."""
        known = self._known.get(g)
        if known is None:
            generator = self._context.generators[g]
            if isinstance(generator, Symbol):
                raise KeyError(generator.name)
            known = self._known[g] = self._atom(generator)
        return known

    def _atom(self, atom: Atom) -> Values:
        return apply(atom.op, [self.form(arg) for arg in atom.args], atom.data)
