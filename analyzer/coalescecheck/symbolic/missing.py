"""The fact that would settle a count, named as the reader can give it.

In: the symbols a count depends on.  Out: words for ``reason`` that end in an option of the command.
Data cannot be given, so nothing is offered for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coalescecheck.symbolic.form import Symbol

START = "start"  # of the symbols for where an array begins: start4#in


def start_of(array: str, multiple: int) -> Symbol:
    """Where ``array`` (empty: some pointer) begins, in bytes: all that is known is a divisor."""
    return Symbol(
        f"{START}{multiple}#{array}",
        "data",
        multiple=multiple,
        reason="the array's base alignment is not known",
    )


@dataclass(frozen=True, slots=True)
class Givable:
    """What the reader can give: values of ``parameters``, alignments of ``pointers`` that are
    launched with an offset."""

    parameters: frozenset[str] = frozenset()
    pointers: frozenset[str] = frozenset()

    def divisible(self, symbol: Symbol) -> str | None:
        """The name in a fact ``name % d == 0`` that speaks of ``symbol``; None if none can."""
        if symbol.kind == "param" and symbol.name in self.parameters:
            return symbol.name
        name = symbol.name.partition("#")[2]
        return name if symbol.name.startswith(START) and name in self.pointers else None

    def settled(self, symbols: Iterable[Symbol]) -> str:
        """``: pass `--param n=...```, to be put behind a reason; empty if that is not enough."""
        options = [self._option(symbol) for symbol in symbols]
        if not options or None in options:
            return ""
        return f": pass `{' '.join(sorted({o for o in options if o}))}`"

    def _option(self, symbol: Symbol) -> str | None:
        match symbol.kind:
            case "bdim" | "row":  # rows of an unknown block
                return "--block ..."
            case "gdim" | "bid":
                return "--grid ..."
            case "param" if symbol.name in self.parameters:
                if symbol.name.startswith("sizeof("):
                    return f"--template {symbol.name[7:-1]}=..."
                return f"--param {symbol.name}=..."
            case _:
                name = self.divisible(symbol)
                return None if name is None else f"--assume '{name} % 128 == 0'"


def exact_if(name: str, divisor: int) -> str:
    """The words for a count that a divisibility settles."""
    return f"exact if {name} % {divisor} == 0: pass `--assume`"
