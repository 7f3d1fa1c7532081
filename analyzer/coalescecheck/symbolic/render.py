"""Forms as text in SymPy's syntax, for whoever computes with it; ``written`` is for readers.

Names are identifiers (``threadIdx_x``) and functions are SymPy's where it has them (``floor``,
``Mod``); ``reading`` knows the others and reads the text back.  SymPy itself is not needed to
write it, and building its expressions for every address would cost more than the analysis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from keyword import iskeyword

from coalescecheck.ir.types import UNNAMED
from coalescecheck.symbolic.form import Atom, Context, Form, Symbol

LONGEST = 2000  # characters of one atom; a longer one gets a name instead
UNWRITTEN = "long_"  # how such a name begins
FUNCTIONS = {
    "fdiv": "floor",
    "fmod": "Mod",
    "min": "Min",
    "max": "Max",
    "abs": "Abs",
    "lt0": "negative",  # 1 if the argument is < 0, else 0
    "eq0": "zero",
    "all": "every",
    "any": "some",
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
    "brev": "brev",
}
_SOURCE_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[\d+\])*")
# a part of a block index whose phases are tried: blockIdx.x'4 is its quotient by 4, blockIdx.x%4
# the remainder
# stands for how far members are from where they would be in C, which may be less than nothing
UNPLACED = "sizeof(unplaced_members_of_"
_UNNAMED_SIZE = f"sizeof({UNNAMED})"
PART = re.compile(r"([\w.]+)(['%])(\d+)")
WITH_DATA = ("wrap", "table")  # the numbers of the atom follow its argument: wrap(i, 8, 0)


class Renderer:
    """Turns the forms of one context into strings.

    ``names``: what the source calls those that are not identifiers, ``{"p_n": "p.n"}``.
    """

    def __init__(self, ctx: Context) -> None:
        self.names: dict[str, str] = {}
        self.ctx = ctx
        self._known: dict[int, str] = {}
        self._names: dict[str, int] = {}

    def text(self, form: Form) -> str:
        """The form as a SymPy string."""
        terms = [(m, c) for m, c in form.terms.items() if m]
        parts = sorted((self._product(m, abs(c)), c < 0) for m, c in terms)
        if form.constant or not parts:
            parts.append((str(abs(form.constant)), form.constant < 0))
        (first, negative), *others = parts
        return (
            ("-" if negative else "")
            + first
            + "".join(f" {'-' if minus else '+'} {term}" for term, minus in others)
        )

    def _product(self, monomial: tuple[int, ...], factor: int) -> str:
        factors = [self.generator(g) for g in monomial]
        return "*".join([str(factor), *factors] if factor != 1 else factors)

    def generator(self, g: int) -> str:
        """A symbol or an atom."""
        known = self._known.get(g)
        if known is None:
            generator = self.ctx.generators[g]
            if isinstance(generator, Symbol):
                known = self._name(g, generator)
            else:
                known = self._atom(g, generator)
            self._known[g] = known
        return known

    def _name(self, g: int, symbol: Symbol) -> str:
        """An identifier that no other symbol has."""
        plain = "".join(c if c.isalnum() else "_" for c in symbol.name.split("#")[0])
        plain = plain.strip("_") or "pointer"
        if iskeyword(plain):  # an array called `in` must not break Python's parser
            plain += "_"
        count = self._names.setdefault(plain, 0)
        self._names[plain] += 1
        if count:
            plain = f"{plain}_{count}"
        written = plain_name(symbol.name)
        if written != plain and symbol.kind != "data" and _SOURCE_NAME.fullmatch(written):
            self.names[plain] = written
        return plain

    def _atom(self, g: int, atom: Atom) -> str:
        args = [self.text(arg) for arg in atom.args]
        if atom.op == "fdiv":
            args = [f"({args[0]})/{args[1]}" if len(atom.args[0].terms) > 1 else "/".join(args)]
        if atom.op in WITH_DATA:
            args += map(str, atom.data)
        text = f"{FUNCTIONS.get(atom.op, atom.op)}({', '.join(args)})"
        # shared parts are written out at every use: a chain of them grows without bound
        return text if len(text) <= LONGEST else f"{UNWRITTEN}{len(self._known)}"


def plain_name(name: str) -> str:
    """The name of a symbol as the source has it, without the number that keeps it apart."""
    part = PART.fullmatch(name)
    return part[1] if part is not None else name.split("#")[0]


def spoken(symbols: Iterable[Symbol]) -> str:
    """Symbols by name, for a sentence; the number of an iteration, which only formulas name, in
    words: ``n, k4 (the iteration of the loop at line 4)``, and sizes of what could not be read by
    the class it is in."""
    names: dict[str, str] = {}
    for symbol in symbols:
        name = plain_name(symbol.name)
        if name == _UNNAMED_SIZE:
            names[name] = "sizes that are not known"
            continue
        if name.startswith(UNPLACED):
            known = name[len(UNPLACED) : -1]
            names[name] = f"the size of `{known if '___' in known else known.replace('__', '::')}`"
            continue
        line = name[1:] if symbol.kind == "counter" else ""
        names[name] = f"{name} (the iteration of the loop at line {line})" if line else name
    if any(name.startswith(UNPLACED) for name in names):
        names.pop(_UNNAMED_SIZE, None)  # of other members of that class
    return ", ".join(text for _, text in sorted(names.items()))
