"""Whether any warp can be as an assumption says: some are tried, at sampled sizes and positions.

Counts are given for the warps that a condition on unknown sizes does not cut.  There are none for
``(i + n) & 1``, whatever ``n``: no count may rely on that.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from coalescecheck.launch import WARP_SIZE
from coalescecheck.symbolic.form import Context, Form, Symbol
from coalescecheck.symbolic.lanes import Lanes
from coalescecheck.symbolic.numeric import Evaluator

SAMPLES = 96  # values of each symbol
MOST_WARPS = 8
SIZES = (4, 40, 300, 5000, 100_000)  # values below these, each as often
COUNTED = ("bid", "row", "counter")  # kinds of symbols whose first value is as good as any
AT_FIRST = 0.2  # of their samples
ALL_AT_FIRST = {"bid": 16, "row": 16, "counter": 16, "gdim": 8}  # samples in which all of them have
# it, as a grid of unknown sizes is larger than most others
DIMENSIONS = {"bdim": "threadIdx", "gdim": "blockIdx"}  # by kind, the indices below them

Running = NDArray[np.bool_]  # the lanes of each sample's warps that are left: samples, warps, lanes


class Trials:
    """Warps of one kernel's block in which to try conditions."""

    def __init__(self, ctx: Context, lanes: Lanes) -> None:
        self._ctx = ctx
        self._lanes = lanes
        chosen = np.linspace(0, lanes.warps - 1, min(lanes.warps, MOST_WARPS)).round()
        self._warps = chosen.astype(np.int64)
        self._values: dict[int, NDArray[np.int64]] = {}
        self._existing: Running | None = None
        self._met: dict[tuple[Form, ...], Met] = {}

    def where(self, guards: Iterable[Form]) -> Met:
        """The warps with lanes that meet ``guards``."""
        key = tuple(guards)
        if key not in self._met:
            self._met[key] = Met(self, key)
        return self._met[key]

    def running(self, guards: Iterable[Form]) -> Running:
        """The lanes that meet ``guards``; all where none is found, as those are only samples."""
        every = self._exists()
        found = every
        for guard in guards:
            found = found & (self.values(guard) != 0)
        return found if found.any() else every

    def _exists(self) -> Running:
        """The threads that there are: where dimensions are unknown, below those of each sample."""
        if self._existing is None:
            shape = (SAMPLES, len(self._warps), WARP_SIZE)
            found: Running = np.broadcast_to(self._lanes.exists[self._warps], shape)
            for index, dimension in self._indices():
                found = found & (self.values(index - dimension) < 0)
            self._existing = found
        return self._existing

    def _indices(self) -> Iterator[tuple[Form, Form]]:
        """Thread and block indices with their dimensions, where these are unknown."""
        symbols = [(g, s) for g, s in enumerate(self._ctx.generators) if isinstance(s, Symbol)]
        named = {symbol.name: g for g, symbol in symbols if symbol.kind in ("tid", "row", "bid")}
        for g, symbol in symbols:
            below = named.get(DIMENSIONS.get(symbol.kind, "") + symbol.name[-2:])
            if below is not None:
                yield Form({(below,): 1}), Form({(g,): 1})

    def values(self, form: Form) -> NDArray[np.int64]:
        """The values of ``form``, which broadcast to samples, warps and lanes."""
        symbols = self._ctx.symbols(form)
        values = {g: self._samples(g, symbol) for g, symbol in symbols}
        return Evaluator(self._ctx, values).form(form)

    def _samples(self, g: int, symbol: Symbol) -> NDArray[np.int64]:
        if symbol.kind == "tid":
            axis: NDArray[np.int64] = getattr(self._lanes, symbol.name[-1])
            return axis[None, self._warps]
        if g not in self._values:
            draw = random.Random(len(self._values))
            numbers = [self._sample(draw, symbol) for _ in range(SAMPLES)]
            first = ALL_AT_FIRST.get(symbol.kind, 0)
            numbers[:first] = [symbol.low or 0] * first
            self._values[g] = np.array(numbers, np.int64)[:, None, None]
        return self._values[g]

    def _sample(self, draw: random.Random, symbol: Symbol) -> int:
        """A value of a symbol; that of a size is not 0, if it can be another."""
        least = 0 if symbol.low is None else symbol.low
        if symbol.kind in COUNTED and draw.random() < AT_FIRST:
            return least
        value = least + draw.randint(1, draw.choice(SIZES))
        if symbol.high is not None and value > symbol.high:
            value = draw.randint(min(least, symbol.high), symbol.high)
        return value - value % symbol.multiple if value >= symbol.multiple else value


class Met:
    """What may be so in all running lanes of a warp."""

    def __init__(self, trials: Trials, guards: tuple[Form, ...]) -> None:
        self._trials, self._guards = trials, guards
        self._found: Running | None = None
        self._all: dict[Form, bool] = {}

    def by_all(self, guard: Form) -> bool:
        """Whether all lanes may meet ``guard``."""
        known = self._all.get(guard)
        if known is None:
            known = self._all[guard] = self._somewhere(self._trials.values(guard) != 0)
        return known

    def by_none(self, guard: Form) -> bool:
        """Whether no lane may meet ``guard``."""
        return self._somewhere(self._trials.values(guard) == 0)

    def alike(self, form: Form) -> bool:
        """Whether all lanes may have one value."""
        values = np.broadcast_to(self._trials.values(form), self._running.shape)
        far = 1 << 62
        least = np.where(self._running, values, far).min(axis=2, keepdims=True)
        return self._somewhere(values == least)

    @property
    def _running(self) -> Running:
        if self._found is None:
            self._found = self._trials.running(self._guards)
        return self._found

    def _somewhere(self, meeting: Running) -> bool:
        left = (meeting | ~self._running).all(axis=2) & self._running.any(axis=2)
        return bool(left.any())
