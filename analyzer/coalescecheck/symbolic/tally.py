"""Requests that were counted together: what each costs and how often it happens."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coalescecheck.symbolic.measure import Measures

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tally:
    """Requests and their counts.

    ``weight`` counts how often each entry happens; ``shifts`` are all the unknown uniform shifts
    (bytes) the requests were taken at.
    """

    measures: Measures
    weight: Ints
    shifts: tuple[int, ...]

    @property
    def fingerprint(self) -> tuple[bytes, bytes]:
        """Equal for tallies with the same requests, whatever they were counted for."""
        return self.weight.tobytes(), self.measures.table.tobytes()

    @property
    def requests(self) -> int:
        """Requests counted, at every shift."""
        return int(self.weight.sum())

    def parts(self, part: Ints, count: int) -> list[Tally]:
        """``count`` tallies: entry i belongs to number ``part[i]``.  Equal ones are one object."""
        order = np.argsort(part, kind="stable")
        table, weight = self.measures.table[:, order], self.weight[order]
        ends = np.searchsorted(part[order], np.arange(count + 1)).tolist()
        known: dict[object, Tally] = {}
        found = []
        for start, end in pairwise(ends):
            tally = Tally(Measures(table[:, start:end]), weight[start:end], self.shifts)
            found.append(known.setdefault(tally.fingerprint, tally))
        return found
