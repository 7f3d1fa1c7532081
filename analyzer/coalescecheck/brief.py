"""What totals and exit codes need of one file's analysis, without the analysis.

A run over unchanged files that prints findings reads no more than this from the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coalescecheck.source import Diagnostic


@dataclass(frozen=True, slots=True)
class Brief:
    """The status of each kernel, the number of accesses by certainty, whether an independent
    reading ``disagrees`` with a number, everything said of the file and its kernels, once, and
    the parameters and template parameters that were ``given`` a value or an assumption."""

    kernels: tuple[str, ...] = ()
    accesses: dict[str, int] = field(default_factory=dict)
    disagrees: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    given: frozenset[str] = frozenset()
