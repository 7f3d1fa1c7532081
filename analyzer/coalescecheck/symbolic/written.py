"""Forms as a CUDA programmer writes them: C's operators and the source's names.

Guards and assumptions are for readers; what is computed with has SymPy's syntax (``render``).
"""

from __future__ import annotations

import re

from coalescecheck.symbolic.form import ONE, Atom, Context, Form, Symbol
from coalescecheck.symbolic.render import LONGEST, PART, UNWRITTEN, Renderer

_SIGNS = {"cdiv": "/", "cmod": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_TIGHT = ("/", "%")  # bind as ``*`` does, the others less than ``+``
_COMPARED = {("lt0", False): "<", ("lt0", True): ">=", ("eq0", False): "==", ("eq0", True): "!="}
_TURNED = {"<": ">", ">=": "<="}
_PARENTHESIS = re.compile(r"[()]")
_PARTS = {"'": "/", "%": "%"}
_TYPES = {  # by bits and sign
    (8, 0): "unsigned char",
    (8, 1): "signed char",
    (16, 0): "unsigned short",
    (16, 1): "short",
    (32, 0): "unsigned",
    (32, 1): "int",
}
_TRUTHS = ("lt0", "eq0", "all", "any")


class Written(Renderer):
    """Turns forms into C text, with the names that ``symbols`` gives."""

    def __init__(self, symbols: Renderer) -> None:
        super().__init__(symbols.ctx)
        self.symbols = symbols
        self._conditions: dict[Form, str] = {}

    def condition(self, guard: Form) -> str:
        """A guard: ``i - n < 0`` becomes ``i < n``."""
        known = self._conditions.get(guard)
        if known is None:
            known = self._conditions[guard] = self._condition(guard)
        return known

    def _condition(self, guard: Form, negated: bool = False) -> str:
        found = _single(self.ctx, guard)
        if found is None:
            return f"!{self._operand(guard)}" if negated else self.text(guard)
        atom, turned = found
        negated ^= turned
        if atom.op in ("all", "any"):
            word = " && " if (atom.op == "all") != negated else " || "
            parts = [self._condition(arg, negated) for arg in atom.args]
            return word.join(f"({p})" if " && " in p or " || " in p else p for p in parts)
        left = Form({m: c for m, c in atom.args[0].terms.items() if c > 0})
        right = -Form({m: c for m, c in atom.args[0].terms.items() if c < 0})
        symbol = _COMPARED[atom.op, negated]
        if symbol == "<" and right.constant == 1 and not right.is_constant:  # `n < i + 1`
            left, right, symbol = right - ONE, left, ">="
        if left.is_constant:
            left, right, symbol = right, left, _TURNED.get(symbol, symbol)
        return f"{self.text(left)} {symbol} {self.text(right)}"

    def _name(self, g: int, symbol: Symbol) -> str:
        part = PART.fullmatch(symbol.name)
        if part is not None:
            return f"({part[1]} {_PARTS[part[2]]} {part[3]})"
        name = self.symbols.generator(g)
        return self.symbols.names.get(name, name)

    def _product(self, monomial: tuple[int, ...], factor: int) -> str:
        if factor == 1 and len(monomial) == 1:
            return self.generator(monomial[0])
        factors = [_enclosed(self.generator(g)) for g in monomial]
        return "*".join([str(factor), *factors] if factor != 1 else factors)

    def _atom(self, g: int, atom: Atom) -> str:
        text = self._operation(g, atom)
        # shared parts are written out at every use, as in SymPy's syntax
        return text if len(text) <= LONGEST else f"{UNWRITTEN}{g}"

    def _operation(self, g: int, atom: Atom) -> str:
        if atom.op in _TRUTHS:
            return f"({self.condition(Form({(g,): 1}))})"
        sign, right = _SIGNS.get(atom.op, ""), atom.args[-1]
        if atom.op in ("fdiv", "fmod"):
            sign, right = self._floored(atom)
        if atom.op == "wrap" and atom.data in _TYPES:
            return f"({_TYPES[atom.data]}){self._operand(right)}"
        if atom.op in ("min", "max"):
            return f"{atom.op}({', '.join(self.text(arg) for arg in atom.args)})"
        if not sign:
            return super()._atom(g, atom)
        text = f"{self._operand(atom.args[0])} {sign} {self._operand(right)}"
        return text if sign in _TIGHT else f"({text})"

    def _floored(self, atom: Atom) -> tuple[str, Form]:
        """C's operator for a floored quotient or remainder, if it has one, and its operand."""
        of, by = atom.args
        low = self.ctx.bounds(of)[0]
        if low is not None and low >= 0:
            return _TIGHT[atom.op == "fmod"], by
        if not by.is_constant or by.constant & (by.constant - 1):
            return "", by
        if atom.op == "fdiv":
            return ">>", Form({(): by.constant.bit_length() - 1})
        return "&", Form({(): by.constant - 1})

    def _operand(self, form: Form) -> str:
        return _enclosed(self.text(form))


def _enclosed(text: str) -> str:
    """In parentheses, unless it is a name, a number, or in parentheses already."""
    plain = not any(c in text for c in " *-")
    return text if plain or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    """Whether the parenthesis at the start, or after a name, is closed by the last character."""
    name = text.partition("(")[0]
    if text[-1] != ")" or (name and not name.isidentifier()):
        return False
    depth = 0
    for found in _PARENTHESIS.finditer(text):
        depth += 1 if found.group() == "(" else -1
        if depth == 0:
            return found.end() == len(text)
    return False


def _single(ctx: Context, guard: Form) -> tuple[Atom, bool] | None:
    """The comparison, or the several, that a truth value is, and whether it is their opposite."""
    for form, negated in ((guard, False), (Form({(): 1}) - guard, True)):
        if len(form.terms) == 1 and not form.constant:
            (monomial, coefficient), *_ = form.terms.items()
            generator = ctx.generators[monomial[0]]
            alone = coefficient == 1 and len(monomial) == 1
            if alone and isinstance(generator, Atom) and generator.op in _TRUTHS:
                return generator, negated
    return None
