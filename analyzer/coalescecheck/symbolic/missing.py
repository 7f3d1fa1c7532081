"""The fact that would settle a count, named as the reader can give it.

In: the symbols a count depends on.  Out: words for ``reason`` that end in an option of the command.
Data cannot be given, so nothing is offered for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from coalescecheck.ir.types import PART, UNNAMED
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
    launched with an offset, and ``types``, each with the template parameter that gives it."""

    parameters: frozenset[str] = frozenset()
    pointers: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)

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

    def placed(self, symbols: Iterable[Symbol]) -> str:
        """Why it is not known where a per-thread array lies: ``symbols`` decide that."""
        symbols = list(symbols)
        names = " and ".join(f"`{symbol.name}`" for symbol in symbols)
        decide = "decides" if len(symbols) == 1 else "decide"
        return f"{names} {decide} between registers and local memory{self.settled(symbols)}"

    def _option(self, symbol: Symbol) -> str | None:
        match symbol.kind:
            case "bdim" | "row" | "tid":  # rows and warps of an unknown block
                return "--block ..."
            case "gdim" | "bid":
                return "--grid ..."
            case "param" if symbol.name in self.parameters:
                if symbol.name.startswith("sizeof("):
                    return _type_option(symbol.name[7:-1], self.types)
                return f"--param {symbol.name}=..."
            case _:
                name = self.divisible(symbol)
                return None if name is None else f"--assume '{name} % 128 == 0'"


def unknown_size(name: str, types: Mapping[str, str]) -> str:
    """Why the width of an access is not known; ``types`` as in :class:`Givable`."""
    if name not in types:
        return f"{name}: one source access is an unknown number of instructions"
    if " " in types[name]:
        return types[name]
    option = _type_option(name, types)
    if option is None:
        return "its type follows from code that is not understood (see the messages)"
    whole = name.removesuffix(PART)
    if types[name] and whole != name:
        return f"it is a part of `{whole}`, which is not known: pass `{option}`"
    name, option = whole, _type_option(whole, types) or option
    simple = "__" not in name.strip("_")  # else it stands for a::b, which no macro can be
    said = name if simple or "___" in name else name.replace("__", "::")
    if types[name]:
        return f"the size of `{said}` is not known: pass `{option}`"
    macro = f"`{option}`, or " if simple else ""
    return f"type `{said}` is not declared in what could be read: pass {macro}`-I` for its header"


def _type_option(name: str, types: Mapping[str, str]) -> str | None:
    """The option that settles the size of a type."""
    given_by = types.get(name, name)
    if name == UNNAMED or " " in given_by:
        return None
    return f"--template {given_by}=..." if given_by else f"-D {name}=..."


def exact_if(name: str, divisor: int) -> str:
    """The words for a count that a divisibility settles."""
    return f"exact if {name} % {divisor} == 0: pass `--assume`"
