"""Facts about integer parameters that the user vouches for.

``N % 32 == 0``, ``N >= 1024``, ``N < 4096``, ``N == 512`` as text in, bounds and divisors out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import lcm

from coalescecheck.errors import UsageError

_NAME = r"(?P<name>[^\W\d]\w*(?:\.\w+|\[\d+\])*)"
_DIVISIBLE = re.compile(rf"\s*{_NAME}\s*%\s*(?P<divisor>\d+)\s*==\s*0\s*")
_COMPARED = re.compile(rf"\s*{_NAME}\s*(?P<sign><=|>=|==|<|>)\s*(?P<value>-?\d+)\s*")
_INSIDE = re.compile(r"\s*\((?P<what>[^()]*)\)(?P<rest>[^()]*)")
_LEAST = re.compile(r"(?P<what>.+) >= (?P<value>-?\d+)")


@dataclass(frozen=True, slots=True)
class Fact:
    """What is relied on for one parameter: ``low <= value <= high``, a multiple of ``multiple``."""

    low: int | None = None
    high: int | None = None
    multiple: int = 1

    def narrowed(self, other: Fact) -> Fact:
        """Both facts together."""
        lows = [f.low for f in (self, other) if f.low is not None]
        highs = [f.high for f in (self, other) if f.high is not None]
        return Fact(
            max(lows, default=None), min(highs, default=None), lcm(self.multiple, other.multiple)
        )

    @property
    def possible(self) -> bool:
        """Whether any value satisfies it."""
        if self.low is None or self.high is None:
            return True
        return self.high // self.multiple * self.multiple >= self.low

    def allows(self, value: int) -> bool:
        """Whether ``value`` satisfies it."""
        return self.narrowed(Fact(value, value)).possible

    def near(self, value: int) -> int:
        """A value that satisfies the fact, close to ``value``."""
        value = -(-max(value, self.low or value) // self.multiple) * self.multiple
        if self.high is not None and value > self.high:
            value = self.high // self.multiple * self.multiple
        return value


NO_LIMITS: Mapping[str, Fact] = {}


def parse_facts(texts: Iterable[str]) -> dict[str, Fact]:
    """Facts by parameter name; UsageError for text that is no fact."""
    facts: dict[str, Fact] = {}
    for text in texts:
        name, fact = _parse(text)
        facts[name] = facts.get(name, Fact()).narrowed(fact)
    return facts


def contradictions(
    texts: Iterable[str], known: Mapping[str, int], limits: Mapping[str, Fact] = NO_LIMITS
) -> Iterator[tuple[str, str]]:
    """Each parameter of which the texts say what cannot be, and why: they exclude each other, its
    ``known`` value, or everything that its type can hold, which is in ``limits``."""
    texts = tuple(texts)
    for name, fact in parse_facts(texts).items():
        mine = [text for text in texts if name in parse_facts([text])]
        if name in known:
            mine = [text for text in mine if not parse_facts([text])[name].allows(known[name])]
            if mine:
                yield name, f"{name} is {known[name]}, so {' and '.join(mine)} cannot hold"
        elif not fact.narrowed(limits.get(name, Fact())).possible:
            yield name, f"no value of {name} meets {' and '.join(mine)}"


def named(texts: Iterable[str]) -> Iterator[str]:
    """The parameters that those of the texts speak of that are facts."""
    for text in map(_plain, texts):
        found = _DIVISIBLE.fullmatch(text) or _COMPARED.fullmatch(text)
        if found:
            yield found["name"]


def strongest(assumptions: Iterable[str]) -> tuple[str, ...]:
    """The assumptions without lower bounds that others imply: of ``n >= 18`` and ``n >= 19`` the
    second."""
    texts = tuple(assumptions)
    bounds = [(found["what"], int(found["value"])) for t in texts if (found := _LEAST.fullmatch(t))]
    greatest = {what: max(v for w, v in bounds if w == what) for what, _ in bounds}
    return tuple(
        text
        for text in texts
        if (found := _LEAST.fullmatch(text)) is None
        or int(found["value"]) == greatest[found["what"]]
    )


def _plain(text: str) -> str:
    """``n % 32 == 0`` for ``(n % 32) == 0``."""
    inside = _INSIDE.fullmatch(text)
    return text if inside is None else inside["what"] + inside["rest"]


def _parse(text: str) -> tuple[str, Fact]:
    text = _plain(text)
    divisible = _DIVISIBLE.fullmatch(text)
    if divisible is not None and int(divisible["divisor"]) > 0:
        return divisible["name"], Fact(multiple=int(divisible["divisor"]))
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        raise UsageError(f"assume: {text!r} is no fact such as 'n % 32 == 0' or 'n >= 1024'")
    value = int(compared["value"])
    low, high = {
        "<": (None, value - 1),
        "<=": (None, value),
        ">": (value + 1, None),
        ">=": (value, None),
        "==": (value, value),
    }[compared["sign"]]
    return compared["name"], Fact(low, high)
