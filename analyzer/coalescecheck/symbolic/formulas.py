"""Formulas shown to the user: counts as SymPy Piecewise expressions of one parameter.

A formula is only given when it has the counted value at every value that was counted.  SymPy
takes 0.3 s to import, so it is loaded when the first formula is built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import gcd
from typing import Any

from coalescecheck.symbolic.parametric import Profile


@dataclass(frozen=True, slots=True)
class Shown:
    """``formula`` (SymPy string or None), the ``start`` the main numbers assume (None: they hold
    for every value), and ``condition``: the divisibility that settles the count."""

    formula: str | None
    start: int | None
    condition: tuple[int, int] | None  # (divisor, count when the parameter is divisible)


def show(profile: Profile, name: str, multiple: int, all_values: bool, signed: bool) -> Shown:
    """Describe a profile.  ``all_values``: values below ``start`` are possible and count
    differently; ``signed``: values below 0 are possible, too."""
    condition = _divisibility(profile, multiple)
    start = profile.start if all_values and profile.start > 1 else None
    if any(low != high for low, high in profile.large):
        return Shown(None, start, condition)
    values = [low for low, _ in profile.large]
    if len(set(values)) == 1 and all_values:
        return Shown(_stride_formula(profile, name, values[0], signed), start, None)
    if all_values:
        shared = _gcd_formula(profile, name, values)
        if shared is not None:
            return Shown(shared, None, None)
    if condition is not None:
        divisor, count = condition
        others = {v for r, v in enumerate(values) if r * multiple % divisor}
        if len(others) == 1:
            formula = f"Piecewise(({count}, Eq(Mod({name}, {divisor}), 0)), ({others.pop()}, True))"
            return Shown(formula, start, condition)
    if len(set(values)) == 1:
        return Shown(str(values[0]), start, None)
    return Shown(None, start, condition)


def _divisibility(profile: Profile, multiple: int) -> tuple[int, int] | None:
    """The least power of two such that the count is one value, and the best, when it divides."""
    best = min(high for _, high in profile.large)
    if all(high == best for _, high in profile.large):
        return None
    divisor = 2 * multiple if multiple & (multiple - 1) == 0 else multiple
    while divisor <= profile.period * multiple:
        hit = [v for r, v in enumerate(profile.large) if r * multiple % divisor == 0]
        if all(v == (best, best) for v in hit):
            return divisor, best
        divisor *= 2
    return None


def _stride_formula(profile: Profile, parameter: str, far: int, signed: bool) -> str | None:
    """One value for large |n|, closed pieces below."""
    small = {n: count for n, count in profile.small.items() if signed or n >= 0}
    far_negative = profile.far_negative if signed else ((far, far),)
    if any(low != high for low, high in (*small.values(), *far_negative)):
        return None
    counts = {n: low for n, (low, _) in small.items()}
    if {low for low, _ in far_negative} != {far} or 0 not in counts:
        return None
    sympy = _sympy()
    name = sympy.Symbol(parameter, integer=True)
    above = [n for n in sorted(counts) if 0 < n < profile.start]
    last = min((n for n in counts if counts[n] != far), default=0)
    below = [n for n in sorted(counts) if last <= n < 0]
    pieces = [f"({counts[0]}, Eq({name}, 0))"]
    if above:
        value = _fit(name, above, counts)
        if value is None:
            return None
        pieces.append(f"({value}, ({name} > 0) & ({name} < {profile.start}))")
    if below:
        value = _fit(name, below, counts)
        if value is None:
            return None
        pieces.append(f"({value}, ({name} > {last - 1}) & ({name} < 0))")
    return f"Piecewise({', '.join(pieces)}, ({far}, True))"


def _fit(name: Any, at: list[int], counts: dict[int, int]) -> Any | None:
    """An expression in |n| that gives ``counts`` at every n in ``at``."""
    size = abs(name) if at[0] < 0 else name
    if len({counts[n] for n in at}) == 1:
        return _sympy().Integer(counts[at[0]])
    unit = min(at, key=abs)
    for slope in {counts[unit] // abs(unit), counts[at[-1]] // abs(at[-1])}:
        for offset in (0, 1):
            if all(counts[n] == slope * abs(n) + offset for n in at):
                return slope * size + offset
    return _fit_floor(size, at, counts)


def _fit_floor(size: Any, at: list[int], counts: dict[int, int]) -> Any | None:
    """floor((31*w*|n| + b) / 32) + 1: sectors between the first and the last lane."""
    for width in (1, 2, 4, 8, 12, 16, 20, 24, 32):
        for b in range(32):
            value: Callable[[int], int] = lambda n, w=width, b=b: (31 * w * abs(n) + b) // 32 + 1  # type: ignore[misc]  # noqa: E731
            if all(value(n) == counts[n] for n in at):
                sympy = _sympy()
                return sympy.floor((31 * width * size + b) / sympy.Integer(32)) + 1
    return None


def _gcd_formula(profile: Profile, name: str, values: list[int]) -> str | None:
    """Wavefronts of a word stride: gcd(stride, 32) as 32 banks repeat, one for stride 0."""
    for factor in (1, 2, 4, 8, 16, 32, 3, 5, 6, 7):
        for banks in (32, 16, 8):
            large = all(gcd(factor * r, banks) == v for r, v in enumerate(values))
            if large and all(
                low == high == gcd(factor * n, banks)
                for n, (low, high) in profile.small.items()
                if n
            ):
                zero = profile.small.get(0, (1, 1))[0]
                return f"Piecewise(({zero}, Eq({name}, 0)), {_gcd_pieces(name, factor, banks)})"
    return None


def _gcd_pieces(name: str, factor: int, banks: int) -> str:
    """gcd(factor*name, banks), where ``banks`` is a power of two, in pieces by what divides
    ``name``: SymPy's own ``gcd`` is that of polynomials, 1 for any symbol and 32."""
    common = gcd(factor, banks)
    pieces, divisor = [], banks // common
    while divisor > 1:
        pieces.append(f"({common * divisor}, Eq(Mod({name}, {divisor}), 0))")
        divisor //= 2
    return ", ".join([*pieces, f"({common}, True)"])


def _sympy() -> Any:
    return import_module("sympy")
