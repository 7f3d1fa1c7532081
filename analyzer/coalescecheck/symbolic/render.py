"""Forms as SymPy expressions and as text for the reader.

Names are identifiers (``threadIdx_x``), so that ``sympify`` reads the text back.  SymPy is
imported here and in ``formulas`` only, and only when something is shown.
"""

from __future__ import annotations

from typing import Any

import sympy

from coalescecheck.symbolic.form import Atom, Context, Form, Symbol

_FUNCTIONS = {
    "fdiv": "floor",
    "fmod": "Mod",
    "min": "Min",
    "max": "Max",
    "abs": "Abs",
    "lt0": "negative",  # 1 if the argument is < 0, else 0
    "eq0": "zero",
    "all": "every",
    "cdiv": "trunc_div",
    "cmod": "trunc_mod",
    "and": "BitAnd",
    "or": "BitOr",
    "xor": "BitXor",
    "shl": "ShiftLeft",
    "shr": "ShiftRight",
    "wrap": "wrap",
    "table": "table",
    "popc": "popc",
    "clz": "clz",
    "ffs": "ffs",
}


class Renderer:
    """Turns the forms of one context into SymPy expressions and strings."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._known: dict[int, Any] = {}
        self._names: dict[str, int] = {}

    def text(self, form: Form) -> str:
        """The form as a SymPy string."""
        return str(self.expression(form))

    def expression(self, form: Form) -> Any:
        """The form as a SymPy expression."""
        terms = []
        for monomial, coefficient in form.terms.items():
            factors = [self._generator(g) for g in monomial]
            terms.append(sympy.Mul(sympy.Integer(coefficient), *factors))
        return sympy.Add(*terms)

    def _generator(self, g: int) -> Any:
        known = self._known.get(g)
        if known is None:
            generator = self._ctx.generators[g]
            if isinstance(generator, Symbol):
                known = sympy.Symbol(self._name(g, generator), integer=True)
            else:
                known = self._atom(generator)
            self._known[g] = known
        return known

    def _name(self, g: int, symbol: Symbol) -> str:
        """An identifier that no other symbol has."""
        plain = "".join(c if c.isalnum() else "_" for c in symbol.name.split("#")[0])
        plain = plain.strip("_") or "pointer"
        count = self._names.setdefault(plain, 0)
        self._names[plain] += 1
        return plain if count == 0 else f"{plain}_{count}"

    def _atom(self, atom: Atom) -> Any:
        args = [self.expression(arg) for arg in atom.args]
        if atom.op == "fdiv":
            args = [args[0] / args[1]]
        # undefined functions print like SymPy's own, but cost nothing to build
        return sympy.Function(_FUNCTIONS.get(atom.op, atom.op))(*args)

    def condition(self, guard: Form) -> str:
        """A guard for the reader: ``i - n < 0`` becomes ``i < n``."""
        expression = self.expression(guard)
        found = _single(self._ctx, guard)
        if found is not None:
            atom, negated = found
            left = Form({m: c for m, c in atom.args[0].terms.items() if c > 0})
            right = -Form({m: c for m, c in atom.args[0].terms.items() if c < 0})
            sign = {("lt0", False): "<", ("lt0", True): ">=", ("eq0", False): "=="}
            symbol = sign.get((atom.op, negated), "!=")
            return f"{self.text(left)} {symbol} {self.text(right)}"
        return str(expression)


def _single(ctx: Context, guard: Form) -> tuple[Atom, bool] | None:
    for form, negated in ((guard, False), (Form({(): 1}) - guard, True)):
        if len(form.terms) == 1 and not form.constant:
            (monomial, coefficient), *_ = form.terms.items()
            generator = ctx.generators[monomial[0]]
            alone = coefficient == 1 and len(monomial) == 1
            if alone and isinstance(generator, Atom) and generator.op in ("lt0", "eq0"):
                return generator, negated
    return None
